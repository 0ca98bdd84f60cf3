"""Tests of the commands on CSV files as people have them."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import mercer
from mercer.cli import main

QUICK = ("--kernel", "gaussian", "--approximation", "features", "--features", "16")


def run(*arguments, status=0):
    """Return what a command prints."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result.output


def sentence(*arguments, status=1):
    """Return the one line that a command fails with."""
    lines = run(*arguments, status=status).strip().splitlines()
    if status == 2:
        assert lines[0].startswith("Usage:")
        return lines[-1]
    assert len(lines) == 1, lines
    return lines[0]


@pytest.fixture(scope="module")
def houses():
    generator = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "area": generator.gamma(9.0, 14.0, n).round(1),
            "city": generator.choice(["Zürich", "Genf"], n),
        }
    )
    frame["price"] = (3 * frame["area"] * (1 + (frame["city"] == "Genf"))).round(2)
    frame["dear"] = (frame["price"] > frame["price"].median()).astype(int)
    return frame


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, houses):
    """Work in a folder with the table as spreadsheets write it in different countries."""
    monkeypatch.chdir(tmp_path)
    houses.to_csv("plain.csv", index=False)
    houses.to_csv("quoted.csv", index=False, decimal=",")
    houses.to_csv("german.csv", index=False, decimal=",", sep=";", encoding="latin-1")
    return tmp_path


def test_decimal_commas_are_not_a_class_for_every_row():
    text = sentence("fit", "quoted.csv", "-t", "price")
    assert "strings such as" in text
    assert text.endswith("look like numbers with decimal commas; add --decimal ','.")
    for task in ("regression", "classification"):
        assert "--decimal ','" in sentence("fit", "quoted.csv", "-t", "price", "--task", task)
    report = json.loads(run("fit", "quoted.csv", "-t", "price", "--decimal", ",", "--json", *QUICK))
    assert report["task"] == "regression"


def test_the_options_of_the_fit_do_for_predict_and_score(houses):
    options = ("--sep", ";", "--decimal", ",", "--encoding", "latin-1")
    run("fit", "german.csv", "-t", "price", "--drop", "dear", "-s", "m.mercer", *options, *QUICK)
    run("predict", "m.mercer", "german.csv", "-o", "out.csv", *options)
    expected = mercer.load("m.mercer").predict(houses[["area", "city"]])
    assert pd.read_csv("out.csv")["prediction"].to_numpy() == pytest.approx(expected)
    plain = json.loads(run("score", "m.mercer", "plain.csv", "--json"))
    assert json.loads(run("score", "m.mercer", "german.csv", "--json", *options)) == plain


def test_predictions_for_a_file_that_needs_an_option_say_which():
    run("fit", "plain.csv", "-t", "price", "--drop", "dear", "-s", "m.mercer", *QUICK)
    for command in ("predict", "score"):
        assert "use --encoding latin-1" in sentence(command, "m.mercer", "german.csv")
        some = (command, "m.mercer", "german.csv", "--encoding", "latin-1")
        assert "use --sep ';' --decimal ','." in sentence(*some)
        text = sentence(*some, "--sep", ";")
        assert "Column 'area'" in text
        assert "fitted on numbers" in text
        assert text.endswith("add --decimal ','.")


def test_a_score_of_strings_against_numbers_is_refused(houses):
    run("fit", "plain.csv", "-t", "price", "--drop", "dear", "-s", "m.mercer", *QUICK)
    houses.assign(price=houses["price"].astype(str).str.replace(".", ",")).to_csv("mixed.csv")
    assert "model predicts numbers; they look like numbers with decimal commas" in sentence(
        "score", "m.mercer", "mixed.csv"
    )
    houses.assign(word="x").to_csv("words.csv")
    assert "such as 'x', but the model predicts" in sentence(
        "score", "m.mercer", "words.csv", "-t", "word"
    )


def test_compressed_files_and_tabs(houses):
    houses.to_csv("rows.tsv.gz", sep="\t", index=False)
    assert "120 rows" in run("fit", "rows.tsv.gz", "-t", "price", *QUICK)
    with gzip.open("rows.csv.gz", "wt") as file:
        file.write("a\tb\n1\t2\n")
    assert "use --sep '\\t'." in sentence("fit", "rows.csv.gz", "-t", "b")
    assert "no column 'c'" in sentence("fit", "rows.csv.gz", "-t", "c", "--sep", "\\t", status=2)


def test_words_for_missing_values(houses):
    area = houses["area"].astype(str).where(houses.index % 5 > 0, "?")
    houses.assign(area=area).to_csv("rows.csv", index=False)
    assert "look like numbers, except '?': if that stands for a missing value, add --na '?'." in (
        run("fit", "rows.csv", "-t", "price", *QUICK)
    )
    report = run("fit", "rows.csv", "-t", "price", "--na", "?", *QUICK)
    assert "look like numbers" not in report
    assert "correct those rows or remove them" in sentence("fit", "rows.csv", "-t", "area")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("$ {:,.2f}", "with a currency or percent sign; remove the signs"),
        ("{:.1f} %", "with a currency or percent sign; remove the signs"),
        ("{:,.2f}", "with thousands separators; remove the separators"),
        ("house {}", "choose another target"),
    ],
)
def test_targets_of_other_strings_are_refused_with_the_reason(houses, written, words):
    houses.assign(price=houses["price"].map(written.format)).to_csv("rows.csv", index=False)
    text = sentence("fit", "rows.csv", "-t", "price")
    assert "different ones in 120 rows" in text
    assert words in text


def test_labels_with_few_rows_each_are_taken_when_asked_for(houses):
    houses.assign(street=[f"street {k % 70}" for k in range(120)]).to_csv("rows.csv", index=False)
    text = sentence("fit", "rows.csv", "-t", "street")
    assert "70 different ones in 120 rows" in text
    assert text.endswith("add --task classification.")
    text = run("fit", "rows.csv", "-t", "street", "--task", "classification", *QUICK)
    assert "as --task says" in text


def test_tasks_that_do_not_fit_the_target_are_refused(houses):
    text = sentence("fit", "plain.csv", "-t", "city", "--task", "regression", status=2)
    assert "'Genf', not numbers; leave --task out" in text
    text = sentence("fit", "plain.csv", "-t", "price", "--task", "classification")
    assert text.endswith("leave out --task classification.")
    houses.assign(sold=pd.date_range("2020-01-01", periods=120)).to_csv("dates.csv")
    assert "dates such as 2020-01-01; dates cannot be predicted" in sentence(
        "fit", "dates.csv", "-t", "sold"
    )
    text = sentence("fit", "plain.csv", "-t", "price", "--decimal", ",")
    assert text.endswith("look like numbers with decimal points; leave out --decimal ','.")


def test_capital_letters_do_not_hide_a_column():
    for option in ("-t", "--drop"):
        arguments = ("-t", "dear", option, "PRICE")
        assert "did you mean 'price'?" in sentence("fit", "plain.csv", *arguments, status=2)


def test_labels_of_whole_numbers_stay_whole_in_predictions():
    run("fit", "plain.csv", "-t", "dear", "--drop", "price", "-s", "m.mercer", *QUICK)
    lines = run("predict", "m.mercer", "plain.csv").splitlines()
    assert set(lines[1:]) == {"0", "1"}


def test_a_target_of_whole_numbers_may_become_fractions(houses):
    many = pd.concat([houses] * 250)[["area", "price"]]
    stars = np.arange(len(many)) % 5
    stars = [*map(str, stars[:-1]), "2.5"]
    # Long numbers, for more than the first megabyte, from which pyarrow guesses.
    many.assign(stars=stars).to_csv("rows.csv", index=False, float_format="%.20f")
    text = run("fit", "rows.csv", "-t", "stars", *QUICK)
    assert "regression of 'stars'" in text


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bad.csv", b"", "is empty"),
        ("bad.csv", b"a,y\n1,2\n3\n", "has 1 field in row 1"),
        ("bad.parquet", b"a,y\n1,2\n", "not a Parquet file"),
        ("bad.csv.gz", b"a,y\n1,2\n", "not compressed as its name says"),
        ("bad.npz", b"a,y\n1,2\n", "not a NumPy file"),
        ("bad.npy", b"", "not a NumPy file"),
    ],
)
def test_damaged_files_are_told_in_one_sentence(folder, name, content, words):
    (folder / name).write_bytes(content)
    assert words in sentence("fit", name, "-t", "y")


def test_options_without_text_to_read_are_refused(houses):
    houses.to_parquet("rows.parquet")
    np.save("rows.npy", np.ones((5, 2)))
    for name in ("rows.parquet", "rows.npy"):
        text = sentence("fit", name, "-t", "0", "--sep", ";", "--na", "x", status=2)
        assert "only for CSV files" in text


def test_help_names_the_options_of_csv_files():
    for command in ("fit", "predict", "score"):
        text = run(command, "--help")
        assert all(option in text for option in ("--sep", "--decimal", "--encoding", "--na"))
