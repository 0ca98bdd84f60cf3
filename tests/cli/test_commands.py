"""Tests of the commands fit, predict, score and show, on files as people have them."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import mercer
from mercer.cli import main
from mercer.cli._data import Arrays, Watched
from mercer.cli._model_options import KERNELS
from mercer.machines.auto.pilot import NAMES


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with one table in many formats, and models fitted on it."""
    folder = tmp_path_factory.mktemp("data")
    generator = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "size": generator.gamma(3.0, 40.0, n).round(1),
            "city": generator.choice(["Bern", "Basel", "Zug"], n),
        }
    )
    frame["price"] = (frame["size"] * (1 + (frame["city"] == "Zug")) + 5).round(2)
    frame["dear"] = np.where(frame["price"] > 150, "yes", "no")
    frame.loc[::9, "size"] = np.nan
    frame[:200].to_csv(folder / "train.csv", index=False)
    frame[200:].to_csv(folder / "test.csv", index=False)
    frame.to_parquet(folder / "all.parquet")
    pyarrow.feather.write_feather(pa.Table.from_pandas(frame), folder / "all.feather")
    (folder / "parts").mkdir()
    for k in range(3):
        frame[k * 100 : k * 100 + 100].to_parquet(folder / "parts" / f"{k}.parquet")
    X = generator.standard_normal((200, 3))
    np.savez(folder / "rows.npz", X=X, y=X[:, 0] > 0, z=X[:, 1])
    np.save(folder / "rows.npy", X)
    np.savez(folder / "none.npz", X=np.empty((0, 2)), y=np.empty(0))
    frame.assign(prediction=1.0).to_csv(folder / "kept.csv", index=False)
    (folder / "empty.csv").write_text("size,city,price,dear\n")
    run("fit", folder / "train.csv", "-t", "price", "--drop", "dear", "-s", folder / "price.mercer")
    run(
        *("fit", folder / "train.csv", "-t", "dear", "--drop", "price", "--kernel", "gaussian"),
        *("--full", "-s", folder / "dear.mercer"),
    )
    return folder


def run(*arguments, status=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result.output


def test_fit_says_what_it_did(folder):
    text = run("fit", folder / "train.csv", "-t", "price", "--drop", "dear", "--kernel", "laplace")
    for words in ("regression of 'price'", "200 rows", "1 categorical", "R2", "linear model"):
        assert words in " ".join(text.split())
    assert "Nothing was saved" in text


@pytest.mark.parametrize("maker", ["KernelRegressor", "KernelClassifier"])
def test_effort_and_time_limit_go_to_the_model(folder, monkeypatch, maker):
    made, whole = [], getattr(mercer.machines, maker)

    def noted(*arguments, **parameters):
        made.append(whole(*arguments, **parameters))
        return made[-1]

    monkeypatch.setattr(mercer.machines, maker, noted)
    target, other = ("price", "dear") if maker == "KernelRegressor" else ("dear", "price")
    base = ("-t", target, "--drop", other, "--kernel", "gaussian", "--effort", "quick")
    run("fit", folder / "train.csv", *base, "--time-limit", "7.5")
    run("plan", folder / "train.csv", *base)
    assert [model.effort for model in made] == ["quick", "quick"]
    assert made[0].time_limit == 7.5
    assert "--time-limit" in run("fit", folder / "train.csv", *base, "--time-limit", 0, status=2)


def test_fit_as_json(folder, tmp_path):
    path = tmp_path / "m.mercer"
    text = run(
        *("fit", folder / "train.csv", "-t", "dear", "--kernel", "arccosine", "--order", "1"),
        *("--features", "64", "--json", "-s", path),
    )
    report = json.loads(text)
    assert report["task"] == "classification"
    assert report["n_components"] == 64
    assert report["model"] == str(path)
    assert path.exists()


@pytest.mark.parametrize("name", ["all.parquet", "all.feather", "parts"])
def test_formats_give_the_same_predictions(folder, name, tmp_path):
    run("predict", folder / "price.mercer", folder / name, "-o", tmp_path / "out.parquet")
    found = pd.read_parquet(tmp_path / "out.parquet")["prediction"]
    model = mercer.load(folder / "price.mercer")
    frame = pd.read_parquet(folder / "all.parquet")[["size", "city"]]
    assert found.to_numpy() == pytest.approx(model.predict(frame), rel=1e-9)
    assert [p.name for p in tmp_path.iterdir()] == ["out.parquet"]


def test_predictions_as_csv_with_columns_and_probabilities(folder, tmp_path):
    out = tmp_path / "out.csv"
    run("predict", folder / "dear.mercer", folder / "test.csv", "--proba", "--keep", "-o", out)
    table = pd.read_csv(out)
    assert list(table.columns) == [
        *("size", "city", "price", "dear"),
        *("prediction", "probability no", "probability yes"),
    ]
    assert (table["probability no"] + table["probability yes"]).to_numpy() == pytest.approx(1.0)
    assert (table["prediction"] == table["dear"]).mean() > 0.85
    screen = run("predict", folder / "dear.mercer", folder / "test.csv")
    assert screen.splitlines()[0] == '"prediction"'
    assert len(screen.splitlines()) == 101


def test_error_bars_need_a_full_model(folder, tmp_path):
    path = tmp_path / "model.mercer"
    fit = ["fit", folder / "train.csv", "-t", "price", "--drop", "dear", "--kernel", "gaussian"]
    run(*fit, "--features", "80", "-s", path)
    text = run("predict", path, folder / "test.csv", "--std", status=1)
    assert "fit with --full" in text
    run(*fit, "--features", "80", "--full", "-s", path)
    lines = run("predict", path, folder / "test.csv", "--std").splitlines()
    assert lines[0] == '"prediction","std"'


def test_error_bars_of_an_exact_kernel_need_nothing_more(folder):
    assert mercer.load(folder / "price.mercer").report_.method == "exact"
    lines = run("predict", folder / "price.mercer", folder / "test.csv", "--std").splitlines()
    assert lines[0] == '"prediction","std"'


def test_score(folder):
    scores = json.loads(run("score", folder / "price.mercer", folder / "test.csv", "--json"))
    assert scores["n_rows"] == 100
    assert scores["R2"] > 0.7
    text = run("score", folder / "dear.mercer", folder / "test.csv")
    assert "accuracy" in text
    assert "log loss" in text


def test_show(folder):
    text = " ".join(run("show", folder / "dear.mercer").split())
    for words in ("KernelClassifier", "size, city", "no, yes", "Gaussian", "linear model"):
        assert words in text
    about = json.loads(run("show", folder / "price.mercer", "--json"))
    assert about["target"] == "price"
    assert about["report"]["n_rows"] == 200


def test_numpy_files(folder, tmp_path):
    model = tmp_path / "m.mercer"
    text = run("fit", folder / "rows.npz", "-t", "y", "--kernel", "gaussian", "-s", model)
    assert "classification of 'y'" in text
    assert len(run("predict", model, folder / "rows.npz").splitlines()) == 201
    run("score", model, folder / "rows.npz")
    text = run("fit", folder / "rows.npy", "-t", "-1", "--kernel", "gaussian")
    assert "regression of '-1'" in text
    text = run("predict", model, folder / "train.csv", status=2)
    assert ".npz" in text


def test_a_checkpoint_is_used_and_removed(folder, tmp_path):
    file = tmp_path / "pass.checkpoint"
    run("fit", folder / "parts", "-t", "price", "--kernel", "gaussian", "--checkpoint", file)
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("fit", "train.csv", "-t", "prize"), 2, "did you mean 'price'?"),
        (("fit", "trian.csv", "-t", "price"), 2, "did you mean 'train.csv'?"),
        (("fit", "train.csv"), 2, "--target"),
        (("fit", "train.csv", "-t", "price", "--kernel", "gauss"), 2, "'gaussian'"),
        (("fit", "train.csv", "-t", "price", "--depth", "2"), 2, "--depth goes with"),
        (("fit", "train.csv", "-t", "price", "--features", "-3"), 2, "positive number"),
        (("fit", "train.csv", "-t", "price", "--drop", "citi"), 2, "did you mean 'city'?"),
        (("fit", "train.csv", "-t", "price", "--memory", "lots"), 2, "'2GB'"),
        (("fit", "rows.npy", "-t", "-1", "--drop", "0"), 2, "have no names"),
        (("fit", "train.csv", "-t", "price", "--drop", "price"), 2, "is the target"),
        (("fit", "none.npz", "-t", "y"), 1, "no rows"),
        (("score", "price.mercer", "test.csv", "-t", "size"), 2, "predicts from"),
        (("predict", "price.mercer", "kept.csv", "--keep"), 2, "'prediction' already"),
        (("fit", "train.csv", "-t", "price", "-s", "no/m.mercer"), 2, "does not exist"),
        (("fit", "empty.csv", "-t", "price"), 1, "no rows"),
        (("fit", "rows.npz", "-t", "w"), 2, "no column 'w'"),
        (("fit", "rows.npy", "-t", "9"), 2, "0 to 2"),
        (("fit", "train.csv", "-t", "size"), 1, "missing value in row 0"),
        (("predict", "gone.mercer", "test.csv"), 2, "no file"),
        (("predict", "price.mercer", "gone.csv"), 2, "no file"),
        (("predict", "price.mercer", "test.csv", "-o", "out.xlsx"), 2, ".csv or .parquet"),
        (("predict", "price.mercer", "test.csv", "--proba"), 2, "regression"),
        (("predict", "train.csv", "test.csv"), 1, "train.csv is a table and not a model file; the"),
        (("score", "price.mercer", "rows.npz"), 2, "no column 'price'"),
        (("show", "gone.mercer"), 2, "no file"),
        (("show", "train.csv"), 1, "not a model file"),
        (("foretell", "train.csv"), 2, "No such command"),
    ],
)
def test_mistakes_are_told_in_a_sentence(folder, arguments, status, words, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(p.name for p in folder.iterdir())
    text = run(*arguments, status=status)
    assert words in " ".join(text.split())
    assert sorted(p.name for p in folder.iterdir()) == before


def test_a_column_that_is_missing_or_strange_at_prediction(folder, tmp_path):
    table = pd.read_csv(folder / "test.csv")
    table.rename(columns={"city": "City"}).to_csv(tmp_path / "renamed.csv", index=False)
    text = run("predict", folder / "price.mercer", tmp_path / "renamed.csv", status=2)
    assert "did you mean 'City'?" in " ".join(text.split())
    table.assign(city="Chur").to_csv(tmp_path / "unseen.csv", index=False)
    out = tmp_path / "out.csv"
    text = run("predict", folder / "price.mercer", tmp_path / "unseen.csv", "-o", out)
    assert "category 'Chur'" in " ".join(text.split())
    assert out.exists()


def test_help_teaches_by_example():
    for name in ("fit", "predict", "score", "show"):
        assert f"mercer {name} houses" in run(name, "--help")


def test_strings_that_look_like_numbers_stay_strings(tmp_path):
    generator = np.random.default_rng(0)
    codes = generator.choice(["12", "7", "A1"], 200)
    frame = pd.DataFrame({"code": codes, "x": generator.standard_normal(200)})
    frame["label"] = np.where(codes == "12", "1", "b")
    frame.to_csv(tmp_path / "train.csv", index=False)
    frame[frame["code"] == "12"].to_csv(tmp_path / "only.csv", index=False)
    model = tmp_path / "m.mercer"
    run("fit", tmp_path / "train.csv", "-t", "label", "--kernel", "gaussian", "-s", model)
    run("predict", model, tmp_path / "only.csv")
    assert json.loads(run("score", model, tmp_path / "only.csv", "--json"))["accuracy"] == 1.0


def test_scores_of_one_row_are_valid_json(folder, tmp_path):
    pd.read_csv(folder / "test.csv")[:1].to_csv(tmp_path / "one.csv", index=False)
    scores = json.loads(run("score", folder / "price.mercer", tmp_path / "one.csv", "--json"))
    assert scores["R2"] is None


def test_the_matrix_of_the_fit_can_be_predicted(folder, tmp_path):
    model = tmp_path / "m.mercer"
    run("fit", folder / "rows.npy", "-t", "-1", "--kernel", "gaussian", "-s", model)
    assert len(run("predict", model, folder / "rows.npy").splitlines()) == 201


def test_booleans_stay_booleans(tmp_path):
    X = np.random.default_rng(0).standard_normal((100, 2))
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "flag": X[:, 0] > 0})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    model = tmp_path / "m.mercer"
    text = run("fit", tmp_path / "t.parquet", "-t", "flag", "--kernel", "gaussian", "-s", model)
    assert "labels" in text
    assert set(run("predict", model, tmp_path / "t.parquet").splitlines()[1:]) == {"true", "false"}


def test_kernels_of_the_command_are_those_of_the_front_door():
    assert set(KERNELS) == {*NAMES, "auto"}


def test_a_look_at_the_first_block_is_not_a_pass():
    told = []
    stream = Watched(Arrays(np.ones((5, 2)), np.ones(5), ["y"]), lambda *news: told.append(news))
    next(iter(stream))
    list(stream)
    assert told == [(1, 5, 5)]


def test_plan_shows_steps_and_fit_refuses_what_does_not_fit(folder):
    output = run("plan", folder / "train.csv", "-t", "price", "--drop", "dear")
    assert "fits" in output
    assert "columns" in output
    found = json.loads(run("plan", folder / "rows.npz", "-t", "z", "--json"))
    assert found["fits"] is True
    assert found["n_rows"] == 200
    asked = "-t", "price", "--features", "20000", "--memory", "1GB"
    assert "n_components=2,8" in run("plan", folder / "train.csv", *asked)
    refused = run("fit", folder / "train.csv", *asked, status=1)
    assert "needs 28.8 GB" in refused
