"""How much memory and time a fit will take, before it runs."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._array import floating_name, is_foreign, is_sparse, to_numpy
from .._frame import is_frame, refuse_query
from .._sklearn import check_rows, checked
from ..engine.config import matrix_memory
from ..engine.sample import ENTRIES
from ..engine.streams import is_stream, rows_between
from ..features.choosing import choose_map
from ..features.growth import is_automatic
from ..kernels import Gaussian, Kernel
from ..machines import FeatureRidge, FeatureRidgeClassifier, KernelRegressor
from ..machines.auto.base import KernelMachine
from ..machines.auto.transformer import new_encoder
from ..machines.base import RidgeMachine
from ..machines.calibration import SAMPLE_ROWS
from ..machines.exact_machine import DIRECT_ROWS, ExactKernelMachine
from ..solvers.cost import FOLDS, exact_memory, most_components, solve_memory
from ..solvers.steps import (
    CANDIDATES,
    Shape,
    Step,
    direct_steps,
    feature_steps,
    iterative_steps,
)
from .plan_record import Plan, PlannedStep, in_bytes
from .planned_features import is_map, kernel_rate, map_cost
from .planned_search import front_door_steps, landmark_steps
from .rates import machine_rates, seconds_of

#: Rows that are looked at.
LOOKED_AT = 2048
ASSUMED_ITERATIONS = "iterations of conjugate gradients as they usually are"
ASSUMED_SEARCH = "as many trials of kernels as there usually are"


class Planned(NamedTuple):
    """What a machine will do: in words, its steps, its rates beside those of the machine."""

    what: str
    steps: list[Step]
    rates: dict[str, float]
    ways_out: tuple[str, ...] = ()
    assumed: str = ""


def plan(X: Any, model: Any = None, n_components: int | None = None, *, n_targets: int = 1) -> Plan:
    """Return the memory and time that a fit will take on this machine, before it runs.

    Nothing is fitted. The speed of this machine is measured once, in less than a second; a feature
    map is drawn, with fewer components if it is large, and tried on a few rows.

    Parameters
    ----------
    X : array, data frame, TableStream of a table on disk, or pair of int
        The rows, or how many there are and how many columns: ``(1_000_000, 20)``.
    model : machine, feature map, Kernel, str or None, default=None
        What is fitted. A feature map stands for :class:`FeatureRidge` on it; a kernel, the name of
        one, or ``None`` for :class:`KernelRegressor`.
    n_components : int, default=None
        Features to have; ``None``: as the model says.
    n_targets : int, default=1
        Columns of the targets; for a classifier the number of classes (1 if there are two).

    Returns
    -------
    plan : Plan
        Memory, time, steps, whether it fits the budget, and what would.

    See Also
    --------
    mercer.config : Sets the budget.

    Examples
    --------
    >>> import mercer
    >>> from mercer import Gaussian, RandomFourier
    >>> found = mercer.plan((1_000_000, 20), RandomFourier(Gaussian(), n_components=4000))
    >>> round(found.memory / 1e6), found.seconds > 1
    (483, True)
    >>> with mercer.config(memory="1GB"):
    ...     found = mercer.plan((30_000, 8), mercer.KernelRidge(Gaussian(), solver="direct"))
    >>> found.fits, found.ways_out[0]
    (False, "solver='iterative' (1.54 GB)")
    """
    if isinstance(n_targets, bool) or not isinstance(n_targets, Integral) or n_targets < 1:
        raise ValueError(f"n_targets must be an integer of at least 1, got {n_targets!r}.")
    machine = _machine(model, n_components)
    n_rows, n_columns, rows = _looked_at(X, machine)
    shape = Shape(n_rows, int(rows.shape[1]), int(n_targets), rows.dtype.itemsize)
    planned = planned_by(machine, shape, rows)
    rates = {**machine_rates(), **planned.rates}
    steps = tuple(
        PlannedStep(step.name, seconds_of(step, rates), int(step.memory), int(step.spare))
        for step in planned.steps
    )
    budget = matrix_memory()
    width = shape.n_columns
    found = Plan(planned.what, n_rows, n_columns, steps, budget, (), planned.assumed, width)
    if found.fits:
        return found
    ways = (*planned.ways_out, f"mercer.config(memory={in_bytes(1.1 * found.memory)!r})")
    return replace(found, ways_out=ways)


def refuse_what_does_not_fit(found: Plan) -> Plan:
    """Return a plan that fits, or raise a ``MemoryError`` that says the numbers and what would.

    Examples
    --------
    >>> step = PlannedStep("solve", 2.5, 8 * 10**9)
    >>> refuse_what_does_not_fit(Plan("KernelRidge()", 9, 8, (step,), 10**9, ("more memory",)))
    Traceback (most recent call last):
    ...
    MemoryError: KernelRidge() on 9 rows needs 8 GB, but may take 1 GB. What would do: more memory.
    """
    if found.fits:
        return found
    raise MemoryError(
        f"{found.what} on {found.n_rows:,} rows needs {in_bytes(found.memory)}, but may take "
        f"{in_bytes(found.budget)}. What would do: {'; or '.join(found.ways_out)}."
    )


def _machine(model: Any, n_components: int | None) -> Any:
    """Return the machine that a model stands for, with its number of components."""
    if n_components is not None and (
        isinstance(n_components, bool) or not isinstance(n_components, Integral) or n_components < 1
    ):
        raise ValueError(f"n_components must be a positive integer or None, got {n_components!r}.")
    if model is None or isinstance(model, (Kernel, str)):
        return checked(KernelRegressor(model, n_components=n_components or "auto"))
    if is_map(model):
        model = FeatureRidge(model)
    if not isinstance(model, (RidgeMachine, ExactKernelMachine, KernelMachine)):
        raise TypeError(
            "model must be a ridge or kernel machine, a feature map, a kernel or its name, got "
            f"{model!r}."
        )
    if n_components is None:
        return checked(clone(model))
    name = "features__n_components" if isinstance(model, RidgeMachine) else "n_components"
    if isinstance(model, ExactKernelMachine) or (name not in model.get_params()):
        raise ValueError(f"n_components is nothing to {model!r}; leave it out.")
    return checked(clone(model).set_params(**{name: int(n_components)}))


def _looked_at(X: Any, machine: Any) -> tuple[int, int, np.ndarray]:
    """Return how many rows and columns there are, and some rows as numbers."""
    if isinstance(X, tuple) and len(X) == 2 and all(isinstance(n, Integral) for n in X):
        n_rows, width = (int(n) for n in X)
        if n_rows < 1 or width < 1:
            raise ValueError(f"X must have at least one row and one column, got the shape {X!r}.")
        drawn = np.random.default_rng(0).standard_normal((min(n_rows, LOOKED_AT), width))
        return n_rows, width, drawn
    refuse_query(X, "X")
    first = X
    if is_stream(X):
        known = getattr(X, "n_rows", None)
        if known is None:
            raise ValueError(
                "A stream does not know how many rows it has; give their number and that of the "
                "columns, as (1_000_000, 20)."
            )
        n_rows = int(known)
        blocks = X.tables() if hasattr(X, "tables") else X
        first = next(iter(blocks))[0]
    else:
        X = X if hasattr(X, "shape") else np.asarray(X)
        n_rows = int(X.shape[0])
        first = X
    some = rows_between(first, 0, min(int(first.shape[0]), LOOKED_AT))
    if isinstance(machine, KernelMachine):
        encoder = new_encoder(machine.encoder)
        encoded = encoder.fit(some).transform(some)
        dense = encoded.toarray() if is_sparse(encoded) else encoded
        return n_rows, int(some.shape[1]), np.asarray(dense, dtype=float)
    if is_frame(some) or is_sparse(some) or is_foreign(some):
        some = check_rows(some)
        some = some.toarray() if is_sparse(some) else to_numpy(some)
    return n_rows, int(some.shape[1]), np.asarray(some, dtype=floating_name(some))


@singledispatch
def planned_by(machine: Any, shape: Shape, rows: np.ndarray) -> Planned:
    """Return what a machine will do.

    Parameters
    ----------
    machine : machine
        Not fitted.
    shape : Shape
        What it learns from.
    rows : array of shape (n_rows, n_columns)
        Some of its rows.
    """
    raise TypeError(f"There is no plan for a {type(machine).__name__}.")


@planned_by.register
def _(machine: RidgeMachine, shape: Shape, rows: np.ndarray) -> Planned:
    if is_automatic(machine.features):
        raise ValueError(
            "n_components='auto' is found while the machine learns, within the memory budget; give "
            "n_components= to plan for a number."
        )
    folds = int(machine.selection) if isinstance(machine.selection, Integral) else 0
    cost = map_cost(machine.features, rows, shape)
    own = Shape(shape.n_rows, shape.n_columns, shape.n_targets, cost.features_itemsize)
    steps = feature_steps(own, cost.n_components, folds, _candidates(machine.alpha))
    if isinstance(machine, FeatureRidgeClassifier):
        # Held while more of it is added.
        sample = 2 * own.itemsize * min(SAMPLE_ROWS * cost.n_components, ENTRIES)
        steps = [replace(step, memory=step.memory + sample) for step in steps]
    steps = [cost.draw, *steps]
    if machine.selection == "loo":
        passes = {"rows": shape.n_rows, "sums64": 2.0 * shape.n_rows * cost.n_components**2}
        again = Step("left-out errors", solve_memory(cost.n_components, 0), passes)
        steps.append(again)
    rates = {"rows": 1 / cost.row_seconds}
    if machine.features is not None:
        kernel = getattr(machine.features, "kernel", None)
        kernel = kernel if isinstance(kernel, Kernel) else Gaussian()
        if "kernel" in cost.draw.work:
            rates["kernel"] = kernel_rate(kernel, rows, single=True)
    budget = matrix_memory()
    most = most_components(budget, folds)
    ways = (f"n_components={most:,}",) if 0 < most < cost.n_components else ()
    return Planned(_named(machine), steps, rates, ways)


@planned_by.register
def _(machine: ExactKernelMachine, shape: Shape, rows: np.ndarray) -> Planned:
    kernel = machine.kernel if machine.kernel is not None else Gaussian("median")
    asked = _candidates(machine.alpha)
    n, centres, room = shape.n_rows, machine.n_centres, matrix_memory()
    many = machine.solver == "auto" and n > DIRECT_ROWS and not machine.per_target
    if centres is not None and centres < n:
        memory = 8 * 6 * centres**2 + min(4 * n * centres, room)
        steps = landmark_steps(shape, centres, memory)
        single, assumed = True, ASSUMED_ITERATIONS
    elif machine.solver == "iterative" or many:
        steps, single, assumed = iterative_steps(shape, room, asked), True, ASSUMED_ITERATIONS
    else:
        steps, single, assumed = direct_steps(shape, asked), False, ""
    ways: tuple[str, ...] = ()
    if not single:
        others = iterative_steps(shape, room, asked)
        if max(step.memory - step.spare for step in others) <= room:
            most = max(step.memory for step in others)
            ways = (f"solver='iterative' ({in_bytes(most)})",)
        ways += (f"FeatureRidge on {min(most_components(room, 0), n // 2):,} features",)
    rates = {"kernel": kernel_rate(kernel, rows, single)}
    return Planned(_named(machine), steps, rates, ways, assumed)


@planned_by.register
def _(machine: KernelMachine, shape: Shape, rows: np.ndarray) -> Planned:
    rates: dict[str, float] = {}

    def of_features(kernel: Any, size: int) -> list[Step]:
        known = kernel if isinstance(kernel, Kernel) else Gaussian("median")
        cost = map_cost(choose_map(known, rows, size, 0).features, rows, shape)
        rates["rows"] = 1 / cost.row_seconds
        return [
            cost.draw,
            *feature_steps(shape, cost.n_components, FOLDS, _candidates(machine.alpha)),
        ]

    how, steps = front_door_steps(machine, shape, of_features)
    kernel = machine.kernel if isinstance(machine.kernel, Kernel) else Gaussian("median")
    rates["kernel"] = kernel_rate(kernel, rows, single=True)
    rates["kernel32"] = rates["kernel"]
    budget = matrix_memory()
    ways: tuple[str, ...] = (f"n_components={most_components(budget):,}",)
    if exact_memory(shape.n_rows) > budget and machine.approximation == "exact":
        ways = ("approximation='auto'", *ways)
    what = f"{type(machine).__name__}: {how}"
    assumed = ASSUMED_SEARCH if any("search" in step.name for step in steps) else ""
    return Planned(what, steps, rates, ways, assumed)


def _named(machine: Any) -> str:
    """Return how a machine was made, in one line."""
    return " ".join(repr(machine).split())


def _candidates(alpha: Any) -> int:
    """Return how many ridge parameters are tried."""
    return CANDIDATES if alpha is None else int(np.size(alpha))
