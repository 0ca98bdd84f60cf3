"""The versions of the packages that a model file was written with, and whether they matter now."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: Packages whose objects a file may hold, by the first part of their modules.
PACKAGES = {"mercer": "mercer", "sklearn": "scikit-learn"}


def versions() -> dict[str, str]:
    """Return the versions of the packages whose objects a file may hold, as they are now.

    Examples
    --------
    >>> sorted(versions())
    ['mercer', 'scikit-learn']
    """
    import sklearn

    from .. import __version__

    return {"mercer": __version__, "scikit-learn": sklearn.__version__}


def other_versions(content: dict[str, Any], modules: Iterable[str]) -> list[str]:
    """Return what a file was written with, where that is another minor version than now.

    Parameters
    ----------
    content : dict
        Of the file.
    modules : iterable of str
        Top-level modules of the objects that it holds: others do not matter.

    Examples
    --------
    >>> content = {**versions(), "scikit-learn": "0.24.2"}
    >>> other_versions(content, ["mercer"])
    []
    >>> other_versions(content, ["mercer", "sklearn"])[0].partition(",")[0]
    'scikit-learn 0.24.2'
    """
    now = versions()
    names = [PACKAGES[module] for module in sorted(set(modules)) if module in PACKAGES]
    return [
        f"{name} {content[name]}, not {now[name]}"
        for name in names
        if isinstance(content.get(name), str) and minor(content[name]) != minor(now[name])
    ]


def minor(version: str) -> str:
    """Return the first two numbers of a version.

    Examples
    --------
    >>> minor("1.9.1"), minor("1.10.dev0")
    ('1.9', '1.10')
    """
    return ".".join(version.split(".")[:2])


def warn_of_others(path: Path, others: list[str]) -> None:
    """Warn that a file was written with other versions, if it was."""
    if others:
        warnings.warn(
            f"{path} was written with {' and '.join(others)}: what it predicts may differ, or "
            "fail; compare it on rows whose predictions you know, or fit it again and save it.",
            UserWarning,
            stacklevel=5,
        )
