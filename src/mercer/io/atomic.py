"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[str]:
    """Yield the name of a file to write, which takes the place of ``path`` in the end.

    What was there before stays until the new file lies on the disk; after an error it stays
    for good, and nothing else is left behind.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"The folder of {path} does not exist; make it first.")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
    os.close(handle)
    try:
        yield name
        os.chmod(name, 0o666 & ~_umask())
        _to_disk(name)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if os.name == "posix":
        _to_disk(folder)


def _umask() -> int:
    """Return which permissions new files are not given."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _to_disk(path: str | Path) -> None:
    """Wait until what was written lies on the disk."""
    handle = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
