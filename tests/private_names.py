"""Who uses a private name of whom: an analysis of source text, for the test of layers.

A name that begins with one underscore belongs to the module that defines it and to subclasses of
the class that defines it. A module whose own name begins with one belongs to its folder.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

#: The interface of named tuples, whose names begin with an underscore so as not to be fields.
NAMED_TUPLE = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
#: The seam to scikit-learn speaks for its protocol of parameter constraints.
SCIKIT_LEARN = {"_parameter_constraints", "_validate_params"}
#: The folders of compiled functions, private to the package and not to their own folder.
COMPILED = (["ops", "_jit"], ["ops", "_cuda"])
#: Functions that take an object and the name of an attribute.
BY_NAME = {"delattr", "getattr", "hasattr", "setattr"}


@dataclass(frozen=True)
class Use:
    """A private name, where it stands."""

    line: int
    text: str


def is_private(name: str) -> bool:
    """Return whether a name begins with one underscore."""
    return name.startswith("_") and not name.startswith("__") and name != "_"


def defined_names(tree: ast.AST) -> set[str]:
    """Return the private names that a module or a class defines, or assigns as attributes."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Store):
            found.add(node.attr if isinstance(node, ast.Attribute) else node.id)
    return {name for name in found if is_private(name)}


def own_names(tree: ast.Module) -> set[str]:
    """Return the private names of a module: of its functions and classes, or set on ``self``.

    What it sets on other objects is not its own.
    """
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _own(node):
            found.add(node.attr)
    return {name for name in found if is_private(name)}


def classes_of(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Return the classes of a module by name."""
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def borrowed_names(tree: ast.Module, allowed: Iterable[str]) -> Iterator[Use]:
    """Yield the private attributes that are used of other objects than ``self`` and its class."""
    allowed = {*allowed, *NAMED_TUPLE}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not _own(node):
            if is_private(node.attr) and node.attr not in allowed:
                yield Use(node.lineno, ast.unparse(node))
        elif isinstance(node, ast.Call) and _name_asked(node) is not None:
            name = _name_asked(node)
            if not _is_self(node.args[0]) and is_private(name) and name not in allowed:
                yield Use(node.lineno, ast.unparse(node))


def state_asked_by_name(tree: ast.Module) -> Iterator[Use]:
    """Yield where an object asks itself whether it has a private attribute, or for a default."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _name_asked(node) is None:
            continue
        asks = ast.unparse(node.func) == "hasattr" or len(node.args) == 3
        known = ast.unparse(node.func) in ("hasattr", "getattr")
        if known and asks and _is_self(node.args[0]) and is_private(_name_asked(node)):
            yield Use(node.lineno, ast.unparse(node))


def private_imports(tree: ast.Module, module: Iterable[str], package: str) -> Iterator[Use]:
    """Yield imports of private names, and of private modules of another folder.

    Parameters
    ----------
    tree : Module
        The module.
    module : sequence of str
        Its folder within the package, from the top.
    package : str
        The name of the package.
    """
    folder = list(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            path = base + (node.module.split(".") if node.module else [])
            inside = bool(node.level) or path[:1] == [package]
            if not node.level and inside:
                path = path[1:]
            for alias in node.names:
                if _is_intruder(path, alias.name, folder, inside):
                    yield Use(node.lineno, ast.unparse(node))
                    break


def _is_intruder(path: list[str], name: str, folder: list[str], inside: bool) -> bool:
    """Return whether a name may not be imported from a path into a folder."""
    if not inside:
        return is_private(name) or any(is_private(part) for part in path)
    for depth, part in enumerate(path):
        shared = path[: depth + 1] in COMPILED
        if is_private(part) and folder[:depth] != path[:depth] and not shared:
            return True
    # A private module is no private name: it belongs to the folder that it stands in.
    from_folder = path == folder[: len(path)]
    return is_private(name) and not from_folder


def _own(node: ast.Attribute) -> bool:
    return _is_self(node.value)


def _is_self(node: ast.AST) -> bool:
    """Return whether an expression is ``self``, ``cls``, ``super()`` or ``type(self)``."""
    if isinstance(node, ast.Call):
        return ast.unparse(node) in ("super()", "type(self)")
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _name_asked(node: ast.Call) -> str | None:
    """Return the name of an attribute that a call asks for by a string."""
    if not isinstance(node.func, ast.Name) or node.func.id not in BY_NAME or len(node.args) < 2:
        return None
    name = node.args[1]
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None


def inherited_names(kinds: Iterable[type], trees: Mapping[str, ast.Module]) -> set[str]:
    """Return the private names that the bases of some classes define."""
    found = set()
    for kind in kinds:
        for base in kind.__mro__[1:]:
            found |= {name for name in vars(base) if is_private(name)}
            tree = trees.get(base.__module__)
            body = None if tree is None else classes_of(tree).get(base.__name__)
            if body is not None:
                found |= defined_names(body)
    return found
