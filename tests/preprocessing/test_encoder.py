"""Tests of the encoder: kinds of columns, missing values, categories, blocks, what is refused."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import TableEncoder
from mercer._array import to_numpy
from mercer.preprocessing.table_summary import TableSummary
from mercer.testing import array_libraries

COLUMNS = {
    "size": [1.0, 2.0, None, 4.0, 7.0],
    "colour": ["red", "blue", None, "red", "blue"],
    "number": [1, 2, 3, 4, 9],
    "day": [datetime.date(2020, 1, day) for day in (1, 2, 3, 4, 20)],
    "flag": [True, False, True, True, False],
    "same": [3, 3, 3, 3, 3],
}
FRAMES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas category": lambda: pd.DataFrame(COLUMNS).astype({"colour": "category"}),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars category": lambda: pl.DataFrame(COLUMNS).with_columns(
        pl.col("colour").cast(pl.Categorical)
    ),
    "arrow table": lambda: pa.table(COLUMNS),
    "arrow batch": lambda: pa.record_batch(COLUMNS),
    "arrow dictionary": lambda: pa.table(
        {**COLUMNS, "colour": pa.array(COLUMNS["colour"]).dictionary_encode()}
    ),
    "objects": lambda: pd.DataFrame(COLUMNS).astype(object).to_numpy(),
}
NAMES = ["size", "number", "day", "flag", "size is missing"]
NAMES += ["colour=blue", "colour=red", "colour=missing"]


@parametrize_with_checks([TableEncoder(), TableEncoder(scaling="common")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def expected(limit=3.0):
    """Return the encoded columns, computed one by one."""

    def standard(values, softened=True):
        values = np.array(values, dtype=float)
        known = values[~np.isnan(values)]
        z = (values - known.mean()) / known.std()
        z[np.isnan(z)] = 0.0
        return z / np.sqrt(1 + (z / limit) ** 2) if softened else z

    flag = np.array(COLUMNS["flag"], dtype=float)
    colours = np.array([str(colour) for colour in COLUMNS["colour"]])
    columns = [
        standard([np.nan if v is None else v for v in COLUMNS["size"]]),
        standard(COLUMNS["number"]),
        standard([day.toordinal() for day in COLUMNS["day"]]),
        flag - flag.mean(),
        [v is None for v in COLUMNS["size"]],
        *[colours == name for name in ("blue", "red", "None")],
    ]
    return np.column_stack(columns).astype(float)


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_every_library_give_the_same_rows(name):
    frame = FRAMES[name]()
    encoder = TableEncoder().fit(frame)
    if name != "objects":
        assert list(encoder.get_feature_names_out()) == NAMES
    assert encoder.transform(frame) == pytest.approx(expected(), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 10**6))
def test_blocks_of_any_size_teach_the_same(sizes, seed):
    generator = np.random.default_rng(seed)
    n = sum(sizes)
    X = generator.normal(100.0, 1.0, (n, 3))
    X[generator.random((n, 3)) < 0.2] = np.nan
    frame = pd.DataFrame(X).assign(kind=generator.choice(["a", "b", "c"], n))
    frame.columns = frame.columns.astype(str)
    whole = TableEncoder().fit(frame)
    parts, start = TableEncoder(), 0
    for size in sizes:
        parts.partial_fit(frame.iloc[start : start + size])
        start += size
    assert list(parts.get_feature_names_out()) == list(whole.get_feature_names_out())
    assert parts.transform(frame) == pytest.approx(whole.transform(frame), abs=1e-9)


@pytest.mark.arrays
@pytest.mark.parametrize("name", array_libraries())
def test_arrays_of_every_library(name):
    make = array_libraries()[name]
    X = np.random.default_rng(0).normal(5.0, 2.0, (40, 3))
    X[3, 1] = np.nan
    encoder = TableEncoder(constant=2.0).fit(make(X))
    found = to_numpy(encoder.transform(make(X)))
    assert found == pytest.approx(TableEncoder(constant=2.0).fit(X).transform(X), abs=1e-12)
    assert (found[:, -1] == 2.0).all()


def test_sparse_rows_stay_sparse_and_are_scaled():
    X = scipy.sparse.random_array((50, 6), density=0.3, random_state=0, format="csr")
    rows = TableEncoder().fit(X).transform(X)
    assert scipy.sparse.issparse(rows)
    dense = X.toarray()
    assert rows.toarray() == pytest.approx(dense / dense.std(axis=0))


def test_common_scale_keeps_the_proportions_of_columns():
    X = np.random.default_rng(0).standard_normal((100, 2)) * [1.0, 10.0]
    rows = TableEncoder(scaling="common").fit(X).transform(X)
    assert rows.var(axis=0).mean() == pytest.approx(1.0)
    assert rows[:, 1].std() / rows[:, 0].std() == pytest.approx(X[:, 1].std() / X[:, 0].std())


def test_outliers_are_soft_clipped():
    X = np.append(np.random.default_rng(0).standard_normal(1000), 1e6)[:, None]
    assert abs(TableEncoder().fit(X).transform(X)).max() < 3.0
    assert abs(TableEncoder(limit=None).fit(X).transform(X)).max() > 30.0


def test_rare_categories_share_a_column():
    frame = pd.DataFrame({"kind": ["a"] * 5 + ["b"] * 4 + list("cdef")})
    encoder = TableEncoder(max_categories=3).fit(frame)
    assert list(encoder.get_feature_names_out()) == ["kind=a", "kind=b", "kind=other"]
    found = encoder.transform(pd.DataFrame({"kind": ["a", "f", "new"]}))
    assert found.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]


def test_narrow_numbers_stay_narrow():
    frame = pd.DataFrame({"a": np.arange(5, dtype=np.float32), "b": list("uvuvu")})
    assert TableEncoder().fit(frame).transform(frame).dtype == np.float32
    frame["a"] = frame["a"].astype(float)
    assert TableEncoder().fit(frame).transform(frame).dtype == np.float64


def test_what_cannot_be_encoded_is_refused_with_the_column_s_name():
    frame = FRAMES["pandas"]()
    encoder = TableEncoder().fit(frame)
    for wrong, text in (
        (frame.assign(size="large"), "Column 'size' held numbers .* but holds 'large'"),
        (frame.assign(number=np.inf), "infinity in column 'number'"),
        (frame.drop(columns="size"), "size"),
        (FRAMES["arrow table"]().drop_columns("size"), "no column 'size'"),
    ):
        with pytest.raises(ValueError, match=text):
            encoder.transform(wrong)
    with pytest.raises(ValueError, match="column 'a'"):
        TableEncoder().fit(pd.DataFrame({"a": [1.0, np.inf]}))
    with pytest.raises(ValueError, match="neither numbers nor categories"):
        TableEncoder().fit(pd.DataFrame({"a": [[1], [2]]}))
    with pytest.raises(ValueError, match="held numbers in earlier blocks"):
        TableEncoder().partial_fit(frame).partial_fit(frame.assign(size="large"))


def test_unseen_categories_warn_by_default_and_become_zeros():
    frame = FRAMES["pandas"]()
    strange = frame.assign(colour=["green", "grey", None, "green", "red"])
    text = r"Column 'colour' holds the category 'green' and 1 more in 3 rows.*known: 'blue', 'red'"
    with pytest.warns(UserWarning, match=text):
        rows = TableEncoder().fit(frame).transform(strange)
    assert rows[:, -3:].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0]]
    ignoring = TableEncoder(unseen="ignore").fit(frame)
    assert np.array_equal(ignoring.transform(strange), rows)
    with pytest.raises(ValueError, match=text):
        TableEncoder(unseen="error").fit(frame).transform(strange)


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        lambda X: pd.DataFrame(X, columns=["0", "1", "2"]),
        lambda X: scipy.sparse.csr_array(X),
    ],
    ids=["matrix", "frame", "CSR"],
)
def test_gaps_in_columns_that_were_complete_warn(make):
    X = np.random.default_rng(0).standard_normal((20, 3))
    strange = X.copy()
    strange[[0, 5], 0] = strange[1, 1] = np.nan
    if not scipy.sparse.issparse(make(X)):
        X[4, 2] = strange[7, 2] = np.nan
    text = r"Column '?0'? is missing in 2 rows, but never was .*\(and 1 more column likewise\)"
    encoder = TableEncoder().fit(make(X))
    with pytest.warns(UserWarning, match=text) as caught:
        rows = encoder.transform(make(strange))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    ignoring = TableEncoder(unseen="ignore").fit(make(X)).transform(make(strange))
    assert abs(rows - ignoring).max() == 0
    with pytest.raises(ValueError, match=text):
        TableEncoder(unseen="error").fit(make(X)).transform(make(strange))
    encoder.transform(make(X))


def test_a_rare_category_does_not_end_a_cross_validation():
    frame = pd.DataFrame({"x": np.arange(30.0), "kind": ["a", "b"] * 14 + ["once", "a"]})
    model = make_pipeline(TableEncoder(), Ridge())
    with pytest.warns(UserWarning, match="category 'once' in 1 row,"):
        scores = cross_val_score(model, frame, frame["x"], cv=5, error_score="raise")
    assert len(scores) == 5


def test_a_refused_block_leaves_nothing_behind():
    X = np.random.default_rng(0).standard_normal((20, 2))
    encoder = TableEncoder().partial_fit(X)
    before = encoder.transform(X)
    with pytest.raises(ValueError, match="infinity"):
        encoder.partial_fit(np.full((3, 2), np.inf))
    assert np.array_equal(encoder.partial_fit(X).transform(X), before)


def test_dates_far_in_the_future_and_dates_for_numbers():
    days = pd.Series(["2020-01-01", "9999-12-31", "2021-05-05"]).astype("datetime64[us]")
    frame = pd.DataFrame({"day": days})
    expected = TableEncoder().fit(pl.from_pandas(frame)).transform(pl.from_pandas(frame))
    encoder = TableEncoder().fit(frame)
    assert encoder.transform(frame) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"held dates .* holds numbers now"):
        encoder.transform(pd.DataFrame({"day": [2020, 2021]}))
    with pytest.raises(ValueError, match=r"held numbers .* holds dates now"):
        TableEncoder().fit(pd.DataFrame({"day": [2020.0, 2021.0]})).transform(frame)


def test_missing_values_count_in_any_order():
    full = pd.DataFrame({"kind": ["u", "v"] * 5})
    empty = pd.DataFrame({"kind": [None] * 4}, dtype=float)
    one = TableEncoder().partial_fit(full).partial_fit(empty)
    other = TableEncoder().partial_fit(empty).partial_fit(full)
    assert list(one.get_feature_names_out()) == list(other.get_feature_names_out())
    assert "kind=missing" in one.get_feature_names_out()


def test_strange_columns_of_pandas():
    frame = pd.DataFrame(
        {
            "cut": pd.cut(np.arange(6.0), 3),
            "period": pd.period_range("2020", periods=6, freq="M").astype("category"),
            "decimal": [decimal.Decimal(k) for k in range(6)],
        }
    )
    encoder = TableEncoder().fit(frame)
    assert encoder.kinds_ == ["category", "category", "number"]
    nullable = pd.DataFrame({"a": pd.array([1, 2, None] * 4, "Int64"), "b": list("uvw") * 4})
    assert TableEncoder().fit(nullable.to_numpy()).kinds_ == ["number", "category"]
    with pytest.raises(ValueError, match="several columns named 'a'"):
        TableEncoder().fit(pd.DataFrame(np.eye(2), columns=["a", "a"]))
    with pytest.raises(ValueError, match="neither numbers nor categories"):
        TableEncoder().fit(pd.DataFrame({"b": [b"x", b"y"]}))


def test_names_of_things_do_not_fill_the_memory():
    frame = pd.DataFrame({"name": [f"n{k}" for k in range(60_000)], "x": np.arange(60_000.0)})
    encoder = TableEncoder().partial_fit(frame).partial_fit(frame)
    assert len(encoder._summary.categories[0]) <= 50_000
    assert len(encoder.get_feature_names_out()) == 101


def test_rescaled_is_what_a_fit_would_give_and_leaves_the_first_alone():
    frame = FRAMES["pandas"]()
    encoder = TableEncoder().fit(frame)
    before = encoder.transform(frame)
    for parameters in ({"limit": None}, {"scaling": "common"}, {"constant": 2.0, "limit": 5.0}):
        fitted = TableEncoder(**parameters).fit(frame)
        other = encoder.rescaled(**parameters)
        assert np.array_equal(other.transform(frame), fitted.transform(frame))
        assert list(other.get_feature_names_out()) == list(fitted.get_feature_names_out())
        other.partial_fit(frame.assign(size=100.0, colour="new"))
    assert np.array_equal(encoder.transform(frame), before)
    assert encoder.get_params() == TableEncoder().get_params()
    assert np.array_equal(encoder.partial_fit(frame).transform(frame), before)
    with pytest.raises(TypeError, match="got 'unseen'"):
        encoder.rescaled(unseen="error")
    with pytest.raises(ValueError, match="limit"):
        encoder.rescaled(limit=-1.0)


def test_without_summary_encodes_and_learns_no_more():
    frame = FRAMES["pandas"]()
    encoder = TableEncoder().fit(frame)
    bare = encoder.without_summary()
    assert np.array_equal(bare.transform(frame), encoder.transform(frame))
    assert not any(isinstance(value, TableSummary) for value in vars(bare).values())
    with pytest.raises(ValueError, match="holds no summary"):
        bare.partial_fit(frame)
    with pytest.raises(ValueError, match="holds no summary"):
        bare.rescaled(limit=None)
    assert np.array_equal(bare.fit(frame).rescaled().transform(frame), encoder.transform(frame))
    encoder.partial_fit(frame)
    assert encoder.__mercer_state__(compact=True)["_summary"] is None
    assert encoder.__mercer_state__(compact=False)["_summary"] is not None


def test_describe_counts_kinds_and_what_becomes_of_them():
    text = "3 numeric, 1 date, 2 categorical; 8 columns once encoded, 1 with missing values, "
    frame = FRAMES["pandas"]()
    frame["flag"] = frame["flag"].map({True: "yes", False: "no"})
    assert TableEncoder().fit(frame).describe() == (
        text.replace("8", "9") + "1 constant column dropped"
    )
    pixels = np.column_stack([np.random.default_rng(0).random((1200, 2)), np.zeros((1200, 2))])
    assert TableEncoder().fit(pixels).describe() == (
        "4 numeric; 2 columns once encoded, 2 constant columns dropped"
    )
    spans = pd.DataFrame({"a": pd.to_timedelta([1, 2], "D"), "b": pd.to_timedelta([1, 5], "D")})
    assert TableEncoder().fit(spans).describe() == "2 durations; 2 columns once encoded"


def test_large_distinct_integers_are_not_constant_and_rounding_errors_are():
    ids = 10**15 + np.arange(5)
    for column in (ids, ids.astype(float), -ids):
        rows = TableEncoder(limit=None).fit_transform(np.asarray(column)[:, None])
        assert abs(rows[:, 0]) == pytest.approx(abs(np.arange(5) - 2) / np.sqrt(2))
    seconds = pd.DataFrame({"time": 1_700_000_000_000_000 + np.array([0, 1, 1]), "x": [0, 5, 7]})
    assert TableEncoder().fit(seconds).describe() == "2 numeric; 2 columns once encoded"
    for column in (
        [0.1 + 0.2, 0.3, 0.3],
        [1.0, 1.0 + 2**-52, 1.0],
        [1e15 + 0.125, 1e15, 1e15],
        [1e18, 1e18 + 128, 1e18],
        [7.0, 7.0, 7.0],
    ):
        encoder = TableEncoder().fit(np.column_stack([column, [0.0, 1.0, 2.0]]))
        assert list(encoder.get_feature_names_out()) == ["x1"], column


def test_numbers_of_any_size_are_scaled():
    for size in (1e-300, 1e-160, 1e160, 1e300):
        for scaling in ("each", "common"):
            X = np.random.default_rng(0).standard_normal((50, 2))
            rows = TableEncoder(scaling).fit_transform(size * X)
            assert rows == pytest.approx(TableEncoder(scaling).fit_transform(X), rel=1e-9)
    encoder = TableEncoder(limit=None).fit([[0.0], [1e-5], [3e-5]])
    with pytest.raises(ValueError, match="column 0 that is too large"):
        encoder.transform([[1e308]])
