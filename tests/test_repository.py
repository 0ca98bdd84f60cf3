"""What stands in several files of the repository is the same in all of them."""

import re
import tomllib
from pathlib import Path

import mercer

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_one():
    cited = re.search(r"^version: (.+)$", text_of("CITATION.cff"), flags=re.MULTILINE)
    assert {PROJECT["version"], mercer.__version__, cited.group(1)} == {mercer.__version__}


def test_python_versions_are_one():
    named = [line.split(" :: ")[-1] for line in PROJECT["classifiers"] if ":: 3." in line]
    assert PROJECT["requires-python"] == f">={named[0]}"
    for version in named:
        assert f'"{version}"' in text_of(".github/workflows/tests.yml"), f"{version} is not tested"


def test_five_papers_are_cited():
    references = text_of("CITATION.cff").split("references:")[1]
    assert references.count("  - type:") == 5
    assert references.count("    title:") == 5


def test_files_that_the_pages_link_to_exist():
    pages = ("CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
    links = {link for page in pages for link in re.findall(r"\]\(([^)#:]+)[)#]", text_of(page))}
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]


def test_targets_that_the_pages_name_are_in_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), flags=re.MULTILINE))
    pages = "".join(text_of(page) for page in ("CONTRIBUTING.md", "RELEASING.md", "README.md"))
    named = set(re.findall(r"(?:`|\$ )make ([a-z-]+)", pages))
    assert named
    assert named <= targets
