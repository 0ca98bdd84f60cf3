"""Data as the commands take it: tables on disk, and NumPy's files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import click

from .._words import AdvisedError, did_you_mean, listed
from ._reading import Reading, assert_no_options

ENDINGS = ".csv, .tsv, .csv.gz, .parquet, .arrow, .feather, .npz, .npy"
ARRAYS = (".npz", ".npy")
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

    def targets(self) -> Iterator[Any]:
        """Yield the targets alone, block by block."""
        for start in range(0, self.n_rows, BLOCK_ROWS):
            yield self.y[start : start + BLOCK_ROWS]

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


def assert_exists(path: Path) -> None:
    """Refuse a file that does not exist, with the nearest name there is."""
    if not path.exists():
        folder = path.absolute().parent
        others = [other.name for other in folder.iterdir()] if folder.is_dir() else []
        hint = did_you_mean(path.name, others, f"it may end in {ENDINGS}.")
        raise click.UsageError(f"There is no file or folder {path}; {hint}")


def assert_known(name: str, names: list[str], option: str) -> None:
    """Refuse a column that does not exist, with the nearest name there is."""
    if name not in names:
        hint = did_you_mean(name, names, f"there are {listed(names)}.")
        raise click.UsageError(f"{option}: there is no column {name!r}; {hint}")


def open_rows(path: Path, target: str | None, reading: Reading, drop: tuple[str, ...] = ()) -> Any:
    """Return the data as blocks that can be read again.

    Parameters
    ----------
    path : Path
        A table, a folder of tables, or a NumPy file.
    target : str or None
        The column to predict; of a ``.npz`` file the array, of ``.npy`` the column's number.
    reading : Reading
        How CSV files are read.
    drop : tuple of str, default=()
        Columns to leave out.
    """
    assert_exists(path)
    if path.suffix.lower() in ARRAYS:
        if drop:
            raise click.UsageError(f"--drop: columns of {path} have no names.")
        assert_no_options(reading, path)
        return assert_rows(_arrays(path, target), path)
    columns = None
    if drop:
        names = open_table(path, None, reading).columns
        for name in drop:
            assert_known(name, names, "--drop")
            if name == target:
                raise click.UsageError(f"--drop: {name!r} is the target.")
        columns = [name for name in names if name not in drop and name != target]
    return assert_rows(open_table(path, target, reading, columns=columns), path)


def open_table(path: Path, target: str | None, reading: Reading, **choices: Any) -> Any:
    """Return a table on disk as a stream; what the command got wrong is an error of its use."""
    from ..io import TableStream

    try:
        return TableStream(path, target, **reading, **choices)
    except AdvisedError:
        # The file is not what it should be, not the command.
        raise
    except (ValueError, FileNotFoundError) as error:
        raise click.UsageError(str(error)) from error


def assert_rows(stream: Any, path: Path) -> Any:
    """Return a stream, which must have rows."""
    if stream.n_rows == 0:
        raise AdvisedError(f"{path} has no rows")
    return stream


def _arrays(path: Path, target: str | None) -> Arrays:
    import numpy as np

    try:
        content = np.load(path, allow_pickle=False, mmap_mode="r")
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise ValueError(
            f"{path} is not a NumPy file of numbers or strings; write it with numpy.save or "
            "numpy.savez."
        ) from error
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
            f"{path} must hold the rows as an array 'X', but it holds {listed(list(content))}."
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
