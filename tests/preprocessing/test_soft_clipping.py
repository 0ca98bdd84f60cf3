"""Soft-clipping of outliers: the formula, its limit, and floats of every size."""

import numpy as np
import pytest

from mercer import TableEncoder
from mercer._array import namespace, to_numpy
from mercer.preprocessing.soft_clipping import soft_clipped
from mercer.testing import array_libraries


@pytest.mark.arrays
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", array_libraries())
def test_every_float_is_clipped_and_larger_ones_stay_larger(name, dtype):
    make = array_libraries()[name]
    largest = np.finfo(dtype).max
    sizes = np.geomspace(1e-30, 0.99 * float(largest), 3000).astype(dtype)
    z = np.concatenate([-sizes[::-1], [0.0], sizes, [largest]]).astype(dtype)[:, None]
    rows = make(z)
    found = to_numpy(soft_clipped(rows, make(np.asarray([3.0], dtype=dtype)), namespace(rows)))
    assert found.dtype == dtype
    wide = z.astype(np.longdouble)
    expected = (wide / np.sqrt(1 + (wide / 3) ** 2)).astype(dtype)
    assert found == pytest.approx(expected, rel=4 * float(np.finfo(dtype).eps), abs=0)
    rounding = 2 * np.spacing(abs(found[1:, 0]))
    assert (np.diff(found[:, 0]) >= -rounding).all()
    assert (np.diff(found[:, 0])[abs(z[1:, 0]) < 100] > 0).all()
    assert abs(found[[0, -1]]).max() == 3.0
    assert abs(found).max() <= 3.0 * (1 + float(np.finfo(dtype).eps))


def test_columns_without_a_limit_stay_as_they_are():
    z = np.asarray([[1e30, 1e30], [3.4e38, 3.4e38]], dtype="float32")
    found = soft_clipped(z, np.asarray([np.inf, 3.0], dtype="float32"), np)
    assert np.array_equal(found[:, 0], z[:, 0])
    assert found[:, 1].tolist() == [3.0, 3.0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_float_is_an_outlier_like_others(dtype):
    X = np.random.default_rng(0).standard_normal((50, 2)).astype(dtype) * 1e-3
    encoder = TableEncoder().fit(X)
    far = np.asarray([[1e20, -1e20], [np.finfo(dtype).max] * 2], dtype=dtype)
    assert np.array_equal(encoder.transform(far), np.asarray([[3, -3], [3, 3]], dtype=dtype))
