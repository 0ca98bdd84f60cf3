"""The table of the guide page "Which map?": every rule, and what was measured on it.

Rules are those of ``mercer.features.rules``; the measurements are the errors at equal time of
``benchmarks/results/accuracy_choice.json``.

Usage: ``python docs/make_rules.py``, which rewrites the table in ``docs/guide/choosing.md``.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mercer.features.rules import (
    DEEP,
    MANY,
    NEAR,
    ONE_CONVOLUTION,
    RULES,
    SPARE,
    SPARE_COLUMNS,
    WIDE,
)

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "accuracy_choice.json"
PAGE = ROOT / "docs" / "guide" / "choosing.md"
BEGIN, END = "<!-- rules -->", "<!-- end of rules -->"


@dataclass(frozen=True)
class Evidence:
    """What was measured on a rule.

    Attributes
    ----------
    tables : tuple of str
        Titles of tables.
    chosen : str
        The column of the map that the rule names.
    rivals : tuple of str
        The columns of the others; the best one counts.
    cases : callable
        Whether the rule applies to a line.
    where : str
        Which of these lines count, if not all.
    """

    tables: tuple[str, ...]
    chosen: str
    rivals: tuple[str, ...]
    cases: Callable[[dict], bool]
    where: str = ""

    def ratios(self, content: dict) -> np.ndarray:
        """Return the errors at equal time over those of the best rival, case by case."""
        found = []
        for row in (row for title in self.tables for row in content["tables"][title]):
            own = row.get(f"{self.chosen}, equal time")
            others = [row.get(f"{rival}, equal time") for rival in self.rivals]
            others = [error for error in others if error is not None]
            if self.cases(row) and own is not None and others:
                found.append(own / min(others))
        return np.asarray(found)


def deflates(row):
    return row["features"] >= SPARE * (row["columns"] + 1)


def has_linear(row):
    return row["features"] >= SPARE_COLUMNS * (row["columns"] + 1)


def has_quadratic(row):
    return row["features"] >= SPARE_COLUMNS * math.comb(row["columns"] + 2, 2)


def monomials(row):
    return math.comb(row["columns"] + row["degree"], row["degree"])


def transforms(row):
    return row["rows"] != "sparse" and row["columns"] > WIDE and row["features"] >= MANY


def at_once(row):
    wide = WIDE if row["depth"] < DEEP else 2 * WIDE
    return row["rows"] != "sparse" and row["columns"] > wide and row["features"] >= MANY


#: What questions and columns of the tables are called.
FAMILIES = {
    "Gaussian": "Gaussian",
    "distance": "Laplace, Matérn and other kernels of the distance",
    "arc-cosine": "arc-cosine",
    "power series": "exponential, power series",
    "polynomial": "polynomial",
    "other": "others",
}
NAMES = {
    "Fourier": "orthogonal Fourier features",
    "Fourier, hd3": "hd3",
    "Gegenbauer": "Gegenbauer features",
    "series": "`DotProductSketch`",
}
#: What was measured, by question and number of the rule.
EVIDENCE = {
    ("Gaussian", 0): Evidence(
        ("Gaussian",), "Gegenbauer", ("Fourier",), lambda row: row["rows"] == "sphere"
    ),
    ("Gaussian", 1): Evidence(
        ("Gaussian",),
        "Gegenbauer",
        ("Fourier",),
        lambda row: row["rows"] != "sphere" and row["reach"] <= NEAR and has_linear(row),
    ),
    ("Gaussian", 2): Evidence(
        ("Gaussian, wide",), "Fourier", ("Gegenbauer",), lambda row: row["rows"] == "sparse"
    ),
    ("Gaussian", 3): Evidence(
        ("Gaussian",),
        "Fourier",
        ("Gegenbauer",),
        lambda row: row["rows"] != "sphere" and not (row["reach"] <= NEAR and has_linear(row)),
    ),
    ("arc-cosine", 0): Evidence(
        ("ArcCosine",), "Gegenbauer", ("deflated", "antithetic"), has_quadratic
    ),
    ("arc-cosine", 1): Evidence(
        ("ArcCosine",),
        "deflated",
        ("Gegenbauer",),
        lambda row: row["order"] == 1 and not has_quadratic(row),
    ),
    ("power series", 0): Evidence(("Exponential",), "Gegenbauer", ("series",), lambda row: True),
    ("polynomial", 0): Evidence(
        ("Polynomial",),
        "Nystrom",
        ("series", "tensor", "tree"),
        lambda row: row["columns"] > 3 and monomials(row) <= row["features"],
    ),
    ("polynomial", 1): Evidence(
        ("Polynomial",),
        "series",
        ("Gegenbauer", "tensor"),
        lambda row: row["rows"] == "uneven" and monomials(row) > row["features"],
        "on uneven rows",
    ),
    ("distance", 0): Evidence(
        ("Laplace", "Matern"),
        "Gegenbauer",
        ("Fourier",),
        lambda row: row["rows"] == "sphere",
    ),
    ("RandomFourier", 0): Evidence(
        ("Gaussian, wide", "Fourier, wide"), "Fourier, hd3", ("Fourier",), transforms
    ),
    ("RandomFourier", 1): Evidence(
        ("Gaussian", "Gaussian, wide", "Fourier, wide", "Laplace", "Matern"),
        "Fourier",
        ("Fourier, hd3",),
        lambda row: not transforms(row),
    ),
    ("NTKFeatures", 0): Evidence(("NTK, wide", "NTK, wider"), "one-shot", ("zonal",), at_once),
    ("NTKFeatures", 1): Evidence(
        ("NTK", "NTK, wide", "NTK, wider"),
        "zonal",
        ("one-shot", "random", "sketch"),
        lambda row: not at_once(row),
    ),
    ("ArcCosineFeatures", 0): Evidence(("ArcCosine",), "deflated", ("antithetic",), deflates),
    ("PolynomialSketch", 0): Evidence(
        ("Polynomial",), "tensor", ("tree",), lambda row: row["degree"] <= ONE_CONVOLUTION
    ),
    ("PolynomialSketch", 1): Evidence(
        ("Polynomial",), "tree", ("tensor",), lambda row: row["degree"] > ONE_CONVOLUTION
    ),
}


def table(content: dict) -> str:
    """Return the rules as a Markdown table."""
    lines = ["| kernel or map | when | choice | why | measured |", "|---|---|---|---|---|"]
    for question, rules in RULES.items():
        for number, rule in enumerate(rules):
            evidence = EVIDENCE.get((question, number))
            measured = "" if evidence is None else in_words(evidence, content)
            name = FAMILIES.get(question, f"`{question}`")
            cells = (name, rule.when, f"`{rule.choice}`", rule.why, measured)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def in_words(evidence: Evidence, content: dict) -> str:
    """Return what was measured in one phrase."""
    ratios = evidence.ratios(content)
    better = int(np.sum(ratios < 1))
    rivals = " or ".join(NAMES.get(rival, rival) for rival in evidence.rivals)
    said = f"{np.median(ratios):.2g} times that of {rivals}"
    return f"{said}, smaller in {better} of {len(ratios)} cases {evidence.where}".rstrip()


def main() -> None:
    """Rewrite the table in the page."""
    content = json.loads(RESULTS.read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n\n{table(content)}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
