"""Saved models as the commands take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ._data import assert_known, open_rows


def load_model(path: Path) -> Any:
    """Return the front-door machine that a file holds."""
    from ..io import load
    from ..machines import KernelClassifier, KernelRegressor

    try:
        model = load(path)
    except FileNotFoundError as error:
        raise click.UsageError(str(error)) from error
    if not isinstance(model, (KernelClassifier, KernelRegressor)):
        raise ValueError(
            f"{path} holds a {type(model).__name__}; this command takes a KernelRegressor or "
            "KernelClassifier, as mercer fit saves them. Load others with mercer.load."
        )
    return model


def rows_for(model: Any, data: Path, everything: bool = False, target: str | None = None) -> Any:
    """Return the rows of ``data`` with the columns that a model needs."""
    if not data.exists():
        raise click.UsageError(f"There is no file or folder {data}.")
    names = getattr(model, "feature_names_in_", None)
    if data.suffix.lower() in (".npz", ".npy"):
        return open_rows(data, target, None, ())
    if names is None:
        raise click.UsageError(
            f"The model was fitted on an array without names, but {data} is a table; give a "
            ".npz or .npy file."
        )
    from ..io import TableStream

    present = open_rows(data, None, None, ()).columns
    needed = [str(name) for name in names]
    for name in needed:
        assert_known(name, present, f"{data} lacks a column of the model")
    if target is not None:
        assert_known(target, present, "--target")
    columns = [name for name in present if name != target] if everything else needed
    return TableStream(data, target, columns=columns)
