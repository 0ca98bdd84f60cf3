"""Each job in fresh processes of the old and the new version, in turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from ..report import Report, Table, Target

#: Calls in one process, of which the fastest counts.
CALLS = 3
#: How much longer a job may take, for noise, and by how much its results may differ.
SLOWER, DIFFERENCE = 1.05, 1e-10
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Version:
    """A checkout of the repository: its name in the tables, and where it is."""

    name: str
    path: Path

    def run(self, job: str, result: Path) -> float:
        """Return the seconds of a job in a fresh process, and save its result."""
        sources = [str(self.path / "src"), str(ROOT)]
        settings = {**os.environ, "PYTHONPATH": os.pathsep.join(sources)}
        command = [sys.executable, "-m", "benchmarks.versions.worker", job, str(result), str(CALLS)]
        # Not in the root: the package is found by the path that was given and by no other.
        answer = subprocess.run(
            command, env=settings, cwd=result.parent, capture_output=True, text=True, check=False
        )
        if answer.returncode:
            reason = (answer.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise RuntimeError(f"{job} failed in the {self.name} version: {reason}")
        said = json.loads(answer.stdout.splitlines()[-1])
        if self.path / "src" not in Path(said["package"]).parents:
            raise RuntimeError(f"{job} measured another package than the {self.name} version.")
        return float(said["seconds"])

    def commit(self) -> str:
        """Return the commit of the checkout, marked if its package has changed since."""
        try:
            changed = self._git("status", "--porcelain", "--", "src")
            return self._git("rev-parse", "--short=12", "HEAD") + (" and changes" * bool(changed))
        except (OSError, subprocess.CalledProcessError):
            return "unknown"

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.path), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def compared(old: Version, new: Version, jobs: list[str], rounds: int) -> Report:
    """Return ratios of time, and differences of results, for every job."""
    found, targets = [], []
    for job in jobs:
        try:
            row = _compared(old, new, job, rounds)
        except RuntimeError as error:
            print(error, flush=True)
            row = dict.fromkeys(("old seconds", "new seconds", "new / old", "range"), None)
            row |= {"difference": str(error)}
        else:
            targets.append(Target(f"{job}, new / old", "at most", SLOWER, row["new / old"]))
            targets.append(Target(f"{job}, difference", "at most", DIFFERENCE, row["difference"]))
        found.append({"job": job, **row})
    commits = [{"version": part.name, "commit": part.commit()} for part in (old, new)]
    title = f"median of {rounds} interleaved rounds"
    return Report([Table("Versions", commits), Table(title, found)], targets)


def _compared(old: Version, new: Version, job: str, rounds: int) -> dict[str, Any]:
    """Return the row of a job; the version that goes first changes from round to round."""
    seconds: dict[str, list[float]] = {old.name: [], new.name: []}
    with tempfile.TemporaryDirectory() as folder:
        results = {part.name: Path(folder) / f"{part.name}.npy" for part in (old, new)}
        for number in range(rounds):
            for part in (old, new) if number % 2 == 0 else (new, old):
                seconds[part.name].append(part.run(job, results[part.name]))
        difference = relative_difference(*(np.load(path) for path in results.values()))
    pairs = zip(seconds[old.name], seconds[new.name], strict=True)
    ratios = [after / before for before, after in pairs]
    return {
        "old seconds": median(seconds[old.name]),
        "new seconds": median(seconds[new.name]),
        "new / old": median(ratios),
        "range": f"{min(ratios):.3g} to {max(ratios):.3g}",
        "difference": difference,
    }


def relative_difference(before: np.ndarray, after: np.ndarray) -> float:
    """Return the largest difference of two arrays, over the largest entry of the first.

    Infinity if the shapes differ.
    """
    if before.shape != after.shape:
        return float("inf")
    before, after = before.astype(float), after.astype(float)
    largest = float(np.abs(before).max(initial=0.0))
    difference = float(np.abs(after - before).max(initial=0.0))
    return difference / largest if difference else 0.0
