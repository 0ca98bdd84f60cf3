"""Bad data and bad parameters, and what an error about them must say."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from .._sklearn import constraints_of, invalid_values
from .data import ordinary_rows, raised


def bad_rows(n_features: int) -> dict[str, tuple[np.ndarray, str]]:
    """Return, by name, pairs of bad rows and a word that the error must contain."""
    good = ordinary_rows(6, n_features)
    with_nan, with_inf = good.copy(), good.copy()
    with_nan[4, 1] = np.nan
    with_inf[2, 0] = -np.inf
    return {
        "nan": (with_nan, "row 4, column 1"),
        "infinity": (with_inf, "row 2, column 0"),
        "float32 nan": (with_nan.astype("float32"), "NaN"),
        "one-dimensional": (good[0], "1D array"),
        "three-dimensional": (good[None], "dim 3"),
        "no rows": (good[:0], "0 sample"),
        "no columns": (good[:, :0], "0 feature"),
        "complex": (good + 1j, "omplex"),
        "strings": (np.full(good.shape, "a", dtype=object), "numbers only"),
        "dates": (np.full(good.shape, np.datetime64("2020-01-01")), "X"),
    }


def assert_bad_rows_are_refused(function: Callable[[Any], object], n_features: int) -> None:
    """Raise an error unless ``function`` refuses every kind of bad rows with a clear error."""
    for name, (rows, word) in bad_rows(n_features).items():
        message = raised(partial(function, rows), ValueError, TypeError)
        assert word in message, f"bad rows ({name}): the error does not say {word!r}: {message}"


def assert_bad_parameters_are_refused(part: Any, function: Callable[[Any], object]) -> None:
    """Raise an error unless every parameter refuses bad values with an error that names it."""
    for name, constraints in constraints_of(part).items():
        for value in invalid_values(constraints):
            broken = clone(part).set_params(**{name: value})
            message = raised(partial(function, broken), ValueError, TypeError)
            assert name in message, f"{name}={value!r}: the error does not name it: {message}"
