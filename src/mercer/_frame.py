"""The seam to data frames: the only module that asks which library a table is from.

narwhals answers: a table is a pandas, polars, Modin or cuDF data frame, or a pyarrow table or
record batch. Its columns come out as NumPy arrays: numbers and booleans, as floats with NaN where
some are missing, dates as ``datetime64``, and everything else as objects with ``None`` for
missing values. Tables that hold a query instead of rows are told apart, too.
"""

from __future__ import annotations

import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

#: What a category may be.
PLAIN = (str, int, float, date, np.number, np.bool_)
#: Libraries whose tables may hold no rows, and how theirs are computed.
COMPUTED = {
    "polars": "{}.collect()",
    "duckdb": "{}.df()",
    "datasets": "{}.to_pandas()",
    "ibis": "{}.to_pandas()",
    "pyspark": "{}.toPandas()",
}


def _narwhals() -> Any:
    # Imported when it is needed: that takes as long as importing the rest of a small program.
    import narwhals.stable.v2

    return narwhals.stable.v2


def _root(X: Any) -> str:
    # The relations of DuckDB 1 are from _duckdb.
    return type(X).__module__.partition(".")[0].lstrip("_")


def is_frame(X: Any) -> bool:
    """Return whether ``X`` is a table with named columns, whose rows are there."""
    if isinstance(X, np.ndarray) or not hasattr(type(X), "columns"):
        return False
    return _is_batch(X) or bool(_narwhals().dependencies.is_into_dataframe(X))


def _is_batch(X: Any) -> bool:
    return _root(X) == "pyarrow" and type(X).__name__ == "RecordBatch"


def _frame(X: Any) -> Any:
    """Return a table as a data frame of narwhals."""
    if _is_batch(X):
        # No copy: a table of one batch.
        X = sys.modules["pyarrow"].Table.from_batches([X])
    return _narwhals().from_native(X, eager_only=True)


def query_library(X: Any) -> str | None:
    """Return the library of a table that has to be computed or read first, or ``None``.

    Such are lazy frames of polars and others, DuckDB relations, and Hugging Face datasets.

    Examples
    --------
    >>> import polars
    >>> from mercer._frame import query_library
    >>> query_library(polars.LazyFrame({"a": [1]})), query_library(polars.DataFrame({"a": [1]}))
    ('polars', None)
    """
    root = _root(X)
    if root == "datasets" and hasattr(X, "features") and hasattr(X, "iter"):
        return root
    # Dask's collections have a seam of their own.
    if root.startswith("dask") or not hasattr(type(X), "columns"):
        return None
    lazy = bool(_narwhals().dependencies.is_into_lazyframe(X))
    return root if lazy else None


def refuse_query(X: Any, name: str) -> None:
    """Say how to stream or compute a table that holds no rows, if ``X`` is one.

    The name of a file holds none, either.
    """
    if isinstance(X, (str, Path)):
        raise TypeError(
            f"{name} is {str(X)!r}, and not rows; of a table in a file give a "
            f"mercer.io.TableStream({str(X)!r}, target=...)."
        )
    library = query_library(X)
    if library is None:
        return
    computed = COMPUTED.get(library, "{} as a pandas, polars or pyarrow table").format(name)
    streamed = (
        f"to stream it, give fit a mercer.io.TableStream({name}, target=...), "
        "and predict one with target=None; "
    )
    raise TypeError(
        f"{name} is a {library} {type(X).__name__}, whose rows are not in memory yet: "
        f"{streamed if library in ('polars', 'duckdb', 'datasets') else ''}"
        f"if it fits in memory, give {computed}."
    )


def is_arrow(X: Any) -> bool:
    """Return whether a table is a pyarrow table or record batch."""
    return _root(X) == "pyarrow"


def column_names(X: Any) -> list[Any]:
    """Return the names of the columns of a table."""
    return list(X.column_names if hasattr(type(X), "column_names") else X.columns)


def temporal_columns(X: Any) -> list[Any]:
    """Return the names of the columns of a table that hold dates, times of day or durations.

    Names that occur twice are not looked up.
    """
    names = column_names(X)
    if len(set(names)) < len(names):
        return []
    return [name for name, dtype in _frame(X).schema.items() if dtype.is_temporal()]


def frame_rows(X: Any, start: int, stop: int) -> Any:
    """Return some rows of a table."""
    return _frame(X)[start:stop].to_native()


def rows_of_frame(X: Any, places: np.ndarray) -> Any:
    """Return the rows of a table at some places."""
    return _frame(X)[np.asarray(places)].to_native()


def column(X: Any, number: int) -> np.ndarray:
    """Return one column of a table as a NumPy array, as the module says."""
    return _values(_frame(X)[:, number])


def is_categorical(X: Any, number: int) -> bool:
    """Return whether a column of a table has a type of categories, as opposed to strings."""
    return _has_categories(_frame(X)[:, number])


def common_library(X: Any) -> str | None:
    """Return the library whose frames transformers take where they take tables like this one.

    ``"pandas"`` or ``"polars"``; pyarrow's tables are pandas frames there, or those of polars where
    pandas is not installed. ``None`` for all else.
    """
    from ._optional import is_installed

    if not is_frame(X):
        return None
    root = _root(X)
    if root == "pyarrow":
        return "pandas" if is_installed("pandas") else "polars"
    return root if root in ("pandas", "polars") else None


def in_library(X: Any, name: str | None) -> Any:
    """Return a table as a frame of pandas or polars; other things, and by no name, as they are."""
    if name is None or not is_frame(X) or _root(X) == name:
        return X
    frame = _frame(X)
    return frame.to_pandas() if name == "pandas" else frame.to_polars()


def series(y: Any) -> Any:
    """Return a single column (targets, labels) as a NumPy array; other things as they are.

    A column is a Series of any library, a pandas Index or extension array
    (``frame["label"].values``), or a pyarrow Array or ChunkedArray. Booleans stay booleans where
    none is missing, and a categorical column becomes the values it holds.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer._frame import series
    >>> series(pd.Categorical(["b", "a", "b"]))
    array(['b', 'a', 'b'], dtype='<U1')
    """
    plain = isinstance(y, (np.ndarray, list, tuple, str)) or not hasattr(y, "__len__")
    if plain or len(getattr(y, "shape", (0,))) > 1:
        return y
    root = _root(y)
    if root == "pandas":
        # Not all of pandas' arrays know what a Series does of its missing values.
        y = sys.modules["pandas"].Series(y)
    elif root == "pyarrow" and hasattr(y, "null_count") and not hasattr(y, "num_chunks"):
        y = sys.modules["pyarrow"].chunked_array([y])
    if not _narwhals().dependencies.is_into_series(y):
        return y
    values = _narwhals().from_native(y, series_only=True)
    if _has_categories(values) and not values.null_count():
        return np.array(values.to_list())
    return _values(values)


def _has_categories(values: Any) -> bool:
    nw = _narwhals()
    return isinstance(values.dtype, (nw.Categorical, nw.Enum))


def _values(values: Any) -> np.ndarray:
    """Return a series of narwhals as a NumPy array."""
    nw, dtype = _narwhals(), values.dtype
    if dtype.is_decimal() or (dtype == nw.Boolean and values.null_count()):
        values = values.cast(nw.Float64)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(values.to_numpy())
    if dtype == nw.Date:
        values, dtype = values.cast(nw.Datetime("ms")), nw.Datetime("ms")
    if isinstance(dtype, (nw.Datetime, nw.Duration)):
        # Nanoseconds would end in the year 2262.
        kind = "m" if dtype == nw.Duration else "M"
        return np.asarray(values.to_numpy()).astype(f"{kind}8[us]")
    found = np.empty(len(values), dtype=object)
    found[:] = values.to_list()
    found[[is_missing(value) for value in found]] = None
    # Of objects nothing is known but what they are; narwhals takes a look at some.
    is_object = isinstance(getattr(values.to_native(), "dtype", None), np.dtype)
    if is_object or (dtype != nw.String and not _has_categories(values)):
        found = _numbers(found)
    # Categories stay categories, whatever they hold: intervals and periods as strings.
    opaque = dtype == nw.Unknown or _has_categories(values)
    if opaque and not all(value is None or isinstance(value, PLAIN) for value in found):
        found[:] = [None if value is None else str(value) for value in found]
    return found


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
