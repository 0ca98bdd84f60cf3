"""Accuracy with 65,536 bits per row on covtype: the right end of ``ternary_memory``."""

from __future__ import annotations

from pathlib import Path

from ..report import Report
from . import ternary_memory
from .ternary_budget import Plan

PLAN = Plan((65_536,), (1,), ternary_memory.LENGTHSCALES, "accuracy")


def run(folder: Path, quick: bool = False) -> Report:
    """Return accuracy and times of every method."""
    return ternary_memory.run(folder, quick, PLAN)


def picture(report: Report, path: Path) -> None:
    """Draw accuracy against bits per row."""
    ternary_memory.picture(report, path)
