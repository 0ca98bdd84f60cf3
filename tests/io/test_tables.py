"""Tests of tables that are read as streams."""

import builtins
import bz2
import gzip

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


def test_what_was_read_of_a_parquet_file_is_let_go(tmp_path):
    path, n = tmp_path / "long.parquet", 1_000_000
    pyarrow.parquet.write_table(table(n).select(["a", "b", "y"]), path, row_group_size=20_000)
    before = pyarrow.total_allocated_bytes()
    held = []
    for _ in TableStream(path, target="y", block_rows=10_000):
        held.append(pyarrow.total_allocated_bytes() - before)  # noqa: PERF401
    # A row group has 0.4 MB, the file 20 MB; some row groups are read ahead.
    assert max(held) < 12e6


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
    with pytest.raises(ValueError, match=r"Column 'a' .* holds 'word' in row 300001 "):
        list(TableStream(tmp_path / "rows.csv", target="y").tables())


@pytest.mark.parametrize(
    ("name", "opened", "sep"),
    [
        ("rows.tsv", open, "\t"),
        ("rows.csv.gz", gzip.open, ","),
        ("rows.tsv.gz", gzip.open, "\t"),
        ("rows.CSV.bz2", bz2.open, ","),
    ],
)
def test_text_with_tabs_or_compressed_is_read_by_its_ending(tmp_path, name, opened, sep):
    with opened(tmp_path / name, "wt") as file:
        file.write("a,y\n1.5,2\n2.5,3\n".replace(",", sep))
    X, y = next(iter(TableStream(tmp_path / name, target="y")))
    assert (X.ravel().tolist(), y.tolist()) == ([1.5, 2.5], [2, 3])


def test_csv_files_of_other_countries_are_read(tmp_path):
    text = "größe;preis\n1,5;2,25\n;-1e3\n?;4\n"
    (tmp_path / "rows.csv").write_bytes(text.encode("latin-1"))
    stream = TableStream(
        *(tmp_path / "rows.csv", "preis"), sep=";", decimal=",", encoding="latin1", na_values=["?"]
    )
    block, y = next(iter(stream.tables()))
    assert block.column("größe").to_pylist() == [1.5, None, None]
    assert y.tolist() == [2.25, -1000.0, 4.0]
    assert [part.tolist() for part in stream.targets()] == [y.tolist()]


def test_line_breaks_in_quotes_belong_to_the_field_wherever_blocks_end(tmp_path):
    rows = [f'{k},"first\nsecond"' for k in range(100_000)]
    (tmp_path / "rows.csv").write_text("\n".join(["y,a", *rows]))
    blocks = list(TableStream(tmp_path / "rows.csv", target="y").tables())
    assert len(blocks) > 1
    assert np.array_equal(np.concatenate([y for _, y in blocks]), np.arange(100_000))


def late(tmp_path, first, last):
    """Write a CSV file whose last target is another one, beyond what pyarrow guesses from."""
    lines = ["a,y", *(["0.5," + first] * 300_000), "1.5," + last]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    return TableStream(tmp_path / "rows.csv", target="y")


def test_an_integer_target_with_a_fraction_further_down_is_widened(tmp_path):
    stream = late(tmp_path, "1", "2.5")
    assert stream.n_rows == 300_001
    for _ in range(2):
        targets = [y for _, y in stream]
        assert {y.dtype.kind for y in targets} == {"f"}
        assert (targets[0][0], targets[-1][-1]) == (1.0, 2.5)


@pytest.mark.parametrize("last", ["2", str(2**62 + 1)])
def test_integer_labels_stay_integers_with_all_digits(tmp_path, last):
    targets = [y for _, y in late(tmp_path, "1", last)]
    assert {y.dtype.kind for y in targets} == {"i"}
    assert targets[-1][-1] == int(last)


def test_parquet_files_may_differ_in_the_kind_of_number(tmp_path):
    write(tmp_path / "1.parquet", pyarrow.table({"a": [1, 2], "y": [1, 2]}))
    write(tmp_path / "2.parquet", pyarrow.table({"a": [1.5], "y": [2.5]}))
    X, y = (np.concatenate(part) for part in zip(*TableStream(tmp_path, target="y"), strict=True))
    assert (X.ravel().tolist(), y.tolist()) == ([1.0, 2.0, 1.5], [1.0, 2.0, 2.5])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", r"rows\.csv is empty"),
        (b"\n\n", r"is empty"),
        (b"a;y\n1,5;2\n", r"single column 'a;y' .* use sep=';', decimal=','\."),
        (b"a;y\n1.5;2\n", r"use sep=';'\."),
        (b"a\ty\n1,5\t2\n", r"separated by tabs: use sep='\\t', decimal=','"),
        (b"a,y\n1,2\n3\n", r"has 1 field in row 1 .*'3'.* 2 columns"),
        (b"a,y\n1,5,2\n", r"3 fields in row 0 .*decimal commas must be in quotes"),
        (b"a,a,y\n1,2,3\n", r"several columns of the name 'a'"),
        ("a,y\nZürich,1\n".encode("latin-1"), r"not encoded in UTF-8: use encoding='latin-1'"),
        ("ä,y\n1,1\n".encode("latin-1"), r"use encoding='latin-1'"),
        (b"a,y\n" + b"b,1\n" * 300_000 + b"\xfc,1\n", r"use encoding='latin-1'"),
        ("a,y\n1,1\n".encode("utf-16"), r"use encoding='utf-16'"),
        (b"a,y\n" + b"1,1\n" * 300_000 + b'"1,5",1\n', r"row 300000 .* add decimal=','"),
        (b"a,y\n" + b"true,1\n" * 300_000 + b"maybe,1\n", r"before hold booleans.*\['maybe'\]"),
        (b"a,y\n" + b"2020-01-01,1\n" * 99_999 + b"soon,1\n", r"before hold dates.*\['soon'\]"),
        (b"a,y\n" + b"1,1\n" * 300_000 + b"1,word\n", r"Column 'y' .* holds 'word' in row 300000"),
        (b'a,y\n1,"' + b"1,1\n" * 900_000, r"more than 1 MB"),
    ],
)
def test_what_is_wrong_with_a_csv_file_is_told_with_the_way_out(tmp_path, content, words):
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(ValueError, match=words) as caught:
        list(TableStream(tmp_path / "rows.csv", target="y").tables())
    assert "CSV conversion error" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rows.parquet", "not a Parquet file"),
        ("rows.arrow", "not an Arrow file"),
        ("rows.csv.gz", "not compressed as its name says"),
        ("rows.tsv.bz2", "not compressed as its name says"),
        ("rows.parquet.gz", r"\.parquet\.gz was found"),
    ],
)
def test_files_that_are_not_what_their_name_says(tmp_path, name, words):
    (tmp_path / name).write_text("a,y\n1,2\n")
    with pytest.raises(ValueError, match=words):
        TableStream(tmp_path / name, target="y")


def test_an_excel_file_is_to_be_saved_as_another(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"a\.xlsx is an Excel file; save it as CSV or Parquet"):
        TableStream(tmp_path / "a.xlsx", target="y")


def test_folders_with_nothing_or_with_files_that_disagree(tmp_path):
    with pytest.raises(ValueError, match="holds no files"):
        TableStream(tmp_path, target="y")
    (tmp_path / "1.csv").write_text("a,y\n1,2\n")
    (tmp_path / "2.csv").write_text("a,y\n2020-01-01,2\n")
    with pytest.raises(ValueError, match=r"column 'a' holds .* make them the same"):
        TableStream(tmp_path, target="y")
    stream = TableStream(tmp_path, target="y", strings=["a"])
    assert [block.column("a").to_pylist() for block, _ in stream.tables()] == [
        ["1"],
        ["2020-01-01"],
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sep": ";;"}, "sep must be one character"),
        ({"sep": "\n"}, "sep must be one character"),
        ({"decimal": ";"}, r"decimal must be '\.' or ','"),
        ({"encoding": "latin-l"}, "encoding must be one that Python knows"),
        ({"na_values": "?"}, r"write \['\?'\]"),
    ],
)
def test_bad_options_of_csv_files_are_refused(tmp_path, options, words):
    (tmp_path / "rows.csv").write_text("a,y\n1,2\n")
    with pytest.raises(ValueError, match=words):
        TableStream(tmp_path / "rows.csv", target="y", **options)
    write(tmp_path / "rows.parquet", table(5))
    with pytest.raises(ValueError, match="only for CSV files"):
        TableStream(tmp_path / "rows.parquet", target="y", sep=";")


def test_a_wrong_encoding_that_was_given_is_named(tmp_path):
    (tmp_path / "rows.csv").write_bytes("a,y\nZürich,1\n".encode())
    with pytest.raises(ValueError, match="not encoded in ASCII: use encoding='utf-8'"):
        TableStream(tmp_path / "rows.csv", target="y", encoding="ascii")
