"""A comparison on disk: the page, its figures as files, and the numbers as tables."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..._optional import require
from .figures import figures_of
from .page import page
from .records import COLUMNS, Comparison

#: Dots an inch of PNG files.
RESOLUTION = 160
#: What matplotlib draws figures for files with.
STYLE: dict[str, Any] = {
    "figure.facecolor": "white",
    "axes.grid": True,
    "grid.color": "0.9",
    "axes.axisbelow": True,
    "svg.hashsalt": "mercer",
}


def write_report(comparison: Comparison, folder: Path, title: str) -> Path:
    """Write the page, figures and tables of a comparison, and return the path of the page.

    Parameters
    ----------
    comparison : Comparison
        What was measured.
    folder : Path
        Is made if it does not exist; files of an earlier report in it are replaced.
    title : str
        The heading of the page.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> found = mercer.compare(X, X[:, 0], maps=["linear"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(found, Path(folder), "A comparison")
    ...     sorted(file.name for file in path.parent.iterdir())
    ['figures', 'report.html', 'residuals.csv', 'spectra.csv', 'trials.csv', 'weights.csv']
    """
    require("matplotlib", "plot", "The report of a comparison")
    pictures = folder / "figures"
    pictures.mkdir(parents=True, exist_ok=True)
    figures = figures_of(comparison)
    for figure in figures:

        def save(drawn: Any, name: str = figure.name) -> None:
            drawn.savefig(pictures / f"{name}.png", dpi=RESOLUTION)
            drawn.savefig(pictures / f"{name}.svg", metadata={"Date": None})

        figure.render(STYLE, save, legend=True)
    _write_tables(comparison, folder)
    path = folder / "report.html"
    path.write_text(page(comparison, figures, title), encoding="utf-8")
    return path


def _write_tables(comparison: Comparison, folder: Path) -> None:
    """Write the numbers of all figures as CSV."""
    trials = ([row[name] for name in COLUMNS] for row in comparison.rows())
    _table(folder / "trials.csv", list(COLUMNS), trials)
    spectra = (
        [spectrum.method, spectrum.kernel, place, value]
        for spectrum in comparison.spectra
        for place, value in enumerate(spectrum.eigenvalues.tolist(), 1)
    )
    _table(folder / "spectra.csv", ["method", "kernel", "number", "eigenvalue_over_rows"], spectra)
    best = [comparison.best_of(method) for method in comparison.methods]
    known = [trial for trial in best if trial is not None]
    columns = [comparison.truth.tolist(), *(trial.predicted.tolist() for trial in known)]
    heading = ["true", *(trial.label for trial in known)]
    _table(folder / "residuals.csv", heading, zip(*columns, strict=True))
    weights = (
        [own.method, name, value]
        for own in comparison.weights
        for name, value in zip(own.names, own.values.tolist(), strict=True)
    )
    _table(folder / "weights.csv", ["method", "column", "weight"], weights)


def _table(path: Path, heading: list[str], lines: Iterable[Iterable[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heading)
        writer.writerows(lines)
