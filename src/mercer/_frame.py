"""The seam to data frames: the only module that asks which library a table is from.

A table is a pandas or polars data frame, or a pyarrow table or record batch. Its columns come
out as NumPy arrays: numbers and booleans with NaN for missing values, dates as ``datetime64``,
and everything else as objects with ``None`` for missing values.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from importlib import import_module
from typing import Any

import numpy as np

LIBRARIES = ("pandas", "polars", "pyarrow")
#: What a category may be.
PLAIN = (str, int, float, date, np.number, np.bool_)


def library(X: Any) -> str | None:
    """Return the library that a table is from, or ``None`` if ``X`` is not a table."""
    root = type(X).__module__.partition(".")[0]
    if root not in LIBRARIES:
        return None
    return root if hasattr(X, "columns") and len(getattr(X, "shape", ())) == 2 else None


def is_frame(X: Any) -> bool:
    """Return whether ``X`` is a table with named columns."""
    return library(X) is not None


def column_names(X: Any) -> list[Any]:
    """Return the names of the columns of a table."""
    return list(X.column_names) if library(X) == "pyarrow" else list(X.columns)


def frame_rows(X: Any, start: int, stop: int) -> Any:
    """Return some rows of a table."""
    if library(X) == "pandas":
        return X.iloc[start:stop]
    return X.slice(start, stop - start)


def column(X: Any, number: int) -> np.ndarray:
    """Return one column of a table as a NumPy array, as the module says."""
    kind = library(X)
    if kind == "pandas":
        return _from_pandas(X.iloc[:, number])
    if kind == "polars":
        return _from_polars(X.to_series(number))
    return _from_arrow(X.column(number))


def is_categorical(X: Any, number: int) -> bool:
    """Return whether a column of a table has a type of categories, as opposed to strings."""
    kind = library(X)
    if kind == "pandas":
        dtype = X.dtypes.iloc[number]
    else:
        dtype = X.dtypes[number] if kind == "polars" else X.schema.field(number).type
    return str(dtype).lower().startswith(("categor", "enum", "dictionary"))


def series(y: Any) -> Any:
    """Return a single column (targets, labels) as a NumPy array; other things as they are.

    A column is a pandas Series, Index or extension array (``frame["label"].values``), a polars
    Series, or a pyarrow Array or ChunkedArray. Booleans stay booleans where none is missing, and
    a categorical column becomes the values it holds.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer._frame import series
    >>> series(pd.Categorical(["b", "a", "b"]))
    array(['b', 'a', 'b'], dtype='<U1')
    """
    root = type(y).__module__.partition(".")[0]
    if root not in LIBRARIES or len(getattr(y, "shape", (0,))) > 1:
        return y
    reader = {"pandas": _pandas_series, "polars": _polars_series, "pyarrow": _arrow_series}[root]
    return reader(y) if hasattr(y, "__len__") else y


def _pandas_series(y: Any) -> np.ndarray:
    # Not all of pandas' arrays know what a Series does of its missing values.
    y = import_module("pandas").Series(y)
    if y.dtype == "category" and not y.hasnans:
        return np.array(y.tolist())
    if str(y.dtype) in ("bool", "boolean", "bool[pyarrow]") and not y.hasnans:
        return np.asarray(y.to_numpy(dtype=bool))
    return _from_pandas(y)


def _polars_series(y: Any) -> np.ndarray:
    whole = str(y.dtype) == "Boolean" and not y.null_count()
    return np.array(y.to_list(), dtype=bool) if whole else _from_polars(y)


def _arrow_series(y: Any) -> np.ndarray:
    whole = str(y.type) == "bool" and not y.null_count
    return np.array(y.to_pylist(), dtype=bool) if whole else _from_arrow(y)


def _from_pandas(values: Any) -> np.ndarray:
    dtype = values.dtype
    if type(dtype).__name__ == "ArrowDtype":
        return _from_arrow(values.array.__arrow_array__())
    kind = getattr(dtype, "kind", "O")
    if kind in "biuf":
        if isinstance(dtype, np.dtype):
            return np.asarray(values)
        narrow = kind != "b" and not values.hasnans
        plain = getattr(dtype, "numpy_dtype", np.dtype(float))
        return np.asarray(
            values.to_numpy(dtype=plain if narrow else float, na_value=0 if narrow else np.nan)
        )
    if kind in "Mm":
        # Nanoseconds would end in the year 2262.
        return np.asarray(values.to_numpy(dtype=f"{kind}8[us]"))
    found = np.array(values.astype(object), dtype=object)
    found[np.asarray(values.isna())] = None
    if isinstance(dtype, np.dtype):
        return _numbers(found)
    # Categories stay categories, whatever they hold: intervals and periods as strings.
    present = [value for value in found if value is not None]
    if not all(isinstance(value, PLAIN) for value in present):
        found[:] = [None if value is None else str(value) for value in found]
    return found


def _from_polars(values: Any) -> np.ndarray:
    dtype = values.dtype
    if dtype.is_numeric():
        # Decimals, and integers with missing values, become floats.
        return np.asarray((values.cast(float) if dtype.is_decimal() else values).to_numpy())
    if dtype.is_temporal() and str(dtype) != "Time":
        return np.asarray(values.to_numpy())
    if str(dtype) in ("Boolean", "Null"):
        return np.asarray(values.cast(float).to_numpy())
    found = np.empty(len(values), dtype=object)
    found[:] = values.to_list()
    return found


def _from_arrow(values: Any) -> np.ndarray:
    from ._optional import require

    pyarrow = require("pyarrow", "tables", "Reading tables")
    types = pyarrow.types

    dtype = values.type
    if types.is_dictionary(dtype):
        values, dtype = values.cast(dtype.value_type), dtype.value_type
    if types.is_boolean(dtype) or types.is_null(dtype):
        values = values.cast(pyarrow.uint8())
    elif types.is_decimal(dtype):
        values = values.cast(pyarrow.float64())
    elif types.is_date(dtype):
        values = values.cast(pyarrow.timestamp("ms"))
    if types.is_integer(values.type) or types.is_floating(values.type):
        return np.asarray(_plain(values), dtype=None if len(values) else float)
    if types.is_temporal(values.type) and not types.is_time(values.type):
        return np.asarray(_plain(values))
    found = np.empty(len(values), dtype=object)
    found[:] = values.to_pylist()
    return found


def _plain(values: Any) -> Any:
    """Return a pyarrow array, or one in chunks, as a NumPy array."""
    chunked = hasattr(values, "num_chunks")
    return values.to_numpy() if chunked else values.to_numpy(zero_copy_only=False)


def _numbers(found: np.ndarray) -> np.ndarray:
    """Return objects as floats or dates if they are that; ``None`` is missing."""
    numbers = (int, float, Decimal, np.number, np.bool_)
    if all(value is None or isinstance(value, numbers) for value in found):
        return found.astype(float)
    if all(value is None or isinstance(value, date) for value in found):
        return found.astype("datetime64[us]")
    return found


def object_column(values: np.ndarray) -> np.ndarray:
    """Return a column of an array of objects or strings by the same rules."""
    if values.dtype.kind != "O":
        return values.astype(object)
    found = values.copy()
    found[[is_missing(value) for value in values]] = None
    return _numbers(found)


def is_missing(value: Any) -> bool:
    """Return whether an entry is ``None``, NaN, or what pandas has for them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value
