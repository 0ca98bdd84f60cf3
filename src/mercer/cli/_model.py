"""Saved models as the commands take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ._data import ARRAYS, assert_exists, assert_known, open_rows, open_table
from ._numerals import doubtful_columns
from ._reading import Reading


def load_model(path: Path) -> Any:
    """Return the front-door machine that a file holds."""
    from ..io import ModelFileError, load
    from ..io.table_files import FORMATS
    from ..machines import KernelClassifier, KernelRegressor

    try:
        model = load(path)
    except FileNotFoundError as error:
        raise click.UsageError(str(error)) from error
    except ModelFileError as error:
        if path.suffix.lower() in (*ARRAYS, *FORMATS):
            raise ModelFileError(
                f"{path} is a table and not a model file; the order is MODEL DATA."
            ) from error
        raise
    if not isinstance(model, (KernelClassifier, KernelRegressor)):
        raise ValueError(
            f"{path} holds a {type(model).__name__}; this command takes a KernelRegressor or "
            "KernelClassifier, as mercer fit saves them. Load others with mercer.load."
        )
    return model


def rows_for(
    model: Any,
    data: Path,
    reading: Reading,
    *,
    everything: bool = False,
    target: str | None = None,
) -> Any:
    """Return the rows of ``data`` with the columns that a model needs.

    Parameters
    ----------
    model : KernelRegressor or KernelClassifier
        The fitted model.
    data : Path
        A table, a folder of tables, or a NumPy file.
    reading : Reading
        How CSV files are read.
    everything : bool, default=False
        Whether columns that the model does not need are read, too.
    target : str or None, default=None
        The column to compare with.
    """
    if data.suffix.lower() in ARRAYS:
        arrays = open_rows(data, target, reading)
        known = str(model.target_name_).lstrip("-").isdigit()
        if target is None and known and arrays.X.shape[1] == model.n_features_in_ + 1:
            # The matrix of the fit, its target still inside.
            return open_rows(data, model.target_name_, reading)
        return arrays
    names = getattr(model, "feature_names_in_", None)
    assert_exists(data)
    if names is None:
        raise click.UsageError(
            f"The model was fitted on an array without names, but {data} is a table; give a "
            ".npz or .npy file."
        )
    needed = [str(name) for name in names]
    present = open_rows(data, None, reading).columns
    for name in needed:
        assert_known(name, present, f"{data} lacks a column of the model")
    if target is not None:
        assert_known(target, present, "--target")
        if target in needed:
            raise click.UsageError(
                f"--target: {target!r} is a column that the model predicts from."
            )
    columns = [name for name in present if name != target] if everything else needed
    strings = _strings(model, needed, target)
    stream = open_table(data, target, reading, columns=columns, strings=strings)
    _assert_numbers(model, needed, stream, reading)
    return stream


def assert_error_bars(fitted: Any, rows: Any, path: Path) -> None:
    """Refuse a model that was saved without what error bars need; ``rows`` is one row or more."""
    one = rows.slice(0, 1) if hasattr(rows, "slice") else rows[:1]
    try:
        fitted.predict(one, return_std=True)
    except ValueError as error:
        # A row that cannot be predicted at all is another matter, and raises here.
        fitted.predict(one)
        raise ValueError(
            f"--std: {path} was saved without what error bars need; fit with --full."
        ) from error


def _kinds(model: Any, needed: list[str]) -> dict[str, str]:
    """Return the columns of a model and what they held when it was fitted."""
    return dict(zip(needed, getattr(model.encoder_, "kinds_", ()), strict=False))


def _strings(model: Any, needed: list[str], target: str | None) -> list[str]:
    """Return the columns that held strings, even if a CSV file makes numbers of them."""
    from ..preprocessing.columns import CATEGORY

    categories = getattr(model.encoder_, "categories_", {})
    strings = [
        name
        for place, (name, kind) in enumerate(_kinds(model, needed).items())
        if kind == CATEGORY and any(isinstance(c, str) for c in categories.get(place, ()))
    ]
    labels = getattr(model, "classes_", None)
    if target is not None and labels is not None and labels.dtype.kind in "OU":
        strings.append(target)
    return strings


def _assert_numbers(model: Any, needed: list[str], stream: Any, reading: Reading) -> None:
    """Refuse strings that look like numbers where the model knows numbers."""
    from ..preprocessing.columns import NUMBER

    numbers = [name for name, kind in _kinds(model, needed).items() if kind == NUMBER]
    block, _ = next(iter(stream.tables()))
    for doubt in doubtful_columns(block.select(needed), reading["decimal"]):
        if doubt.column in numbers:
            raise doubt.told("but the model was fitted on numbers")
