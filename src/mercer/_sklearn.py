"""The seam to scikit-learn: the only importer of its private names.

It also holds the one place where input rows are checked, for NumPy, pandas, polars and
sparse input through scikit-learn, and for arrays of other libraries by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import _fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    Options,
    StrOptions,
    generate_invalid_param_val,
    make_constraint,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_feature_names_in,
    check_array,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from ._array import is_foreign, is_real_number, is_sparse, is_supported, to_numpy
from ._chosen import BaseEstimator
from ._dask import is_dask
from ._estimators import (
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    Method,
    OneToOneFeatureMixin,
    RegressorMixin,
    TransformerMixin,
)
from ._frame import column_names, is_frame, is_missing, library, series

__all__ = [
    "RANDOM_STATE",
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "ClusterMixin",
    "HasMethods",
    "Interval",
    "OneToOneFeatureMixin",
    "Options",
    "RegressorMixin",
    "StrOptions",
    "TransformerMixin",
    "check_columns",
    "check_feature_names_in",
    "check_is_fitted",
    "check_labels",
    "check_rows",
    "check_same_length",
    "check_targets",
    "checked",
    "constraints_of",
    "fit_context",
    "invalid_values",
    "unchanged_on_error",
]

#: scikit-learn's three kinds of ``random_state``, and a NumPy ``Generator``.
RANDOM_STATE: list[Any] = ["random_state", np.random.Generator]


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Return the decorator with which scikit-learn validates parameters before a fit.

    Parameters
    ----------
    prefer_skip_nested_validation : bool
        Whether the parameters of estimators that are fitted inside stay unchecked.
    """
    decorate: Callable[[Method], Method] = _fit_context(
        prefer_skip_nested_validation=prefer_skip_nested_validation
    )
    return decorate


def checked(part: Any) -> Any:
    """Return ``part`` after validating its parameters and those of the parts inside it.

    scikit-learn validates the estimator whose ``fit`` is called, not the objects that are
    its parameters.
    """
    part._validate_params()
    for value in part.get_params(deep=False).values():
        if hasattr(value, "_validate_params"):
            checked(value)
    return part


@contextmanager
def unchanged_on_error(owner: Any) -> Iterator[None]:
    """Give an estimator back the attributes that it had, if what runs inside fails."""
    before = dict(owner.__dict__)
    try:
        yield
    except BaseException:
        owner.__dict__.clear()
        owner.__dict__.update(before)
        raise


def constraints_of(part: Any) -> dict[str, list[Any]]:
    """Return what values each parameter may have, where an estimator says it as data."""
    return dict(getattr(part, "_parameter_constraints", {}))


def invalid_values(constraints: list[Any]) -> list[Any]:
    """Return values that each break one of the constraints of a parameter."""
    values = []
    for constraint in constraints:
        try:
            values.append(generate_invalid_param_val(make_constraint(constraint)))
        except NotImplementedError:
            continue
    return values


def check_rows(X: Any, *, name: str = "X", owner: Any = None, reset: bool = False) -> Any:
    """Return ``X`` as rows that the engine can cut into blocks, or say what is wrong.

    Nothing is converted here but data frames (to the array they hold), sparse formats (to
    CSR) and object columns that hold numbers; dtypes are converted block by block later,
    and NaN and infinity are found there too.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        The input.
    name : str, default="X"
        What to call it in errors.
    owner : estimator or None, default=None
        Whose ``n_features_in_`` and ``feature_names_in_`` to set or to compare with.
    reset : bool, default=False
        Set them (in ``fit``) instead of comparing.
    """
    if is_foreign(X) or is_dask(X):
        return _check_foreign(X, name, owner, reset)
    rules: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": "numeric",
        "ensure_all_finite": False,
    }
    try:
        if owner is None:
            rows = check_array(X, input_name=name, **rules)
        else:
            rows = validate_data(owner, X, reset=reset, **rules)
    except (TypeError, ValueError) as error:
        if "could not convert" in str(error) or "must be a string or a" in str(error):
            raise type(error)(
                f"{name} must hold numbers only, but it holds other values ({error}); "
                "encode categories first, for example with sklearn.preprocessing.OneHotEncoder."
            ) from error
        raise
    if not is_real_number(rows):
        raise ValueError(
            f"{name} must have a boolean, integer or real dtype, but its dtype is {rows.dtype}; "
            f"convert it first, for example with {name}.astype('float64')."
        )
    if rows.dtype.kind == "f" and rows.dtype.itemsize > 8:
        raise ValueError(f"{name} has dtype {rows.dtype}; convert it to float64 first.")
    return canonical_rows(rows)


def check_columns(X: Any, *, owner: Any, reset: bool = False) -> Any:
    """Return a table of any kind (frame, array, CSR) whose columns are those ``owner`` knows.

    Unlike :func:`check_rows` it leaves data frames as they are, and missing entries and
    categories too.
    """
    if is_foreign(X) or is_dask(X):
        return _check_foreign(X, "X", owner, reset)
    if not is_frame(X):
        kind = getattr(getattr(X, "dtype", None), "kind", "O")
        if kind == "c":
            raise ValueError(
                "Complex data not supported; pass real and imaginary parts as columns of their own."
            )
        dtype = None if kind in "biuf" else object
        rules: dict[str, Any] = {"accept_sparse": "csr", "ensure_all_finite": False}
        X = validate_data(owner, X, reset=reset, dtype=dtype, **rules)
        if is_sparse(X) or X.dtype != object:
            return canonical_rows(X)
        try:
            # Lists of numbers, and objects that are numbers throughout.
            return X.astype(float)
        except (TypeError, ValueError):
            return X
    if X.shape[0] < 1 or X.shape[1] < 1:
        raise ValueError(
            f"Found array with 0 sample(s) or feature(s) (shape={tuple(X.shape)}) while a minimum "
            "of 1 is required."
        )
    names = column_names(X)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has several columns named {twice!r}; give them different names.")
    if library(X) == "pyarrow":
        _check_arrow_names(X, owner, reset)
    else:
        _check_feature_names(owner, X, reset=reset)
    if reset:
        owner.n_features_in_ = int(X.shape[1])
    elif X.shape[1] != owner.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(owner).__name__} is expecting "
            f"{owner.n_features_in_} features as input."
        )
    return X


def _check_arrow_names(X: Any, owner: Any, reset: bool) -> None:
    """Set or compare the names of the columns of a pyarrow table, which scikit-learn skips."""
    names = np.array(column_names(X), dtype=object)
    if reset:
        owner.feature_names_in_ = names
        return
    known = list(getattr(owner, "feature_names_in_", names))
    missing = [name for name in known if name not in names]
    if missing:
        raise ValueError(f"X has no column {missing[0]!r}, which {type(owner).__name__} needs.")
    if list(names) != known:
        raise ValueError(f"The columns of X must be {known!r}, in this order; use X.select.")


def check_feature_names_in(owner: Any, input_features: Any = None) -> np.ndarray:
    """Return the names of the input columns of a fitted estimator.

    Parameters
    ----------
    owner : estimator
        With ``n_features_in_`` and perhaps ``feature_names_in_``.
    input_features : array of str, optional
        Names to use where it has none, ``x0``, ``x1``, ... by default.
    """
    return np.asarray(_check_feature_names_in(owner, input_features))


def canonical_rows(rows: Any) -> Any:
    """Return CSR rows as an array in which no entry is stored twice; others as they are."""
    if not is_sparse(rows):
        return rows
    rows = scipy.sparse.csr_array(rows)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _check_foreign(X: Any, name: str, owner: Any, reset: bool) -> Any:
    """Check an array of a library other than NumPy by scikit-learn's rules."""
    if is_dask(X):
        raise TypeError(
            f"{name} is a Dask collection, which is not taken here: fit, transform and predict of "
            "feature maps, TableEncoder, FeatureRidge, the front door, k-means, PCA and "
            "feature-learning machines take them; "
            f"for all else bring the rows to this machine with {name}.compute()."
        )
    if not is_supported(X):
        raise TypeError(
            f"{name} is a {type(X).__module__}.{type(X).__name__}; NumPy, SciPy CSR, torch and "
            "CuPy arrays and data frames are supported: convert it, for example with "
            f"numpy.asarray({name})."
        )
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead: {name} has shape {tuple(X.shape)}. "
            f"Reshape it to one row per sample, for example {name}[:, None] or {name}[None, :]."
        )
    if not is_real_number(X):
        raise ValueError(
            f"Complex data not supported: {name} has dtype {X.dtype}; "
            "pass real and imaginary parts as columns of their own."
        )
    if X.shape[0] < 1 or X.shape[1] < 1:
        raise ValueError(
            f"Found array with 0 sample(s) or feature(s) (shape={tuple(X.shape)}) in {name} "
            "while a minimum of 1 is required."
        )
    if owner is None:
        return X
    if reset:
        _check_feature_names(owner, X, reset=True)
        owner.n_features_in_ = int(X.shape[1])
    elif X.shape[1] != owner.n_features_in_:
        raise ValueError(
            f"{name} has {X.shape[1]} features, but {type(owner).__name__} is expecting "
            f"{owner.n_features_in_} features as input."
        )
    return X


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
