"""What type checkers read of scikit-learn's base classes is what scikit-learn has."""

import ast
import inspect
from pathlib import Path

import pytest
import sklearn.base

from mercer import _estimators

TREE = ast.parse(Path(_estimators.__file__).read_text(encoding="utf-8"))
METHODS = [
    (kind.name, method)
    for kind in ast.walk(TREE)
    if isinstance(kind, ast.ClassDef)
    for method in kind.body
    if isinstance(method, ast.FunctionDef)
]


def test_at_run_time_the_classes_are_those_of_scikit_learn():
    kinds = {name for name, _ in METHODS}
    assert len(kinds) == 7
    assert all(getattr(_estimators, name) is getattr(sklearn.base, name) for name in kinds)


@pytest.mark.parametrize(("kind", "method"), METHODS, ids=lambda part: getattr(part, "name", part))
def test_methods_take_what_they_are_said_to_take(kind, method):
    real = inspect.getattr_static(getattr(sklearn.base, kind), method.name)
    real = inspect.signature(getattr(real, "fn", real)).parameters
    every = [*method.args.args, *method.args.kwonlyargs, method.args.vararg, method.args.kwarg]
    said = [argument.arg for argument in every if argument is not None]
    assert said == list(real)
