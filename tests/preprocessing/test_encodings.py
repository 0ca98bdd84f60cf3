"""Tests of ranks and of whole numbers as categories."""

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import KernelRegressor, TableEncoder
from mercer._array import to_numpy
from mercer.testing import array_libraries

COLUMNS = {
    "size": [1.5, 2.0, None, 4.0, 700.0, 2.0],
    "day": [datetime.date(2020, 1, day) for day in (1, 2, 3, 4, 20, 20)],
    "flag": [True, False, True, True, False, True],
    "grade": [1, 3, 2, 2, 1, 1],
    "colour": ["red", "blue", "red", "red", "blue", "red"],
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
SPARSE = scipy.sparse.csr_array(np.eye(4))


@parametrize_with_checks([TableEncoder("ranks"), TableEncoder(whole_numbers="categories")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def ranks(values):
    """Return the ranks of values, pair by pair; 0 for missing ones."""
    known = [v for v in values if v is not None]
    found = []
    for value in values:
        steps = [0.5 * (other < value) + 0.5 * (other <= value) for other in known if value]
        found.append(np.sqrt(12) * (np.mean(steps) - 0.5) if value is not None else 0.0)
    return np.array(found)


@pytest.mark.parametrize("library", FRAMES)
def test_ranks_of_frames(library):
    frame = FRAMES[library](COLUMNS)
    encoder = TableEncoder("ranks").fit(frame)
    assert list(encoder.get_feature_names_out()) == [
        *["size", "day", "flag", "grade", "size is missing", "colour=blue", "colour=red"]
    ]
    rows = encoder.transform(frame)
    flag = np.array(COLUMNS["flag"], dtype=float)
    expected = [ranks(COLUMNS["size"]), ranks(COLUMNS["day"]), flag - flag.mean()]
    expected += [ranks(COLUMNS["grade"]), [v is None for v in COLUMNS["size"]]]
    assert rows[:, :5] == pytest.approx(np.column_stack(expected), abs=1e-12)


@pytest.mark.arrays
@pytest.mark.parametrize("name", array_libraries())
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_of_every_library(name, dtype):
    make = array_libraries()[name]
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.normal(5.0, 2.0, (3000, 2)), generator.integers(0, 5, 3000)])
    X[3, 1] = np.nan
    X = X.astype(dtype)
    encoder = TableEncoder("ranks", whole_numbers="categories", constant=2.0).fit(make(X))
    found = encoder.transform(make(X))
    assert str(found.dtype).endswith(dtype)
    found = to_numpy(found)
    assert found[X[:, 0].argsort(), 0] == pytest.approx(
        np.sqrt(12) * ((np.arange(3000) + 0.5) / 3000 - 0.5), abs=0.005 * np.sqrt(12)
    )
    assert (found[3, 1], found[3, 2]) == (0.0, 1.0)
    assert np.array_equal(found[:, 3:8], X[:, 2:] == np.arange(5))
    assert (found[:, -1] == 2.0).all()
    assert np.array_equal(found, encoder.transform(X))


@pytest.mark.parametrize("shape", [(30, 3), (6000, 2)])
def test_blocks_dense_or_sparse_teach_nearly_what_one_pass_does(shape):
    X = np.random.default_rng(1).exponential(size=shape) * (np.arange(shape[0]) % 3 > 0)[:, None]
    whole, parts = TableEncoder("ranks").fit(X), TableEncoder("ranks")
    for number, block in enumerate(np.array_split(X, 7)):
        parts.partial_fit(scipy.sparse.csr_array(block) if number == 3 else block)
    found = parts.transform(scipy.sparse.csr_array(X))
    assert found == pytest.approx(whole.transform(X), abs=np.sqrt(12) * 0.004)
    assert abs(whole.transform(X).mean()) < 0.01


def test_outliers_and_unseen_numbers_stay_within_the_uniform_distribution():
    X = np.append(np.random.default_rng(0).standard_cauchy(5000), [1e300])[:, None]
    rows = TableEncoder("ranks", limit=0.1).fit(X).transform(np.vstack([X, [[1e308]], [[-1e308]]]))
    assert abs(rows).max() <= np.sqrt(3)
    assert rows.std() == pytest.approx(1.0, abs=0.01)
    assert rows[-2] == rows.max()
    assert rows[-1] == rows.min()


def test_parts_of_dates_are_scaled_and_not_ranked():
    days = pd.date_range("2024-01-01", periods=90).to_frame(index=False, name="day")
    plain, ranked = (TableEncoder(rule, dates="parts").fit(days) for rule in ("each", "ranks"))
    assert np.array_equal(plain.transform(days)[:, 1:], ranked.transform(days)[:, 1:])
    assert ranked.transform(days)[:, 0] == pytest.approx(ranks(range(1, 91)))


def test_infinity_is_refused_in_every_encoding():
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.0], "grade": [1.0, 2.0, 3.0]})
    encoder = TableEncoder("ranks", whole_numbers="categories").fit(frame)
    for name in frame:
        with pytest.raises(ValueError, match=f"infinity in column '{name}'"):
            encoder.transform(frame.assign(**{name: np.inf}))
        with pytest.raises(ValueError, match=f"infinity in column '{name}'"):
            TableEncoder("ranks").fit(frame.assign(**{name: [1.0, 2.0, -np.inf]}))
    plain = TableEncoder(whole_numbers="categories").fit(frame.to_numpy())
    with pytest.raises(ValueError, match="infinity in column 1"):
        plain.transform([[0.5, np.inf]])


@pytest.mark.parametrize("library", FRAMES)
def test_whole_numbers_as_categories(library):
    frame = FRAMES[library](COLUMNS)
    encoder = TableEncoder(whole_numbers="categories").fit(frame)
    assert [name for name in encoder.get_feature_names_out() if "grade" in name] == [
        *["grade=1", "grade=2", "grade=3"]
    ]
    rows = encoder.transform(frame)
    assert np.array_equal(rows[:, -3:], np.array(COLUMNS["grade"])[:, None] == [1, 2, 3])
    assert encoder.whole_numbers_[3].tolist() == [1, 2, 3]
    assert "size" in encoder.get_feature_names_out()


def test_which_columns_count_as_whole_numbers():
    n = 200
    X = np.column_stack(
        [
            np.arange(n) % 2,
            np.arange(n) % 3,
            np.arange(n) % 32,
            np.arange(n) % 33,
            np.arange(n) % 4 / 2,
            np.where(np.arange(n) == 7, np.nan, np.arange(n) % 5 - 2),
        ]
    )
    encoder = TableEncoder(whole_numbers="categories").fit(X)
    assert sorted(encoder.whole_numbers_) == [1, 2, 5]
    assert "x5=-2" in encoder.get_feature_names_out()
    rows = encoder.transform(X)
    assert rows[7, list(encoder.get_feature_names_out()).index("x5 is missing")] == 1.0
    assert rows[7, -5:].tolist() == [0] * 5
    few = TableEncoder(whole_numbers="categories", max_categories=4).fit(X)
    assert sorted(few.whole_numbers_) == [1]


@pytest.mark.parametrize("make", [np.asarray, lambda X: pd.DataFrame(X, columns=["a"])])
def test_unseen_whole_numbers_follow_the_rule_for_categories(make):
    X, strange = make([[1.0], [2.0], [5.0]]), make([[3.0], [2.5], [2.0]])
    expected = [[0, 0, 0], [0, 0, 0], [0, 1, 0]]
    text = r"category 3 and 1 more in 2 rows.*known: 1, 2, 5"
    encoder = TableEncoder(whole_numbers="categories").fit(X)
    with pytest.warns(UserWarning, match=text) as caught:
        assert encoder.transform(strange).tolist() == expected
    assert caught[0].filename == __file__
    ignoring = TableEncoder(whole_numbers="categories", unseen="ignore").fit(X)
    assert ignoring.transform(strange).tolist() == expected
    with pytest.raises(ValueError, match=text):
        TableEncoder(whole_numbers="categories", unseen="error").fit(X).transform(strange)
    with pytest.warns(UserWarning, match="missing in 1 row, .*taken for none of its values"):
        assert encoder.transform(make([[np.nan], [2.0]])).tolist() == [[0, 0, 0], [0, 1, 0]]


def test_rescaled_is_what_a_fit_would_give():
    frame = pd.DataFrame(COLUMNS)
    encoder = TableEncoder().fit(frame)
    before = encoder.transform(frame)
    for parameters in (
        {"scaling": "ranks"},
        {"whole_numbers": "categories"},
        {"scaling": "ranks", "whole_numbers": "categories", "constant": 1.0},
    ):
        fitted, other = TableEncoder(**parameters).fit(frame), encoder.rescaled(**parameters)
        assert np.array_equal(other.transform(frame), fitted.transform(frame))
        assert list(other.get_feature_names_out()) == list(fitted.get_feature_names_out())
        other.partial_fit(frame.assign(size=100.0, grade=7))
        back = fitted.rescaled(scaling="each", whole_numbers="numbers", constant=None)
        assert np.array_equal(back.transform(frame), before)
    assert np.array_equal(encoder.transform(frame), before)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"scaling": "ranks"}, r"scaling='ranks' needs .* sparse rows; fit dense ones .*'each'"),
        ({"whole_numbers": "categories"}, "whole_numbers='categories' needs .*='numbers'"),
    ],
)
def test_encoders_of_csr_rows_know_no_distributions(parameters, text):
    with pytest.raises(ValueError, match=text):
        TableEncoder(**parameters).fit(SPARSE)
    with pytest.raises(ValueError, match=text):
        TableEncoder().fit(SPARSE).rescaled(**parameters)
    with pytest.raises(ValueError, match=text):
        TableEncoder().fit(SPARSE).partial_fit(SPARSE.toarray()).rescaled(**parameters)


def test_describe_says_what_was_done():
    frame = pd.DataFrame(COLUMNS)
    encoder = TableEncoder("ranks", whole_numbers="categories").fit(frame)
    assert encoder.describe() == (
        "3 numeric, 1 date, 1 categorical; 9 columns once encoded, 1 with missing values, "
        "2 columns as ranks, 1 whole-number column as categories"
    )


def test_no_rows_are_kept_and_the_summary_can_be_dropped():
    X = np.random.default_rng(0).standard_normal((50_000, 2))
    encoder = TableEncoder("ranks").fit(X)
    bare = encoder.without_summary()
    assert np.array_equal(bare.transform(X), encoder.transform(X))
    assert len(pickle.dumps(encoder)) < 250_000
    assert len(pickle.dumps(bare)) < 150_000
    given = X.copy()
    parts = TableEncoder().partial_fit(given)
    given[:] = 0.0
    assert np.array_equal(parts.rescaled(scaling="ranks").transform(X), encoder.transform(X))


def test_a_model_file_holds_the_encodings(tmp_path):
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.standard_cauchy(300), generator.integers(0, 4, 300)])
    y = np.arctan(X[:, 0]) + (X[:, 1] == 2)
    encoder = TableEncoder("ranks", whole_numbers="categories")
    model = KernelRegressor("gaussian", encoder=encoder, random_state=0).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.encoder_._summary is None
    mercer.save(encoder.fit(X), tmp_path / "encoder.mercer")
    again = mercer.load(tmp_path / "encoder.mercer")
    assert np.array_equal(again.transform(X), encoder.transform(X))
