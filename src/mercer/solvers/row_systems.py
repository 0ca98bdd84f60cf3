"""All rows as centres, or some of them: the two systems that the iterative solver puts together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._array import as_floating, beside, take_rows, to_numpy
from ..engine.config import matrix_memory
from ..engine.panels import RowPanels
from ..engine.symmetric import SymmetricTiles
from ..features.nystrom.pivoted_cholesky import LowRank, pivoted_cholesky
from ..kernels import Kernel
from ..kernels.single_precision import float32_matrix, float32_tiles, plain_tiles
from .conjugate_gradients import Iteration
from .kernel_system import IterativeSolution, KernelSystem
from .landmark_system import LandmarkSystem
from .low_rank_posterior import LowRankPosterior, posterior_of_factor, posterior_of_rows
from .row_regression import RANK as REGRESSION_RANK
from .row_regression import RowRegression, leading

#: Columns of the preconditioner, at most, and rows for each of them.
RANK, ROWS_EACH = 1500, 12
#: Iterations of the solve with all rows over those of the choice, at most: the rows that were held
#: out begin without coefficients, which takes more iterations than it saves.
LONGER = 2
#: Iterations of a solve to a given residual, at most.
MOST_TO_RESIDUAL = 1000
#: Below this tolerance float32 tiles cannot help, and float64 ones take their place.
SINGLE = 1e-7


@dataclass(frozen=True)
class IterativeOptions:
    """How a system of kernel functions is solved.

    Attributes
    ----------
    n_centres : int or None
        Rows that are drawn as centres; ``None`` means all.
    tolerance : float or None
        Relative residual of the solution; ``None`` stops when the held-out error has settled.
    seed : int
        Draws held-out rows, centres and the preconditioner's landmarks.
    deadline : float
        Value of ``time.perf_counter()`` after which no iteration starts.
    note : callable or None
        Called as ``note(n_iterations, residual)`` after every iteration.
    keep_system : bool
        Whether what is found holds the system, and with it the matrix, for a caller to go on with.

    Examples
    --------
    >>> IterativeOptions(n_centres=5000).tolerance is None
    True
    """

    n_centres: int | None = None
    tolerance: float | None = None
    seed: int = 0
    deadline: float = np.inf
    note: Callable[[int, float], None] | None = None
    keep_system: bool = False

    @property
    def exactly(self) -> bool:
        """Whether float32 tiles cannot lead to the tolerance."""
        return self.tolerance is not None and self.tolerance < SINGLE


class AllRows:
    """The system of all rows."""

    kept_bytes: int
    kept_share: float

    def __init__(
        self,
        kernel: Kernel,
        rows: Any,
        Y: Any,
        weights: np.ndarray | None,
        intercept: bool,
        options: IterativeOptions,
        generator: np.random.Generator,
        exactly: bool,
    ) -> None:
        self._kernel, self._rows, self._Y = kernel, rows, Y
        self._weights, self._intercept, self._options = weights, intercept, options
        n, room = rows.shape[0], matrix_memory(rows)
        # The factor may take a quarter of the memory.
        affordable = max(50, room // (4 * 8 * n))
        self._low_rank: LowRank = pivoted_cholesky(
            # What rounds the tiles must not round what preconditions them.
            lambda at: (kernel if exactly else partial(float32_matrix, kernel))(
                rows, take_rows(rows, at)
            ),
            np.asarray(to_numpy(kernel.diag(rows)), dtype=float),
            int(min(RANK, max(50, n // ROWS_EACH), affordable)),
            generator,
        )
        self._room = max(0, room - 8 * n * self._low_rank.factor.shape[1])
        tile = plain_tiles(kernel, rows) if exactly else float32_tiles(kernel, rows)
        self.dtype = "float64" if exactly else "float32"
        self._matrix = SymmetricTiles(tile, n, self._room, rows, self.dtype)
        self.kept_bytes, self.kept_share = self._matrix.kept_bytes, self._matrix.kept_share

    def _system(self, n_held: int) -> KernelSystem:
        return KernelSystem(
            self._matrix, self._low_rank, self._Y, self._weights, n_held, self._intercept
        )

    def held_out(
        self, n_held: int, alphas: list[float], iteration: Iteration
    ) -> list[IterativeSolution]:
        """Return solutions of all candidates, the first rows held out."""
        return self._system(n_held).solve(alphas, iteration, note=self._options.note)

    def whole(self, chosen: IterativeSolution) -> IterativeSolution:
        """Return the solution with all rows, beginning with that of most of them."""
        options, exact = self._options, None
        iteration = _last_iteration(chosen, options)
        if options.tolerance is not None and self.dtype == "float32":
            room = max(0, self._room - self.kept_bytes)
            tile = plain_tiles(self._kernel, self._rows)
            exact = SymmetricTiles(tile, self._rows.shape[0], room, self._rows, "float64")
        return self._system(0).solve(
            [chosen.alpha], iteration, start=chosen, exact=exact, note=options.note
        )[0]

    def regression(self, n_held: int, iteration: Iteration) -> RowRegression:
        """Return weighted regressions with this matrix, the first rows held out."""
        options, like = self._options, self._Y
        return RowRegression(
            self._matrix, self._low_rank, like, n_held, self._intercept, iteration, options.note
        )

    def weighted_posterior(
        self, weights: np.ndarray, alpha: float, order: np.ndarray
    ) -> LowRankPosterior:
        """Return the posterior with other weights, by the first landmarks, of rows as given."""
        low_rank = leading(self._low_rank, REGRESSION_RANK)
        found = posterior_of_factor(low_rank, weights, alpha)
        return found.at(np.asarray(order[low_rank.pivots]))

    def predicted(self, n_held: int, coef: np.ndarray) -> np.ndarray:
        """Return what coefficients give for the first rows, with the kernel itself in float64."""
        some, rows = self._rows[:n_held, :], as_floating(self._rows, "float64")
        found = self._kernel.matvec(as_floating(some, "float64"), beside(rows, coef), rows)
        return np.asarray(to_numpy(found))

    def forget(self) -> None:
        """Free the tiles that are kept; they are computed again when they are needed."""
        self._matrix.forget()

    def posterior(self, alpha: float) -> LowRankPosterior:
        """Return the posterior by the landmarks of the preconditioner."""
        return posterior_of_factor(self._low_rank, self._weights, alpha)

    def centres(self) -> Any:
        """Return the rows of the kernel functions."""
        return self._rows

    def landmarks(self) -> Any:
        """Return the rows that the posterior is made of."""
        return take_rows(self._rows, self._low_rank.pivots)

    def unseen(self, n_held: int) -> np.ndarray:
        """Return which held-out rows are no landmarks, which know their own place."""
        new = ~np.isin(np.arange(n_held), self._low_rank.pivots)
        return new if new.any() else ~new

    def places(self, order: np.ndarray) -> np.ndarray:
        """Return which centres the posterior's landmarks are."""
        return np.asarray(order[self._low_rank.pivots])

    @staticmethod
    def original(coef: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return coefficients in the order of the rows as given, and which rows are centres."""
        out = np.empty_like(coef)
        out[order] = coef
        return out, None


class LandmarkRows:
    """The system of some rows as centres."""

    kept_bytes: int
    kept_share: float

    def __init__(
        self,
        kernel: Kernel,
        rows: Any,
        Y: Any,
        weights: np.ndarray | None,
        intercept: bool,
        options: IterativeOptions,
        generator: np.random.Generator,
        exactly: bool,
    ) -> None:
        self._kernel, self._rows, self._Y = kernel, rows, Y
        self._weights, self._intercept, self._options = weights, intercept, options
        assert options.n_centres is not None
        n = rows.shape[0]
        self._chosen = np.sort(generator.choice(n, options.n_centres, replace=False))
        self._centres = take_rows(rows, self._chosen)
        size = options.n_centres
        # Kernel and moments of the centres, a factor of each and of every candidate.
        room = max(0, matrix_memory(rows) - 8 * 6 * size**2)
        tiles = plain_tiles if exactly else float32_tiles
        self.dtype = "float64" if exactly else "float32"
        tile = tiles(kernel, rows, self._centres)
        self._panels = RowPanels(tile, (n, size), room, rows, self.dtype)
        self.kept_bytes, self.kept_share = self._panels.kept_bytes, self._panels.kept_share
        self._K = as_floating(kernel(self._centres), "float64")
        self._few = np.sort(generator.choice(size, min(size, RANK), replace=False))

    def _system(self, n_held: int) -> LandmarkSystem:
        return LandmarkSystem(
            self._panels, self._K, self._Y, self._weights, n_held, self._intercept
        )

    def held_out(
        self, n_held: int, alphas: list[float], iteration: Iteration
    ) -> list[IterativeSolution]:
        """Return solutions of all candidates, the first rows held out."""
        return self._system(n_held).solve(alphas, iteration, note=self._options.note)

    def whole(self, chosen: IterativeSolution) -> IterativeSolution:
        """Return the solution with all rows, beginning with that of most of them."""
        iteration = _last_iteration(chosen, self._options)
        return self._system(0).solve(
            [chosen.alpha], iteration, start=chosen, note=self._options.note
        )[0]

    def forget(self) -> None:
        """Free the panels that are kept; they are computed again when they are needed."""
        self._panels.forget()

    def posterior(self, alpha: float) -> LowRankPosterior:
        """Return the posterior by some of the centres."""
        return posterior_of_rows(self._kernel, self._rows, self.landmarks(), self._weights, alpha)

    def centres(self) -> Any:
        """Return the rows of the kernel functions."""
        return self._centres

    def landmarks(self) -> Any:
        """Return the rows that the posterior is made of."""
        return take_rows(self._centres, self._few)

    def unseen(self, n_held: int) -> np.ndarray:
        """Return which held-out rows are no landmarks, which know their own place."""
        new = ~np.isin(np.arange(n_held), self._chosen[self._few])
        return new if new.any() else ~new

    def places(self, order: np.ndarray) -> np.ndarray:
        """Return which centres the posterior's landmarks are."""
        return self._few

    def original(self, coef: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients of the centres, and which rows they are."""
        return coef, np.asarray(order[self._chosen])


def _last_iteration(chosen: IterativeSolution, options: IterativeOptions) -> Iteration:
    """Return when the solve with all rows stops: as near to the solution as the choice was."""
    if options.tolerance is not None:
        return Iteration(options.tolerance, MOST_TO_RESIDUAL, options.deadline)
    most = max(10, LONGER * chosen.n_iterations)
    return Iteration(max(chosen.residual, 1e-6), most, options.deadline)
