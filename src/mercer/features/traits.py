"""What is known of a fitted map beside its features: facts that the engine and the tests use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from .._registry import storable


class RowGuard(Protocol):
    """What a map expects of the rows that it is given.

    Blocks are inspected one by one, in any order and on several threads; what was found is
    told once, after all of them.
    """

    def inspect(self, block: Any, xp: Any) -> Any:
        """Return what was found in a block, or refuse it with a ``ValueError``."""

    def conclude(self, findings: list[Any]) -> None:
        """Warn, if the findings of all blocks give reason to."""


@storable
@dataclass(frozen=True)
class MapTraits:
    """Facts of a fitted map, ``traits_``.

    A map whose facts are not the defaults returns ``"traits_"`` among what it draws.

    Attributes
    ----------
    unbiased : bool
        Whether inner products of features are the kernel's on average, or, of a map with
        ``mean_kernel_``, that kernel's. Other maps only come closer to the kernel as they grow.
    random : bool
        Whether another seed would have given another map.
    scratch : int
        Numbers that the map holds for each row while it works, beside input and output.
    device_scratch : int or None
        The same on an accelerator, where it is another number.
    replays : bool
        Whether a block is so many steps of work that an accelerator should record them once, and
        replay them for every block; the steps must not depend on the numbers of a block.
    by_recipe : bool
        Whether a compact model file may hold the seed in place of what was drawn.
    guard : RowGuard or None
        What is expected of rows beside their number of columns.
    excess : float
        What the inner product of a row's features with themselves has on average beyond the
        kernel's.
    step : float
        The distance of the values that features are rounded to. Another rounding of a sum may move
        a feature between two of them, rarely; 0: features are continuous.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RandomFourier
    >>> RandomFourier(n_components=8).fit(np.eye(3)).traits_.unbiased
    True
    """

    unbiased: bool = True
    random: bool = True
    scratch: int = 0
    device_scratch: int | None = None
    replays: bool = False
    by_recipe: bool = True
    guard: RowGuard | None = None
    excess: float = 0.0
    step: float = 0.0
