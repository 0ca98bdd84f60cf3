"""Tests of ``mercer compare``."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mercer.cli import main
from mercer.cli._data import Arrays
from mercer.cli.compare import gathered
from mercer.diagnostics.comparison.figures import figures_of
from mercer.diagnostics.comparison.methods import NAMED


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table and arrays."""
    folder = tmp_path_factory.mktemp("data")
    generator = np.random.default_rng(0)
    n = 150
    frame = pd.DataFrame(
        {
            "size": generator.gamma(3.0, 40.0, n).round(1),
            "city": generator.choice(["Bern", "Basel", "Zug"], n),
        }
    )
    frame["price"] = (frame["size"] * (1 + (frame["city"] == "Zug")) + 5).round(2)
    frame["dear"] = np.where(frame["price"] > 150, "yes", "no")
    frame.loc[::9, "size"] = np.nan
    frame.to_csv(folder / "houses.csv", index=False)
    X = generator.standard_normal((150, 3))
    np.savez(folder / "rows.npz", X=X, y=X[:, 0], mask=np.ones((150, 2)))
    return folder


def run(*arguments, status=0):
    result = CliRunner().invoke(main, ["compare", *map(str, arguments)])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result.output


FEW = ("--map", "linear", "--map", "sklearn-rbf", "--dims", "8,16")


def test_a_table_is_compared_and_reported(folder, tmp_path, monkeypatch):
    # One figure is enough here.
    monkeypatch.setattr(
        "mercer.diagnostics.comparison.folder.figures_of", lambda found: figures_of(found)[:1]
    )
    output = run(
        folder / "houses.csv", "-t", "price", "--drop", "dear", *FEW, "-o", tmp_path / "out"
    )
    assert "regression: the target holds numbers" in output
    assert "RBFSampler (sklearn)  16" in output
    assert "Best: " in output
    assert max(map(len, output.splitlines())) <= 80 + len(str(tmp_path))
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<h1>houses.csv: price</h1>" in page
    assert (tmp_path / "out" / "trials.csv").exists()
    assert (tmp_path / "out" / "figures" / "error_by_dimension.png").exists()


def test_labels_and_arrays_are_compared_as_json(folder):
    found = json.loads(run(folder / "houses.csv", "-t", "dear", "--drop", "price", *FEW, "--json"))
    assert found["task"] == "classification"
    assert [trial["n_components"] for trial in found["trials"]] == [None, 8, 16]
    assert found["report"] is None
    found = json.loads(run(folder / "rows.npz", "-t", "y", "--map", "linear", "--json"))
    assert found["trials"][0]["error"] < 0.01
    assert (found["n_train"], found["n_test"]) == (120, 30)


def test_what_is_not_measured_is_told(folder):
    output = run(folder / "rows.npz", "-t", "y", *FEW, "--dims", "4,2000000", "--time-limit", 20)
    assert "Not measured: RBFSampler (sklearn), 2,000,000 features" in output
    assert "give --out FOLDER" in output


def test_some_rows_of_a_stream_are_drawn_from_all_blocks(monkeypatch):
    monkeypatch.setattr("mercer.cli._data.BLOCK_ROWS", 7)
    values = np.arange(50.0)
    stream = Arrays(values[:, None], values, ["y"])
    X, y, drawn = gathered(stream, 20, 0)
    assert len(set(y)) == 20
    np.testing.assert_array_equal(X[:, 0], y)
    assert "20 of 50" in drawn
    X, y, drawn = gathered(stream, 50, 0)
    np.testing.assert_array_equal(y, values)
    assert drawn == ""


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["rows.npz", "-t", "y", "--map", "linaer"], 2, "did you mean 'linear'"),
        (["rows.npz", "-t", "y", "--dims", "1,b"], 2, "not a list of numbers"),
        (["rows.npz", "-t", "z"], 2, "there is no column 'z'"),
        (["houses.csv", "-t", "city", "--task", "regression"], 2, "--task regression"),
        (["nothing.csv", "-t", "y"], 2, "There is no file"),
    ],
)
def test_bad_use_is_told_in_a_sentence(folder, arguments, status, message):
    output = run(folder / arguments[0], *arguments[1:], status=status)
    assert message in " ".join(output.split())


def test_the_help_names_all_methods():
    text = " ".join(run("--help").split())
    for name in NAMED:
        assert name in text
