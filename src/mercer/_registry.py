"""The seam to model files: classes that may be stored in one say so where they are defined.

The list is closed: a class that is not registered is refused, when a file is written as when it
is read. It is keyed by module and name, so that two classes of one name are not confused.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, Protocol, TypeVar, runtime_checkable

Kind = TypeVar("Kind", bound=type)

#: Modules that may be imported because a file names them: mercer's own, without entry points.
OWN_MODULE = re.compile(r"mercer(\._?[a-z][a-z0-9_]*)+")

_registered: dict[tuple[str, str], type] = {}


@runtime_checkable
class HasStoredState(Protocol):
    """An object that says itself what a model file holds of it, instead of all its attributes."""

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return the attributes to store; if ``compact``, what predictions need and no more."""
        ...


@runtime_checkable
class HasCheckedState(Protocol):
    """An object that says whether what a model file held of it can be trusted."""

    def __mercer_check__(self) -> None:
        """Raise a ValueError if the attributes do not fit together."""
        ...


def storable(kind: Kind) -> Kind:
    """Register a class whose objects may be stored in a model file; use it as a decorator.

    A class of one's own is found again by its module and name: the module must have been
    imported before :func:`~mercer.load`, as no file can ask for that.

    Parameters
    ----------
    kind : type
        The class. Its attributes must be arrays, numbers, strings, collections of them, or
        objects of registered classes.

    Returns
    -------
    kind : type
        The same class.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> from mercer.io import storable
    >>> @storable
    ... class Linear(mercer.Kernel):
    ...     def _tile(self, X, Y, xp, out=None):
    ...         return X @ Y.T
    ...     def _diag(self, X, xp):
    ...         return xp.sum(X * X, axis=1)
    >>> path = Path(tempfile.mkdtemp()) / "linear.mercer"
    >>> mercer.save(Linear(), path)
    >>> mercer.load(path)
    Linear()
    """
    _registered[kind.__module__, kind.__name__] = kind
    return kind


def registered(module: str, name: str) -> type | None:
    """Return the registered class of a module, or ``None``.

    The module is imported only if it is one of mercer's own; classes of other packages must
    have been imported, and so registered, before.
    """
    if (module, name) not in _registered and OWN_MODULE.fullmatch(module):
        try:
            import_module(module)
        except ImportError:
            return None
    return _registered.get((module, name))
