"""Ridge machines on a cluster: each block adds to sums where it is, and the sums come together."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..engine.cluster import Partitions
from ..engine.streams import Block
from ..features.growth import is_automatic
from ..solvers import Problem, draws_below, on_host, reduced_blocks
from .cluster_targets import observed
from .feature_rows import FeatureRows, checked_rows
from .ridge_state import RidgeState
from .ridge_sums import RidgeSums, Triangle
from .solved import SolvedMachine
from .targets import Targets


class RidgeOnCluster(SolvedMachine):
    """How a ridge machine learns from the blocks of a cluster, as one machine learns from rows."""

    _state: RidgeState | None = None

    features: Any
    selection: Any

    @abstractmethod
    def _new_targets(self, classes: Any = None) -> Targets:
        """Return targets of which nothing is known yet."""

    @abstractmethod
    def _problem(self) -> Problem:
        """Return what is asked of the solver."""

    @abstractmethod
    def _folds(self) -> int:
        """Return how many folds are kept apart."""

    @abstractmethod
    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> None:
        """Learn from rows that are all there are."""

    @abstractmethod
    def _learn(self, block: Block, classes: Any) -> None:
        """Add a block of rows."""

    def fit_partitions(self, parts: Partitions, classes: Any = None) -> None:
        """Learn in place from all rows of a cluster.

        Parameters
        ----------
        parts : Partitions
            Rows with their targets.
        classes : array of shape (n_classes,), default=None
            All labels, for a classifier.
        """
        problem, n_folds = self._problem(), self._folds()
        if self.selection == "loo":
            raise ValueError(
                "selection='loo' needs the rows on one machine; on a cluster use 'gcv' "
                "(generalised cross-validation) or a number of folds."
            )
        if is_automatic(self.features):
            raise ValueError(
                "n_components='auto' measures the features again and again as they grow, on one "
                "machine; on a cluster give a number of components."
            )
        checked_rows(parts.example.X, self.features, owner=self, reset=True)
        targets, learning = observed(self._new_targets(classes), parts)
        rows = FeatureRows.learnt(self.features, parts)
        state = RidgeState(targets, rows, problem, n_folds)
        template = copy.copy(self)
        template._state = RidgeState(learning, rows, problem, n_folds)
        starts: list[Any] | None = None
        draws = draws_below(parts.lengths(), n_folds) if n_folds else None
        if n_folds or state.sample is not None:
            begins = parts.begins()
            own: Any = draws or [None] * len(begins)
            starts = list(zip(begins, own, strict=False))
            state = state.below(parts.n_rows, None)
        sums = parts.total(_sums, template, "ridge-sums", starts)
        if sums is None:
            raise ValueError("All blocks of X are empty: at least one row is needed.")
        if sums.n_rows < rows.width and not n_folds:
            # So few are kept as they are, and solved in their own space.
            self._fit_rows(*parts.whole(), classes)
            return
        state.gathered, state.n_rows = sums.gathered, sums.n_rows
        if state.sample is not None:
            state.sample.merge(sums.sample)
        if draws is not None:
            # Rows that follow draw their folds below these.
            sums.gathered.draw_from(draws[-1])

        def again() -> Iterator[Any]:
            z_mean, y_mean = means = sums.gathered.total().means(problem.intercept)
            found = parts.total(_triangle, (template, means), "triangle").rows
            # They stand for all rows, about their means; what lies beyond is a row of its own.
            yield found.triangle + z_mean, found.rotated + y_mean, None
            yield z_mean[None, :], np.sqrt(found.beyond)[None, :] + y_mean, None

        state.solve(again)
        self._state = state

    def sums_of(self, block: Block, start: Any) -> RidgeSums:
        """Return what a block adds to the sums; the machine does not change.

        Parameters
        ----------
        block : Block
            Rows, targets and weights.
        start : pair of int and Generator, or None
            Rows above the block, and what draws their folds.
        """
        part, empty = copy.copy(self), self._fitted()
        part._state = empty.below(*(start or (0, None)))
        part._learn(block, None)
        state = part._state
        return RidgeSums(on_host(state.gathered), state.sample, state.n_rows)

    def triangle_of(self, block: Block, means: tuple[Any, Any]) -> Triangle:
        """Return the centred features and targets of a block, reduced to few rows."""
        state = self._fitted()
        X = checked_rows(block.X, self.features, owner=self, reset=False)
        return Triangle(reduced_blocks(self._learnt_again(state, X, block), *means))

    @abstractmethod
    def _learnt_again(self, state: RidgeState, X: Any, block: Block) -> Iterator[Any]:
        """Yield features, targets and weights of checked rows that were added before."""


def _sums(machine: Any, block: Block, start: Any) -> RidgeSums:
    found: RidgeSums = machine.sums_of(block, start)
    return found


def _triangle(shared: Any, block: Block, start: None) -> Triangle:
    machine, means = shared
    found: Triangle = machine.triangle_of(block, means)
    return found
