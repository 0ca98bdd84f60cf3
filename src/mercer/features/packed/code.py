"""What the bits of packed features are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._registry import storable

#: Dtypes that values can be unpacked in.
INTEGERS = ("int8", "int16", "int32", "int64")
FLOATS = ("float32", "float64")
#: The most bits of an entry.
MOST_BITS = 8


@storable
@dataclass(frozen=True)
class Code:
    """The value of an entry: an offset, plus the weight of each plane whose bit is set.

    Attributes
    ----------
    weights : tuple of int or float
        What a bit of each plane is worth; one to eight planes.
    offset : int or float, default=0
        What an entry without bits is worth.
    dtype : str, default="int8"
        The dtype of values: a signed integer type if all weights are integers, or
        ``"float32"`` or ``"float64"``.

    Examples
    --------
    >>> from mercer.features.packed import SIGN, TERNARY, Code
    >>> TERNARY.values.tolist(), SIGN.values.tolist()
    ([0, 1, -1, 0], [-1, 1])
    >>> Code.uniform(2, low=-1.5, high=1.5).values
    array([-1.5, -0.5,  0.5,  1.5], dtype=float32)
    """

    weights: tuple[float, ...]
    offset: float = 0
    dtype: str = "int8"

    def __post_init__(self) -> None:
        if not isinstance(self.weights, tuple) or not 1 <= len(self.weights) <= MOST_BITS:
            raise ValueError(
                f"weights must be a tuple of 1 to {MOST_BITS} numbers, got {self.weights!r}."
            )
        if self.dtype not in INTEGERS + FLOATS:
            allowed = ", ".join(INTEGERS + FLOATS)
            raise ValueError(f"dtype must be one of {allowed}, got {self.dtype!r}.")
        numbers = (*self.weights, self.offset)
        if not all(isinstance(number, (int, float)) for number in numbers):
            raise ValueError(f"weights and offset must be numbers, got {numbers!r}.")
        if not np.isfinite(numbers).all():
            raise ValueError(f"weights and offset must be finite, got {numbers!r}.")
        if self.is_integer:
            if not all(isinstance(number, int) for number in numbers):
                raise ValueError(f"{self.dtype} needs integer weights and offset, got {numbers!r}.")
            reach = sum(abs(number) for number in numbers)
            if reach > np.iinfo(self.dtype).max:
                raise ValueError(f"{self.dtype} cannot hold sums of {numbers!r}.")

    @classmethod
    def uniform(cls, n_bits: int, low: float, high: float, dtype: str = "float32") -> Code:
        """Return the code of 2^n_bits values at equal distances from ``low`` to ``high``.

        Parameters
        ----------
        n_bits : int
            Bits of an entry, from 1 to 8. Codes are 0, ..., 2^n_bits - 1 in order.
        low, high : float
            The first and the last value.
        dtype : {"float32", "float64"}, default="float32"
            The dtype of values.

        Examples
        --------
        >>> from mercer.features.packed import Code
        >>> Code.uniform(1, -2.0, 2.0).weights
        (4.0,)
        """
        if not 1 <= n_bits <= MOST_BITS:
            raise ValueError(f"n_bits must be from 1 to {MOST_BITS}, got {n_bits!r}.")
        step = (high - low) / (2**n_bits - 1)
        return cls(tuple(float(step * 2**k) for k in range(n_bits)), float(low), dtype)

    @property
    def n_planes(self) -> int:
        """Bits of an entry."""
        return len(self.weights)

    @property
    def is_integer(self) -> bool:
        """Whether values are integers, and sums of their products exact."""
        return self.dtype in INTEGERS

    @property
    def values(self) -> np.ndarray:
        """The value of every code: bit k of a code is that of plane k."""
        codes = np.arange(2**self.n_planes)
        values = np.full(len(codes), self.offset, dtype=self.dtype)
        # In the order and the dtype of unpacking, so that they are equal to the last bit.
        for k, weight in enumerate(np.asarray(self.weights, dtype=self.dtype)):
            values += np.where(codes >> k & 1, weight, weight - weight)
        return values

    def codes_of(self, values: np.ndarray) -> np.ndarray:
        """Return the codes of values in uint8; others than its own are refused.

        Parameters
        ----------
        values : array
            Values of this code.

        Examples
        --------
        >>> from mercer.features.packed import TERNARY
        >>> TERNARY.codes_of([-1, 0, 1])
        array([2, 0, 1], dtype=uint8)
        """
        known, places = np.unique(self.values, return_index=True)
        values = np.asarray(values)
        if values.dtype.kind not in "biuf":
            raise ValueError(f"values must be numbers, got an array of {values.dtype}.")
        rank = np.minimum(np.searchsorted(known, values), len(known) - 1)
        wrong = known[rank] != values
        if wrong.any():
            raise ValueError(
                f"{values[wrong][0]!r} is not a value of this code, which has {_listed(known)}."
            )
        return places.astype(np.uint8)[rank]

    def checked_dtype(self, dtype: object) -> np.dtype:
        """Return the dtype to unpack in, or refuse one that cannot hold the values."""
        wanted = np.dtype(self.dtype if dtype is None else dtype)  # type: ignore[call-overload]
        allowed = INTEGERS + FLOATS if self.is_integer else FLOATS
        if wanted.name not in allowed:
            raise ValueError(f"dtype must be one of {', '.join(allowed)}, got {wanted.name!r}.")
        return wanted

    def __mercer_check__(self) -> None:
        """Raise an error if what was read from a file is not a code."""
        self.__post_init__()


def _listed(values: np.ndarray) -> str:
    few = [f"{value:g}" for value in values[:4]]
    return ", ".join(few + ["..."] * (len(values) > 4))


#: Values 1 and -1 of a plane each, and 0: two bits.
TERNARY = Code((1, -1))
#: Values 0 and 1: one bit.
EVEN = Code((1,))
#: Values -1 and 1: one bit.
SIGN = Code((2,), -1)
#: Values -3, -1, 1 and 3: two bits.
QUARTERS = Code((2, 4), -3)
