"""Paths of ridge solutions by factors and eigenvectors, beside the tridiagonal reduction."""

import numpy as np
import pytest

from mercer._array import is_numpy, to_numpy
from mercer.solvers.device_path import DevicePath, path_of
from mercer.solvers.path import Path
from mercer.solvers.symmetric_sums import (
    largest_eigenvalue,
    mirrored,
    solved,
    symmetric_times,
    trace,
    with_outer_products,
)
from mercer.testing import array_libraries

LIBRARIES = array_libraries()
pytestmark = pytest.mark.arrays


@pytest.fixture(params=LIBRARIES)
def make(request):
    return LIBRARIES[request.param]


def system(n=6, rank=6):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((rank, n))
    return A.T @ A, rng.standard_normal((n, 3))


def test_solutions_and_eigenvalues_are_those_of_the_reduction(make):
    S, B = system()
    expected, found = Path(S.copy(), B), DevicePath(make(S), make(B))
    for alpha in (1e-3, 2.0):
        assert to_numpy(found.solve(alpha)) == pytest.approx(expected.solve(alpha), rel=1e-9)
    assert "_spectrum" not in found.__dict__
    for one, other in zip(found.products(0.5), expected.products(0.5), strict=True):
        assert is_numpy(one)
        assert one == pytest.approx(other, rel=1e-9)
    assert found.eigenvalues == pytest.approx(expected.eigenvalues, rel=1e-9)
    alphas = np.asarray([0.1, 3.0, 0.1])
    assert to_numpy(found.solve(alphas)) == pytest.approx(expected.solve(alphas), rel=1e-9)


def test_what_rounding_has_left_indefinite_is_solved(make):
    S, B = system(rank=3)
    S = S - 1e-13 * np.eye(6)
    expected, found = Path(S.copy(), B), DevicePath(make(S), make(B))
    assert found.eigenvalues.min() >= 0
    theirs = expected.solve(1e-15)
    assert to_numpy(found.solve(1e-15)) == pytest.approx(theirs, rel=0.3, abs=abs(theirs).max())
    assert np.isfinite(to_numpy(found.solve(1e-15))).all()


def test_the_kind_of_path_follows_the_library(make):
    S, B = system()
    found = path_of(make(S), make(B))
    assert isinstance(found, Path if is_numpy(make(S)) else DevicePath)


def test_matrices_of_which_the_upper_triangle_is_kept(make):
    S, B = system(300, 400)
    upper = make(np.asfortranarray(np.triu(S) + 7 * np.tril(np.ones_like(S), -1)))
    assert to_numpy(mirrored(upper)) == pytest.approx(S)
    assert to_numpy(symmetric_times(upper, make(B))) == pytest.approx(S @ B)
    u, v = np.random.default_rng(1).standard_normal((2, 300))
    changed = to_numpy(with_outer_products(upper, make(u), make(v)))
    assert np.triu(changed) == pytest.approx(np.triu(S + np.outer(u, v) + np.outer(v, u)))
    expected = np.linalg.solve(S + 2.5 * np.eye(300), B)
    assert to_numpy(solved(upper, 2.5, make(B))) == pytest.approx(expected, rel=1e-9)
    with pytest.raises(np.linalg.LinAlgError):
        solved(upper, -1e6, make(B))


def test_trace_and_largest_eigenvalue(make):
    S, _ = system()
    assert trace(make(S)) == pytest.approx(np.trace(S))
    largest = np.linalg.eigvalsh(S)[-1]
    assert largest_eigenvalue(make(S)) == pytest.approx(largest, rel=0.02)
    assert largest_eigenvalue(make(np.zeros((2, 2)))) == 0
