"""Lengths of random frequencies: the probabilities at which a law's quantiles are taken."""

from __future__ import annotations

import numpy as np

from .._random import Stream

_GOLDEN = (np.sqrt(5.0) - 1) / 2


def draw_probabilities(stream: Stream, size: int, stratified: bool = False) -> np.ndarray:
    """Return numbers that are each uniform in (0, 1), independent or stratified.

    Stratified ones are the multiples of the golden ratio after one random shift, modulo 1:
    every beginning of the sequence is spread evenly, so the draw stays nested.

    Examples
    --------
    >>> from mercer._random import Stream
    >>> draw_probabilities(Stream(0), 5, stratified=True).round(2).tolist()
    [0.01, 0.63, 0.25, 0.87, 0.49]
    """
    stream.reserve(size)
    generator = stream.generator()
    if stratified:
        u = (generator.random() + _GOLDEN * np.arange(size)) % 1.0
    else:
        u = generator.random(size)
    # A quantile at exactly 0 or 1 would be a zero or infinite frequency.
    return np.clip(u, 2.0**-54, 1 - 2.0**-53)
