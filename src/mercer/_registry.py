"""The seam to model files: classes whose objects may stand in one say so where they are defined.

The list is closed: a class that is not registered is refused, when a file is written as when it
is read. It is keyed by module and name, so that two classes of one name are not confused.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, TypeVar, runtime_checkable

Kind = TypeVar("Kind", bound=type)

_registered: dict[tuple[str, str], type] = {}


@runtime_checkable
class HasStoredState(Protocol):
    """An object that says itself what a model file holds of it, instead of all its attributes."""

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return the attributes to store; if ``compact``, what predictions need and no more."""
        ...


def storable(kind: Kind) -> Kind:
    """Register a class whose objects may stand in a model file; use it as a decorator.

    Examples
    --------
    >>> from mercer._registry import registered, storable
    >>> from mercer.kernels import Gaussian
    >>> registered("mercer.kernels.gaussian", "Gaussian") is Gaussian
    True
    """
    _registered[kind.__module__, kind.__name__] = kind
    return kind


def registered(module: str, name: str) -> type | None:
    """Return the registered class of a module, which is imported if it is one of mercer's own."""
    if (module, name) not in _registered and module.split(".")[0] == "mercer":
        try:
            import_module(module)
        except ImportError:
            return None
    return _registered.get((module, name))
