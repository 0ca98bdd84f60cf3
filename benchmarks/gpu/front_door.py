"""The front door on a card: time and error on whole tables, beside xRFM and beside a CPU.

``python -m benchmarks.gpu.front_door --data DIR --out DIR`` on a machine with CUDA, where ``DIR``
holds the tables as ``benchmarks.accuracy.peer_case`` reads them; ``--small`` tries everything on
the CPU by torch with a few rows. Splits are those of ``accuracy_peers``, whose rows of xRFM
(measured on an H200) and of mercer on a CPU stand beside.
"""

from __future__ import annotations

import cProfile
import io
import json
import pstats
import time
from pathlib import Path
from typing import Any

import click
import torch

from mercer import KernelClassifier, KernelRegressor

from ..accuracy.peer_case import REGRESSION, WARM_UP_MERCER, data
from ..options import data_option, out_option
from ..report import RESULTS, Report, Table, Target, publish
from .card import card
from .timing import synchronize

#: Tables by default.
TABLES = ("protein", "kin40k", "electricity")
#: Seconds and errors of xRFM on these tables, measured on an H200, that are to be beaten.
WANTED = {"protein": (26.0, 0.216), "kin40k": (20.0, 0.0048)}
#: Training rows of a trial, and the seconds that its search may take.
SMALL_ROWS, SMALL_SECONDS = 2300, 15.0


@click.command()
@out_option
@data_option
@click.option("--only", default=",".join(TABLES), show_default=True, help="Tables, as a,b.")
@click.option("--effort", default="default", show_default=True, help="Effort of the search.")
@click.option("--profile", is_flag=True, help="Print where a second fit spends its time.")
@click.option("--small", is_flag=True, help="Few rows, on the CPU by torch.")
def main(out: Path, data: Path, only: str, effort: str, profile: bool, small: bool) -> None:
    """Measure the front door on a card."""
    device = "cpu" if small else "cuda"
    names, rows, targets = only.split(","), [], []
    warm_up(data, names[0], device)
    for name in names:
        row = measured(data, name, effort, device, small)
        rows.append(row)
        print(row, flush=True)
        if name in WANTED and not small and effort == "default":
            seconds, error = WANTED[name]
            targets.append(Target(f"{name}: seconds", "at most", seconds, row["seconds"]))
            targets.append(Target(f"{name}: error", "at most", error, row["error"]))
    tables = [card(device), Table("Front door on the card", rows), peers(names)]
    publish("gpu_front_door", Report(tables, targets), out)
    if profile:
        print(profiled(data, names[0], effort, device, small))


def rows_of(folder: Path, name: str, device: str, small: bool) -> list[torch.Tensor]:
    """Return training and test rows and targets of a table, on a device."""
    X, y, X_test, y_test = data(folder, name)
    if small:
        X, y, X_test, y_test = X[:SMALL_ROWS], y[:SMALL_ROWS], X_test[:200], y_test[:200]
    return [torch.asarray(part, device=device) for part in (X, y, X_test, y_test)]


def machine(name: str, effort: str, small: bool) -> Any:
    """Return the front door for a table, not fitted."""
    made = KernelRegressor if name in REGRESSION else KernelClassifier
    if small:
        return made(effort="quick", time_limit=SMALL_SECONDS)
    return made(effort=effort)


def warm_up(folder: Path, name: str, device: str) -> None:
    """Load libraries and start the device, so that it is not measured."""
    X, y, X_test, _ = rows_of(folder, name, device, False)
    made = machine(name, "quick", False).set_params(time_limit=10.0)
    made.fit(X[:WARM_UP_MERCER], y[:WARM_UP_MERCER]).predict(X_test[:10])


def measured(folder: Path, name: str, effort: str, device: str, small: bool) -> dict[str, Any]:
    """Return time and error of a table."""
    X, y, X_test, y_test = rows_of(folder, name, device, small)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    synchronize(device)
    start = time.perf_counter()
    fresh, steps = machine(name, effort, small), []
    for _ in fresh.fit_in_steps(X, y):
        synchronize(device)
        steps.append(time.perf_counter() - start)
    synchronize(device)
    seconds = time.perf_counter() - start
    predicted = fresh.predict(X_test)
    synchronize(device)
    peak = torch.cuda.max_memory_allocated() if device == "cuda" else 0
    answer, truth = predicted.cpu().numpy().astype(float), y_test.cpu().numpy().astype(float)
    if name in REGRESSION:
        error = float(((answer - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
    else:
        error = float((answer != truth).mean())
    report = fresh.report_
    return {
        "table": name,
        "rows": X.shape[0],
        "error": error,
        "seconds": seconds,
        "columns and search": steps[0],
        "solve": seconds - steps[0],
        "predict": time.perf_counter() - start - seconds,
        "GB": peak / 1e9,
        "expected score": report.score,
        "kernel": report.kernel,
        "choice": report.kernel_reason,
        "solver": report.solver or fresh.machine_.solution_.method,
    }


def peers(names: list[str]) -> Table:
    """Return what ``accuracy_peers`` holds of xRFM on an H200 and of mercer on a CPU."""
    stored = json.loads((RESULTS / "accuracy_peers.json").read_text(encoding="utf-8"))
    shown = ("table", "method", "error", "seconds", "device", "cpu", "versions")
    rows = [
        {key: case[key] for key in shown}
        for case in stored["tables"]["Cases"]
        if case["table"] in names and case["method"] in ("xrfm", "mercer")
    ]
    for name in names:
        if name in WANTED:
            seconds, error = WANTED[name]
            place = {"device": "cuda", "cpu": "measured on an H200", "versions": "xrfm"}
            method = "xrfm, the target"
            rows.append(
                {"table": name, "method": method, "error": error, "seconds": seconds} | place
            )
    return Table("Beside it", rows)


def profiled(folder: Path, name: str, effort: str, device: str, small: bool) -> str:
    """Return where a fit spends its time, as the profiler of Python sees it."""
    X, y, _, _ = rows_of(folder, name, device, small)
    with cProfile.Profile() as profile:
        machine(name, effort, small).fit(X, y)
        synchronize(device)
    text = io.StringIO()
    found = pstats.Stats(profile, stream=text)
    found.sort_stats("cumulative").print_stats(70)
    found.sort_stats("tottime").print_stats(40)
    return text.getvalue()


if __name__ == "__main__":
    main()
