"""Ways to the same ridge solution from features: normal equations and QR.

Each knows the eigenvalues of S, the residual sum of squares for any alpha, and the
coefficients; which of them is used changes time and precision, not the answer.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.linalg

from .path import Path
from .problem import Problem, Totals


class System(Protocol):
    """What the choice of alpha needs to know of a system."""

    name: str
    eigenvalues: np.ndarray

    def shrunk(self, alpha: float, rank: int) -> float:
        """Return the trace of alpha (S + alpha)⁻¹ over ``rank`` directions, those of S."""
        ...

    def residual_squares(self, alpha: float) -> np.ndarray:
        """Return RSS(alpha) for every target."""
        ...

    def coefficients(self, alphas: np.ndarray) -> np.ndarray:
        """Return θ, of shape (n_features, n_targets), for an alpha of every target."""
        ...


def residual_freedom(system: System, alpha: float, totals: Totals, problem: Problem) -> float:
    """Return the residual degrees of freedom: rows that count, less what the fit uses up."""
    counted = problem.counted(totals.weight, totals.n_positive)
    # No more directions than rows can vary.
    rank = min(totals.n_features, max(totals.n_positive - problem.intercept, 0))
    return counted - problem.intercept - rank + system.shrunk(alpha, rank)


class _Spectrum:
    """A system that knows all eigenvalues of S."""

    eigenvalues: np.ndarray

    def shrunk(self, alpha: float, rank: int) -> float:
        """Return the trace of alpha (S + alpha)⁻¹ over the largest eigenvalues."""
        largest = self.eigenvalues[len(self.eigenvalues) - rank :]
        # An alpha of 0 counts the eigenvalues that are 0.
        return float(np.divide(alpha, largest + alpha, out=np.ones(rank), where=largest > 0).sum())


class PrimalSystem(_Spectrum):
    """The normal equations (S + alpha I) θ = B.

    Parameters
    ----------
    gram : array of shape (m, m)
        S, centred; it is overwritten.
    cross : array of shape (m, n_targets)
        B, centred.
    squares : array of shape (n_targets,)
        Sums of squares of the centred targets.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import PrimalSystem
    >>> system = PrimalSystem(np.diag([3.0, 1.0]), np.ones((2, 1)), np.array([9.0]))
    >>> system.coefficients(np.array([1.0])).ravel()
    array([0.25, 0.5 ])
    """

    name = "primal"

    def __init__(self, gram: np.ndarray, cross: np.ndarray, squares: np.ndarray) -> None:
        self._path = Path(gram, cross)
        self._squares = squares
        self.eigenvalues = self._path.eigenvalues

    def residual_squares(self, alpha: float) -> np.ndarray:
        """Return RSS(alpha) for every target, from the statistics alone."""
        fitted, norm = self._path.products(alpha)
        # yy - 2 θᵀb + θᵀSθ, where Sθ = b - alphaθ; a perfect fit cancels, but not below zero.
        return np.maximum(self._squares - fitted - alpha * norm, 1e-12 * self._squares)

    def coefficients(self, alphas: np.ndarray) -> np.ndarray:
        """Return θ for an alpha of every target."""
        return self._path.solve(alphas)


class GivenSystem:
    """The normal equations for one alpha: a Cholesky decomposition in place of all eigenvalues.

    Parameters
    ----------
    gram, cross, squares
        As in :class:`PrimalSystem`; nothing is overwritten.
    alpha : float
        The ridge parameter; above what rounding leaves undecided.
    largest : float, optional
        The largest eigenvalue of S, if it is known.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import GivenSystem
    >>> system = GivenSystem(np.diag([3.0, 1.0]), np.ones((2, 1)), np.array([9.0]), 1.0)
    >>> system.coefficients(np.array([1.0])).ravel(), round(system.shrunk(1.0, rank=2), 9)
    (array([0.25, 0.5 ]), 0.75)
    """

    name = "primal"

    def __init__(
        self,
        gram: np.ndarray,
        cross: np.ndarray,
        squares: np.ndarray,
        alpha: float,
        largest: float | None = None,
    ) -> None:
        # S is symmetric: whichever way it is stored, it is not transposed.
        A = np.array(gram if gram.flags.f_contiguous else gram.T, order="F")
        A[np.diag_indices_from(A)] += alpha
        factor, failed = scipy.linalg.lapack.dpotrf(A, lower=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError(
                f"S + alpha is not positive definite for alpha = {alpha:.3g}"
            )
        self._coef = scipy.linalg.cho_solve((factor, True), cross)
        self._residual = squares - 2 * np.sum(self._coef * cross, axis=0)
        self._residual += np.sum(self._coef * (cross - alpha * self._coef), axis=0)
        self._squares = squares
        triangle, _ = scipy.linalg.lapack.dtrtri(factor, lower=1, overwrite_c=1)
        self._shrunk = float(alpha * np.einsum("ki,ki->", triangle, triangle))
        self._size = len(gram)
        #: The largest only.
        self.eigenvalues = np.asarray([largest_eigenvalue(gram) if largest is None else largest])

    def shrunk(self, alpha: float, rank: int) -> float:
        """Return the trace of alpha (S + alpha)⁻¹, less the directions that S does not have."""
        return self._shrunk - (self._size - rank)

    def residual_squares(self, alpha: float) -> np.ndarray:
        """Return RSS(alpha) for every target, from the statistics alone."""
        return np.maximum(self._residual, 1e-12 * self._squares)

    def coefficients(self, alphas: np.ndarray) -> np.ndarray:
        """Return θ."""
        return np.asarray(self._coef)


def largest_eigenvalue(S: np.ndarray) -> float:
    """Return the largest eigenvalue, to a percent or so, by powers of the matrix.

    Examples
    --------
    >>> round(largest_eigenvalue(np.diag([3.0, 1.0])), 6)
    3.0
    """
    vector = np.abs(S).sum(axis=0)
    value = 0.0
    for _ in range(20):
        norm = float(np.linalg.norm(vector))
        if norm == 0:
            return 0.0
        vector = S @ (vector / norm)
        value = float(np.linalg.norm(vector))
    return value


class OrthogonalSystem(_Spectrum):
    """The triangular factor of all rows, for an alpha that is too small for the normal equations.

    S would square the condition number; the singular values of R keep it.

    Parameters
    ----------
    triangle : array of shape (m + n_targets, m + n_targets)
        The factor R of the QR decomposition of the centred [Z, Y].
    n_targets : int
        How many of the last columns are targets.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import OrthogonalSystem
    >>> system = OrthogonalSystem(np.array([[2.0, 5.0], [0.0, 1.0]]), n_targets=1)
    >>> system.coefficients(np.array([1.0])).ravel(), system.residual_squares(1.0)
    (array([2.]), array([2.]))
    """

    name = "qr"

    def __init__(self, triangle: np.ndarray, n_targets: int) -> None:
        m = triangle.shape[1] - n_targets
        U, self._singular, self._Vt = np.linalg.svd(triangle[:m, :m])
        self._rotated = U.T @ triangle[:m, m:]
        self._beyond = (triangle[m:, m:] ** 2).sum(axis=0)
        self.eigenvalues = self._singular[::-1] ** 2

    def residual_squares(self, alpha: float) -> np.ndarray:
        """Return RSS(alpha) for every target."""
        shrunk = alpha / (self._singular**2 + alpha)
        return self._beyond + ((shrunk[:, None] * self._rotated) ** 2).sum(axis=0)

    def coefficients(self, alphas: np.ndarray) -> np.ndarray:
        """Return θ for an alpha of every target."""
        s = self._singular[:, None]
        return self._Vt.T @ (s / (s * s + alphas[None, :]) * self._rotated)
