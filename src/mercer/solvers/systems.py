"""Ways to the same ridge solution from features: normal equations and QR.

Each knows the eigenvalues of S, the residual sum of squares for any alpha, and the
coefficients; which of them is used changes time and precision, not the answer.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol

import numpy as np
import scipy.linalg

from .._array import is_numpy, moved, namespace, to_numpy
from .._devices import algebra_of
from .device_path import path_of
from .problem import Problem, Totals
from .qr import ReducedRows
from .shifted import cholesky_at, identity_beside
from .symmetric_sums import largest_eigenvalue


class System(Protocol):
    """What the choice of alpha needs to know of a system."""

    name: str

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of S that are known, ascending; the largest at least."""
        ...

    def shrunk(self, alpha: float, rank: int) -> float:
        """Return the trace of alpha (S + alpha)⁻¹ over ``rank`` directions, those of S."""
        ...

    def residual_squares(self, alpha: float) -> np.ndarray:
        """Return RSS(alpha) for every target."""
        ...

    def coefficients(self, alphas: np.ndarray) -> Any:
        """Return θ, of shape (n_features, n_targets), for an alpha of every target.

        It is where the sums are; all else is NumPy's.
        """
        ...


def residual_freedom(system: System, alpha: float, totals: Totals, problem: Problem) -> float:
    """Return the residual degrees of freedom: rows that count, less what the fit uses up."""
    counted = problem.counted(totals.weight, totals.n_positive)
    # No more directions than rows can vary.
    rank = min(totals.n_features, max(totals.n_positive - problem.intercept, 0))
    return counted - problem.intercept - rank + system.shrunk(alpha, rank)


class _Spectrum:
    """A system that knows all eigenvalues of S."""

    @property
    @abstractmethod
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of S, ascending, none negative."""

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

    def __init__(self, gram: Any, cross: Any, squares: Any) -> None:
        self._path = path_of(gram, cross)
        self._squares = to_numpy(squares)

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of S, ascending, none negative."""
        return self._path.eigenvalues

    def residual_squares(self, alpha: float) -> np.ndarray:
        """Return RSS(alpha) for every target, from the statistics alone."""
        fitted, norm = self._path.products(alpha)
        # yy - 2 θᵀb + θᵀSθ, where Sθ = b - alphaθ; a perfect fit cancels, but not below zero.
        return np.maximum(self._squares - fitted - alpha * norm, 1e-12 * self._squares)

    def coefficients(self, alphas: np.ndarray) -> Any:
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
        gram: Any,
        cross: Any,
        squares: Any,
        alpha: float,
        largest: float | None = None,
    ) -> None:
        xp = namespace(gram)
        factor = _factor(gram, alpha)
        self._coef = algebra_of(factor).cholesky_solve(factor, cross)
        fitted = xp.sum(self._coef * cross, axis=0)
        rest = xp.sum(self._coef * (cross - float(alpha) * self._coef), axis=0)
        self._residual = to_numpy(squares - 2 * fitted + rest)
        self._squares = to_numpy(squares)
        self._shrunk = alpha * _trace_of_inverse(factor)
        self._size = int(gram.shape[0])
        #: The largest only.
        self.eigenvalues: np.ndarray = np.asarray(
            [largest_eigenvalue(gram) if largest is None else largest]
        )

    def shrunk(self, alpha: float, rank: int) -> float:
        """Return the trace of alpha (S + alpha)⁻¹, less the directions that S does not have."""
        return self._shrunk - (self._size - rank)

    def residual_squares(self, alpha: float) -> np.ndarray:
        """Return RSS(alpha) for every target, from the statistics alone."""
        return np.maximum(self._residual, 1e-12 * self._squares)

    def coefficients(self, alphas: np.ndarray) -> Any:
        """Return θ."""
        return self._coef


def _factor(gram: Any, alpha: float) -> Any:
    """Return the lower Cholesky factor of S + alpha."""
    if not is_numpy(gram):
        return cholesky_at(gram, alpha)
    # S is symmetric: whichever way it is stored, it is not transposed.
    A = np.array(gram if gram.flags.f_contiguous else gram.T, order="F")
    A[np.diag_indices_from(A)] += alpha
    factor, failed = scipy.linalg.lapack.dpotrf(A, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError(f"S + alpha is not positive definite for alpha = {alpha:.3g}")
    return factor


def _trace_of_inverse(factor: Any) -> float:
    """Return the trace of the inverse of ``L @ L.T``; NumPy's factor is overwritten."""
    if is_numpy(factor):
        triangle, _ = scipy.linalg.lapack.dtrtri(factor, lower=1, overwrite_c=1)
        return float(np.einsum("ki,ki->", triangle, triangle))
    identity = identity_beside(factor, factor.shape[0])
    triangle = algebra_of(factor).solve_triangular(factor, identity)
    return float(namespace(factor).sum(triangle * triangle))


class OrthogonalSystem(_Spectrum):
    """The triangular factor of all rows, for an alpha that is too small for the normal equations.

    S would square the condition number; the singular values of R keep it.

    Parameters
    ----------
    rows : ReducedRows
        The QR decomposition of the centred features, and the targets in its coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import OrthogonalSystem, reduced_rows
    >>> rows = reduced_rows(np.array([[2.0], [0.0]]), np.array([[5.0], [1.0]]))
    >>> system = OrthogonalSystem(rows)
    >>> system.coefficients(np.array([1.0])).ravel(), system.residual_squares(1.0)
    (array([2.]), array([2.]))
    """

    name = "qr"

    def __init__(self, rows: ReducedRows) -> None:
        xp = namespace(rows.triangle)
        U, self._singular, self._Vt = xp.linalg.svd(rows.triangle, full_matrices=False)
        self._rotated = U.T @ rows.rotated
        # With more features than rows U is square, and no target has anything beyond it.
        self._beyond = to_numpy(rows.beyond)

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of S, ascending."""
        found = to_numpy(self._singular)[::-1] ** 2
        # With fewer rows than features the others are zero.
        return np.concatenate([np.zeros(self._Vt.shape[1] - len(found)), found])

    def residual_squares(self, alpha: float) -> np.ndarray:
        """Return RSS(alpha) for every target."""
        xp = namespace(self._singular)
        shrunk = float(alpha) / (self._singular**2 + float(alpha))
        return self._beyond + to_numpy(xp.sum((shrunk[:, None] * self._rotated) ** 2, axis=0))

    def coefficients(self, alphas: np.ndarray) -> Any:
        """Return θ for an alpha of every target."""
        s = self._singular[:, None]
        return self._Vt.T @ (s / (s * s + moved(alphas, s)[None, :]) * self._rotated)
