"""Tables on blocks of Dask: the encoder and the front door, as on one machine."""

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    FeatureRidge,
    Gaussian,
    KernelClassifier,
    KernelRegressor,
    RandomFourier,
    TableEncoder,
)

pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.usefixtures("sync")
COLUMNS = ["size", "age", "colour", "sold"]


@pytest.fixture
def table():
    """Numbers, missing ones, categories of which some are rare, dates as strings."""
    generator = np.random.default_rng(0)
    n = 1200
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 300, n), unit="D")
    frame = pd.DataFrame(
        {
            "size": generator.standard_normal(n),
            "age": generator.exponential(size=n),
            "colour": generator.choice(list("rgb"), n),
            "sold": days.strftime("%Y-%m-%d"),
        }
    )
    frame.loc[generator.random(n) < 0.1, "age"] = np.nan
    frame.loc[1150, "colour"] = "violet"
    price = np.sin(2 * frame["size"]) * (1 + (frame["colour"] == "r"))
    frame["price"] = price + 0.3 * frame["age"].fillna(2) + 0.3 * generator.standard_normal(n)
    return frame


def cut(frame, n_parts=4):
    return dd.from_pandas(frame, npartitions=n_parts)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"scaling": "ranks"}, {"scaling": "common", "dates": "parts", "unseen": "error"}],
)
def test_the_encoder_is_that_of_one_machine(table, parameters):
    X = table[COLUMNS]
    expected, found = TableEncoder(**parameters).fit(X), TableEncoder(**parameters).fit(cut(X))
    assert found.kinds_ == expected.kinds_
    assert list(found.get_feature_names_out()) == list(expected.get_feature_names_out())
    encoded = found.transform(cut(X))
    assert isinstance(encoded, da.Array)
    assert encoded.shape[1] == len(expected.get_feature_names_out())
    assert np.allclose(encoded.compute(), expected.transform(X), rtol=0, atol=1e-12)
    again = TableEncoder(**parameters).fit(cut(X, 7))
    assert np.allclose(again.transform(X), found.transform(X), rtol=0, atol=1e-12)


def test_the_first_block_with_entries_says_what_strings_are(table):
    # Dates only in the second half; and a column whose later blocks happen to look like dates.
    late = [None] * 600 + ["2024-05-01", "2023-01-02"] * 300
    names = ["one", "two"] * 300 + ["2024-05-01", "2023-01-02"] * 300
    frame = pd.DataFrame({"late": late, "names": names, "x": np.arange(1200.0)})
    found = TableEncoder().fit(cut(frame, 6))
    assert found.kinds_ == ["date", "category", "number"]
    assert np.allclose(found.transform(frame), TableEncoder().fit(frame).transform(frame))


def test_a_pipeline_of_encoder_and_features_learns_on_a_cluster(table):
    X, y = table[COLUMNS], table["price"]
    features = make_pipeline(
        TableEncoder(), RandomFourier(Gaussian("median"), n_components=40, random_state=0)
    )
    expected = FeatureRidge(features, alpha=0.1).fit(X, y)
    found = FeatureRidge(features, alpha=0.1).fit(cut(X), cut(table)["price"])
    assert abs(found.coef_ - expected.coef_).max() <= 1e-10 * abs(expected.coef_).max()
    assert np.allclose(found.predict(cut(X)).compute(), expected.predict(X))


def test_objects_in_delayed_blocks_are_tables(table):
    values = table[COLUMNS].to_numpy(dtype=object)
    parts = [dask.delayed(part) for part in np.split(values, [100, 100, 900])]
    found = TableEncoder().fit(parts)
    assert np.allclose(found.transform(values), TableEncoder().fit(values).transform(values))
    assert np.allclose(found.transform(parts).compute(), found.transform(values))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_front_door_is_that_of_one_machine(table, weighted):
    X, y = table[COLUMNS], table["price"]
    machine = KernelRegressor("gaussian", n_components=128, alpha=[0.1, 1.0], random_state=0)
    weights = np.where(np.arange(1200) % 3 == 0, 0.0, 1.0) if weighted else None
    expected = clone(machine).fit(X, y, sample_weight=weights)
    whole = cut(table.assign(weight=1.0 if weights is None else weights))
    own = whole["weight"] if weighted else None
    found = machine.fit(whole[COLUMNS], whole["price"], sample_weight=own)
    assert found.report_.method == expected.report_.method == "features"
    assert found.kernel_.lengthscale == pytest.approx(expected.kernel_.lengthscale, rel=1e-12)
    assert found.target_name_ == expected.target_name_ == "price"
    coef, known = found.machine_.coef_, expected.machine_.coef_
    assert abs(coef - known).max() <= 1e-10 * abs(known).max()
    assert found.report_.n_rows == expected.report_.n_rows
    assert found.report_.score == pytest.approx(expected.report_.score, rel=1e-9)
    assert found.report_.linear_score == pytest.approx(expected.report_.linear_score, rel=1e-9)
    assert np.allclose(found.predict(whole[COLUMNS]).compute(), expected.predict(X), atol=1e-9)
    assert found.score(whole[COLUMNS], whole["price"]) == pytest.approx(expected.score(X, y))


def test_the_classifying_front_door_balances_classes_of_all_blocks(table):
    X, y = table[COLUMNS], np.where(table["price"] > 2, "dear", "cheap")
    machine = KernelClassifier(
        "gaussian", n_components=32, alpha=[0.1, 1.0], class_weight="balanced", random_state=0
    )
    expected = clone(machine).fit(X, y)
    whole = cut(table.assign(label=y))
    found = machine.fit(whole[COLUMNS], whole["label"])
    assert np.array_equal(found.classes_, expected.classes_)
    probabilities = found.predict_proba(whole[COLUMNS])
    assert probabilities.shape[1] == 2
    assert np.allclose(probabilities.compute(), expected.predict_proba(X), atol=1e-8)


def test_few_rows_are_brought_together_for_the_exact_kernel(table):
    small = table[:150]
    machine = KernelRegressor(Gaussian(2.0), alpha=0.1)
    expected = clone(machine).fit(small[COLUMNS], small["price"])
    found = machine.fit(cut(small)[COLUMNS], cut(small)["price"])
    assert found.report_.method == "exact"
    assert np.array_equal(found.predict(small[COLUMNS]), expected.predict(small[COLUMNS]))


def test_an_encoder_of_another_library_is_refused(table):
    machine = KernelRegressor(Gaussian(2.0), n_components=16, encoder=StandardScaler())
    with pytest.raises(TypeError, match="only TableEncoder can"):
        machine.fit(cut(table)[["size"]], cut(table)["price"])


def test_a_parquet_folder_is_read_in_one_cut_whatever_columns_are_wanted(table, tmp_path):
    """Dask reads several files at once where few columns are wanted: targets must not be."""
    pytest.importorskip("pyarrow")
    (tmp_path / "folder").mkdir()
    for number, rows in enumerate(np.split(np.arange(1200), 6)):
        table.iloc[rows].to_parquet(tmp_path / "folder" / f"{number}.parquet")
    frame = dd.read_parquet(tmp_path / "folder")
    features = RandomFourier(Gaussian("median"), n_components=20, random_state=0)
    found = FeatureRidge(features, alpha=0.1, selection=3).fit(frame[["size"]], frame["price"])
    expected = FeatureRidge(features, alpha=0.1, selection=3).fit(table[["size"]], table["price"])
    assert abs(found.coef_ - expected.coef_).max() <= 1e-10 * abs(expected.coef_).max()
