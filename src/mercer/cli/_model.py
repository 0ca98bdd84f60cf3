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
        arrays = open_rows(data, target)
        known = str(model.target_name_).lstrip("-").isdigit()
        if target is None and known and arrays.X.shape[1] == model.n_features_in_ + 1:
            # The matrix of the fit, its target still inside.
            return open_rows(data, model.target_name_)
        return arrays
    if names is None:
        raise click.UsageError(
            f"The model was fitted on an array without names, but {data} is a table; give a "
            ".npz or .npy file."
        )
    from ..io import TableStream

    present = open_rows(data, None).columns
    needed = [str(name) for name in names]
    for name in needed:
        assert_known(name, present, f"{data} lacks a column of the model")
    if target is not None:
        assert_known(target, present, "--target")
        if target in needed:
            raise click.UsageError(
                f"--target: {target!r} is a column that the model predicts from."
            )
    columns = [name for name in present if name != target] if everything else needed
    return TableStream(data, target, columns=columns, texts=_texts(model, needed, target))


def _texts(model: Any, needed: list[str], target: str | None) -> list[str]:
    """Return the columns that a model knows as texts, even if a CSV file makes numbers of them."""
    encoder = model.encoder_
    kinds = zip(needed, getattr(encoder, "kinds_", []), strict=False)
    texts = [
        name
        for place, (name, kind) in enumerate(kinds)
        if kind == "category"
        and any(isinstance(c, str) for c in encoder.categories_.get(place, ()))
    ]
    labels = getattr(model, "classes_", None)
    if target is not None and labels is not None and labels.dtype.kind in "OU":
        texts.append(target)
    return texts
