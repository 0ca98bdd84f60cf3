"""Targets on a device: checked where they are, as those of NumPy are by scikit-learn's rules."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import DataConversionWarning

from .._array import (
    all_finite,
    as_floating,
    dtype_name,
    is_foreign,
    is_real_number,
    moved,
    namespace,
    to_numpy,
)
from .._checked_targets import check_labels, check_same_length, check_targets


def checked_numbers(y: Any, n_rows: int, beside: Any = None) -> Any:
    """Return targets that are numbers, in the library and on the device of another array.

    Parameters
    ----------
    y : array, list or data frame
        Targets of any kind.
    n_rows : int
        Rows they belong to.
    beside : array, default=None
        Names library and device; ``None`` means NumPy.

    Examples
    --------
    >>> checked_numbers([1, 2], 2)
    array([1., 2.])
    """
    if not (is_foreign(y) and is_foreign(beside)):
        return moved(check_targets(y, n_rows), beside)
    if not is_real_number(y):
        raise ValueError(
            f"y must have a boolean, integer or real dtype, but its dtype is {y.dtype}; predict "
            "real and imaginary parts as targets of their own."
        )
    if y.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, but its shape is {tuple(y.shape)}.")
    Y = _flat(y)
    check_same_length(Y.shape[0], n_rows)
    if dtype_name(Y) not in ("float32", "float64"):
        Y = as_floating(Y, "float64")
    _refuse_non_finite(Y)
    return moved(Y, beside)


def checked_labels(y: Any, n_rows: int, beside: Any = None) -> Any:
    """Return labels of one dimension: on a device if they are given there, else as NumPy has them.

    Parameters
    ----------
    y, n_rows, beside
        As in :func:`checked_numbers`.

    Examples
    --------
    >>> checked_labels(["a", "b"], 2).tolist()
    ['a', 'b']
    """
    if not (is_foreign(y) and is_foreign(beside)):
        return check_labels(y, n_rows)
    labels = _flat(y)
    whole = not dtype_name(labels).startswith(("float", "bfloat"))
    if labels.ndim != 1 or not is_real_number(labels):
        # What is wrong is said by scikit-learn.
        return check_labels(to_numpy(labels), n_rows)
    check_same_length(labels.shape[0], n_rows)
    if not whole:
        _refuse_non_finite(labels)
        xp = namespace(labels)
        if not bool(xp.all(labels == xp.floor(labels))):
            return check_labels(to_numpy(labels), n_rows)
    return moved(labels, beside)


def _flat(y: Any) -> Any:
    """Return targets of a single column in one dimension, and warn of it as scikit-learn does."""
    if y.ndim != 2 or y.shape[1] != 1:
        return y
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using y[:, 0].",
        DataConversionWarning,
        stacklevel=4,
    )
    return y[:, 0]


def _refuse_non_finite(Y: Any) -> None:
    """Raise an error that names the first row with NaN or infinity."""
    if all_finite(Y):
        return
    xp = namespace(Y)
    wrong = ~xp.isfinite(Y)
    if Y.ndim == 2:
        wrong = xp.any(wrong, axis=1)
    row = int(xp.argmax(xp.astype(wrong, xp.int32)))
    raise ValueError(
        f"y contains NaN or infinity at row {row} (counted from 0); drop such rows before learning."
    )
