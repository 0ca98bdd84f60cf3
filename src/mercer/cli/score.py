"""``mercer score``: how good a saved model is on a table whose targets are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .._words import listed
from ._model import load_model, rows_for
from ._numerals import Doubt, an_example, recognised
from ._reading import Reading, reads_tables
from ._screen import explained, facts, print_json


@click.command("score", short_help="Measure a saved model on rows with known targets.")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", "-t", help="The column to compare with; by default the one of the fit.")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
@reads_tables
@explained
def command(model: Path, data: Path, target: str | None, as_json: bool, reading: Reading) -> None:
    """Compare the predictions of MODEL with the target column of DATA.

    A CSV file is read with the same options as for mercer fit.

    \b
    mercer score houses.mercer test.csv
    mercer score houses.mercer test.tsv --decimal , --json
    """
    import numpy as np

    fitted = load_model(model)
    target = target or fitted.target_name_
    if target is None:
        raise click.UsageError("--target: the model does not know its target's name; give it.")
    stream = rows_for(fitted, data, reading, target=target)
    truth, found, proba = [], [], []
    classes = getattr(fitted, "classes_", None)
    for rows, y in stream.tables():
        truth.append(np.asarray(y))
        found.append(fitted.predict(rows))
        if classes is not None:
            proba.append(fitted.predict_proba(rows))
    y, predicted = np.concatenate(truth), np.concatenate(found)
    if classes is None:
        _assert_numbers(y, target, reading["decimal"])
        scores = _regression(y, predicted)
    else:
        scores = _classification(y, predicted, np.concatenate(proba), classes)
    if as_json:
        print_json({"n_rows": len(y), **scores})
        return
    expected = fitted.report_
    pairs = [(name, f"{value:.4g}") for name, value in scores.items()]
    pairs.append(("expected", f"{expected.score_name} {expected.score:.4g} when it was fitted"))
    facts([("rows", f"{len(y):,}"), *pairs])


def _assert_numbers(y: Any, target: str, decimal: str) -> None:
    """Refuse strings where the model predicts numbers."""
    if y.dtype.kind not in "OUS":
        return
    strings = [str(value) for value in y[:1000]]
    numerals = recognised(strings, decimal)
    if numerals is not None:
        raise Doubt(target, an_example(strings), numerals).told("but the model predicts numbers")
    raise ValueError(
        f"Column {target!r} holds strings such as {strings[0]!r}, but the model predicts numbers; "
        "choose another with --target."
    )


def _regression(y: Any, predicted: Any) -> dict[str, float]:
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    return {
        # One row has no variance to explain.
        "R2": float(r2_score(y, predicted)) if len(y) > 1 else float("nan"),
        "RMSE": float(root_mean_squared_error(y, predicted)),
        "MAE": float(mean_absolute_error(y, predicted)),
    }


def _classification(y: Any, predicted: Any, proba: Any, classes: Any) -> dict[str, float]:
    import numpy as np

    right = y == predicted
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise ValueError(
            f"The target holds the label {y[unknown].tolist()[0]!r}, which the model was not "
            f"fitted on; it knows {listed(classes.tolist())}."
        )
    recalls = [right[y == label].mean() for label in np.unique(y)]
    own = proba[np.arange(len(y)), np.searchsorted(classes, y)]
    return {
        "accuracy": float(right.mean()),
        "balanced accuracy": float(np.mean(recalls)),
        "log loss": float(-np.log(np.maximum(own, 1e-300)).mean()),
    }
