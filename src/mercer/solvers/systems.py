"""Ways to the same ridge solution: normal equations, dual, and QR.

Each knows the eigenvalues of S, the residual sum of squares for any λ, and the
coefficients; which of them is used changes time and precision, not the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy.linalg

from .path import Path


class System(Protocol):
    """What the choice of λ needs to know of a system."""

    name: str
    eigenvalues: np.ndarray

    def freedom(self, lam: float) -> float:
        """Return the trace of S (S + λ)⁻¹."""
        ...

    def residual_squares(self, lam: float) -> np.ndarray:
        """Return RSS(λ) for every target."""
        ...

    def coefficients(self, lams: np.ndarray) -> np.ndarray:
        """Return θ, of shape (n_features, n_targets), for a λ of every target."""
        ...


class _Spectrum:
    """A system that knows all eigenvalues of S."""

    eigenvalues: np.ndarray

    def freedom(self, lam: float) -> float:
        """Return the trace of S (S + λ)⁻¹; a λ of 0 counts the eigenvalues that are not 0."""
        positive = self.eigenvalues[self.eigenvalues > 0]
        return float((positive / (positive + lam)).sum())


class PrimalSystem(_Spectrum):
    """The normal equations (S + λ I) θ = B.

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

    def residual_squares(self, lam: float) -> np.ndarray:
        """Return RSS(λ) for every target, from the statistics alone."""
        fitted, norm = self._path.products(lam)
        # yy - 2 θᵀb + θᵀSθ, where Sθ = b - λθ; a perfect fit cancels, but not below zero.
        return np.maximum(self._squares - fitted - lam * norm, 1e-12 * self._squares)

    def coefficients(self, lams: np.ndarray) -> np.ndarray:
        """Return θ for a λ of every target."""
        return self._path.solve(lams)


class GivenSystem:
    """The normal equations for one λ: a Cholesky decomposition in place of all eigenvalues.

    Parameters
    ----------
    gram, cross, squares
        As in :class:`PrimalSystem`; nothing is overwritten.
    lam : float
        The ridge parameter; above what rounding leaves undecided.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import GivenSystem
    >>> system = GivenSystem(np.diag([3.0, 1.0]), np.ones((2, 1)), np.array([9.0]), 1.0)
    >>> system.coefficients(np.array([1.0])).ravel(), system.freedom(1.0)
    (array([0.25, 0.5 ]), 1.25)
    """

    name = "primal"

    def __init__(
        self, gram: np.ndarray, cross: np.ndarray, squares: np.ndarray, lam: float
    ) -> None:
        A = np.array(gram.T, order="F")
        A[np.diag_indices_from(A)] += lam
        factor, failed = scipy.linalg.lapack.dpotrf(A, lower=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError(f"S + λ is not positive definite for λ = {lam:.3g}")
        self._coef = scipy.linalg.cho_solve((factor, True), cross)
        self._residual = squares - 2 * np.sum(self._coef * cross, axis=0)
        self._residual += np.sum(self._coef * (cross - lam * self._coef), axis=0)
        self._squares = squares
        triangle, _ = scipy.linalg.lapack.dtrtri(factor, lower=1, overwrite_c=1)
        self._freedom = float(len(gram) - lam * np.einsum("ki,ki->", triangle, triangle))
        #: The largest only.
        self.eigenvalues = np.asarray([_largest(gram)])

    def freedom(self, lam: float) -> float:
        """Return the trace of S (S + λ)⁻¹."""
        return self._freedom

    def residual_squares(self, lam: float) -> np.ndarray:
        """Return RSS(λ) for every target, from the statistics alone."""
        return np.maximum(self._residual, 1e-12 * self._squares)

    def coefficients(self, lams: np.ndarray) -> np.ndarray:
        """Return θ."""
        return np.asarray(self._coef)


def _largest(S: np.ndarray) -> float:
    """Return the largest eigenvalue, to a percent or so, by powers of the matrix."""
    vector = np.abs(S).sum(axis=0)
    value = 0.0
    for _ in range(20):
        norm = float(np.linalg.norm(vector))
        if norm == 0:
            return 0.0
        vector = S @ (vector / norm)
        value = float(np.linalg.norm(vector))
    return value


class DualSystem(_Spectrum):
    """The dual (K + λ I) α = Y, for fewer rows than features or for an exact kernel.

    Parameters
    ----------
    gram : array of shape (n, n)
        K, the inner products of the centred rows, scaled by the roots of their weights. It is
        overwritten.
    Y : array of shape (n, n_targets)
        Centred targets, likewise.
    expand : callable
        Makes coefficients θ of α.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import DualSystem
    >>> Z = np.array([[1.0, 2.0, 2.0]])
    >>> system = DualSystem(Z @ Z.T, np.array([[10.0]]), expand=lambda alpha: Z.T @ alpha)
    >>> system.coefficients(np.array([1.0])).ravel()
    array([1., 2., 2.])
    """

    name = "dual"

    def __init__(
        self, gram: np.ndarray, Y: np.ndarray, expand: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        self._expand = expand
        self._path = Path(gram, Y)
        self.eigenvalues = self._path.eigenvalues

    def residual_squares(self, lam: float) -> np.ndarray:
        """Return RSS(λ) for every target: the residuals are λ α."""
        return lam * lam * self._path.products(lam)[1]

    def coefficients(self, lams: np.ndarray) -> np.ndarray:
        """Return θ for a λ of every target."""
        return self._expand(self._path.solve(lams))


class OrthogonalSystem(_Spectrum):
    """The triangular factor of all rows, for λ too small for the normal equations.

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

    def residual_squares(self, lam: float) -> np.ndarray:
        """Return RSS(λ) for every target."""
        shrunk = lam / (self._singular**2 + lam)
        return self._beyond + ((shrunk[:, None] * self._rotated) ** 2).sum(axis=0)

    def coefficients(self, lams: np.ndarray) -> np.ndarray:
        """Return θ for a λ of every target."""
        s = self._singular[:, None]
        return self._Vt.T @ (s / (s * s + lams[None, :]) * self._rotated)
