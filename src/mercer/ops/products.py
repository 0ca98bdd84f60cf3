"""Products of a block of rows, dense or CSR, with a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas

from .._array import is_numpy, is_sparse
from .._devices import algebra_of

#: Share of non-zeros above which a dense product of a sparse block is the faster one: BLAS does
#: some thirty multiplications in the time of one that is looked up.
DENSE_ENOUGH = 1 / 30
#: Columns of a product that are computed, and added to float64 sums, at once: no fresh memory of
#: the size of the sums is touched.
PANEL = 2048


def product(X: Any, weights: Any, out: Any = None) -> Any:
    """Return ``X @ weights``, into ``out`` if given."""
    if not is_numpy(X):
        return algebra_of(X).product(X, weights, out=out)
    if is_sparse(X):
        X = densified(X)
        if is_sparse(X):
            result = X @ weights
            if out is None:
                return result
            out[...] = result
            return out
    if out is None:
        return X @ weights
    return np.matmul(X, weights, out=out)


def product_beside_scipy(A: Any, B: Any, transpose: bool = False) -> Any:
    """Return ``A @ B``, or ``A.T @ B``, of matrices stored by rows, by the BLAS of SciPy.

    For products that take turns with decompositions and rank-k updates, which only SciPy offers:
    NumPy has a BLAS of its own, and the idle threads of one keep the cores from the other.
    Arrays of other libraries are multiplied by these.

    Examples
    --------
    >>> product_beside_scipy(np.asarray([[1.0, 2.0]]), np.asarray([[3.0], [4.0]]))
    array([[11.]])
    """
    if not is_numpy(A):
        return algebra_of(A).product(A.T if transpose else A, B)
    gemm = blas.sgemm if A.dtype == np.float32 else blas.dgemm
    # What is stored by rows is, to BLAS, a transpose that is stored by columns.
    return gemm(1.0, B.T, A.T, trans_b=transpose).T


def add_gram(total: np.ndarray, Z: np.ndarray) -> None:
    """Add ZᵀZ, computed in the dtype of Z, to the upper triangle of float64 sums.

    Parameters
    ----------
    total : float64 array of shape (m, m), stored by columns
        The sums; what is below the diagonal is not kept up.
    Z : array of shape (n, m), stored by rows
        A block of features.

    Examples
    --------
    >>> total = np.zeros((2, 2), order="F")
    >>> add_gram(total, np.asarray([[1.0, 2.0], [0.0, 1.0]]))
    >>> np.triu(total)
    array([[1., 2.],
           [0., 5.]])
    """
    single, m = Z.dtype == np.float32, Z.shape[1]
    gemm, rank_k = (blas.sgemm, blas.ssyrk) if single else (blas.dgemm, blas.dsyrk)
    # Z is stored by rows: its transpose is what BLAS calls a matrix stored by columns. All
    # products go to one BLAS: the threads of NumPy's and SciPy's would wait for each other.
    columns = np.ascontiguousarray(Z).T
    room = np.empty(m * PANEL if m > PANEL else 0, dtype=Z.dtype)
    for start in range(0, m, PANEL):
        stop = min(start + PANEL, m)
        own = columns[start:stop]
        total[start:stop, start:stop] += rank_k(1.0, own, lower=0)
        if start:
            work = room[: start * (stop - start)].reshape((start, stop - start), order="F")
            above = gemm(1.0, columns[:start], own, trans_b=True, c=work, overwrite_c=True)
            total[:start, start:stop] += above


def inner_products(X: Any, Y: Any) -> Any:
    """Return the dense matrix of inner products of the rows of ``X`` and ``Y``."""
    if is_numpy(X):
        X, Y = densified(X), densified(Y)
        if is_sparse(X) or is_sparse(Y):
            result = X @ Y.T
            return result.toarray() if is_sparse(result) else np.asarray(result)
    return algebra_of(X).product(X, Y.T)


def densified(X: Any) -> Any:
    """Return a sparse block as a dense one where that makes its products faster."""
    if is_sparse(X) and X.nnz > DENSE_ENOUGH * X.shape[0] * X.shape[1]:
        return X.toarray()
    return X


def dense(X: Any) -> Any:
    """Return a block of rows as a dense array."""
    return X.toarray() if is_sparse(X) else X
