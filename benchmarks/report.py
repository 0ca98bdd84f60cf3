"""Tables of results, with the versions and the machine that they were measured with."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

#: Folder of the results in the repository.
RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "mercer")


@dataclass(frozen=True)
class Table:
    """Rows of results, each a dictionary with the same columns."""

    title: str
    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class Target:
    """A bound on a number, and the number that was measured."""

    name: str
    sense: str
    bound: float
    measured: float

    def row(self) -> dict[str, Any]:
        """Return the target as a row of a table."""
        if self.sense == "at least":
            met = self.measured >= self.bound
        else:
            met = self.measured <= self.bound
        wanted = f"{self.sense} {_shown(self.bound)}"
        return {
            "target": self.name,
            "wanted": wanted,
            "measured": self.measured,
            "met": "yes" if met else "NO",
        }


@dataclass(frozen=True)
class Report:
    """The results of one benchmark: tables, and targets where there are any."""

    tables: list[Table]
    targets: list[Target] = field(default_factory=list)

    def all_tables(self) -> list[Table]:
        """Return the tables, with the targets last."""
        if not self.targets:
            return self.tables
        return [*self.tables, Table("Targets", [target.row() for target in self.targets])]


def publish(name: str, report: Report, folder: Path) -> None:
    """Print a report, and write it to ``<name>.json`` and ``<name>.md`` in ``folder``."""
    facts = environment()
    tables = report.all_tables()
    text = "\n\n".join(f"## {table.title}\n\n{markdown(table.rows)}" for table in tables)
    print(f"# {name}\n\n{text}\n", flush=True)
    footer = markdown([{"environment": key, "value": value} for key, value in facts.items()])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(f"# {name}\n\n{text}\n\n{footer}\n", encoding="utf-8")
    content = {
        "name": name,
        "environment": facts,
        "tables": {table.title: table.rows for table in tables},
    }
    encoded = json.dumps(content, indent=2, default=float)
    (folder / f"{name}.json").write_text(encoded + "\n", encoding="utf-8")


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return rows as a Markdown table, its columns aligned."""
    header = list(rows[0])
    cells = [header, *([_shown(row[column]) for column in header] for row in rows)]
    widths = [max(len(line[j]) for line in cells) for j in range(len(header))]
    lines = []
    for line in cells:
        padded = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        lines.append(f"| {' | '.join(padded)} |")
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def environment() -> dict[str, Any]:
    """Return the environment of a result: versions, commit, processor, threads and date."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return {
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
        **_accelerator(),
        "blas": ", ".join(sorted({_blas(info) for info in threadpool_info()})),
        "commit": _commit(),
        "cpu": _cpu(),
        "cores": cores,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _version(package: str) -> str:
    """Return the version of a package, of one that is not installed that of its source."""
    try:
        return version(package)
    except PackageNotFoundError:
        return str(getattr(import_module(package), "__version__", "unknown"))


def _accelerator() -> dict[str, str]:
    """Return the accelerator and the library that drives it, if the benchmark has used one."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return {}
    return {"torch": torch.__version__, "card": torch.cuda.get_device_name()}


def _blas(info: dict[str, Any]) -> str:
    """Return name, version and threads of a numerical library."""
    return f"{info['internal_api']} {info['version'] or ''} ({info['num_threads']} threads)"


def _commit() -> str:
    """Return the commit, marked if the package has uncommitted changes.

    Where there is no repository, the variable ``MERCER_COMMIT`` names it.
    """
    try:
        changed = _git("status", "--porcelain", "--", "src")
        return _git("rev-parse", "--short=12", "HEAD") + (" and changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("MERCER_COMMIT", "unknown")


def _git(*arguments: str) -> str:
    """Return the output of git in the root of the repository."""
    command = ["git", *arguments]
    root = Path(__file__).parents[1]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def _cpu() -> str:
    """Return the model of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _shown(value: Any) -> str:
    """Return a value as a table shows it: three digits of a number, a dash for nothing."""
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
