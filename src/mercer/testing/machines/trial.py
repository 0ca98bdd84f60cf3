"""What a machine is tried on, what it can do, and what it answers."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

from ..._array import is_foreign, to_numpy
from ..data import assert_close, ordinary_rows

#: Rows in which every class occurs: each block of so many rows has them all.
GROUP = 10
#: Where the rows of a stream are cut; no block has fewer rows than a group.
CUTS = (0, 20, 30, 60)
#: The name of the question for error bars, which is no method of its own.
ERROR_BARS = "predict with return_std"


@dataclass(frozen=True)
class MachineOptions:
    """Data that a machine is tried on, and the promises that it does not make.

    Attributes
    ----------
    n_features : int
        Columns of the rows.
    n_classes : int
        Classes of the labels that a classifier is tried on.
    tolerance : float
        The largest difference, in units of the largest entry, between two ways to compute the
        same fit. Sums that are added in another order differ in the last digits, and solving
        multiplies that by the condition of the system.
    single_tolerance : float
        The same between rows in float32 and in float64, where the digits are half as many.
    counted_weights : bool
        Whether a row of weight 2 is two observations to the error bars, or one that says more.
    on_device : bool
        Whether it learns from arrays of other libraries than NumPy, and answers where they are.
    exceptions : dict of str to str
        Names of checks that do not hold for this machine, each with the reason.
    """

    n_features: int = 3
    n_classes: int = 3
    tolerance: float = 1e-7
    single_tolerance: float = 1e-3
    counted_weights: bool = True
    on_device: bool = False
    exceptions: Mapping[str, str] = field(default_factory=dict)


Answers = dict[str, np.ndarray]


class MachineTrial:
    """A machine with data to try it on; every check of the contract is called with one.

    Parameters
    ----------
    machine : estimator
        The machine, with parameters that suit 60 rows; it is cloned.
    options : MachineOptions or None, default=None
        Data and exceptions; ``None`` means the defaults.
    """

    def __init__(self, machine: Any, options: MachineOptions | None = None) -> None:
        self.machine = machine
        self.options: MachineOptions = MachineOptions() if options is None else options
        self.classifies: bool = bool(is_classifier(machine))
        self.tags: Any = get_tags(machine)

    @cached_property
    def X(self) -> np.ndarray:
        """Rows whose values float32 can hold."""
        return self.rows(0)

    @cached_property
    def y(self) -> np.ndarray:
        """Their targets, or labels."""
        return self.targets(self.X)

    @cached_property
    def new_rows(self) -> np.ndarray:
        """Rows to ask about, not learnt from."""
        return self.rows(1)[:15]

    def rows(self, seed: int) -> np.ndarray:
        """Return rows that depend on a seed."""
        rows = 1.5 * ordinary_rows(CUTS[-1], self.options.n_features, seed=seed)
        return rows.astype("float32").astype("float64")

    def targets(self, X: np.ndarray) -> np.ndarray:
        """Return numbers, or labels such that every group of rows has all of them."""
        noise = np.random.default_rng(len(X)).standard_normal(len(X))
        signal = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, -1] + 0.2 * noise
        if not self.classifies:
            return signal
        groups = signal.reshape(-1, GROUP)
        ranks = groups.argsort(axis=1).argsort(axis=1).ravel()
        names = np.asarray([f"class {k}" for k in range(self.options.n_classes)])
        return names[ranks * self.options.n_classes // GROUP]

    def fresh(self) -> Any:
        """Return an unfitted copy with seed 0, if it draws anything."""
        copied = clone(self.machine)
        if "random_state" in copied.get_params(deep=False):
            copied.set_params(random_state=0)
        return copied

    def fitted(self, X: Any = None, y: Any = None, **weights: Any) -> Any:
        """Return a copy that is fitted: on given rows, or a copy of one fit on the trial's own."""
        if X is None:
            return copy.deepcopy(self._fitted)
        return self.fresh().fit(X, y, **weights)

    @cached_property
    def _fitted(self) -> Any:
        return self.fresh().fit(self.X, self.y)

    def blocks(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the rows of the trial in blocks of different sizes."""
        return [(self.X[start:stop], self.y[start:stop]) for start, stop in pairwise(CUTS)]

    def takes(self, argument: str) -> bool:
        """Return whether ``fit`` has an argument of that name."""
        return argument in inspect.signature(self.machine.fit).parameters

    def takes_streams(self) -> bool:
        """Return whether X may bring its own targets: then ``y`` has the default ``None``."""
        y = inspect.signature(self.machine.fit).parameters.get("y")
        return y is not None and y.default is None

    def can(self, method: str) -> bool:
        """Return whether the machine has a method."""
        return callable(getattr(self.machine, method, None))

    def answers(self, machine: Any, X: Any = None) -> Answers:
        """Return everything that a fitted machine says of rows, by the name of the question."""
        X = self.new_rows if X is None else X
        found = dict(_answered(machine, X))
        for name, values in found.items():
            if values.dtype.kind == "f":
                assert np.isfinite(values).all(), f"{name} is not finite"
        return found

    def assert_close(
        self, actual: Answers, expected: Answers, what: str, tolerance: float | None = None
    ) -> None:
        """Raise an error unless numbers agree within the tolerance, and labels without scores."""
        tolerance = self.options.tolerance if tolerance is None else tolerance
        assert set(actual) == set(expected), f"{what}: {set(actual) ^ set(expected)} is missing"
        scored = bool({"decision_function", "predict_proba"} & set(expected))
        for name, values in expected.items():
            if values.dtype.kind == "f":
                assert_close(actual[name], values, tolerance, f"{what}, {name}")
            elif not scored:
                assert np.array_equal(actual[name], values), f"{what}: {name} differs"


def assert_identical(actual: Answers, expected: Answers, what: str) -> None:
    """Raise an error unless the answers agree to the last bit."""
    assert set(actual) == set(expected), f"{what}: {set(actual) ^ set(expected)} is missing"
    for name, values in expected.items():
        assert np.array_equal(actual[name], values), f"{what}: {name} is not the same"


def _answered(machine: Any, X: Any) -> Iterator[tuple[str, np.ndarray]]:
    for name in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(machine, name):
            yield name, _plain(getattr(machine, name)(X))
    if "return_std" in inspect.signature(machine.predict).parameters:
        try:
            std = machine.predict(X, return_std=True)[1]
        except ValueError:
            # A compact model, or a solver that knows no error bars, says so.
            return
        yield ERROR_BARS, _plain(std)


def _plain(values: Any) -> np.ndarray:
    """Return an answer of any library as a NumPy array."""
    return to_numpy(values) if is_foreign(values) else np.asarray(values)
