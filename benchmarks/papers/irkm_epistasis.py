"""Pairs of genes that act only jointly: figure 10 of the paper of :mod:`.irkm_table`.

A hundred loci, of which two jointly cause a disease and neither has an effect alone; the minor
allele of both has a frequency of 0.2. Half of the people are cases. The number of rows is ours,
the paper does not state it: 2,000 to learn from and 2,000 to test on. IRKM(1/2) uses all of its
rows in every step. Before the loci are known there is nothing to predict, and leave-one-out would
take the largest ridge parameter among the candidates; with one that is too large the weights
hardly move. So the parameter is fixed for all steps, and the one of two with the smaller
leave-one-out error at the end is taken.

The paper's network has six layers of 512; by default it is smaller. It stops early by the score
of a tenth of its rows, held out. A method has found the loci if they are the two with the largest
weights, or importances.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import IRKMClassifier
from mercer.datasets import make_epistasis

from ..report import Report, Table, Target
from .plot import Axis, Panel, draw

#: The heritability of the targets, and simulations of ten in which both loci must be found.
PROMISED, FOUND = 0.2, 8
#: Ridge parameters of IRKM.
ALPHAS = (0.1, 1.0)
OURS, FOREST = "IRKM(1/2)", "random forest"


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    heritabilities: tuple[float, ...]
    n_snps: int
    train_rows: int
    test_rows: int
    n_simulations: int
    n_trees: int
    layers: tuple[int, ...]


FULL = Sizes((0.05, 0.1, 0.2), 100, 2000, 2000, 10, 500, (256,) * 3)
PAPER = Sizes((0.05, 0.1, 0.2), 100, 2000, 2000, 10, 500, (512,) * 6)
QUICK = Sizes((0.1, 0.2), 12, 300, 300, 2, 30, (32,))


def run(folder: Path | None = None, quick: bool = False, full_size: bool = False) -> Report:
    """Return the area under the curve by heritability, and how often the loci are found."""
    sizes = QUICK if quick else PAPER if full_size else FULL
    rows = []
    for heritability in sizes.heritabilities:
        simulations = [simulated(sizes, heritability, seed) for seed in range(sizes.n_simulations)]
        for name, method in methods(sizes).items():
            start = time.perf_counter()
            found = [measured(method(seed), *data) for seed, data in enumerate(simulations)]
            rows.append(
                {
                    "method": name,
                    "heritability": heritability,
                    "mean AUC": float(np.mean([auc for auc, _ in found])),
                    "smallest": float(np.min([auc for auc, _ in found])),
                    "largest": float(np.max([auc for auc, _ in found])),
                    "found both": None if found[0][1] is None else sum(both for _, both in found),
                    "seconds": (time.perf_counter() - start) / len(found),
                }
            )
            print(rows[-1], file=sys.stderr, flush=True)
    title = f"2-way epistasis, {sizes.n_snps} SNPs, n={sizes.train_rows}"
    table = Table(f"{title}, {sizes.n_simulations} simulations", rows)
    return Report([table], [] if quick else promised(table))


Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def simulated(sizes: Sizes, heritability: float, seed: int) -> Data:
    """Return rows and labels to train and to test on, of one simulation, and its loci."""
    X, y, loci = make_epistasis(
        sizes.train_rows + sizes.test_rows,
        sizes.n_snps,
        heritability=heritability,
        minor_allele_frequency=0.2,
        random_state=seed,
        return_loci=True,
    )
    n, X = sizes.train_rows, X.astype(float)
    return X[:n], y[:n], X[n:], y[n:], loci


def methods(sizes: Sizes) -> dict[str, Callable[[int], Any]]:
    """Return a function of the seed for each method."""

    def network(seed: int) -> Any:
        model = MLPClassifier(
            hidden_layer_sizes=sizes.layers, batch_size=128, early_stopping=True, random_state=seed
        )
        return make_pipeline(StandardScaler(), model)

    return {
        OURS: BestRidge,
        FOREST: lambda seed: RandomForestClassifier(sizes.n_trees, n_jobs=-1, random_state=seed),
        "network": network,
    }


class BestRidge:
    """IRKM(1/2) with the ridge parameter of the smallest leave-one-out error at the end."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Learn from rows with each of the ridge parameters."""
        models = [IRKMClassifier(alpha=alpha, random_state=self._seed) for alpha in ALPHAS]
        best = min((model.fit(X, y) for model in models), key=lambda model: model.left_out_error_)
        self.decision_function = best.decision_function
        self.feature_importances_ = best.feature_importances_


def measured(
    model: Any,
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    loci: np.ndarray,
) -> tuple[float, bool | None]:
    """Return the area under the curve of test rows, and whether both loci were found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    if hasattr(model, "decision_function"):
        scores = model.decision_function(X_test)
    else:
        scores = model.predict_proba(X_test)[:, 1]
    importances = getattr(model, "feature_importances_", None)
    both = None
    if importances is not None:
        both = set(np.argsort(importances)[-len(loci) :]) == set(loci)
    return float(roc_auc_score(y_test, scores)), both


def promised(table: Table) -> list[Target]:
    """Return the targets for the largest heritability."""
    ours, forest = (
        next(
            row for row in table.rows if row["method"] == method and row["heritability"] == PROMISED
        )
        for method in (OURS, FOREST)
    )
    where = f"{table.title}, heritability {PROMISED}"
    return [
        Target(
            f"{where}: simulations in which both loci are found",
            "at least",
            FOUND,
            ours["found both"],
        ),
        Target(
            f"{where}: mean AUC (bound: random forest)",
            "at least",
            forest["mean AUC"],
            ours["mean AUC"],
        ),
    ]


def picture(report: Report, path: Path) -> None:
    """Draw the area under the curve against heritability."""
    panel = Panel("2-way epistasis, 100 SNPs", report.tables[0].rows)
    x = Axis("heritability", "heritability", "linear")
    draw(path, [panel], [x], Axis("mean AUC", "mean area under the curve", "linear"))
