"""Sparse polynomials and the methods that learn them, for all figures of the IRKM paper.

All kernel machines have a Laplace kernel of lengthscale √d, and leave-one-out chooses their ridge
parameters. The noise is 0.1. A step is an update of the weights, T of them at most. IRKM and RFM
draw n fresh rows in every step, which makes n (T + 1) in all; kernel ridge and the network have
2n rows at once, as in the paper. That is not the same number of rows, so IRKM is also shown on 2n
rows that all of its steps reuse.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from mercer import IRKMRegressor, Laplace, RFMRegressor
from mercer.datasets import HierarchicalTask

NOISE = 0.1
TEST_ROWS = 2000
#: Seeds of the rows to test on begin here.
TEST_SEED = 10**6


@dataclass(frozen=True)
class Network:
    """Widths of the layers and step size of a network."""

    layers: tuple[int, ...]
    rate: float


#: A few networks for the small sizes, and some of the corners of the paper's grid.
NETWORKS = (Network((128, 128), 1e-3), Network((128,) * 4, 1e-3))
PAPER_NETWORKS = tuple(
    Network((width,) * depth, rate)
    for width in (256, 512)
    for depth in (2, 4, 6)
    for rate in (1e-3, 1e-4)
)


@dataclass(frozen=True)
class Setting:
    """A panel: the distribution of rows and targets, n as powers of d, and the number of steps."""

    name: str
    inputs: str
    polynomial: str
    d: int
    exponents: tuple[float, ...]
    steps: int
    rotated_steps: int = 20

    @property
    def title(self) -> str:
        """Title of the panel."""
        law = self.inputs.replace("_", " ")
        return f"{self.name}: {law}, d={self.d}, at most {self.steps} steps"

    def task(self, seed: int) -> HierarchicalTask:
        """Return the task of a seed; each seed has its own rotation."""
        return HierarchicalTask(
            self.d, inputs=self.inputs, polynomial=self.polynomial, noise=NOISE, random_state=seed
        )

    def rows(self) -> Iterator[tuple[float, int]]:
        """Yield exponents s and numbers of rows d^s."""
        for exponent in self.exponents:
            yield exponent, round(self.d**exponent)


def machine(setting: Setting, n: int, seed: int, mixing: float, matrix: bool = False) -> Any:
    """Return IRKM or, with ``matrix``, RFM that draws ``n`` fresh rows in every step."""
    kind = RFMRegressor if matrix else IRKMRegressor
    return kind(
        Laplace(setting.d**0.5),
        mixing=mixing,
        n_iterations=setting.rotated_steps if matrix else setting.steps,
        fresh=True,
        batch_size=n,
        patience=None,
        standardize=False,
        random_state=seed,
    )


def fresh_error(setting: Setting, n: int, seed: int, mixing: float, matrix: bool = False) -> float:
    """Return the test error of IRKM or RFM on fresh rows."""
    task = setting.task(seed)
    return test_error(machine(setting, n, seed, mixing, matrix).fit(task), task, seed)


def reused_error(setting: Setting, n: int, seed: int, steps: int) -> float:
    """Return the test error of IRKM(1/2) on 2n rows; with no steps it is kernel ridge."""
    task = setting.task(seed)
    model = machine(setting, n, seed, 0.5).set_params(fresh=False, n_iterations=steps)
    return test_error(model.fit(*task.sample(2 * n, seed)), task, seed)


def network_error(setting: Setting, n: int, seed: int, networks: tuple[Network, ...]) -> float:
    """Return the smallest test error of some networks on 2n rows, chosen as in the paper."""
    task = setting.task(seed)
    X, y = task.sample(2 * n, seed)
    errors = []
    for network in networks:
        model = MLPRegressor(
            hidden_layer_sizes=network.layers,
            learning_rate_init=network.rate,
            batch_size=min(128, 2 * n),
            max_iter=200,
            random_state=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            errors.append(test_error(model.fit(X, y), task, seed))
    return min(errors)


def test_error(model: Any, task: HierarchicalTask, seed: int) -> float:
    """Return the mean squared error on test rows."""
    X, y = task.sample(TEST_ROWS, TEST_SEED + seed)
    return float(np.mean((model.predict(X) - y) ** 2))


def summary(key: dict[str, Any], errors: list[float], start: float) -> dict[str, Any]:
    """Return a row: errors over seeds, and seconds since ``start`` for each of them."""
    return {
        **key,
        "mean MSE": float(np.mean(errors)),
        "median MSE": float(np.median(errors)),
        "smallest": float(np.min(errors)),
        "largest": float(np.max(errors)),
        "seconds": (time.perf_counter() - start) / len(errors),
    }
