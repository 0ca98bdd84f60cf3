"""Two thresholds make small integers of values: the rule, and what it does to a block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._array import is_numpy, like, namespace
from .._registry import storable

#: What becomes of a value t, with bits a = [t > upper] and b = [t < lower]: a - b, a + b, 2a - 1.
KINDS = ("odd", "even", "sign")


@storable
@dataclass(frozen=True, eq=False)
class Thresholds:
    """A function of two thresholds with two or three values.

    Attributes
    ----------
    kind : {"odd", "even", "sign"}
        ``"odd"``: 1 above the upper threshold, -1 below the lower one, 0 between; ``"even"``: 1
        above the upper and below the lower one, 0 between; ``"sign"``: 1 above the upper
        threshold, -1 otherwise.
    upper : float or array of shape (size,)
        The upper threshold, of all columns or of each.
    lower : float or array of shape (size,), default=None
        The lower threshold; not used by ``"sign"``.

    Examples
    --------
    >>> Thresholds("odd", upper=1.0, lower=-0.5).of(np.asarray([[2.0, 0.0, -2.0]]))
    array([[ 1,  0, -1]], dtype=int8)
    """

    kind: str
    upper: Any
    lower: Any = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}.")
        if (self.lower is None) != (self.kind == "sign"):
            wanted = "no" if self.kind == "sign" else "a"
            raise ValueError(f"Thresholds of kind {self.kind!r} have {wanted} lower threshold.")
        if self.kind != "sign" and not np.all(np.asarray(self.lower) <= np.asarray(self.upper)):
            raise ValueError("The lower threshold must not be above the upper one.")

    def __mercer_check__(self) -> None:
        """Raise an error if what was read from a file are not thresholds."""
        self.__post_init__()

    @property
    def code(self) -> int:
        """The place of the kind in ``KINDS``, which compiled code goes by."""
        return KINDS.index(self.kind)

    def columns(self, size: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower and the upper threshold of each of ``size`` columns."""
        lower = self.upper if self.lower is None else self.lower
        pair = [np.asarray(bound, dtype=dtype) for bound in (lower, self.upper)]
        for bound in pair:
            if bound.shape not in ((), (size,)):
                raise ValueError(
                    f"Thresholds are numbers or arrays of shape ({size},), one for each column, "
                    f"got an array of shape {bound.shape}."
                )
        low, high = (np.ascontiguousarray(np.broadcast_to(bound, size)) for bound in pair)
        return low, high

    def of(self, Z: Any) -> Any:
        """Return what becomes of an array of values, in int8 and in its library."""
        if is_numpy(Z):
            lower, upper = self.columns(Z.shape[1], Z.dtype)
            above, below = (Z > upper).astype(np.int8), (Z < lower).astype(np.int8)
        else:
            xp = namespace(Z)
            lower, upper = (like(Z, bound) for bound in self.columns(Z.shape[1], float))
            above, below = xp.astype(Z > upper, xp.int8), xp.astype(Z < lower, xp.int8)
        if self.kind == "odd":
            return above - below
        return above + below if self.kind == "even" else above + above - 1

    def planes(self, Z: np.ndarray, planes: np.ndarray, first: int) -> None:
        """Write the bits of a block of values to rows of ``planes`` from ``first`` on.

        Parameters
        ----------
        Z : array of shape (n, size)
            A block of values.
        planes : uint64 array of shape (n_planes, n_rows, n_words)
            Where the bits go: two planes if the kind is odd, else one.
        first : int
            The row of ``planes`` that the first row of ``Z`` is.
        """
        from ._jit import ternary as jit

        lower, upper = self.columns(Z.shape[1], Z.dtype)
        jit.value_planes(np.ascontiguousarray(Z), lower, upper, self.code, planes, first)
