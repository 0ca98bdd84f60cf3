"""The tables of the comparison with peers: errors, seconds, memory, ranks and ratios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy.stats import rankdata

from ..report import Table

#: The method that the ratios refer to.
REFERENCE = "lgbm"
#: Title and column of the tables with a column for each method, and whether the best is bold.
QUANTITIES = (
    ("Error", "error", True),
    ("Log loss", "log loss", True),
    ("Coverage of intervals of 95 %", "coverage", False),
    ("Seconds of the fit", "seconds", False),
    ("Memory of the fit, MB", "MB", False),
)


def report_tables(
    rows: list[dict[str, Any]], tables: Sequence[str], methods: Sequence[str]
) -> list[Table]:
    """Return the tables of the report; those without any number are left out."""
    if not rows:
        return []
    cases = {(row["table"], row["method"]): row for row in rows}
    present = [method for method in methods if any(row["method"] == method for row in rows)]
    found = []
    for title, column, bold in QUANTITIES:
        having = {key: row for key, row in cases.items() if row[column] is not None}
        columns = [method for method in present if any(key[1] == method for key in having)]
        names = [name for name in tables if any(key[0] == name for key in having)]
        if names:
            table = [_row(cases, name, columns, column, bold) for name in names]
            found.append(Table(title, table))
    found.insert(1, Table("Ranks, and against lgbm", _summary(cases, tables, present)))
    return [*found, Table("How it was measured", _conditions(rows, present))]


def _row(
    cases: dict[tuple[str, str], dict[str, Any]],
    name: str,
    methods: Sequence[str],
    column: str,
    bold: bool,
) -> dict[str, Any]:
    """Return the line of a table: its shape, and a number or a note for each method."""
    mine = {method: cases[name, method] for method in methods if (name, method) in cases}
    values = {method: row[column] for method, row in mine.items() if row[column] is not None}
    best = min(values.values(), default=None)
    rows, columns = next(
        ((row["rows"], row["columns"]) for row in mine.values() if row["rows"]), (None, None)
    )
    line: dict[str, Any] = {"table": name, "n": f"{rows:,}" if rows else None, "d": columns}
    for method in methods:
        if method in values:
            text = f"{values[method]:.3g}"
            line[method] = f"**{text}**" if bold and values[method] == best else text
            if _diverged(mine[method]):
                line[method] += " (diverged)"
        else:
            stopped = column == "error" and method in mine
            line[method] = _short(mine[method]["note"]) if stopped else None
    return line


def _diverged(row: dict[str, Any]) -> bool:
    """Return whether more trees made a model worse even on its training rows."""
    return row["note"].startswith("diverged")


def _short(note: str) -> str:
    """Return the note of a case without result as a cell has room for it."""
    return note.partition(" on ")[0] if note.startswith("over ") else "failed"


def _summary(
    cases: dict[tuple[str, str], dict[str, Any]], tables: Sequence[str], methods: Sequence[str]
) -> list[dict[str, Any]]:
    """Return a line for each method: its mean rank, and how it stands against the reference."""
    errors = {key: row["error"] for key, row in cases.items() if row["error"] is not None}
    complete = [m for m in methods if all((name, m) in errors for name in tables)]
    totals = dict.fromkeys(complete, 0.0)
    for name in tables:
        ranks = rankdata([errors[name, method] for method in complete])
        for method, rank in zip(complete, ranks, strict=True):
            totals[method] += float(rank)
    lines = []
    for method in methods:
        mine = [name for name in tables if (name, method) in errors]
        both = [name for name in mine if (name, REFERENCE) in errors]
        ratios = {
            name: errors[name, method] / errors[name, REFERENCE]
            for name in both
            if errors[name, REFERENCE] > 0
        }
        worst = max(ratios, key=ratios.__getitem__) if ratios else None
        sound = [name for name in both if not _diverged(cases[name, REFERENCE])]
        lines.append(
            {
                "method": method,
                "tables": len(mine),
                f"mean rank of {len(complete)}": (
                    totals[method] / len(tables) if method in totals else None
                ),
                f"better than {REFERENCE}": _better(errors, method, both),
                "where it did not diverge": _better(errors, method, sound),
                f"largest ratio to {REFERENCE}": (
                    None if method == REFERENCE or worst is None else ratios[worst]
                ),
                "on": None if method == REFERENCE else worst,
            }
        )
    return lines


def _better(errors: dict[tuple[str, str], float], method: str, names: Sequence[str]) -> str | None:
    """Return on how many of the tables a method has a smaller error than the reference."""
    if method == REFERENCE or not names:
        return None
    better = sum(errors[name, method] < errors[name, REFERENCE] for name in names)
    return f"{better} of {len(names)}"


def _conditions(rows: list[dict[str, Any]], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return versions, threads, device, commit and notes of each method."""
    lines = []
    for method in methods:
        mine = [row for row in rows if row["method"] == method]
        notes = [f"{row['table']}: {row['note']}" for row in mine if row["note"]]
        lines.append(
            {
                "method": method,
                "versions": _all(mine, "versions"),
                "threads": _all(mine, "threads"),
                "device": _all(mine, "device"),
                "commit": _all(mine, "commit"),
                "notes": "; ".join(notes),
            }
        )
    return lines


def _all(rows: list[dict[str, Any]], column: str) -> str:
    """Return the different values of a column."""
    return "; ".join(sorted({str(row[column]) for row in rows if row[column]}))
