"""Accuracy with 32,768 bits per row on covtype: the right end of ``ternary_memory``.

Candidates for the lengthscale are the shorter ones only, of which every method chose one in
``ternary_memory`` at its largest numbers of features.
"""

from __future__ import annotations

from pathlib import Path

from ..report import Report
from . import ternary_memory
from .ternary_budget import Plan

PLAN = Plan((32_768,), (1,), (0.35, 0.5, 0.7), "accuracy")


def run(folder: Path, quick: bool = False) -> Report:
    """Return accuracy and times of every method."""
    return ternary_memory.run(folder, quick, PLAN)


def picture(report: Report, path: Path) -> None:
    """Draw accuracy against bits per row."""
    ternary_memory.picture(report, path)
