"""Which functions and types may be stored in a model file, by name: a closed list.

A file names them, and holds no code: universal functions of NumPy and of ``scipy.special``, some
others of these modules that make an array of an array, and the types that select columns.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from .errors import ModelFileError

#: Modules whose universal functions may be named, and which of their other functions.
MODULES: dict[str, tuple[str, ...]] = {
    "numpy": (
        "angle", "around", "clip", "cumprod", "cumsum", "diff", "fliplr", "i0", "imag",
        "nan_to_num", "real", "round", "sinc",
    ),
    "scipy.special": ("log_softmax", "softmax"),
}  # fmt: skip
#: Types that are no dtypes: what ``make_column_selector`` selects by.
TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, float, int, object, str)},
    **{
        f"numpy.{kind.__name__}": kind
        for kind in (np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact)
    },
    "numpy.floating": np.floating,
    "numpy.generic": np.generic,
}


def function_key(function: Callable[..., Any], where: str) -> str:
    """Return the name of a function in a file, or refuse one that is not on the list.

    Parameters
    ----------
    function : callable
        The function.
    where : str
        What to call it in an error.

    Examples
    --------
    >>> function_key(np.log1p, "func")
    'numpy:log1p'
    """
    name = getattr(function, "__name__", "")
    for module in MODULES:
        if _found(module, name) is function:
            return f"{module}:{name}"
    raise ModelFileError(
        f"{where} is the function {getattr(function, '__qualname__', name)}, which a model file "
        "cannot hold, as it holds no code: use a function of numpy or scipy.special that makes a "
        "number of a number, such as numpy.log1p, or do this step before the model that is saved."
    )


def function_of(key: object) -> Callable[..., Any]:
    """Return the function of a name that may be stored in a file.

    Examples
    --------
    >>> function_of("numpy:log1p")
    <ufunc 'log1p'>
    """
    module, _, name = key.partition(":") if isinstance(key, str) else ("", "", "")
    function = _found(module, name)
    if function is None:
        raise ModelFileError(f"it holds a function {key!r}, which is not on the list")
    return function


def _found(module: str, name: str) -> Callable[..., Any] | None:
    """Return a function of the list; nothing is imported that is not on it."""
    if module not in MODULES or not name.isidentifier():
        return None
    function: Any = getattr(import_module(module), name, None)
    # Where SCIPY_ARRAY_API is set, SciPy wraps them.
    universal = isinstance(getattr(function, "__wrapped__", function), np.ufunc)
    return function if universal or name in MODULES[module] else None
