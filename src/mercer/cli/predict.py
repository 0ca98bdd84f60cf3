"""``mercer predict``: predictions of a saved model for a table on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ._model import assert_error_bars, load_model, rows_for
from ._reading import Reading, reads_tables
from ._screen import explained
from ._writer import open_writer


@click.command("predict", short_help="Predict with a saved model.")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--out",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A .csv or .parquet file; by default CSV on the screen.",
)
@click.option("--proba", is_flag=True, help="Add the probability of every class.")
@click.option(
    "--std",
    is_flag=True,
    help="Add the standard deviation (a model of features needs mercer fit --full).",
)
@click.option("--keep", is_flag=True, help="Keep the columns of DATA beside the predictions.")
@reads_tables
@explained
def command(
    model: Path,
    data: Path,
    out: Path | None,
    proba: bool,
    std: bool,
    keep: bool,
    reading: Reading,
) -> None:
    """Predict with MODEL for every row of DATA, block by block.

    DATA must have the columns that the model was fitted on; others are ignored. A CSV file is
    read with the same options as for mercer fit.

    \b
    mercer predict houses.mercer new.csv -o prices.parquet
    mercer predict houses.mercer new.csv --sep ';' --decimal , --keep
    mercer predict digits.mercer images.npz --proba
    """
    fitted = load_model(model)
    if proba and not hasattr(fitted, "predict_proba"):
        raise click.UsageError(f"--proba: {model} is a regression, which has no classes.")
    if std and hasattr(fitted, "predict_proba"):
        raise click.UsageError(f"--std: {model} is a classification; use --proba.")
    stream = rows_for(fitted, data, reading, everything=keep)
    names = [str(name) for name in getattr(fitted, "feature_names_in_", [])]
    if keep and "prediction" in getattr(stream, "columns", []):
        raise click.UsageError(f"--keep: {data} has a column 'prediction' already; rename it.")
    with open_writer(out) as writer:
        for block, _ in stream.tables():
            rows = block.select(names) if names else block
            if std and not writer.n_rows:
                assert_error_bars(fitted, rows, model)
            columns = _kept(block) if keep else {}
            columns |= _predicted(fitted, rows, proba, std)
            writer.write(columns)
    if out is not None:
        click.echo(f"{writer.n_rows:,} predictions are in {out}", err=True)


def _kept(block: Any) -> dict[str, Any]:
    if hasattr(block, "column_names"):
        return {name: block.column(k) for k, name in enumerate(block.column_names)}
    return {f"x{j}": block[:, j] for j in range(block.shape[1])}


def _predicted(fitted: Any, rows: Any, proba: bool, std: bool) -> dict[str, Any]:
    """Return the columns that are predicted for a block."""
    if std:
        mean, deviation = fitted.predict(rows, return_std=True)
        return {**_columns("prediction", mean), **_columns("std", deviation)}
    columns = _columns("prediction", fitted.predict(rows))
    if proba:
        probabilities = fitted.predict_proba(rows)
        for k, label in enumerate(fitted.classes_):
            columns[f"probability {label}"] = probabilities[:, k]
    return columns


def _columns(name: str, values: Any) -> dict[str, Any]:
    if values.ndim == 1:
        return {name: values}
    return {f"{name} {k}": values[:, k] for k in range(values.shape[1])}
