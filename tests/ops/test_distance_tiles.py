"""Float32 tiles by products of any library, against the same kernel pair by pair in float64."""

import numpy as np
import pytest

from mercer._array import empty_like_library, to_numpy
from mercer.ops.distance_tiles import distance_slices
from mercer.ops.fused import Form, plain_tile
from mercer.testing import array_libraries

LIBRARIES = array_libraries()
FORMS = [
    Form("gaussian", 2.0),
    Form("exponential", 1.5),
    Form("exponential", 1.5, manhattan=True),
    Form("matern32", 1.5),
    Form("matern52", 1.5),
    Form("powered", 1.5, power=0.7),
    Form("powered", 1.5, manhattan=True, power=0.7),
]


@pytest.fixture(params=LIBRARIES)
def make(request):
    return LIBRARIES[request.param]


def filled(make, X, Y, form, rows, columns):
    X = make(X)
    tile = distance_slices(X, X if Y is None else make(Y), form)
    shape = rows.stop - rows.start, columns.stop - columns.start
    out = empty_like_library(X, shape, "float32")
    tile(rows, columns, out)
    return to_numpy(out)


@pytest.mark.arrays
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_tiles_are_the_kernel_of_their_rows(make, form, offset):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 4)) + offset, rng.standard_normal((30, 4)) + offset
    Y[3] = X[12]
    found = filled(make, X, Y, form, slice(5, 20), slice(2, 11))
    assert found.dtype == np.float32
    assert np.abs(found - plain_tile(X, Y, form)[5:20, 2:11]).max() < 5e-7
    assert found[7, 1] == 1


@pytest.mark.arrays
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_rows_that_almost_coincide_keep_their_distance(make, form):
    X = np.random.default_rng(0).standard_normal((6, 3))
    X[3] = X[0] + 1e-3
    found = filled(make, X, None, form, slice(0, 6), slice(0, 6))
    wanted = plain_tile(X, X, form)
    assert (np.diag(found) == 1).all()
    assert np.abs(found - wanted)[0, 3] < 3e-7
