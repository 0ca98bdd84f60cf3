"""The one place where targets are checked: numbers of a regression, labels of a classification."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from ._array import is_foreign, to_numpy
from ._frame import is_missing, refuse_query, series


def check_targets(y: Any, n_rows: int) -> np.ndarray:
    """Return regression targets as floats of shape (n_rows,) or (n_rows, n_targets)."""
    y = _given(y)
    kind = getattr(getattr(y, "dtype", None), "kind", "O")
    if kind in "Mm":
        raise ValueError("y holds dates; convert them to numbers first, for example to days.")
    if kind in "OUST":
        y = _numbers(y)
    Y = check_array(y, ensure_2d=False, dtype="numeric", ensure_all_finite=False, input_name="y")
    if Y.ndim > 2:
        raise ValueError(f"y must have one or two dimensions, but its shape is {Y.shape}.")
    Y = Y.astype(float, copy=False)
    if Y.ndim == 2 and Y.shape[1] == 1:
        Y = column_or_1d(Y, warn=True)
    check_same_length(Y.shape[0], n_rows)
    if not np.isfinite(Y).all():
        row = int(np.argwhere(~np.isfinite(Y))[0][0])
        raise ValueError(
            f"y contains NaN or infinity at row {row} (counted from 0); drop such rows before "
            "learning."
        )
    return Y


def check_labels(y: Any, n_rows: int) -> np.ndarray:
    """Return class labels as an array of shape (n_rows,)."""
    labels = column_or_1d(_given(y), warn=True)
    check_same_length(labels.shape[0], n_rows)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.argwhere(~np.isfinite(labels))[0][0])
        raise ValueError(
            f"y contains NaN or infinity at row {row} (counted from 0); drop such rows before "
            "learning."
        )
    if labels.dtype.kind == "O" and len(labels):
        missing = [is_missing(label) for label in labels]
        if any(missing):
            raise ValueError(
                f"y contains a missing label at row {missing.index(True)} (counted from 0); drop "
                "such rows before learning."
            )
        # Objects that are numbers or booleans throughout are labels of that type.
        plain = np.array(labels.tolist()) if not isinstance(labels[0], str) else labels
        labels = plain if plain.dtype.kind in "biuf" else labels
    check_classification_targets(labels)
    return labels


def _given(y: Any) -> Any:
    """Return targets of any library as NumPy has them; lists and frames as they are."""
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None; pass one target per row."
        )
    refuse_query(y, "y")
    return to_numpy(y) if is_foreign(y) else series(y)


def _numbers(y: Any) -> Any:
    """Return targets that are objects as floats, missing ones as NaN; strings are refused."""
    values = np.asarray(y)
    if values.dtype.kind not in "OUST":
        return y
    found = np.empty(values.shape, dtype=float)
    for place, value in np.ndenumerate(values.astype(object)):
        try:
            found[place] = np.nan if is_missing(value) else value
        except (TypeError, ValueError):
            if not isinstance(value, str):
                return y
            raise ValueError(
                f"y holds strings such as {value!r}, but regression predicts numbers: use a "
                "classifier, such as KernelClassifier, for labels, or convert y to numbers."
            ) from None
    return found


def check_same_length(n_targets: int, n_rows: int) -> None:
    """Raise an error unless there is a target for each row."""
    if n_targets != n_rows:
        raise ValueError(
            f"X and y have inconsistent numbers of samples: X has {n_rows} rows, y has "
            f"{n_targets}; give one target for each row."
        )
