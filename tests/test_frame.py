"""Tests of the seam to data frames: the same columns from every library, and no query taken for
rows."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mercer import FeatureRidge, Gaussian, KernelRegressor, RandomFourier, TableEncoder
from mercer._frame import (
    column,
    column_names,
    common_library,
    frame_rows,
    in_library,
    is_categorical,
    is_frame,
    query_library,
    rows_of_frame,
    series,
)

DAY, OTHER = datetime.date(2024, 1, 2), datetime.date(1969, 5, 6)
TIME = datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
#: A column of Python objects, what it is as an array, and whether its type is one of categories.
COLUMNS = {
    "integers": ([1, 2, 3], np.asarray([1, 2, 3])),
    "gaps": ([1, None, 3], np.asarray([1, np.nan, 3])),
    "floats": ([1.5, None, -2.0], np.asarray([1.5, np.nan, -2.0])),
    "booleans": ([True, False, True], np.asarray([1, 0, 1])),
    "boolean gaps": ([True, None, False], np.asarray([1, np.nan, 0])),
    "decimals": ([Decimal("1.5"), None, Decimal(2)], np.asarray([1.5, np.nan, 2])),
    "strings": (["a", None, "b"], np.asarray(["a", None, "b"], dtype=object)),
    "dates": ([DAY, None, OTHER], np.asarray([DAY, None, OTHER], dtype="datetime64[us]")),
    "durations": (
        [datetime.timedelta(1), None, datetime.timedelta(hours=1)],
        np.asarray([24, "NaT", 1], dtype="timedelta64[h]").astype("timedelta64[us]"),
    ),
    "times": ([TIME, None, TIME], np.asarray(["2024-01-02T03:04:05", "NaT", "2024-01-02T03:04:05"],
                                             dtype="datetime64[us]")),
}  # fmt: skip


def arrow_backed(values):
    return pd.DataFrame({"c": pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(values)]))})


LIBRARIES = {
    "pandas": lambda values: pd.DataFrame({"c": values}),
    "pandas objects": lambda values: pd.DataFrame({"c": pd.Series(values, dtype=object)}),
    "pandas on arrow": arrow_backed,
    "polars": lambda values: pl.DataFrame({"c": values}),
    "table": lambda values: pa.table({"c": pa.array(values)}),
    "record batch": lambda values: pa.record_batch({"c": pa.array(values)}),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_is_the_same_in_every_library(library, kind):
    values, wanted = COLUMNS[kind]
    if (library, kind) in [("pandas objects", "durations"), ("pandas objects", "times")]:
        # Durations and dates with a time zone stay objects here.
        return
    frame = LIBRARIES[library](values)
    assert is_frame(frame)
    assert column_names(frame) == ["c"]
    found = column(frame, 0)
    if wanted.dtype.kind in "OMm":
        assert found.dtype == wanted.dtype
        assert np.array_equal(found.astype(str), wanted.astype(str))
    else:
        assert found.dtype.kind in "biuf"
        assert np.array_equal(found.astype(float), wanted.astype(float), equal_nan=True)
    assert not is_categorical(frame, 0)


CATEGORICAL = {
    "pandas": pd.DataFrame({"c": pd.Categorical(["a", None, "b"])}),
    "polars": pl.DataFrame({"c": ["a", None, "b"]}, schema={"c": pl.Categorical}),
    "polars enum": pl.DataFrame({"c": ["a", None, "b"]}, schema={"c": pl.Enum(["a", "b"])}),
    "arrow": pa.table({"c": pa.array(["a", None, "b"]).dictionary_encode()}),
}


@pytest.mark.parametrize("frame", CATEGORICAL.values(), ids=CATEGORICAL)
def test_categories_are_told_from_strings(frame):
    assert is_categorical(frame, 0)
    assert column(frame, 0).tolist() == ["a", None, "b"]


@pytest.mark.parametrize("make", [pd.Categorical, lambda v: pa.array(v).dictionary_encode()])
def test_numbers_that_are_categories_stay_categories(make):
    values = make([2, 1, 2])
    frame = pd.DataFrame({"c": values}) if isinstance(values, pd.Categorical) else None
    frame = pa.table({"c": values}) if frame is None else frame
    assert column(frame, 0).dtype == object
    assert TableEncoder().fit(frame).kinds_ == ["category"]
    assert series(values).tolist() == [2, 1, 2]


def test_intervals_and_periods_are_categories_by_their_names():
    frame = pd.DataFrame(
        {
            "binned": pd.cut(pd.Series([1.0, 2.0, 9.0]), 2),
            "period": pd.period_range("2024-01", periods=3, freq="M"),
        }
    )
    assert column(frame, 0).tolist() == ["(0.992, 5.0]", "(0.992, 5.0]", "(5.0, 9.0]"]
    assert column(frame, 1).tolist() == ["2024-01", "2024-02", "2024-03"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_are_cut_and_taken(library):
    frame = LIBRARIES[library](list(range(10)))
    assert column(frame_rows(frame, 2, 5), 0).tolist() == [2, 3, 4]
    assert column(rows_of_frame(frame, np.asarray([7, 0])), 0).tolist() == [7, 0]


def test_rows_of_pandas_keep_their_index():
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=["u", "v", "w"])
    assert frame_rows(frame, 1, 3).index.tolist() == ["v", "w"]
    assert rows_of_frame(frame, np.asarray([2, 0])).index.tolist() == ["w", "u"]


@pytest.mark.parametrize("asked", ["pandas", "polars"])
@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_set_output_gives_frames_with_the_index_of_pandas(asked, make):
    frame = make({"a": [1.0, 2.0, 4.0], "b": [0.5, 0.0, 1.0]})
    if isinstance(frame, pd.DataFrame):
        frame.index = ["u", "v", "w"]
    features = RandomFourier(Gaussian(1.0), n_components=4, random_state=0)
    for step in (TableEncoder(), features):
        found = step.set_output(transform=asked).fit(frame).transform(frame)
        assert type(found).__module__.split(".")[0] == asked
        if isinstance(frame, pd.DataFrame) and asked == "pandas":
            assert found.index.tolist() == ["u", "v", "w"]
        plain = step.set_output(transform="default").transform(frame)
        assert np.array_equal(found.to_numpy(), plain)


def test_what_is_no_table():
    for thing in (np.eye(2), [[1.0]], "text", None, pd.Series([1.0]), {"a": [1]}):
        assert not is_frame(thing)
        assert query_library(thing) is None
    for thing in (np.eye(2), [1, 2], (1, 2), "text", None, pd.DataFrame({"a": [1]})):
        assert series(thing) is thing


def test_labels_of_every_library():
    for values in (
        pd.Series(["b", "a"]), pd.Index(["b", "a"]), pl.Series(["b", "a"]),
        pa.array(["b", "a"]), pa.chunked_array([["b"], ["a"]]),
    ):  # fmt: skip
        assert series(values).tolist() == ["b", "a"]
    for values in (pd.Series([True, False]), pl.Series([True, False]), pa.array([True, False])):
        assert series(values).dtype == bool


def test_a_table_in_the_library_of_another():
    pandas, polars = pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})
    batch = pa.record_batch({"a": pa.array([1])})
    rows = np.eye(2)
    assert [common_library(table) for table in (pandas, polars, batch, rows)] == [
        "pandas", "polars", "pandas", None,
    ]  # fmt: skip
    assert in_library(pandas, "pandas") is pandas
    assert in_library(batch, None) is batch
    assert in_library(rows, "pandas") is rows
    for table in (pandas, polars, batch):
        assert isinstance(in_library(table, "pandas"), pd.DataFrame)
        assert isinstance(in_library(table, "polars"), pl.DataFrame)


LAZY = pl.LazyFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})


@pytest.mark.parametrize(
    "call",
    [
        lambda: KernelRegressor().fit(LAZY, [0.0, 1.0]),
        lambda: KernelRegressor().fit(LAZY),
        lambda: FeatureRidge().fit(LAZY, [0.0, 1.0]),
        lambda: FeatureRidge().fit(LAZY),
        lambda: TableEncoder().fit(LAZY),
        lambda: RandomFourier(Gaussian(1.0)).fit(LAZY),
        lambda: FeatureRidge().fit(np.eye(2), np.ones(2)).predict(LAZY),
        lambda: KernelRegressor().fit(np.eye(2), LAZY),
    ],
)
def test_a_query_is_refused_with_both_ways_out(call):
    with pytest.raises(TypeError, match=r"polars LazyFrame.*TableStream\(.*collect\(\)"):
        call()


def test_a_relation_of_duckdb_is_refused_too():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().sql("select 1.5 as a, 2.5 as b")
    assert query_library(relation) == "duckdb"
    with pytest.raises(TypeError, match=r"DuckDBPyRelation.*TableStream\(X.*X\.df\(\)"):
        KernelRegressor().fit(relation, [1.0])
