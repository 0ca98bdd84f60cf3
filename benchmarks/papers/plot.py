"""Pictures of the results: one line for each method, with the same colour in every panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

MARKERS = "osD^vPX*<>"
DPI = 120
#: Ratio of the ends of a logarithmic axis below which it is short.
SHORT = 300


@dataclass(frozen=True)
class Panel:
    """Rows of one part of a picture, and its title."""

    title: str
    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class Axis:
    """A column of the rows, the label of its axis, and its scale."""

    column: str
    label: str
    scale: str = "log"


def draw(
    path: Path, panels: Sequence[Panel], xs: Sequence[Axis], y: Axis, one_scale: bool = True
) -> None:
    """Write a picture: ``y`` of the rows against the axis of each panel, by method.

    With ``one_scale`` the panels have the same scale of ``y``.
    """
    figure = Figure(figsize=(4.6 * len(panels), 4.9), layout="constrained")
    every = figure.subplots(1, len(panels), sharey=one_scale, squeeze=False)[0]
    methods = list(dict.fromkeys(row["method"] for panel in panels for row in panel.rows))
    for axes, panel, x in zip(every, panels, xs, strict=True):
        for number, method in enumerate(methods):
            rows = [row for row in panel.rows if row["method"] == method]
            _line(axes, rows, (x.column, y.column), number, method)
        axes.set(title=panel.title, xlabel=x.label, xscale=x.scale, yscale=y.scale)
        axes.grid(alpha=0.3, which="both")
        _ticks(axes.xaxis)
        _ticks(axes.yaxis)
    every[0].set_ylabel(y.label)
    shown: dict[str, Any] = {}
    for axes in every:
        lines, labels = axes.get_legend_handles_labels()
        shown = dict(zip(labels, lines, strict=True)) | shown
    columns = min(len(shown), 2 * len(panels), 4)
    figure.legend(
        shown.values(), shown.keys(), loc="outside lower center", ncols=columns, frameon=False
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)


def _ticks(axis: XAxis | YAxis) -> None:
    """Give a short logarithmic axis plain numbers, as powers of ten would be too few."""
    low, high = sorted(axis.get_view_interval())
    if axis.get_scale() == "log" and high < SHORT * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
        axis.set_minor_formatter(NullFormatter())


def _line(
    axes: Axes, rows: list[dict[str, Any]], columns: tuple[str, str], number: int, label: str
) -> None:
    """Draw one method: points joined in the order of x; no line where there is but one."""
    x, y = (np.asarray([row[column] for row in rows], dtype=float) for column in columns)
    order = np.argsort(x)
    colours = matplotlib.colormaps["tab10"].colors
    style = {"color": colours[number % len(colours)], "marker": MARKERS[number % len(MARKERS)]}
    axes.plot(x[order], y[order], markersize=5, linewidth=1.3, label=label, **style)
