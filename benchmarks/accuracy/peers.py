"""Twenty tables, mercer and its peers: every case in a fresh process, kept once measured.

``python -m benchmarks.accuracy --only peers --data FOLDER`` measures what is missing in
``accuracy_peers.json`` and writes the report anew after every case.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..report import environment, markdown
from .peer_case import CLASSIFICATION, REGRESSION
from .peer_tables import report_tables

NAME = "accuracy_peers"
TABLES = (*REGRESSION, *CLASSIFICATION)
METHODS = ("linear", "nystroem", "hgb", "lgbm", "xrfm", "mercer")
#: Module and package of the methods that the extra ``benchmark`` installs.
OPTIONAL = {"lgbm": ("lightgbm", "lightgbm"), "xrfm": ("xrfm", "xrfm")}
ROOT = Path(__file__).parents[2]
INTRODUCTION = """\
Error is 1 - R2 (the first {regression} tables) or the share of wrong labels; a tenth of the rows
(at least 300) is the test set, drawn once. linear: RidgeCV or LogisticRegression on standardised
columns; nystroem: scikit-learn's with 2,048 landmarks, gamma = 1/(2d), RidgeCV; hgb: scikit-learn's
HistGradientBoosting with defaults; lgbm: LightGBM with 1,000 trees, rate .05, 63 leaves; xrfm: xRFM
with defaults, a fifth of the training rows for validation; mercer: KernelRegressor or
KernelClassifier with defaults. bike is without its two leaking columns, parkinsons without the
subject number, covtype is 100,000 rows drawn at random. Every case ran in a fresh process, with the
threads in the last table; seconds are of one fit, and other work on the machine makes them noisy.
Memory is what the fit adds to the process. A dash was not measured."""


@dataclass(frozen=True)
class Options:
    """What to measure, and how.

    Attributes
    ----------
    tables, methods : sequence of str
        The cases.
    seconds : float
        A case that takes longer is stopped.
    threads : int
        Threads of every case.
    python_peers : str
        The interpreter of lgbm and xrfm.
    device : str
        Where xRFM computes: ``"cpu"`` or ``"cuda"``.
    again : bool
        Whether to measure anew what is there already.
    """

    tables: Sequence[str] = TABLES
    methods: Sequence[str] = METHODS
    seconds: float = 300.0
    threads: int = 2
    python_peers: str = sys.executable
    device: str = "cpu"
    again: bool = False


def run(folder: Path, out: Path, options: Options) -> None:
    """Measure the cases that are missing, and write the report after each of them."""
    file = out / f"{NAME}.json"
    methods = [method for method in options.methods if _available(method, options)]
    for name in options.tables:
        for method in methods:
            known = stored(file).get((name, method))
            if known and not options.again and not _worth_again(known, options):
                continue
            row = measured(folder, name, method, options)
            # Another process may have added cases meanwhile.
            save(out, {**stored(file), (name, method): row})
            shown = {key: row[key] for key in ("error", "seconds", "note")}
            print(f"{name}, {method}: {shown}", file=sys.stderr, flush=True)
    save(out, stored(file))
    print((out / f"{NAME}.md").read_text(encoding="utf-8"))


def measured(folder: Path, name: str, method: str, options: Options) -> dict[str, Any]:
    """Return the row of one case, run in a fresh process."""
    interpreter = options.python_peers if method in OPTIONAL else sys.executable
    module = "benchmarks.accuracy.peer_case"
    command = [interpreter, "-m", module, str(folder.resolve()), name, method, options.device]
    row = {"table": name, "method": method, "rows": None, "columns": None, "error": None}
    row |= {"seconds": None, "MB": None, "log loss": None, "coverage": None, "versions": ""}
    try:
        answer = subprocess.run(
            command,
            env=_environment(options.threads),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=options.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        place = "this device" if options.device != "cpu" and method == "xrfm" else "this CPU"
        row["note"] = f"over {options.seconds:g} s on {place}"
    else:
        if answer.returncode:
            status = f"ended with status {answer.returncode}"
            row["note"] = (answer.stderr.strip().splitlines() or [status])[-1]
        else:
            row |= json.loads(answer.stdout.splitlines()[-1])
    facts = environment()
    return row | {
        "limit": options.seconds,
        "threads": options.threads,
        "device": options.device if method == "xrfm" else "cpu",
        "commit": facts["commit"],
        "cpu": facts["cpu"],
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def stored(file: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the rows of an earlier run, by table and method."""
    if not file.exists():
        return {}
    rows = json.loads(file.read_text(encoding="utf-8"))["tables"]["Cases"]
    return {(row["table"], row["method"]): row for row in rows}


def save(out: Path, cases: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Write the cases as JSON and the report as Markdown; a file is never half written."""
    order = [(name, method) for name in TABLES for method in METHODS if (name, method) in cases]
    rows = [cases[key] for key in order]
    facts = environment()
    content = {"name": NAME, "environment": facts, "tables": {"Cases": rows}}
    _replace(out / f"{NAME}.json", json.dumps(content, indent=2))
    tables = report_tables(rows, TABLES, METHODS)
    parts = [
        f"# {NAME}",
        INTRODUCTION.format(regression=len(REGRESSION)),
        *(f"## {table.title}\n\n{markdown(table.rows)}" for table in tables),
        markdown([{"environment": key, "value": facts[key]} for key in facts]),
    ]
    _replace(out / f"{NAME}.md", "\n\n".join(parts))


def _replace(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(file.suffix + ".new")
    new.write_text(text + "\n", encoding="utf-8")
    new.replace(file)


def _worth_again(row: dict[str, Any], options: Options) -> bool:
    """Return whether a case was stopped, and has more time or another device now."""
    stopped = row["error"] is None and row["note"].startswith("over ")
    elsewhere = row["method"] == "xrfm" and row["device"] != options.device
    return stopped and (options.seconds > row["limit"] or elsewhere)


def _available(method: str, options: Options) -> bool:
    """Return whether the interpreter has what a method needs; if not, say so."""
    if method not in OPTIONAL:
        return True
    module, package = OPTIONAL[method]
    look = f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is None)"
    if subprocess.run([options.python_peers, "-c", look], check=False).returncode == 0:
        return True
    print(
        f"{method} is left out: {options.python_peers} has no {package}. Install the extra "
        'with pip install "mercer[benchmark]", or name an interpreter that has it with '
        "--python-peers.",
        file=sys.stderr,
    )
    return False


def _environment(threads: int) -> dict[str, str]:
    """Return the environment of a case: the same number of threads for every library."""
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA")
    return {**os.environ, **{f"{name}_NUM_THREADS": str(threads) for name in names}}
