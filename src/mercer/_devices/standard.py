"""Linear algebra in the words of the Array API, and NumPy's by SciPy."""

from __future__ import annotations

from typing import Any

import scipy.linalg

from .._array import as_floating, dtype_name, is_numpy, namespace, zeros_beside
from .sums import ROWS_OF_A_SUM


class StandardAlgebra:
    """Linear algebra of NumPy arrays, and of any library that keeps to the Array API."""

    def product(self, A: Any, B: Any, out: Any = None) -> Any:
        """Return ``A @ B``, into ``out`` if given."""
        found = A @ B
        if out is None:
            return found
        out[...] = found
        return out

    def sum_of_products(self, A: Any, B: Any) -> Any:
        """Return AᵀB in float64."""
        each = ROWS_OF_A_SUM if dtype_name(A) == "float32" else max(1, A.shape[0])
        total = zeros_beside(A, (A.shape[1], B.shape[1]))
        for start in range(0, A.shape[0], each):
            stop = min(start + each, A.shape[0])
            total += as_floating(A[start:stop, :].T @ B[start:stop, :], "float64")
        return total

    def add_gram(self, total: Any, Z: Any) -> None:
        """Add ZᵀZ to the upper triangle of ``total``."""
        total += self.sum_of_products(Z, Z)

    def mirrored(self, upper: Any) -> Any:
        """Return a symmetric matrix from its upper triangle."""
        xp = namespace(upper)
        return xp.triu(upper) + xp.triu(upper, k=1).T

    def cholesky(self, S: Any) -> Any:
        """Return the lower Cholesky factor."""
        return namespace(S).linalg.cholesky(S)

    def solve_triangular(self, L: Any, B: Any, transposed: bool = False) -> Any:
        """Return the inverse of a lower triangular matrix, or of its transpose, times B."""
        if is_numpy(L):
            return scipy.linalg.solve_triangular(
                L, B, lower=True, trans=int(transposed), check_finite=False
            )
        # The Array API has no triangular solve.
        return namespace(L).linalg.solve(L.T if transposed else L, B)

    def cholesky_solve(self, L: Any, B: Any) -> Any:
        """Return the inverse of ``L @ L.T`` times B."""
        if is_numpy(L):
            return scipy.linalg.cho_solve((L, True), B, check_finite=False)
        return self.solve_triangular(L, self.solve_triangular(L, B), transposed=True)

    def eigh(self, S: Any) -> tuple[Any, Any]:
        """Return eigenvalues, ascending, and eigenvectors."""
        values, vectors = namespace(S).linalg.eigh(S)
        return values, vectors

    def synchronize(self, X: Any) -> None:
        """Do nothing: work is done when a call returns."""
