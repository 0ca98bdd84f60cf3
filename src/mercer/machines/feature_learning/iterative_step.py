"""One step of a feature-learning machine with all rows as centres, by conjugate gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._array import beside, brought, take_rows, to_numpy
from ...kernels import Kernel
from ...kernels.derivatives import derivative_norm, mean_squared_gradients
from ...solvers import Problem
from ...solvers.iterative import solve_kernel_rows
from ...solvers.row_systems import IterativeOptions
from ..calibration import HeldOut
from .data import Data
from .functions import KernelFunctions
from .steps import Fit
from .weights import Weights

#: Rows whose gradients are averaged, at most.
GRADIENT_ROWS = 4000


class IterativeStep:
    """A step with all rows as centres and without a decomposition of their kernel matrix.

    Parameters
    ----------
    kernel : Kernel
        The kernel of reweighted rows.
    alphas : array
        The ridge parameter, or candidates, of which held-out rows choose.
    seed : int
        Draws held-out rows, and those whose gradients are averaged.
    norm : bool
        Whether the derivatives of the norm are wanted: the weights of RFM have no use for them.
    """

    n_components: int | None = None

    def __init__(self, kernel: Kernel, alphas: Any, seed: int, norm: bool) -> None:
        self._kernel, self._alphas = kernel, np.sort(np.atleast_1d(alphas))
        self._seed, self._norm = seed, norm

    def approximation_error(self, X: np.ndarray, weights: Weights) -> float | None:
        """Return nothing: the kernel is exact."""
        return None

    def run(self, data: Data, weights: Weights, last: float | None = None) -> Fit:
        """Return the fit of the rows of ``data`` with weights of the columns."""
        X, Y, own, counts = data.whole()
        rows = weights.reweighted(X)
        own, counts = (None if given is None else to_numpy(given) for given in (own, counts))
        alphas = self._alphas
        if last is not None and len(alphas) > 1:
            alphas = alphas[np.argsort(np.abs(np.log(alphas / last)), kind="stable")[:3]]
        options = IterativeOptions(seed=self._seed)
        fit = solve_kernel_rows(self._kernel, rows, Y, Problem(alphas), own, options)
        solution, places = fit.solution, fit.places
        generator = np.random.default_rng(self._seed)
        n, coef = rows.shape[0], brought(rows, solution.coef)
        some = generator.choice(n, min(n, GRADIENT_ROWS), replace=False)
        E = to_numpy(
            mean_squared_gradients(
                self._kernel,
                take_rows(rows, some),
                rows,
                coef,
                sample_weight=None if own is None else beside(rows, own[some]),
                matrix=weights.matrix,
            )
        )
        D = np.zeros_like(E)
        if self._norm:
            D = to_numpy(derivative_norm(self._kernel, rows, None, coef, coef, weights.matrix))
        ones = np.ones(len(places))
        held_out = HeldOut(
            fit.held_out,
            to_numpy(take_rows(Y, places)),
            ones if own is None else own[places],
            ones if counts is None else counts[places],
        )
        function = KernelFunctions(self._kernel, rows, own, solution, fit.posterior)
        error = float(solution.expected.sum()) / data.variance()
        alpha = float(solution.alpha[0])
        return Fit(function, error, alpha, E, D / data.weight, lambda: held_out)
