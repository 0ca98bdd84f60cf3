"""Imports go one way only, files stay short, and numba stays in its folder."""

import ast
from pathlib import Path

import pytest

import mercer

ROOT = Path(mercer.__file__).parent
#: From the bottom up; a folder may import what stands before it.
LAYERS = [
    "_seams",
    "ops",
    "engine",
    "kernels",
    "preprocessing",
    "sketches",
    "features",
    "solvers",
    "machines",
    "datasets",
    "io",
    "diagnostics",
    "testing",
    "cli",
]
FILES = sorted(ROOT.rglob("*.py"))
#: The package's own front and its entry point may know everything.
FRONT = {"__init__.py", "__main__.py"}


def layer_of(parts):
    return parts[0] if parts[0] in LAYERS else "_seams"


def imported_layers(path):
    """Yield the layers of mercer that a file imports from."""
    folder = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = list(folder[: len(folder) - node.level + 1])
            target = base + (node.module.split(".") if node.module else [])
            if target:
                yield layer_of(target)
            else:
                yield from (layer_of([alias.name]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mercer":
            # The front of the package knows everything: importing from it goes up.
            yield layer_of(node.module.split(".")[1:]) if "." in node.module else "cli"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "mercer":
                    yield layer_of(alias.name.split(".")[1:]) if "." in alias.name else "cli"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_only_go_down(path):
    parts = path.relative_to(ROOT).parts
    if len(parts) == 1 and parts[0] in FRONT:
        return
    own = LAYERS.index(layer_of(parts))
    for layer in imported_layers(path):
        assert LAYERS.index(layer) <= own, f"{'/'.join(parts)} imports from {layer}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short(path):
    assert len(path.read_text().splitlines()) < 400


def names_imported(path, top_level_only=False):
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


def test_numba_is_imported_in_one_folder_only():
    users = {p for p in FILES if any(name.split(".")[0] == "numba" for name in names_imported(p))}
    assert users
    assert all(path.parent == ROOT / "ops" / "_jit" for path in users)


def test_private_scikit_learn_is_imported_in_one_file_only():
    for path in FILES:
        for name in names_imported(path):
            if name.startswith("sklearn") and "._" in name:
                assert path == ROOT / "_sklearn.py", f"{path} imports {name}"


def test_optional_packages_are_imported_where_they_are_used():
    optional = {"matplotlib", "torch", "pyarrow", "pandas", "polars", "dask", "cupy"}
    for path in FILES:
        for name in names_imported(path, top_level_only=True):
            assert name.split(".")[0] not in optional, f"{path} imports {name} at once"
