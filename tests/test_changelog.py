"""Every fragment of the changelog is of a kind that a release gathers."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
KINDS = {kind["directory"] for kind in SETTINGS["type"]}
FRAGMENTS = sorted(path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md")


def is_gathered(name):
    """Return whether a release gathers a file of this name."""
    parts = name.split(".")
    return len(parts) == 3 and parts[1] in KINDS and parts[2] == "md" and bool(parts[0])


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_fragments_are_gathered(path):
    assert is_gathered(path.name), f"name it <name>.<kind>.md, with a kind of {sorted(KINDS)}"
    assert path.read_text(encoding="utf-8").strip(), "it is empty"


def test_kinds_are_those_that_the_folder_explains():
    text = (ROOT / "changelog.d" / "README.md").read_text(encoding="utf-8")
    assert all(f"`{kind}`" in text for kind in KINDS)


@pytest.mark.parametrize("name", ["waves.new.md", "waves.md", "waves.fixed.txt", ".fixed.md"])
def test_other_names_are_refused(name):
    assert not is_gathered(name)
