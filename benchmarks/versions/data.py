"""Rows, targets and tables that both versions are given."""

from __future__ import annotations

from typing import Any

import numpy as np


def rows(n: int, d: int, dtype: Any = np.float64) -> np.ndarray:
    """Return normal rows of about unit norm."""
    generator = np.random.default_rng(0)
    return (generator.standard_normal((n, d)) / d**0.5).astype(dtype)


def problem(n: int, d: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Return normal rows, and a function of three of their columns with noise."""
    generator = np.random.default_rng(1)
    X = generator.standard_normal((n, d)).astype(dtype)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * generator.standard_normal(n)
    return X, y


def labels(y: np.ndarray) -> np.ndarray:
    """Return three classes of about equal size."""
    return np.searchsorted(np.quantile(y, [1 / 3, 2 / 3]), y)


def frame(n: int) -> Any:
    """Return a pandas frame with numbers, missing values, booleans, categories and dates."""
    import pandas as pd

    generator = np.random.default_rng(2)
    numbers = generator.standard_normal((n, 6))
    numbers[generator.random((n, 6)) < 0.05] = np.nan
    content: dict[str, Any] = {f"number {k}": numbers[:, k] for k in range(6)}
    content["count"] = generator.integers(0, 1000, n)
    content["flag"] = generator.random(n) < 0.3
    content["colour"] = generator.choice(["red", "green", "blue"], n)
    content["town"] = generator.choice([f"town {k}" for k in range(40)], n)
    days = generator.integers(0, 3000, n).astype("timedelta64[D]")
    content["day"] = np.datetime64("2015-01-01") + days
    return pd.DataFrame(content)
