"""Squared error with calibrated probabilities against the front door's choice of two losses.

The front door is fitted once, at default effort; its machine is then fitted twice more on the
encoded rows, with squares alone and with its choice, so that both share search and kernel. Rows of
tables that are not measured now stay as they were.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import mercer

from ..report import Report, Table
from .peer_case import data

TABLES = ("electricity", "magic", "adult", "phoneme")
TITLE = "All rows of the training split, the front door at default effort"
#: Rows, effort and seconds of a fit that only imports and compiles.
WARM_UP, WARM_UP_SECONDS = 2100, 10.0


def run(folder: Path, out: Path, tables: list[str]) -> Report:
    """Return log loss, error and seconds of both, on test rows; measured for the tables named."""
    known = _known(out / "accuracy_logistic.json")
    for name in TABLES:
        if name in tables:
            known[name] = case(folder, name)
    return Report([Table(TITLE, [known[name] for name in TABLES if name in known])], [])


def case(folder: Path, name: str) -> dict[str, Any]:
    """Return the row of one table."""
    X, y, X_test, y_test = data(folder, name)
    quick = mercer.KernelClassifier(effort="quick", time_limit=WARM_UP_SECONDS)
    quick.fit(X[:WARM_UP], y[:WARM_UP])
    start = time.perf_counter()
    model = mercer.KernelClassifier().fit(X, y)
    seconds = time.perf_counter() - start
    rows, new = model.encoder_.transform(X), model.encoder_.transform(X_test)
    row: dict[str, Any] = {"table": name, "rows": len(X), "kernel": type(model.kernel_).__name__}
    taken = model.machine_.loss_
    solves = {}
    for loss in ("squared", "auto"):
        machine = clone(model.machine_).set_params(loss=loss)
        start = time.perf_counter()
        machine.fit(rows, y)
        solves[loss] = time.perf_counter() - start
        probabilities = machine.predict_proba(new)
        right = (y_test[:, None] == machine.classes_).argmax(axis=1)
        likely = probabilities[np.arange(len(right)), right]
        row[f"log loss, {loss}"] = float(-np.log(np.clip(likely, 1e-15, 1)).mean())
        row[f"error, {loss}"] = float((machine.predict(new) != y_test).mean())
        row[f"alpha, {loss}"] = machine.alpha_
    plain = np.logaddexp(0, -np.where(right == 1, 1, -1) * machine.decision_function(new)).mean()
    return {
        **row,
        # A logistic function knows its scale itself; here it is not calibrated.
        "log loss, not calibrated": float(plain) if taken == "logistic" else None,
        "taken": taken,
        "seconds, squared": seconds - solves["auto"] + solves["squared"],
        "seconds, auto": seconds,
        "solve, squared": solves["squared"],
        "solve, auto": solves["auto"],
        "scale": 2 * machine.probability_scale_,
        "report": machine.solver_report_,
    }


def _known(path: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of results that were published before."""
    if not path.exists():
        return {}
    tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
    return {row["table"]: row for row in tables.get(TITLE, [])}
