"""Tests of the check of snippets: what counts as the same output, and what as wrong."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "docs/check_snippets.py"


@pytest.fixture(scope="module")
def checks():
    spec = importlib.util.spec_from_file_location("check_snippets", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ("accuracy 0.988", "accuracy 0.986"),
        ("cost      5.1 s, 58 MB planned", "cost  47 s, 58 MB planned"),
        ("1,200 rows", "1,200 rows"),
        ("1.6e-06", "1.5e-06"),
        ("[0.03 8.17]", "[0.02 8.17]"),
        ("a\nb 1", "a b 1\n"),
    ],
)
def test_outputs_that_agree(checks, shown, found):
    assert checks.agrees(shown, found)


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ("accuracy 0.988", "accuracy 0.95"),
        ("accuracy 0.988", "error 0.988"),
        ("1,200 rows", "1,300 rows"),
        ("1.6e-06", "2.6e-06"),
        ("True", "False"),
        ("3 rows", "3 rows and 4"),
    ],
)
def test_outputs_that_differ(checks, shown, found):
    assert not checks.agrees(shown, found)


def test_snippets_of_a_page_share_names_and_are_compared(checks, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\na = 2\n```\n\n```text\nnot printed\n```\n\n"
        "```python\nprint(a)\n```\n\n```text\n2\n```\n\n"
        "```python\nprint(a)\n```\n\n```text\n7\n```\n\n```python\nraise KeyError(a)\n```\n"
    )
    monkeypatch.setattr(checks, "ROOT", tmp_path)
    reports = checks.check(page)
    assert [report.split(":")[1] for report in reports] == ["2", "18", "26"]
    assert "KeyError: 2" in reports[2]
