"""Imports go one way, files and classes stay short, and private names stay where they belong."""

import ast
import importlib
from pathlib import Path

import pytest

import mercer
import private_names

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


#: Modules that are imported only once it is known that their library is there.
OF_ONE_LIBRARY = ("_devices/torch.py", "_devices/cupy.py", "ops/_cuda/")


def of_one_library(path):
    return path.relative_to(ROOT).as_posix().startswith(OF_ONE_LIBRARY)


def test_optional_packages_are_imported_where_they_are_used():
    optional = {
        "matplotlib", "torch", "pyarrow", "pandas", "polars", "dask", "distributed", "cupy",
        "onnx", "onnxruntime", "skl2onnx", "xarray",
    }  # fmt: skip
    for path in FILES:
        if of_one_library(path):
            continue
        for name in names_imported(path, top_level_only=True):
            assert name.split(".")[0] not in optional, f"{path} imports {name} at once"


def test_dask_is_imported_in_one_folder_only():
    roots = ("dask", "distributed", "dask_expr")
    text = {path: path.read_text() for path in FILES}
    users = {
        path
        for path in FILES
        if any(name.split(".")[0] in roots for name in names_imported(path))
        or 'require("dask' in text[path]
    }
    assert users
    assert all(path.parent == ROOT / "engine" / "cluster" for path in users)


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("mercer", *(part for part in parts if part != "__init__")))


OF_A_LIBRARY = {module_name(path) for path in FILES if of_one_library(path)}
TREES = {module_name(path): ast.parse(path.read_text()) for path in FILES}


def listed(offenders):
    """Return offenders as lines of text, for the message of a failure."""
    return "\n" + "\n".join(offenders)


def test_classes_have_at_most_twenty_methods():
    offenders = []
    for module, tree in TREES.items():
        for name, node in private_names.classes_of(tree).items():
            methods = sum(isinstance(part, ast.FunctionDef) for part in node.body)
            if methods > 20:
                offenders.append(f"{module}.{name} has {methods} methods")
    assert not offenders, listed(offenders)


def test_private_names_stay_in_their_module_and_its_subclasses():
    offenders = []
    for module, tree in TREES.items():
        if module == "mercer.__main__":
            continue
        # Its library may not be there.
        values = () if module in OF_A_LIBRARY else vars(importlib.import_module(module)).values()
        kinds = [kind for kind in values if isinstance(kind, type) and kind.__module__ == module]
        allowed = private_names.own_names(tree) | private_names.inherited_names(kinds, TREES)
        if module == "mercer._sklearn":
            allowed |= private_names.SCIKIT_LEARN
        found = private_names.borrowed_names(tree, allowed)
        offenders += [f"{module}:{use.line} uses {use.text}" for use in found]
    assert not offenders, listed(offenders)


def test_private_names_and_modules_are_not_imported_from_elsewhere():
    offenders = []
    for path in FILES:
        module, folder = module_name(path), path.relative_to(ROOT).parts[:-1]
        if module in ("mercer._sklearn", "mercer._skl2onnx"):
            continue
        found = private_names.private_imports(TREES[module], folder, "mercer")
        offenders += [f"{module}:{use.line} says {use.text}" for use in found]
    assert not offenders, listed(offenders)


def test_state_is_an_object_and_not_known_by_hasattr():
    offenders = []
    for module, tree in TREES.items():
        if module.split(".")[1:2] in (["machines"], ["features"]):
            found = private_names.state_asked_by_name(tree)
            offenders += [f"{module}:{use.line} asks {use.text}" for use in found]
    assert not offenders, listed(offenders)


def test_the_page_on_architecture_lists_every_folder():
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text()
    folders = {path.parent.relative_to(ROOT) for path in FILES} - {Path(".")}
    missing = [str(folder) for folder in sorted(folders) if f"{folder.name}/" not in page]
    assert not missing, f"docs/architecture.md does not list {', '.join(missing)}"


def uses(source, allowed=()):
    return [use.text for use in private_names.borrowed_names(ast.parse(source), allowed)]


def test_the_analysis_finds_private_names_of_others():
    assert uses("def f(x): return x._secret") == ["x._secret"]
    assert uses("getattr(x, '_secret')") == ["getattr(x, '_secret')"]
    assert uses("x.y._secret()") == ["x.y._secret"]
    assert uses("x._secret", ["_secret"]) == []
    assert uses("self._secret; cls._secret; super()._secret; type(self)._secret") == []
    assert uses("getattr(self, '_secret', None); x.__dict__; x._replace(y=1)") == []


def test_the_analysis_knows_what_a_module_and_a_class_define():
    tree = ast.parse(
        "class A:\n    _field: int = 0\n    def _method(self): self._state = 1\n"
        "def _function(x): x._strange = 1\n_CONSTANT = 2\n"
    )
    assert private_names.own_names(tree) == {
        "_field", "_method", "_state", "_function", "_CONSTANT",
    }  # fmt: skip
    assert private_names.defined_names(private_names.classes_of(tree)["A"]) == {
        "_field", "_method", "_state",
    }  # fmt: skip


def imported(source, folder):
    found = private_names.private_imports(ast.parse(source), folder, "mercer")
    return [use.text for use in found]


@pytest.mark.parametrize(
    ("source", "folder", "refused"),
    [
        ("from .base import _name", ("features",), True),
        ("from ..engine._inner import name", ("features",), True),
        ("from mercer.kernels.base import _name", ("features",), True),
        ("from sklearn.base import _name", ("features",), True),
        ("from ..ops._jit.fourier import name", ("features",), False),
        ("from ..ops._jit.fourier import _name", ("features",), True),
        ("from ..ops._cuda.fourier import name", ("features",), False),
        ("from ..ops._cuda.fourier import _name", ("features",), True),
        ("from ._jit.fourier import name", ("ops",), False),
        ("from .._array import name", ("features",), False),
        ("from .. import _array", ("features",), False),
        ("from mercer._array import name", ("features", "ntk"), False),
        ("from ._data import name", ("cli",), False),
        ("from . import _data", ("cli",), False),
        ("from .._array import _name", ("features",), True),
    ],
)
def test_the_analysis_tells_imports_apart(source, folder, refused):
    assert bool(imported(source, folder)) is refused


def test_the_analysis_finds_state_that_is_asked_by_name():
    source = "hasattr(self, '_x'); getattr(self, '_x', 0); getattr(self, '_x'); hasattr(self, 'x_')"
    found = [use.text for use in private_names.state_asked_by_name(ast.parse(source))]
    assert found == ["hasattr(self, '_x')", "getattr(self, '_x', 0)"]
