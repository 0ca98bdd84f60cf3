"""What every exact kernel promises, one check a promise."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import scipy.sparse
from sklearn.base import clone

from .._array import dtype_name, to_numpy
from ..engine.config import config
from ..kernels import Kernel
from .arrays import array_libraries
from .bad_input import assert_bad_parameters_are_refused, assert_bad_rows_are_refused
from .data import TOLERANCE, assert_close, awkward_layouts, ordinary_rows, raised
from .memory import peak_bytes


def check_symmetric(kernel: Kernel, n_features: int) -> None:
    """K(X) is K(X, X), symmetric to the last bit, with ``diag`` on its diagonal."""
    X = _rows_with_twins(n_features)
    K = kernel(X)
    assert np.array_equal(K, K.T)
    assert_close(kernel(X, X.copy()), K, TOLERANCE["float64"], "K(X, X)")
    assert_close(kernel.diag(X), np.diag(K), TOLERANCE["float64"], "diag")


def check_positive(kernel: Kernel, n_features: int) -> None:
    """The kernel matrix has no negative eigenvalue beyond rounding."""
    eigenvalues = np.linalg.eigvalsh(kernel(_rows_with_twins(n_features)))
    assert eigenvalues[0] >= -1e-10 * eigenvalues[-1]


def check_twins(kernel: Kernel, n_features: int) -> None:
    """Equal rows have equal kernel rows, and to each other the kernel of the diagonal."""
    X = _rows_with_twins(n_features)
    for dtype in ("float32", "float64"):
        K = kernel(X.astype(dtype))
        tolerance = {"float32": 3e-7, "float64": 1e-15}[dtype]
        assert_close(K[0, 1], K[0, 0], tolerance, f"two equal {dtype} rows")
        assert_close(K[0], K[1], tolerance, f"the kernel of two equal {dtype} rows")


def check_matvec(kernel: Kernel, n_features: int) -> None:
    """``matvec`` is the product with the matrix, for one vector and for several."""
    X, Y = ordinary_rows(30, n_features), ordinary_rows(21, n_features, seed=3)
    V = np.random.default_rng(0).standard_normal((21, 2))
    kernel = kernel.fitted_to(Y)
    with config(block_rows=8):
        assert_close(kernel.matvec(X, V, Y), kernel(X, Y) @ V, 1e-12, "matvec")
        assert_close(kernel.matvec(X, V[:, 0], Y), kernel(X, Y) @ V[:, 0], 1e-12, "one vector")
        assert_close(kernel.matvec(Y, V), kernel(Y) @ V, 1e-12, "matvec of X alone")
    assert "21" in raised(lambda: kernel.matvec(X, V[:5], Y), ValueError)


def check_tiles(kernel: Kernel, n_features: int) -> None:
    """The matrix does not depend on tiles or threads."""
    X, Y = ordinary_rows(30, n_features), ordinary_rows(17, n_features, seed=3)
    expected, square = kernel(X, Y), kernel(X)
    for rows in (1, 7, 29):
        for n_jobs in (1, 3):
            with config(block_rows=rows, n_jobs=n_jobs):
                assert_close(kernel(X, Y), expected, TOLERANCE["float64"], f"tiles of {rows}")
                assert_close(kernel(X), square, TOLERANCE["float64"], f"half tiles of {rows}")


def check_dtypes(kernel: Kernel, n_features: int) -> None:
    """float32 and narrow integers give float32, everything else float64."""
    X = np.round(3 * ordinary_rows(20, n_features))
    expected = kernel(X)
    wanted = dict.fromkeys(("float32", "int8"), "float32")
    wanted |= dict.fromkeys(("float64", "int16", "int32", "int64"), "float64")
    for dtype, result in wanted.items():
        K = kernel(X.astype(dtype))
        assert K.dtype == result, f"{dtype} became {K.dtype}"
        assert_close(K, expected, {"float32": 1e-6, "float64": 1e-14}[result], f"{dtype} input")
        assert kernel.diag(X.astype(dtype)).dtype == result


def check_sparse(kernel: Kernel, n_features: int) -> None:
    """Sparse rows, on either side, give the matrix of dense ones."""
    for share in (0.02, 0.5):
        X = _rows_with_twins(n_features)
        X[2:][np.random.default_rng(2).random(X[2:].shape) > share] = 0.0
        expected = kernel(X)
        for form in (scipy.sparse.csr_array, scipy.sparse.csr_matrix, scipy.sparse.coo_array):
            sparse = form(X)
            assert_close(kernel(sparse), expected, 1e-9, "sparse rows")
            assert_close(kernel(sparse, sparse), expected, 1e-9, "sparse rows, twice")
            assert_close(kernel(X, sparse), expected, 1e-9, "dense and sparse rows")
            assert_close(kernel.diag(sparse), np.diag(expected), 1e-12, "diag of sparse rows")


def check_array_libraries(kernel: Kernel, n_features: int) -> None:
    """Arrays of any library give the same matrix, in that library and dtype."""
    for dtype in ("float32", "float64"):
        X = _rows_with_twins(n_features).astype(dtype)
        tolerance = {"float32": 1e-6, "float64": 1e-12}[dtype]
        expected = kernel(X)
        for library, make in array_libraries().items():
            rows = make(X)
            actual = kernel(rows)
            assert type(actual) is type(rows), f"{library} became {type(actual)}"
            assert dtype_name(actual) == dtype
            assert_close(to_numpy(actual), expected, tolerance, f"{library} {dtype}")
            assert_close(to_numpy(kernel.diag(rows)), np.diag(expected), tolerance, library)
            with config(block_rows=5):
                product = kernel.matvec(rows, make(X[:, :1]))
            assert_close(to_numpy(product), expected @ X[:, :1], 10 * tolerance, library)


def check_with_scikit_learn(kernel: Kernel, n_features: int) -> None:
    """It works as ``SVC(kernel=...)``, in ``KernelRidge``, and its parameters are reachable."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.metrics.pairwise import pairwise_kernels
    from sklearn.svm import SVC

    X = ordinary_rows(24, n_features)
    y = (X[:, 0] > 0).astype(int)
    model = SVC(kernel=kernel).fit(X, y)
    expected = SVC(kernel="precomputed").fit(kernel(X), y)
    assert np.array_equal(model.predict(X[:9]), expected.predict(kernel(X[:9], X)))
    fitted = kernel.fitted_to(X)
    assert_close(pairwise_kernels(X, metric=fitted), fitted(X), 1e-12, "pairwise_kernels")
    ridge = KernelRidge(kernel=fitted).fit(X, y).predict(X)
    direct = KernelRidge(kernel="precomputed").fit(fitted(X), y).predict(fitted(X))
    assert_close(ridge, direct, 1e-8, "KernelRidge")
    for name in kernel.get_params():
        assert f"kernel__{name}" in SVC(kernel=kernel).get_params()


def check_clone_and_pickle(kernel: Kernel, n_features: int) -> None:
    """Clones and pickles are the same kernel."""
    X = ordinary_rows(6, n_features)
    assert np.array_equal(clone(kernel)(X), kernel(X))
    assert np.array_equal(pickle.loads(pickle.dumps(kernel))(X), kernel(X))


def check_input_is_not_modified(kernel: Kernel, n_features: int) -> None:
    """Input is not modified and may be read-only, strided or column-major."""
    X = ordinary_rows(20, n_features)
    kept = X.copy()
    expected = kernel(X)
    assert np.array_equal(X, kept), "the input was modified"
    for rows in awkward_layouts(X):
        assert_close(kernel(rows), expected, TOLERANCE["float64"], "read-only or strided input")


def check_memory(kernel: Kernel, n_features: int) -> None:
    """Beyond the matrix a call stays within the budget; ``matvec`` never forms the matrix."""
    # The matrix has 2.2 MB in float32, more than either budget.
    X = ordinary_rows(750, n_features, "float32")
    kernel = kernel.fitted_to(X)
    with config(memory=2_000_000):
        # What is compiled at the first call is not counted.
        kernel(X)
        K, peak = peak_bytes(lambda: kernel(X))
        assert peak - K.nbytes <= 2_000_000, f"{peak - K.nbytes} bytes beyond the matrix"
    with config(memory=1_000_000):
        kernel.matvec(X, X[:, 0])
        _, peak = peak_bytes(lambda: kernel.matvec(X, X[:, 0]))
        assert peak <= 1_000_000, f"{peak} bytes for a product"


def check_edge_cases(kernel: Kernel, n_features: int) -> None:
    """Zero rows and extreme magnitudes give finite values, or an error about overflow."""
    X = ordinary_rows(5, n_features)
    X[2] = 0.0
    for dtype, scales in (("float64", (1.0, 1e-150, 1e150)), ("float32", (1e-30, 1e18, 1e30))):
        for scale in scales:
            rows = (scale * X).astype(dtype)
            try:
                K = kernel(rows)
            except ValueError as error:
                assert "overflow" in str(error), str(error)
            else:
                assert np.isfinite(K).all(), f"{dtype} rows of scale {scale} are not finite"
                assert np.isfinite(kernel.diag(rows)).all()
    X[:, -1] = 3.0
    assert np.isfinite(kernel(X)).all(), "a constant column is not finite"
    try:
        assert np.isfinite(kernel(X[:, :1])).all(), "a single column is not finite"
    except ValueError as error:
        # Kernels of images know how many columns there are.
        assert "1 columns" in str(error), str(error)
    assert kernel.fitted_to(X)(X[:1]).shape == (1, 1)


def check_bad_rows(kernel: Kernel, n_features: int) -> None:
    """Bad data is refused with an error that says why, on either side."""
    X = ordinary_rows(6, n_features)
    assert_bad_rows_are_refused(kernel, n_features)
    assert_bad_rows_are_refused(kernel.diag, n_features)
    spoiled = X.copy()
    spoiled[3, 0] = np.nan
    assert "Y contains NaN at row 3" in raised(lambda: kernel.fitted_to(X)(X, spoiled), ValueError)
    assert "columns" in raised(lambda: kernel.fitted_to(X)(X, X[:, 1:]), ValueError)


def check_bad_parameters(kernel: Kernel, n_features: int) -> None:
    """Every parameter refuses bad values with an error that names it."""
    X = ordinary_rows(6, n_features)
    assert_bad_parameters_are_refused(kernel, lambda broken: broken(X))


#: Every check, called as ``check(kernel, n_features)``.
KERNEL_CHECKS: list[Callable[[Kernel, int], None]] = [
    check_symmetric,
    check_positive,
    check_twins,
    check_matvec,
    check_tiles,
    check_dtypes,
    check_sparse,
    check_array_libraries,
    check_with_scikit_learn,
    check_clone_and_pickle,
    check_input_is_not_modified,
    check_memory,
    check_edge_cases,
    check_bad_rows,
    check_bad_parameters,
]


def check_kernel(kernel: Kernel, n_features: int = 5) -> None:
    """Run every check of the contract on a kernel; raise at the first that fails.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    n_features : int, default=5
        Columns of the data that it is tried on.

    Examples
    --------
    >>> from mercer import NTK
    >>> from mercer.testing import check_kernel
    >>> check_kernel(NTK(depth=2))
    """
    for check in KERNEL_CHECKS:
        check(kernel, n_features)


def _rows_with_twins(n_features: int) -> np.ndarray:
    """Return rows among which are equal, almost equal and opposite ones."""
    X = ordinary_rows(12, n_features)
    X[1] = X[0]
    X[3] = X[2] * (1 + 1e-9)
    X[4] = X[2] + 1e-6 * X[5]
    X[6] = -X[5]
    return X
