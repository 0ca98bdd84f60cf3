"""Tests of the check of links on a small site."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "docs/check_links.py"


@pytest.fixture(scope="module")
def links():
    spec = importlib.util.spec_from_file_location("check_links", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("tag", "trouble"),
    [
        ('<a href="b.html#there">', None),
        ('<a href="#here">', None),
        ('<a href="https://elsewhere.org/x">', None),
        ('<a href="https://mercer.readthedocs.io/en/latest/b.html">', None),
        ('<a href="https://github.com/mercer-kernels/mercer/blob/main/README.md">', None),
        ('<img src="data:image/png;base64,AA">', None),
        ('<a href="b.html#gone">', "has no such anchor"),
        ('<a href="c.html">', "leads nowhere"),
        ('<a href="https://mercer.readthedocs.io/en/latest/c.html">', "leads nowhere"),
        ('<a href="https://github.com/mercer-kernels/mercer/blob/main/no.md">', "repository"),
        ('<script src="https://cdn.example/x.js">', "over the network"),
    ],
)
def test_dead_links_and_loads_over_the_network_are_found(links, tmp_path, tag, trouble):
    (tmp_path / "a.html").write_text(f'<p id="here">{tag}')
    (tmp_path / "b.html").write_text('<p id="there">')
    found = list(links.Site(tmp_path).troubles())
    assert len(found) == (trouble is not None)
    assert trouble is None or trouble in found[0]
