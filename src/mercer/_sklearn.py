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
from sklearn.utils.validation import (
    _check_feature_names,
    _check_feature_names_in,
    check_array,
    check_is_fitted,
    validate_data,
)

from ._array import is_foreign, is_real_number, is_sparse, is_supported
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
from ._frame import column_names, is_arrow, is_frame, refuse_query, temporal_columns
from ._words import columns_hint

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
    "check_rows",
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
    refuse_query(X, name)
    _refuse_dates(X)
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
        if getattr(X, "ndim", 2) > 2:
            raise ValueError(f"{error} {_as_images(X, name)}") from error
        _hint_at_columns(error, X, owner)
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
    refuse_query(X, "X")
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
    if is_arrow(X):
        _check_arrow_names(X, owner, reset)
    else:
        try:
            _check_feature_names(owner, X, reset=reset)
        except ValueError as error:
            _hint_at_columns(error, X, owner)
            raise
    if reset:
        owner.n_features_in_ = int(X.shape[1])
    elif X.shape[1] != owner.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(owner).__name__} is expecting "
            f"{owner.n_features_in_} features as input."
        )
    return X


def _hint_at_columns(error: Exception, X: Any, owner: Any) -> None:
    """Raise an error about names of columns again, with a sentence that says how to mend them."""
    known = getattr(owner, "feature_names_in_", None)
    if known is not None and is_frame(X) and "eature names" in str(error):
        hint = columns_hint(column_names(X), list(known))
        raise ValueError(f"{error}{hint}") from error


def _refuse_dates(X: Any) -> None:
    """Refuse dates in a data frame, some kinds of which would make microseconds of them."""
    found = temporal_columns(X) if is_frame(X) else []
    if found:
        raise TypeError(
            f"Column {found[0]!r} holds dates or durations, and only numbers are taken here; use "
            "KernelRegressor or KernelClassifier, put a TableEncoder first, or make it a number "
            f"of days (of a field: field.assign_coords({found[0]}=days))."
        )


def _check_arrow_names(X: Any, owner: Any, reset: bool) -> None:
    """Set or compare the names of the columns of a pyarrow table, which scikit-learn may skip."""
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


def _as_images(X: Any, name: str) -> str:
    """Return how an array of images becomes rows."""
    shape = tuple(int(size) for size in X.shape[1:])
    return (
        f"Give one row per sample: {name}.reshape({name}.shape[0], -1). Kernels and maps of images "
        f"then need image_shape={shape}."
    )


def _as_column(name: str) -> str:
    return f"Reshape it to one row per sample, for example {name}[:, None] or {name}[None, :]."


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
            f"{_as_images(X, name) if X.ndim > 2 else _as_column(name)}"
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
