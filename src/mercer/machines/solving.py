"""How a machine comes to its solution: from sums, from the rows once more, or from few rows."""

from __future__ import annotations

import numpy as np

from ..solvers import DualSystem, OrthogonalSystem, PrimalSystem, solve, solve_primal
from ..solvers.posterior import LeaveOneOut, dual_leave_one_out


def solve_gathered(statistics, problem, selection, again):
    """Return the solution from statistics; leave-one-out sees the rows of ``again()``."""
    if selection != "loo":
        return solve_primal(statistics, problem)
    totals = statistics.total()
    system = PrimalSystem(*totals.centred(problem.intercept))
    lams = problem.candidates(system.eigenvalues, totals.z_sum.size, totals.rounding)
    errors = LeaveOneOut(totals, lams, problem)
    for Z, Y, weights in again():
        errors.add(Z, Y, weights)
    return solve(system, totals, problem, ("loo", errors.scores()))


def solve_again(totals, problem, primal, again):
    """Return the solution from the triangular factor of all rows, one block at a time."""
    z_mean, y_mean = totals.means(problem.intercept)
    width = z_mean.size + y_mean.size
    triangle = np.zeros((0, width))
    waiting = []
    for Z, Y, weights in again():
        rows = np.concatenate([Z - z_mean, Y - y_mean], axis=1)
        if weights is not None:
            rows *= np.sqrt(weights)[:, None]
        waiting.append(rows)
        # The triangle is reduced anew every time: not before as many rows have come as it has.
        if sum(map(len, waiting)) >= width:
            triangle = np.linalg.qr(np.concatenate([triangle, *waiting]), mode="r")
            waiting = []
    triangle = np.linalg.qr(np.concatenate([triangle, *waiting]), mode="r")
    missing = np.zeros((max(0, width - len(triangle)), width))
    system = OrthogonalSystem(np.concatenate([triangle, missing]), y_mean.size)
    scored_elsewhere = primal.criterion not in ("given", "gcv")
    held_out = (primal.criterion, primal.scores) if scored_elsewhere else None
    return solve(system, totals, problem, held_out)


def left_out_error(solution, totals, intercept):
    """Return the mean squared error of left-out rows, as a share of the targets' variance."""
    variance = totals.variance()
    if len(solution.scores):
        chosen = np.abs(solution.lams[:, None] - solution.lam).argmin(axis=0)
        error = solution.scores[chosen, np.arange(len(chosen))]
    else:
        # What generalised cross-validation says of the one that was given.
        used = np.minimum(solution.degrees_of_freedom + intercept, totals.counted - 1)
        error = solution.residual * (totals.counted / (totals.counted - used)) ** 2
    known = variance > 0
    return float(np.mean(error[known] / variance[known])) if known.any() else 0.0


class FewRows:
    """Fewer rows than features: kept as they are, and centred and weighted for the dual.

    Parameters
    ----------
    Z, Y : arrays of shape (n, m) and (n, n_targets)
        Features and targets.
    weights : array of shape (n,) or None
        How many times each row counts.
    intercept : bool
        Whether a constant is fitted.
    """

    def __init__(self, Z, Y, weights, intercept):
        w = np.ones(len(Z)) if weights is None else weights
        self.Z, self.Y, self.weights = Z[w > 0], Y[w > 0], w[w > 0]
        self.weight, self.n_rows = float(w.sum()), len(w)
        self.counted = max(self.weight, float((w > 0).sum()))
        self.constant = 1 / self.weight if intercept else 0.0
        self.rounding = float(np.finfo(float).eps)
        # What ``solve`` asks of sums over all rows: their means, under these names.
        self.z_sum, self.y_sum = np.zeros(Z.shape[1]), np.zeros(Y.shape[1])
        if intercept:
            self.z_sum = np.average(self.Z, axis=0, weights=self.weights)
            self.y_sum = np.average(self.Y, axis=0, weights=self.weights)

    def means(self, intercept):
        """Return the means that the rows are centred at."""
        return self.z_sum, self.y_sum

    def variance(self):
        """Return the variance of every target."""
        mean = np.average(self.Y, axis=0, weights=self.weights)
        return np.average((self.Y - mean) ** 2, axis=0, weights=self.weights)

    def targets(self):
        """Return centred targets, rows scaled by the roots of their weights."""
        return np.sqrt(self.weights)[:, None] * (self.Y - self.y_sum)

    def gram(self):
        """Return the inner products of the centred rows, scaled likewise."""
        rows = self._rows()
        return rows @ rows.T

    def expand(self, dual):
        """Return coefficients of the features from those of the rows."""
        return self._rows().T @ dual

    def products(self, Z):
        """Return inner products of the training rows with others, and the others' norms."""
        centred = Z - self.z_sum
        return self._rows() @ centred.T, np.einsum("ij,ij->i", centred, centred)

    def _rows(self):
        return np.sqrt(self.weights)[:, None] * (self.Z - self.z_sum)


class KernelRows(FewRows):
    """Rows that are known by their kernel values: with every training row, and with themselves.

    The last column of ``Z`` is k(x, x), the others are k(x, x_j).
    """

    def __init__(self, Z, Y, weights, intercept):
        super().__init__(Z, Y, weights, intercept)
        # Rows of weight zero keep their column, with a coefficient of zero.
        self._kept = np.arange(len(Z)) if weights is None else np.flatnonzero(weights > 0)
        self._share = self.weights / self.weight if intercept else np.zeros(len(self.weights))

    def gram(self):
        """Return the kernel of the centred rows, scaled by the roots of their weights."""
        centred, _ = self.products(self.Z)
        centred *= np.sqrt(self.weights)
        return centred

    def expand(self, dual):
        """Return coefficients of the columns of ``Z``."""
        root = np.sqrt(self.weights)[:, None]
        if self.constant:
            # They sum to zero but for rounding, which a small λ magnifies twice.
            dual = dual - root * (root * dual).sum(axis=0) / self.weight
        coef = np.zeros((self.z_sum.size, dual.shape[1]))
        coef[self._kept] = root * dual
        return coef

    def products(self, Z):
        """Return centred kernel values of the training rows with others, and with themselves."""
        values, own = Z[:, self._kept], Z[:, -1]
        of_rows, of_columns = values @ self._share, self.z_sum[self._kept]
        overall = of_columns @ self._share
        centred = values - (of_columns - overall)
        centred -= of_rows[:, None]
        centred *= np.sqrt(self.weights)
        return centred.T, own - 2 * of_rows + overall


def solve_few_rows(few, problem, selection):
    """Return the solution in the space of the rows."""
    system = DualSystem(few.gram(), few.targets(), few.expand)
    held_out = None
    if selection == "loo":
        lams = problem.candidates(system.eigenvalues, few.z_sum.size, few.rounding)
        held_out = "loo", dual_leave_one_out(few, lams)
    return solve(system, few, problem, held_out)
