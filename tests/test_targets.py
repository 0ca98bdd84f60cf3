"""Labels and targets of every library that holds columns: read alike, and refused in a sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mercer import FeatureRidge, KernelClassifier, RandomFourier
from mercer._checked_targets import check_labels, check_targets
from mercer._sklearn import check_feature_names_in

WORDS = ["a", "b", "a"]
LABELS = {
    "values of a frame": lambda: pd.DataFrame({"label": WORDS})["label"].values,
    "pandas string": lambda: pd.array(WORDS, dtype="string"),
    "pandas Categorical": lambda: pd.Categorical(WORDS),
    "pandas Index": lambda: pd.Index(WORDS),
    "pandas CategoricalIndex": lambda: pd.CategoricalIndex(WORDS),
    "polars": lambda: pl.Series(WORDS),
    "polars Categorical": lambda: pl.Series(WORDS, dtype=pl.Categorical),
    "arrow array": lambda: pa.array(WORDS),
    "arrow chunks": lambda: pa.chunked_array([WORDS[:1], WORDS[1:]]),
    "arrow dictionary": lambda: pa.chunked_array([pa.array(WORDS).dictionary_encode()]),
}
NUMBERS = {
    "pandas Int64": lambda values: pd.array(values, dtype="Int64"),
    "pandas Float64": lambda values: pd.array(values, dtype="Float64"),
    "pandas arrow": lambda values: pd.array(values, dtype="int64[pyarrow]"),
    "pandas Categorical": pd.Categorical,
    "pandas Index": lambda values: pd.Index(pd.array(values, dtype="Int64")),
    "polars": pl.Series,
    "arrow chunks": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "objects": lambda values: np.array(values, dtype=object),
}
TRUTHS = {
    "pandas boolean": lambda values: pd.array(values, dtype="boolean"),
    "pandas arrow": lambda values: pd.array(values, dtype="bool[pyarrow]"),
    "polars": pl.Series,
    "arrow chunks": lambda values: pa.chunked_array([values[:1], values[1:]]),
}


@pytest.mark.parametrize("name", LABELS)
def test_strings_are_labels_and_no_targets(name):
    assert check_labels(LABELS[name](), 3).tolist() == WORDS
    with pytest.raises(ValueError, match=r"strings such as 'a'.*classifier, such as KernelClas"):
        check_targets(LABELS[name](), 3)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_labels_and_targets(name):
    assert check_labels(NUMBERS[name]([1, 2, 1]), 3).tolist() == [1, 2, 1]
    targets = check_targets(NUMBERS[name]([1, 2, 1]), 3)
    assert targets.dtype == float
    assert targets.tolist() == [1, 2, 1]


@pytest.mark.parametrize("name", TRUTHS)
def test_booleans_stay_booleans_as_labels(name):
    assert check_labels(TRUTHS[name]([True, False, True]), 3).dtype == bool
    assert check_targets(TRUTHS[name]([True, False, True]), 3).tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("check", [check_labels, check_targets])
@pytest.mark.parametrize(
    "y",
    [
        *(make([1, None, 2]) for make in NUMBERS.values()),
        *(make([True, None, False]) for make in TRUTHS.values()),
        [1.0, pd.NA, 2.0],
    ],
    ids=str,
)
def test_missing_targets_are_refused_in_a_sentence(y, check):
    with pytest.raises(ValueError, match=r"y contains .* at row 1 "):
        check(y, 3)


@pytest.mark.parametrize("make", [pd.Categorical, pl.Series, pd.array, pa.array])
def test_missing_strings_are_refused_in_a_sentence(make):
    with pytest.raises(ValueError, match="y contains a missing label at row 1 "):
        check_labels(make(["a", None, "b"]), 3)


def test_machines_take_the_values_of_a_frame():
    X = np.random.default_rng(0).standard_normal((60, 2))
    frame = pd.DataFrame({"label": np.where(X[:, 0] > 0, "up", "down")})
    model = KernelClassifier("gaussian").fit(X, frame["label"].values)
    assert set(model.predict(X)) == {"up", "down"}
    with pytest.raises(ValueError, match="KernelClassifier"):
        FeatureRidge(RandomFourier()).fit(X, frame["label"])


def test_names_of_input_columns():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    assert check_feature_names_in(RandomFourier().fit(frame)).tolist() == ["a", "b"]
    nameless = RandomFourier().fit(frame.to_numpy())
    assert check_feature_names_in(nameless).tolist() == ["x0", "x1"]
    assert check_feature_names_in(nameless, ["u", "v"]).tolist() == ["u", "v"]
