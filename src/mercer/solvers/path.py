"""The whole regularisation path of (S + α I) θ = B from one tridiagonal reduction.

Writing S = Q T Qᵀ with T tridiagonal costs a third of an eigendecomposition, as no
eigenvectors are formed. For every α the system is then tridiagonal, and the eigenvalues of
T, which are those of S, give the degrees of freedom.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal, lapack

from ..engine.threads import single_threaded_blas


class Path:
    """Solutions of (S + α I) θ = B for any α > 0.

    Parameters
    ----------
    S : array of shape (m, m)
        Symmetric, positive semi-definite. It is overwritten.
    B : array of shape (m, n_targets)
        Right-hand sides.

    Attributes
    ----------
    eigenvalues : array of shape (m,)
        Of S, ascending, none negative.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.path import Path
    >>> path = Path(np.diag([3.0, 1.0]), np.ones((2, 1)))
    >>> path.solve(1.0).ravel()
    array([0.25, 0.5 ])
    """

    def __init__(self, S: np.ndarray, B: np.ndarray) -> None:
        m = S.shape[0]
        # The reduction is bound by memory: a second BLAS thread gains little, and on a busy
        # machine two that wait for each other at each of m steps lose a lot.
        with single_threaded_blas():
            self._reflectors, self._diagonal, self._off, self._tau, info = _tridiagonalised(S)
        if info:
            raise np.linalg.LinAlgError("The tridiagonal reduction of the features failed.")
        self._rotated = self._rotate(B, transposed=True)
        spectrum = self._diagonal if m == 1 else eigvalsh_tridiagonal(self._diagonal, self._off)
        self.eigenvalues: np.ndarray = np.maximum(spectrum, 0.0)
        # Rounding (that of float32 features above all) may leave S slightly indefinite; the
        # diagonal is raised by that much.
        rounding = 4 * np.finfo(float).eps * self.eigenvalues[-1] * m**0.5
        self._raise = rounding + max(0.0, -1.01 * float(spectrum[0]))

    def products(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return, for every target, θᵀb and θᵀθ."""
        u = self._reduced(alpha)
        return (u * self._rotated).sum(axis=0), (u * u).sum(axis=0)

    def solve(self, alpha: float | np.ndarray) -> np.ndarray:
        """Return θ for one α, or for one α for each target."""
        alphas = np.broadcast_to(alpha, self._rotated.shape[1:])
        u = np.empty_like(self._rotated)
        for value in np.unique(alphas):
            chosen = alphas == value
            u[:, chosen] = self._reduced(float(value))[:, chosen]
        return self._rotate(u, transposed=False)

    def _reduced(self, alpha: float) -> np.ndarray:
        """Return the solution of the tridiagonal system, in rotated coordinates."""
        diagonal = self._diagonal + (alpha if alpha > 2 * self._raise else alpha + self._raise)
        if len(diagonal) == 1:
            return self._rotated / diagonal[:, None]
        *_, solution, info = lapack.dptsv(diagonal, self._off, self._rotated)
        if info:
            raise np.linalg.LinAlgError(
                f"The features are too ill-conditioned for a ridge parameter of {alpha:.3g}; "
                "use a larger one."
            )
        return solution

    def _rotate(self, B: np.ndarray, transposed: bool) -> np.ndarray:
        """Return Qᵀ B or Q B. The first row is not touched by the reflectors."""
        B = np.array(B, dtype=float, order="F")
        if B.shape[0] == 1:
            return B
        with single_threaded_blas():
            rest, _, info = lapack.dormqr(
                "L",
                "T" if transposed else "N",
                self._reflectors,
                self._tau,
                np.asfortranarray(B[1:]),
                lwork=64 * max(64, B.shape[1]),
            )
        if info:
            raise np.linalg.LinAlgError("The rotation of the targets failed.")
        B[1:] = rest
        return B


def _tridiagonalised(
    S: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Return reflectors, diagonal, off-diagonal, their scales and an error code."""
    m = S.shape[0]
    if m == 1:
        return S, S[0].copy(), np.empty(0), np.empty(0), 0
    lwork = int(lapack.dsytrd_lwork(m, lower=1)[0])
    reduced, diagonal, off, tau, info = lapack.dsytrd(S, lower=1, lwork=lwork, overwrite_a=1)
    # Below the first row the reflectors lie as those of a QR decomposition do.
    return np.asfortranarray(reduced[1:, :-1]), diagonal, off, tau, info
