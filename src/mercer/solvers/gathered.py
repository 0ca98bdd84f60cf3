"""What a pass over rows gathers, whatever the features are: the protocols of accumulators."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class Gathered(Protocol):
    """What was gathered of the rows, and solvers solve from."""

    @property
    def n_rows(self) -> int:
        """Rows that were added."""
        ...

    @property
    def weight(self) -> float:
        """The sum of their weights."""
        ...

    @property
    def place(self) -> Any:
        """An array that names library and device of what was gathered."""
        ...

    def variance(self) -> np.ndarray:
        """Return the variance of every target."""
        ...

    def accumulator(self) -> Accumulator:
        """Return what more rows can be added to: itself, or a new object with the same rows."""
        ...


class Accumulator(Gathered, Protocol):
    """The mergeable state of a pass over blocks."""

    def add(
        self,
        Z: Any,
        Y: np.ndarray,
        weights: np.ndarray | None = None,
        overwrite: bool = False,
    ) -> None:
        """Add a block of features, its targets and, if there are any, its weights."""
        ...

    def merge(self, other: Any) -> None:
        """Add what another accumulator of the same kind and shape has gathered."""
        ...
