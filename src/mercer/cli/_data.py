"""Data as the commands take it: tables on disk, and NumPy's files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from .._words import did_you_mean

ENDINGS = ".csv, .parquet, .arrow, .feather, .npz, .npy"
#: Rows of a NumPy file to handle at a time.
BLOCK_ROWS = 65_536


class Arrays:
    """Blocks of arrays at hand, in the way of a table on disk."""

    def __init__(self, X: Any, y: Any, target: list[str], columns: Any = None) -> None:
        self.X, self.y, self.target, self._columns = X, y, target, columns
        self.n_rows = int(X.shape[0])

    def tables(self) -> Arrays:
        """Return the blocks; arrays have no other form."""
        return self

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for start in range(0, self.n_rows, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            block = self.X[rows] if self._columns is None else self.X[rows][:, self._columns]
            yield block, None if self.y is None else self.y[rows]


class Watched:
    """A stream that tells how far it has got; every pass is told anew."""

    def __init__(self, stream: Any, told: Callable[[int, int, int], object]) -> None:
        self._stream, self._told = stream, told
        self.target, self.n_rows = stream.target, stream.n_rows
        self._passes = 0

    def tables(self) -> Watched:
        """Return the blocks with their columns as they are."""
        return self

    def __iter__(self) -> Iterator[Any]:
        number, done = None, 0
        for block in self._stream.tables():
            yield block
            # Whoever wanted the first block alone has not begun a pass.
            if number is None:
                self._passes += 1
                number = self._passes
            done += block[0].shape[0]
            self._told(number, done, self.n_rows)


def open_rows(path: Path, target: str | None, drop: tuple[str, ...] = ()) -> Any:
    """Return the data as blocks that can be read again.

    Parameters
    ----------
    path : Path
        A table, a folder of tables, or a NumPy file.
    target : str or None
        The column to predict; of a ``.npz`` file the array, of ``.npy`` the column's number.
    drop : tuple of str, default=()
        Columns to leave out.
    """
    if path.suffix.lower() in (".npz", ".npy"):
        if drop:
            raise click.UsageError(f"--drop: columns of {path} have no names.")
        arrays = _arrays(path, target)
        if arrays.n_rows == 0:
            raise click.UsageError(f"{path} has no rows.")
        return arrays
    from ..io import TableStream

    columns = None
    try:
        if drop:
            names = TableStream(path, None).columns
            for name in drop:
                assert_known(name, names, "--drop")
                if name == target:
                    raise click.UsageError(f"--drop: {name!r} is the target.")
            columns = [name for name in names if name not in drop and name != target]
        stream = TableStream(path, target, columns=columns)
    except (ValueError, FileNotFoundError) as error:
        raise click.UsageError(str(error)) from error
    if stream.n_rows == 0:
        raise click.UsageError(f"{path} has no rows.")
    return stream


def assert_known(name: str, names: list[str], option: str) -> None:
    """Refuse a column that does not exist, with the nearest name there is."""
    if name not in names:
        hint = did_you_mean(name, names, f"there are {', '.join(names)}.")
        raise click.UsageError(f"{option}: there is no column {name!r}; {hint}")


def _arrays(path: Path, target: str | None) -> Arrays:
    import numpy as np

    try:
        content = np.load(path, allow_pickle=False, mmap_mode="r")
    except FileNotFoundError:
        raise click.UsageError(f"There is no file {path}.") from None
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{path} cannot be read: {error}") from error
    if path.suffix.lower() == ".npy":
        if content.ndim != 2:
            raise click.UsageError(
                f"{path} must hold two dimensions, but its shape is {content.shape}."
            )
        return _column_out(content, target, path)
    with content:
        return _named_arrays({name: content[name] for name in content}, target, path)


def _named_arrays(content: dict[str, Any], target: str | None, path: Path) -> Arrays:
    """Return the rows and the target of a file of named arrays."""
    wide = [name for name, array in content.items() if array.ndim == 2]
    if "X" not in wide and len(wide) != 1:
        raise click.UsageError(
            f"{path} must hold the rows as an array 'X', but it holds {', '.join(content)}."
        )
    X = content["X" if "X" in wide else wide[0]]
    if target is None:
        return Arrays(X, None, [])
    assert_known(target, [name for name, array in content.items() if array.ndim == 1], "--target")
    if len(content[target]) != len(X):
        raise click.UsageError(
            f"{path}: the rows are {len(X)}, but {target!r} has {len(content[target])} entries."
        )
    return Arrays(X, content[target], [target])


def _column_out(X: Any, target: str | None, path: Path) -> Arrays:
    """Return one column of a matrix as the target."""
    import numpy as np

    if target is None:
        return Arrays(X, None, [])
    width = X.shape[1]
    if not target.lstrip("-").isdigit() or not -width <= int(target) < width:
        raise click.UsageError(
            f"--target: {path} has no names; give the number of a column, 0 to {width - 1} (or -1 "
            "for the last)."
        )
    number = int(target) % width
    others = np.delete(np.arange(width), number)
    return Arrays(X, X[:, number], [target], others)


def detect_task(stream: Any) -> tuple[str, str]:
    """Return classification or regression, and why, from the first block of the target."""
    import numpy as np

    _, y = next(iter(stream.tables()))
    y = np.asarray(y)
    if y.ndim == 2:
        return "regression", "there are several targets"
    distinct = np.unique(y.astype(str) if y.dtype.kind == "O" else y)
    count = len(distinct)
    if y.dtype.kind not in "iuf":
        return "classification", f"the target holds labels ({count} different ones)"
    whole = y.dtype.kind in "iu" or bool((y == np.round(y)).all())
    most = 30 if y.dtype.kind in "iu" else 10
    if whole and count <= most and count < max(3, len(y) / 4):
        return "classification", f"the target holds {count} different whole numbers"
    return "regression", f"the target holds numbers ({count:,} different ones in the first rows)"
