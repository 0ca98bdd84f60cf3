"""Rows that checks are run on, and the tolerances of their comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

#: Largest relative difference that rounding may make, by dtype, in units of the largest entry.
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}
#: The share of values that rounding may move from one of few levels to the next.
RARE = 0.01


def ordinary_rows(
    n_rows: int, n_features: int, dtype: str = "float64", seed: int = 0
) -> np.ndarray:
    """Return normal rows of about unit norm."""
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((n_rows, n_features)) / n_features**0.5
    return rows.astype(dtype)


def telling_rows(n_features: int, seed: int = 1) -> np.ndarray:
    """Return seven rows among which every kind of pair occurs: far, near, opposite, scaled."""
    rows = ordinary_rows(7, n_features, seed=seed)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[1] = rows[0] + 0.1 * rows[2]
    rows[3] = -0.9 * rows[2]
    rows[4] *= 2.0
    return rows


def awkward_layouts(X: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the same rows read-only, column-major, strided and with negative strides."""
    still = X.copy()
    still.flags.writeable = False
    wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]))
    wide[::2, ::2] = X
    yield from (still, np.asfortranarray(X), wide[::2, ::2], X[::-1].copy()[::-1])


def assert_close(
    actual: Any, expected: Any, tolerance: float, what: str, step: float = 0.0
) -> None:
    """Raise an error unless the arrays agree within ``tolerance`` of the largest entry.

    One entry in a hundred may differ by ``step``: of values that are rounded to multiples of it.
    """
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape, (
        f"{what}: the shapes differ, {actual.shape} and {expected.shape}"
    )
    errors = abs(actual - expected)
    error = errors.max() if actual.size else 0.0
    bound = tolerance * max(abs(expected).max(), 1e-300) if actual.size else 0.0
    if error > bound and np.mean(errors > bound) <= RARE:
        bound += step
    assert error <= bound, f"{what}: differs by {error:.3g}, more than {bound:.3g}"


def raised(function: Callable[[], object], *kinds: type[Exception]) -> str:
    """Return the message of the error that ``function()`` must raise."""
    try:
        function()
    except kinds as error:
        return str(error)
    raise AssertionError(f"no {' or '.join(kind.__name__ for kind in kinds)} was raised")
