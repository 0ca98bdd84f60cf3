"""The regularisation path of (S + α I) θ = B on an accelerator: factors, and eigenvectors once.

A tridiagonal reduction, which :class:`~mercer.solvers.path.Path` makes, is bound by memory and by
the number of steps; Cholesky factorisations run at the speed of matrix products, so that one for
each α costs less. Eigenvalues, where they are asked for, come from one eigendecomposition.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np

from .._array import is_numpy, moved, namespace, to_numpy
from .._devices import algebra_of
from .path import Path
from .shifted import cholesky_at


class RidgePath(Protocol):
    """Solutions of (S + α I) θ = B for any α > 0."""

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of S, ascending, none negative."""
        ...

    def products(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return, for every target, θᵀb and θᵀθ."""
        ...

    def solve(self, alpha: float | np.ndarray) -> Any:
        """Return θ for one α, or for one α for each target."""
        ...


class DevicePath:
    """Solutions of (S + α I) θ = B for any α > 0, where S and B are.

    Parameters
    ----------
    S : array of shape (m, m)
        Symmetric, positive semi-definite, of any library.
    B : array of shape (m, n_targets)
        Right-hand sides.

    Examples
    --------
    >>> path = DevicePath(np.diag([3.0, 1.0]), np.ones((2, 1)))
    >>> path.solve(1.0).ravel(), path.eigenvalues
    (array([0.25, 0.5 ]), array([1., 3.]))
    """

    def __init__(self, S: Any, B: Any) -> None:
        self._S, self._B = S, B

    @cached_property
    def _spectrum(self) -> tuple[Any, Any, Any]:
        """Eigenvalues and eigenvectors of S, and B in their coordinates."""
        values, vectors = algebra_of(self._S).eigh(self._S)
        return values, vectors, vectors.T @ self._B

    @cached_property
    def _squares(self) -> Any:
        return self._spectrum[2] ** 2

    @cached_property
    def _host_values(self) -> np.ndarray:
        return to_numpy(self._spectrum[0])

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of S, ascending, none negative."""
        return np.maximum(self._host_values, 0.0)

    def products(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return, for every target, θᵀb and θᵀθ."""
        shrink = 1 / (self._spectrum[0] + self._raised(alpha))
        both = namespace(shrink).stack([shrink, shrink**2]) @ self._squares
        fitted, norm = to_numpy(both)
        return fitted, norm

    def solve(self, alpha: float | np.ndarray) -> Any:
        """Return θ for one α, or for one α for each target."""
        alphas, place = np.unique(alpha, return_inverse=True)
        if alphas.size == 1 and "_spectrum" not in self.__dict__:
            try:
                factor = cholesky_at(self._S, float(alphas[0]))
                return algebra_of(self._S).cholesky_solve(factor, self._B)
            except np.linalg.LinAlgError:
                # Rounding has left S indefinite; its eigenvalues tell by how much.
                pass
        values, vectors, rotated = self._spectrum
        raised = np.asarray([self._raised(float(one)) for one in alphas])[place.ravel()]
        return vectors @ (rotated / (values[:, None] + moved(raised, values)[None, :]))

    def _raised(self, alpha: float) -> float:
        """Return α, raised by what rounding may have made negative."""
        values = self._host_values
        rounding = 4 * np.finfo(float).eps * max(float(values[-1]), 0.0) * len(values) ** 0.5
        missing = rounding + max(0.0, -1.01 * float(values[0]))
        return float(alpha if alpha > 2 * missing else alpha + missing)


def path_of(S: Any, B: Any) -> RidgePath:
    """Return the path of a system in the way that suits where it is; NumPy's S is overwritten.

    Examples
    --------
    >>> type(path_of(np.eye(2), np.ones((2, 1)))).__name__
    'Path'
    """
    return Path(S, B) if is_numpy(S) else DevicePath(S, B)
