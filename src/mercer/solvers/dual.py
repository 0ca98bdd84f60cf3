"""Ridge regression in the space of the rows: with a kernel matrix, or with few rows of features.

With K_w = W^½ K W^½ and s = W^½ 1 the scaled coefficients r and the constant b solve

    (K_w + α) r = W^½ y - s b,    sᵀ r = 0,

and B = A⁻¹ - A⁻¹s sᵀA⁻¹ / sᵀA⁻¹s with A = K_w + α tells everything else: r = B W^½ y, the
residuals are α r, their degrees of freedom are α tr B, and the error of a row that is left out is
r_i / (B_ii √w_i). All of these are sums of positive terms: nothing cancels as α becomes small, as
1 - leverage would.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from .._array import beside, is_numpy, namespace, to_numpy
from .._devices import algebra_of
from ..engine.threads import allowed_threads
from .problem import KNOWN, TRUSTED, Problem, Solution, choose, generalised_error
from .shifted import cholesky, inverse_diagonal

#: Candidates from which on one eigendecomposition costs less than a Cholesky decomposition and
#: the inverse of its factor for each of them.
MANY_CANDIDATES = 9
EPSILON = float(np.finfo(float).eps)
#: Deviations from the mean, over the largest value, that are rounding errors of a constant.
CONSTANT = 1e-13


class _At(NamedTuple):
    """What is known at one alpha: r, b, the diagonal of B."""

    r: np.ndarray
    b: np.ndarray
    B: np.ndarray


class _System:
    """The scaled system of rows that have weight.

    The matrix, its factors and eigenvectors stay in the library and on the device of K; what has
    a number for each row and target is NumPy's.
    """

    def __init__(self, K: Any, Y: np.ndarray, weights: np.ndarray | None, intercept: bool):
        n = K.shape[0]
        self.n_rows, self.intercept = n, intercept
        self.weight = float(n) if weights is None else float(weights.sum())
        self.roots = np.ones(n) if weights is None else np.sqrt(weights)
        self.y_mean = np.zeros(Y.shape[1])
        if intercept:
            self.y_mean = np.average(Y, axis=0, weights=weights)
        self.Y = self.roots[:, None] * (Y - self.y_mean)
        # What rounding leaves of a constant target is no target.
        self.Y[:, np.abs(self.Y).max(axis=0) <= CONSTANT * np.abs(Y).max(axis=0)] = 0.0
        roots = beside(K, self.roots)
        self.K = K if weights is None else roots[:, None] * K * roots

    def trace(self) -> float:
        """Return the trace of K_w, which no eigenvalue exceeds."""
        return float(namespace(self.K).linalg.trace(self.K))

    def mean_eigenvalue(self, n_features: int) -> float:
        """Return the mean of the eigenvalues that a constant leaves, over as many columns."""
        trace = self.trace()
        if self.intercept:
            along = self.along_roots()
            trace = max(trace - along / self.weight, 0.0)
        return trace / n_features

    def along_roots(self) -> float:
        """Return sᵀ K_w s."""
        if is_numpy(self.K):
            # Not by a product of NumPy: its threads would wait while those of SciPy work.
            return float(np.einsum("i,ij,j->", self.roots, self.K, self.roots, optimize=False))
        roots = beside(self.K, self.roots[:, None])
        return float(to_numpy(roots.T @ (self.K @ roots))[0, 0])

    def by_eigenvectors(self) -> _Spectrum:
        """Return the eigendecomposition, from which every alpha is cheap."""
        return _Spectrum(self)

    def factored(self, alpha: float) -> tuple[Any, np.ndarray]:
        """Return a Cholesky factor of A, and A⁻¹ times targets and s."""
        right = np.column_stack([self.Y, self.roots])
        if not is_numpy(self.K):
            factor, algebra = cholesky(self.K, alpha, 10 * EPSILON), algebra_of(self.K)
            return factor, to_numpy(algebra.cholesky_solve(factor, beside(self.K, right)))
        # By columns, as LAPACK wants it: nothing is copied on the way.
        A = np.array(self.K.T, order="F")
        A[np.diag_indices_from(A)] += alpha
        factor, failed = scipy.linalg.lapack.dpotrf(A, lower=1, overwrite_a=1)
        if failed:
            factor = np.asfortranarray(cholesky(self.K, alpha, 10 * EPSILON))
        return factor, scipy.linalg.cho_solve((factor, True), right, check_finite=False)

    def by_cholesky(self, alpha: float) -> _At:
        """Return what is known at one alpha, from a Cholesky decomposition."""
        factor, both = self.factored(alpha)
        # The inverse of the triangle is enough, and half the work of that of the matrix.
        if is_numpy(factor):
            triangle, _ = scipy.linalg.lapack.dtrtri(factor, lower=1, overwrite_c=1)
            return self.projected(
                both[:, :-1], both[:, -1], np.einsum("ki,ki->i", triangle, triangle)
            )
        return self.projected(both[:, :-1], both[:, -1], to_numpy(inverse_diagonal(factor)))

    def projected(self, r: np.ndarray, ones: np.ndarray, inverse: np.ndarray) -> _At:
        """Return A⁻¹y and the diagonal of A⁻¹ with the constant taken out."""
        if not self.intercept:
            return _At(r, np.zeros(r.shape[1]), inverse)
        total = float(self.roots @ ones)
        b = self.roots @ r / total
        r = r - ones[:, None] * b
        # The scaled coefficients sum to zero but for rounding, which a small alpha magnifies.
        r = r - self.roots[:, None] * ((self.roots @ r) / self.weight)
        return _At(r, b, inverse - ones**2 / total)

    def left_out(self, at: _At) -> np.ndarray:
        """Return the leave-one-out residuals; a row is dropped entirely, whatever its weight."""
        scale = (self.roots * at.B)[:, None]
        # Of the only row nothing is known without it.
        return np.divide(at.r, scale, out=np.zeros_like(at.r), where=scale > 0)


class _Spectrum:
    """The eigendecomposition of K_w, and targets and s in its coordinates."""

    def __init__(self, system: _System) -> None:
        self._system = system
        values, self._vectors = algebra_of(system.K).eigh(system.K)
        self.eigenvalues = np.maximum(to_numpy(values), 0.0)
        right = beside(self._vectors, np.column_stack([system.Y, system.roots]))
        turned = to_numpy(self._vectors.T @ right)
        self._targets, self._ones = turned[:, :-1], turned[:, -1]
        self._squares: Any = None

    def reduced(self, alpha: float) -> tuple[np.ndarray, float]:
        """Return r in the coordinates of the eigenvectors, and the trace of B."""
        h = 1 / (self.eigenvalues + alpha)
        r, trace = h[:, None] * self._targets, float(h.sum())
        if self._system.intercept:
            ones = h * self._ones
            total = float(self._ones @ ones)
            r = r - ones[:, None] * (self._ones @ r / total)
            trace -= float(ones @ ones) / total
        return r, trace

    def at(self, alpha: float) -> _At:
        """Return what is known at one alpha."""
        if self._squares is None:
            self._squares = self._vectors * self._vectors
        h = 1 / (self.eigenvalues + alpha)
        right = np.column_stack([h[:, None] * self._targets, h * self._ones])
        both = to_numpy(self._vectors @ beside(self._vectors, right))
        inverse = to_numpy(self._squares @ beside(self._squares, h[:, None]))[:, 0]
        return self._system.projected(both[:, :-1], both[:, -1], inverse)


def solve_kernel(
    K: Any,
    Y: np.ndarray,
    problem: Problem | None = None,
    weights: np.ndarray | None = None,
    n_features: int | None = None,
) -> Solution:
    """Return β = (K + α W⁻¹)⁻¹ (Y - b) for given or chosen α, with left-out errors.

    The constants b are those of the best fit, and are not penalised. Leave-one-out drops
    a row entirely, whatever its weight: a part of it would leak its target.

    Parameters
    ----------
    K : array of shape (n_rows, n_rows)
        The kernel matrix, of any library: it is decomposed where it is. It is not changed.
    Y : array of shape (n_rows, n_targets)
        Targets, as all that has a row's length NumPy's.
    problem : Problem, default=None
        What is asked; by default an intercept and an alpha from the grid.
    weights : array of shape (n_rows,), default=None
        Positive weights W of the rows.
    n_features : int, default=None
        Columns whose mean eigenvalue is the unit of the grid; by default the rows and the constant.

    Examples
    --------
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> K = np.exp(-abs(x - x.T))
    >>> solution = solve_kernel(K, x, Problem(np.asarray([1e-3, 10.0]), leave_one_out=True))
    >>> solution.alpha, solution.criterion
    (array([0.001]), 'loo')
    """
    start = time.perf_counter()
    problem = problem or Problem()
    system = _System(K, Y, weights, problem.intercept)
    n_features = K.shape[0] + 1 if n_features is None else n_features
    asked = np.size(problem.alpha) if problem.alpha is not None else MANY_CANDIDATES
    with allowed_threads(4 / 3 * K.shape[0] ** 3):
        if asked >= MANY_CANDIDATES:
            solution = _from_spectrum(system, problem, n_features)
        else:
            solution = _from_factors(system, problem)
    return replace(solution, seconds=time.perf_counter() - start)


def kernel_coefficients(
    K: Any,
    Y: np.ndarray,
    alphas: list[float],
    weights: np.ndarray | None = None,
    intercept: bool = True,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return coefficients and constants for each ridge parameter, and nothing else of them.

    Half the work of :func:`solve_kernel`, for rows that are held out tell the error.

    Parameters
    ----------
    K, Y, weights
        As in :func:`solve_kernel`.
    alphas : list of float
        The ridge parameters.
    intercept : bool, default=True
        Whether to fit a constant.

    Examples
    --------
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> K = np.exp(-abs(x - x.T))
    >>> coef, constant = kernel_coefficients(K, x, [1e-6])[0]
    >>> bool(np.abs(K @ coef + constant - x).max() < 1e-4)
    True
    """
    system, found = _System(K, Y, weights, intercept), []
    with allowed_threads(K.shape[0] ** 3 / 3):
        for alpha in alphas:
            both = system.factored(alpha)[1]
            at = system.projected(both[:, :-1], both[:, -1], np.ones(K.shape[0]))
            found.append((system.roots[:, None] * at.r, system.y_mean + at.b))
    return found


def _from_spectrum(system: _System, problem: Problem, n_features: int) -> Solution:
    """Return the solution by one eigendecomposition."""
    spectrum = system.by_eigenvectors()
    largest = float(spectrum.eigenvalues[-1])
    mean = system.mean_eigenvalue(n_features)
    alphas = problem.candidates(mean, KNOWN * EPSILON * largest)
    scores = np.empty((0, system.Y.shape[1]))
    if len(alphas) > 1:
        if problem.leave_one_out:
            found = [_loo_score(system, spectrum.at(alpha)) for alpha in alphas]
        else:
            found = [_gcv_score(system, problem, spectrum.reduced(a), a) for a in alphas]
        scores = np.asarray(found)
    chosen = _chosen(scores, alphas, problem, system.Y.shape[1])
    known = {alpha: spectrum.at(alpha) for alpha in np.unique(chosen)}
    extremes = float(spectrum.eigenvalues[0]), largest
    return _solution(system, problem, known, alphas, scores, chosen, extremes)


def _from_factors(system: _System, problem: Problem) -> Solution:
    """Return the solution by a Cholesky decomposition for each of a few candidates."""
    largest = system.trace()
    # Candidates are given here, and need no unit.
    alphas = problem.candidates(0.0, KNOWN * EPSILON * largest)
    known = {float(alpha): system.by_cholesky(alpha) for alpha in alphas}
    scores = np.empty((0, system.Y.shape[1]))
    if len(alphas) > 1:
        if problem.leave_one_out:
            found = [_loo_score(system, at) for at in known.values()]
        else:
            found = [_gcv_score(system, problem, (k.r, k.B.sum()), a) for a, k in known.items()]
        scores = np.asarray(found)
    chosen = _chosen(scores, alphas, problem, system.Y.shape[1])
    return _solution(system, problem, known, alphas, scores, chosen, (0.0, largest))


def _chosen(scores: np.ndarray, alphas: np.ndarray, problem: Problem, n_targets: int) -> np.ndarray:
    if len(alphas) == 1:
        return np.full(n_targets, alphas[0])
    return choose(scores, alphas, problem.per_target)


def _loo_score(system: _System, at: _At) -> np.ndarray:
    """Return the weighted mean of squared left-out errors of every target."""
    errors = system.roots[:, None] * system.left_out(at)
    return np.asarray((errors**2).sum(axis=0) / system.weight)


def _gcv_score(
    system: _System, problem: Problem, found: tuple[np.ndarray, float], alpha: float
) -> np.ndarray:
    r, trace = found
    counted = problem.counted(system.weight, system.n_rows)
    residual = alpha**2 * (r * r).sum(axis=0) / system.weight
    return generalised_error(residual, counted - system.n_rows + alpha * trace, counted)


def _solution(
    system: _System,
    problem: Problem,
    known: dict[float, _At],
    alphas: np.ndarray,
    scores: np.ndarray,
    chosen: np.ndarray,
    extremes: tuple[float, float],
) -> Solution:
    """Return the record, put together target by target from what is known at each alpha."""
    n_targets = len(chosen)
    coef, left_out = np.empty_like(system.Y), np.empty_like(system.Y)
    intercept, residual, left = (np.empty(n_targets) for _ in range(3))
    counted = problem.counted(system.weight, system.n_rows)
    expected = np.empty(n_targets)
    for alpha in np.unique(chosen):
        own, at = chosen == alpha, known[alpha]
        coef[:, own] = system.roots[:, None] * at.r[:, own]
        left_out[:, own] = system.left_out(at)[:, own]
        intercept[own] = system.y_mean[own] + at.b[own]
        residual[own] = alpha**2 * (at.r[:, own] ** 2).sum(axis=0) / system.weight
        # One row and a constant leave nothing, but for rounding.
        trace = float(at.B.sum()) if system.n_rows > problem.intercept else 0.0
        left[own] = counted - system.n_rows + alpha * trace
        expected[own] = generalised_error(residual[own], float(left[own][0]), counted)
    if problem.leave_one_out:
        expected = ((system.roots[:, None] * left_out) ** 2).sum(axis=0) / system.weight
    how = "loo" if problem.leave_one_out else "gcv"
    smallest = float(chosen.min())
    least, largest = extremes
    return Solution(
        coef=coef,
        intercept=intercept,
        alpha=chosen,
        method="dual",
        criterion=how if len(alphas) > 1 else "given",
        alphas=alphas,
        scores=scores,
        degrees_of_freedom=counted - problem.intercept - left,
        condition=(largest + smallest) / (least + smallest),
        residual=residual,
        expected=expected,
        expected_by=how,
        # Without a degree of freedom left nothing is known of the noise.
        noise=np.divide(
            residual * system.weight, left, out=np.full(n_targets, np.inf), where=left > 0
        ),
        trusted=smallest >= max(TRUSTED, 0.99 * KNOWN * EPSILON) * largest,
        seconds=0.0,
        left_out=left_out,
    )
