"""Tests that the site is complete, without building it: pages, names, headers, formulas."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PACKAGES = [
    "mercer",
    "mercer.datasets",
    "mercer.diagnostics",
    "mercer.diagnostics.comparison",
    "mercer.features",
    "mercer.io",
    "mercer.kernels",
    "mercer.machines",
    "mercer.preprocessing",
    "mercer.sketches",
    "mercer.solvers",
    "mercer.testing",
]
REFERENCE = {
    line.strip()
    for page in (DOCS / "api").glob("*.md")
    for line in page.read_text(encoding="utf-8").splitlines()
    if line.startswith("   mercer.")
}


def the(address):
    """Return the object at an address; a function comes before a module of the same name."""
    home, _, name = address.rpartition(".")
    found = getattr(importlib.import_module(home), name, None)
    return importlib.import_module(address) if found is None else found


def test_every_name_of_the_reference_exists_and_stands_there_once():
    lines = [line for page in (DOCS / "api").glob("*.md") for line in _entries(page)]
    assert len(lines) > 150
    assert sorted(lines) == sorted(set(lines))
    for address in lines:
        the(address)


def _entries(page):
    return re.findall(r"^   (mercer\.[\w.]+)$", page.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(package):
    known = {}
    for address in REFERENCE:
        known.setdefault(address.rpartition(".")[2], []).append(the(address))
    module = importlib.import_module(package)
    missing = [
        name
        for name in module.__all__
        if not name.startswith("__")
        and not any(found is getattr(module, name) for found in known.get(name, []))
    ]
    assert not missing, f"add them to a page of docs/api: {missing}"


def test_every_module_of_the_engine_is_in_the_reference():
    folder = ROOT / "src/mercer/engine"
    modules = {
        ".".join(("mercer", "engine", *path.relative_to(folder).with_suffix("").parts))
        for path in folder.rglob("*.py")
        if not path.name.startswith("_")
    }
    assert modules <= REFERENCE


def test_every_page_is_in_a_table_of_contents():
    pages = {page for page in DOCS.rglob("*.md") if "auto_examples" not in page.parts}
    assert len(pages) > 40
    listed = {DOCS / "index.md"}
    for page in pages:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            for line in block.splitlines():
                entry = re.sub(r".*<(.*)>", r"\1", line.strip())
                if entry and not entry.startswith(":"):
                    listed |= set(page.parent.glob(f"{entry}.md"))
    assert not sorted(str(page.relative_to(DOCS)) for page in pages - listed)


def test_every_folder_of_examples_has_a_header_and_every_example_a_title():
    folders = {path.parent for path in (ROOT / "examples").glob("*/plot_*.py")}
    assert folders
    for folder in folders:
        assert (folder / "GALLERY_HEADER.rst").is_file(), f"{folder.name} has no GALLERY_HEADER.rst"
    for example in (ROOT / "examples").glob("*/plot_*.py"):
        title = re.match(r'r?"""\n(.+)\n(=+)\n', example.read_text(encoding="utf-8"))
        assert title, f"{example.name} has no underlined title"
        assert len(title[1]) <= len(title[2]), f"{example.name}: the line below its title is short"


def test_guides_of_the_reference_exist(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS / "_parts")
    guides = importlib.import_module("reference").context()["guides"]
    assert set(guides) <= REFERENCE
    for page in guides.values():
        assert (DOCS / f"{page[1:]}.md").is_file()


@pytest.mark.parametrize(
    ("target", "module", "address"),
    [
        ("Gaussian", "mercer.kernels.stationary", "mercer.Gaussian"),
        ("mercer.kernels.Gaussian", None, "mercer.Gaussian"),
        ("mercer.io.TableStream", None, "mercer.io.TableStream"),
        ("Kernel.matvec", None, "mercer.Kernel.matvec"),
        ("signed_sums", "mercer.ops.distances", "mercer.ops.distances.signed_sums"),
    ],
)
def test_a_name_is_looked_for_under_its_short_address(monkeypatch, target, module, address):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS / "_parts")
    candidates = importlib.import_module("reference").candidates
    assert address in list(candidates(target, module, None))


def test_every_formula_of_the_pages_becomes_mathml(monkeypatch):
    pytest.importorskip("latex2mathml")
    monkeypatch.syspath_prepend(DOCS / "_parts")
    mathml = pytest.importorskip("mathml")
    count = 0
    for page in [*DOCS.glob("guide/*.md"), *DOCS.glob("theory/*.md")]:
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for formula in re.findall(r"\$\$(.+?)\$\$|\$(.+?)\$", text, re.DOTALL):
            assert mathml.convert("".join(formula), "block").startswith("<math")
            count += 1
    assert count > 300
    with pytest.raises(ValueError, match="unknown"):
        mathml.convert(r"\nosuchcommand x", "inline")
