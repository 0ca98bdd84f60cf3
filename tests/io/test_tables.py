"""Tests of tables that are read as streams."""

import builtins

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from mercer import FeatureRidge, FeatureRidgeClassifier, Gaussian, RandomFourier
from mercer.io import TableStream
from mercer.testing import peak_bytes


def table(n=500, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    columns = {"a": X[:, 0], "b": X[:, 1].astype(np.float32), "c": (X[:, 2] > 0)}
    return pyarrow.table({**columns, "y": np.sin(X[:, 0]) + X[:, 1]})


def write(path, rows):
    writer = {
        ".parquet": pyarrow.parquet.write_table,
        ".csv": pyarrow.csv.write_csv,
        ".arrow": pyarrow.feather.write_feather,
    }[path.suffix]
    writer(rows, path)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
def test_every_format_gives_the_rows_in_order(tmp_path, suffix):
    rows = table()
    path = tmp_path / f"rows{suffix}"
    write(path, rows)
    stream = TableStream(path, target="y", block_rows=64, dtype="float64")
    assert (stream.columns, stream.n_rows) == (["a", "b", "c"], 500)
    for _ in range(2):
        blocks = list(stream)
        assert max(len(X) for X, _ in blocks) <= 64 or suffix == ".csv"
        X, y = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        assert X.dtype == np.float64
        expected = np.column_stack([rows[name] for name in "abc"])
        assert X == pytest.approx(expected, rel=1e-6)
        assert y == pytest.approx(rows["y"].to_numpy())


def test_a_machine_learns_from_a_folder_as_from_memory(tmp_path):
    parts = [table(300, seed) for seed in range(4)]
    for number, part in enumerate(parts):
        write(tmp_path / f"part{number}.parquet", part)
    stream = TableStream(tmp_path, target="y", dtype="float64", block_rows=128)
    whole = pyarrow.concat_tables(parts)
    X = np.column_stack([whole[name] for name in "abc"]).astype(float)
    features = RandomFourier(Gaussian(1.0), n_components=80, random_state=0)
    model = FeatureRidge(features).fit(stream)
    again = FeatureRidge(features).fit(stream)
    memory = FeatureRidge(features).fit(X, whole["y"].to_numpy())
    assert np.array_equal(model.coef_, again.coef_)
    # The stream knows the names of its columns.
    rows = pd.DataFrame(X, columns=list("abc"))
    assert model.predict(rows) == pytest.approx(memory.predict(X), rel=1e-8, abs=1e-9)


def test_several_targets_and_chosen_columns(tmp_path):
    write(tmp_path / "rows.parquet", table())
    stream = TableStream(tmp_path / "rows.parquet", target=["y", "b"], columns=["c", "a"])
    X, Y = next(iter(stream))
    assert stream.columns == ["c", "a"]
    assert (X.shape[1], Y.shape[1]) == (2, 2)
    assert "target=['y', 'b']" in repr(stream)


def test_memory_does_not_grow_with_the_table(tmp_path):
    peaks = []
    for n in (20_000, 200_000):
        path = tmp_path / f"{n}.parquet"
        pyarrow.parquet.write_table(table(n), path, row_group_size=4096)
        stream = TableStream(path, target="y", block_rows=2048)
        peaks.append(peak_bytes(lambda stream=stream: FeatureRidge().fit(stream))[1])
    assert peaks[1] < 1.3 * peaks[0]


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        ({"target": "z"}, ValueError, "no column 'z'"),
        ({"target": "yy"}, ValueError, "did you mean 'y'"),
        ({"target": "y", "columns": ["aa"]}, ValueError, "did you mean 'a'"),
        ({"target": ["a", "b", "c", "y", "word"]}, ValueError, "left to predict from"),
        ({"target": "y", "columns": ["a", "y"]}, ValueError, "'y' is the target"),
        ({"target": "y"}, ValueError, "'word'.*KernelRegressor"),
        ({"target": "y", "columns": ["a"], "dtype": "int8"}, ValueError, "dtype"),
        ({"target": "y", "columns": ["a"], "block_rows": 0}, ValueError, "block_rows"),
    ],
)
def test_bad_requests_are_refused_with_the_way_out(tmp_path, arguments, error, word):
    rows = table(20).append_column("word", [["x"] * 20])
    write(tmp_path / "rows.parquet", rows)
    with pytest.raises(error, match=word):
        list(TableStream(tmp_path / "rows.parquet", **arguments))


def test_files_that_are_missing_mixed_or_of_no_kind(tmp_path):
    write(tmp_path / "rows.parquet", table(20))
    with pytest.raises(FileNotFoundError, match=r"did you mean 'rows\.parquet'"):
        TableStream(tmp_path / "row.parquet", target="y")
    write(tmp_path / "rows.csv", table(20))
    with pytest.raises(ValueError, match="one kind"):
        TableStream(tmp_path, target="y")
    (tmp_path / "rows.txt").write_text("")
    with pytest.raises(ValueError, match=r"\.txt was found"):
        TableStream(tmp_path / "rows.txt", target="y")


def test_targets_keep_their_precision_and_their_labels(tmp_path):
    rows = pyarrow.table(
        {
            "a": np.arange(4.0),
            "y": 1e8 + np.arange(4.0),
            "code": [100000001, 100000002, 100000001, 100000002],
            "word": ["x", "y", "x", "y"],
        }
    )
    write(tmp_path / "rows.parquet", rows)
    for name, expected in (("y", 1e8 + np.arange(4.0)), ("code", rows["code"].to_numpy())):
        stream = TableStream(tmp_path / "rows.parquet", target=name, columns=["a"])
        assert np.array_equal(next(iter(stream))[1], expected)
    stream = TableStream(tmp_path / "rows.parquet", target="word", columns=["a"])
    assert list(FeatureRidgeClassifier().fit(stream).classes_) == ["x", "y"]


def test_files_may_differ_in_the_kind_of_number_and_hidden_ones_are_passed_over(tmp_path):
    (tmp_path / "1.csv").write_text("a,y\n1,2\n")
    (tmp_path / "2.csv").write_text("a,y\n1.5,2.5\n")
    (tmp_path / ".checkpoints").mkdir()
    (tmp_path / ".checkpoints" / "1.csv").write_text("a,y\n9,9\n")
    stream = TableStream(tmp_path, target="y")
    assert np.concatenate([X for X, _ in stream]).ravel().tolist() == [1.0, 1.5]


def test_a_missing_value_is_named(tmp_path):
    rows = pyarrow.table({"a": [1.0, None, 3.0], "y": [1.0, 2.0, 3.0]})
    write(tmp_path / "rows.parquet", rows)
    with pytest.raises(ValueError, match=r"'a'.*row 1"):
        list(TableStream(tmp_path / "rows.parquet", target="y"))


def test_without_pyarrow_the_pip_line_is_given(tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **keywords):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **keywords)

    monkeypatch.setattr("importlib.import_module", lambda name: refuse(name))
    with pytest.raises(ImportError, match=r"pip install 'mercer\[tables\]'"):
        TableStream(tmp_path, target="y")


def test_csv_columns_may_change_from_whole_numbers_to_fractions(tmp_path):
    lines = ["a,b,y"] + ["1,x,0"] * 300_000 + ["1.5,,1"]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    stream = TableStream(tmp_path / "rows.csv", target="y")
    blocks = list(stream.tables())
    assert blocks[-1][0].column("a")[-1].as_py() == 1.5
    assert blocks[-1][0].column("b")[-1].as_py() is None
    assert blocks[0][1].dtype.kind == "i"
    (tmp_path / "rows.csv").write_text("\n".join([*lines, "word,x,1"]))
    with pytest.raises(ValueError, match=r"cannot be read after row"):
        list(TableStream(tmp_path / "rows.csv", target="y").tables())
