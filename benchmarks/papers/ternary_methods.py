"""Features of few bits, and landmarks in low precision, as methods with a price in bits per row.

Bits are counted as stored: a ternary feature in two planes takes 2 (in base 3 it would take 1.6;
the paper counts 1), a sign 1, a quantised one b, a Nyström feature 16 or 32. What a model has but
once (projections, landmarks, coefficients) is not counted, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import (
    Gaussian,
    NystromFeatures,
    PackedFeatures,
    QuantizedFourier,
    TernaryFeatures,
    WaveFeatures,
)

TERNARY, SIGN = "ternary, 2 bits", "ternary, 1 bit"
WAVES, WAVES_1 = "waves, 2 bits", "waves, 1 bit"
FOURIER_8, FOURIER_1 = "LP-RFF, 8 bits", "LP-RFF, 1 bit"
NYSTROM_32, NYSTROM_16 = "Nyström, 32 bits", "Nyström, 16 bits"


class HalfPrecision:
    """Another map, with its features stored in float16."""

    def __init__(self, features: Any) -> None:
        self.features = features

    def fit(self, X: np.ndarray) -> HalfPrecision:
        """Fit the map."""
        self.features.fit(X)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return features that float16 can hold, in float32 for products."""
        return self.features.transform(X).astype(np.float16).astype(np.float32)


@dataclass(frozen=True)
class Method:
    """How features are made: by kernel, number and seed; and the bits of one."""

    bits: int
    make: Callable[[Gaussian, int, int], Any]
    #: The most features, at the full price, that are affordable.
    most: int = 8192
    #: Whether the rows' features, and with them alpha, are m times those of the kernel.
    integers: bool = False


def ternary(bits: int, most: int) -> Method:
    """Return ternary features, or signs, that behave like the kernel in high dimensions."""
    return Method(
        bits,
        lambda kernel, m, seed: TernaryFeatures(
            kernel, n_components=m, bits=bits, output="packed", random_state=seed
        ),
        most,
        integers=True,
    )


def waves(levels: int, most: int) -> Method:
    """Return rounded cosines of ternary frequencies: two bits for four levels, one for two."""
    return Method(
        1 if levels == 2 else 2,
        lambda kernel, m, seed: WaveFeatures(
            kernel, n_components=m, levels=levels, output="packed", random_state=seed
        ),
        most,
        integers=True,
    )


def quantized(bits: int, most: int) -> Method:
    """Return rounded Fourier features of independent frequencies, as in their paper."""
    return Method(
        bits,
        lambda kernel, m, seed: QuantizedFourier(
            kernel,
            n_components=m,
            bits=bits,
            projection="gaussian",
            stratified=False,
            random_state=seed,
        ),
        most,
    )


def landmarks(bits: int) -> Method:
    """Return Nyström features of uniform landmarks."""

    def make(kernel: Gaussian, m: int, seed: int) -> Any:
        features = NystromFeatures(kernel, n_components=m, landmarks="uniform", random_state=seed)
        return HalfPrecision(features) if bits == 16 else features

    return Method(bits, make)


METHODS = {
    TERNARY: ternary(2, most=32_768),
    SIGN: ternary(1, most=4096),
    WAVES: waves(4, most=32_768),
    WAVES_1: waves(2, most=8192),
    FOURIER_8: quantized(8, most=8192),
    FOURIER_1: quantized(1, most=4096),
    NYSTROM_32: landmarks(32),
    NYSTROM_16: landmarks(16),
}


def bits_per_row(Z: Any, method: Method) -> int:
    """Return the bits that the features of a row take, as they are stored.

    Examples
    --------
    >>> bits_per_row(PackedFeatures.pack([[1, 0, -1]]), METHODS[TERNARY])
    6
    """
    planes = Z.code.n_planes if isinstance(Z, PackedFeatures) else method.bits
    return planes * int(Z.shape[1])
