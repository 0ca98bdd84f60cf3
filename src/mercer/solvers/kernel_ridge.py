"""Ridge regression with a kernel matrix at hand, and its exact leave-one-out error."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.linalg

from .posterior import cholesky


@dataclass(frozen=True)
class KernelSolution:
    """What :func:`solve_kernel` did.

    Attributes
    ----------
    coef : array of shape (n_rows, n_targets)
        The coefficients β of the kernel functions of the rows.
    intercept : array of shape (n_targets,)
        The constants.
    left_out : array of shape (n_rows, n_targets)
        What a machine that had not seen the row, whatever its weight, is off by.
    lam : float
        The ridge parameter.
    scores : array of shape (n_lams,)
        The mean of squares of ``left_out`` for every candidate.

    Examples
    --------
    >>> from mercer.solvers import solve_kernel
    >>> solution = solve_kernel(np.eye(2), np.asarray([[2.0], [4.0]]), [1.0])
    >>> solution.coef.ravel(), solution.intercept, solution.left_out.ravel()
    (array([-0.5,  0.5]), array([3.]), array([-2.,  2.]))
    """

    coef: np.ndarray = field(repr=False)
    intercept: np.ndarray = field(repr=False)
    left_out: np.ndarray = field(repr=False)
    lam: float
    scores: np.ndarray


def solve_kernel(
    K: np.ndarray, Y: np.ndarray, lams: np.ndarray, weights: np.ndarray | None = None
) -> KernelSolution:
    """Return β = (K + λ W⁻¹)⁻¹ (Y - b) for the λ of the smallest leave-one-out error.

    The constants b are those of the best fit, and are not penalised. A Cholesky decomposition
    and an inverse for each candidate.

    Parameters
    ----------
    K : array of shape (n_rows, n_rows)
        The kernel matrix; it is not changed.
    Y : array of shape (n_rows, n_targets)
        Targets.
    lams : array of shape (n_lams,)
        Candidates for λ.
    weights : array of shape (n_rows,), default=None
        Positive weights W of the rows.

    Examples
    --------
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> K = np.exp(-abs(x - x.T))
    >>> solve_kernel(K, x, [1e-3, 10.0]).lam
    0.001
    """
    w = np.ones(len(K)) if weights is None else weights
    best: KernelSolution | None = None
    scores = []
    for lam in np.atleast_1d(lams):
        # By columns, as LAPACK wants it: nothing is copied on the way.
        A = np.array(K.T, order="F")
        A[np.diag_indices_from(A)] += lam / w
        factor = _factor(A, K, lam / w)
        both = scipy.linalg.cho_solve((factor, True), np.column_stack([Y, np.ones(len(K))]))
        coef, ones = both[:, :-1], both[:, -1]
        intercept = coef.sum(axis=0) / ones.sum()
        coef = coef - ones[:, None] * intercept
        # The inverse of the triangle is enough, and half the work of that of the matrix.
        triangle, _ = scipy.linalg.lapack.dtrtri(factor, lower=1, overwrite_c=1)
        # A row is left out whole, whatever its weight: a part of it would tell what it is.
        left_out = (
            coef / (np.einsum("ki,ki->i", triangle, triangle) - ones**2 / ones.sum())[:, None]
        )
        scores.append(float(np.sum(w[:, None] * left_out**2) / w.sum()))
        if best is None or scores[-1] < min(scores[:-1]):
            best = KernelSolution(coef, intercept, left_out, float(lam), np.empty(0))
    assert best is not None
    return replace(best, scores=np.asarray(scores))


def _factor(A: np.ndarray, K: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor of A, which is lost, raised where rounding asks for it."""
    factor, failed = scipy.linalg.lapack.dpotrf(A, lower=1, overwrite_a=1)
    if not failed:
        return np.asarray(factor)
    S = K + np.diag(diagonal)
    return np.asfortranarray(cholesky(S, 0.0, 10 * float(np.finfo(float).eps)))
