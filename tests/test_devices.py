"""Tests of the seam to accelerators, in every array library that is installed."""

import numpy as np
import pytest

import mercer
from mercer._array import to_numpy
from mercer._devices import algebra_of, placed, sent_ahead
from mercer._devices.sums import ROWS_OF_A_SUM
from mercer.testing import array_libraries

LIBRARIES = array_libraries()


@pytest.fixture(params=LIBRARIES)
def make(request):
    return LIBRARIES[request.param]


def positive_definite(n):
    A = np.random.default_rng(0).standard_normal((2 * n, n))
    return A.T @ A


@pytest.mark.arrays
def test_factors_and_solutions_are_those_of_numpy(make):
    S, B = positive_definite(5), np.random.default_rng(1).standard_normal((5, 2))
    algebra = algebra_of(make(S))
    L = algebra.cholesky(make(S))
    assert np.allclose(to_numpy(L) @ to_numpy(L).T, S, atol=1e-12)
    assert np.allclose(S @ to_numpy(algebra.cholesky_solve(L, make(B))), B, atol=1e-9)
    half = to_numpy(algebra.solve_triangular(L, make(B)))
    assert np.allclose(to_numpy(L) @ half, B, atol=1e-9)
    half = to_numpy(algebra.solve_triangular(L, make(B), transposed=True))
    assert np.allclose(to_numpy(L).T @ half, B, atol=1e-9)
    values, vectors = (to_numpy(part) for part in algebra.eigh(make(S)))
    assert np.allclose(vectors * values @ vectors.T, S, atol=1e-9)
    algebra.synchronize(L)


@pytest.mark.arrays
def test_what_is_not_positive_definite_has_no_factor(make):
    S = np.diag([1.0, -1.0])
    with pytest.raises(np.linalg.LinAlgError):
        algebra_of(make(S)).cholesky(make(S))


@pytest.mark.arrays
@pytest.mark.parametrize("n_columns", [3, 2100])
def test_products_of_columns_are_added_in_the_dtype_of_the_sums(make, n_columns):
    Z = np.random.default_rng(0).standard_normal((4, n_columns)).astype(np.float32)
    total = make(np.ones((n_columns, n_columns)))
    algebra = algebra_of(total)
    algebra.add_gram(total, make(Z))
    found = to_numpy(algebra.mirrored(total))
    wanted = 1 + Z.astype(float).T @ Z
    assert found.dtype == np.float64
    assert np.abs(found - wanted).max() < 1e-5


@pytest.mark.arrays
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_rows", [0, 3, 2 * ROWS_OF_A_SUM, 5 * ROWS_OF_A_SUM + 7])
def test_sums_of_many_rows_keep_the_digits_of_few(make, n_rows, dtype):
    rng = np.random.default_rng(0)
    A, B = (1 + 0.1 * rng.standard_normal((n_rows, size)).astype(dtype) for size in (5, 3))
    found = to_numpy(algebra_of(make(A)).sum_of_products(make(A), make(B)))
    assert found.dtype == np.float64
    digits = 1e-14 if dtype == "float64" else 1e-6
    assert found == pytest.approx(A.astype(float).T @ B.astype(float), rel=digits)


@pytest.mark.arrays
def test_float32_products_mean_float32_whatever_torch_is_told():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    A, B = (torch.asarray(rng.standard_normal((64, 64)).astype(np.float32)) for _ in range(2))
    algebra, exact = algebra_of(A), A.double() @ B.double()
    errors = {}
    for precision in ("float32", "bfloat16"):
        with mercer.config(precision=precision):
            found = algebra.product(A, B)
        assert found.dtype == torch.float32
        errors[precision] = float(torch.linalg.norm(found - exact) / torch.linalg.norm(exact))
    assert errors["float32"] < 1e-6
    assert 1e-4 < errors["bfloat16"] < 1e-2
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.arrays
def test_blocks_arrive_in_order_and_whole():
    torch = pytest.importorskip("torch")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    blocks = [(np.full((3, 2), k, dtype=np.float32), None) for k in range(5)]
    found = list(sent_ahead(iter(blocks), device))
    assert [float(X.sum()) for X, _ in found] == [0.0, 6.0, 12.0, 18.0, 24.0]
    assert all(X.device.type == device and rest is None for X, rest in found)


@pytest.mark.arrays
def test_arrays_of_any_layout_and_dtype_arrive():
    pytest.importorskip("torch")
    X = np.arange(12.0).reshape(4, 3)
    frozen = X.copy()
    frozen.flags.writeable = False
    for rows in (X[::-1, ::2], frozen, X.astype(">f4"), X.astype("uint16"), X.astype("longdouble")):
        [(found,)] = sent_ahead([(rows,)], "cpu")
        assert np.array_equal(to_numpy(found), rows)


@pytest.mark.arrays
def test_a_device_that_is_not_there_is_named():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="device='cuda', but torch finds no CUDA device"):
            next(sent_ahead([(np.eye(2),)], "cuda"))


@pytest.mark.arrays
def test_what_is_placed_on_the_device_of_the_settings():
    torch = pytest.importorskip("torch")
    rows, words = np.eye(2), np.asarray(["a"])
    assert placed(rows) is rows
    with mercer.config(device="cpu"):
        assert isinstance(placed(rows), torch.Tensor)
        assert placed(words) is words
        there = torch.eye(2)
        assert placed(there) is there
