"""What the front door takes: columns, the search for a kernel, and the machine that it leads to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..engine.config import matrix_memory
from ..machines.auto.learnt import ROW_COPIES, SAMPLE_ROWS, is_searchable
from ..machines.auto.pilot import PILOT_COMPONENTS, PILOT_ROWS, has_feature_map
from ..machines.auto.plan import choose_centres, choose_method
from ..machines.auto.search import COLUMNS, MOST_HELD_OUT, SHARE, STAGES, TARGETS
from ..machines.auto.trial import DIRECT_ROWS, FINE, GRADIENT_ROWS, RANK, ROWS_EACH
from ..machines.exact_machine import DIRECT_ROWS as MOST_DIRECT
from ..solvers.cost import EXACT_ROWS, FOLDS
from ..solvers.steps import Shape, Step, direct_steps, feature_steps, iterative_steps

#: Trials of the stages of a search, and iterations of one that iterates, as they usually are.
TRIALS, ITERATIONS = (170, 70, 25), 20
#: Fits of a pilot that compares kernels, as there usually are.
PILOT_FITS = 25
#: Seconds for an entry of a table to become a number, in all passes.
ENCODING = 1e-7
#: Candidates for alpha that a search leaves.
LEFT = 2

#: Called as ``steps(kernel, n_components)``: those of a ridge machine on features.
OfFeatures = Callable[[Any, int], list[Step]]


def front_door_steps(machine: Any, shape: Shape, of_features: OfFeatures) -> tuple[str, list[Step]]:
    """Return what a front door will do, in words, and its steps.

    Parameters
    ----------
    machine : KernelRegressor or KernelClassifier
        Whose parameters hold.
    shape : Shape
        The encoded rows.
    of_features : callable
        ``of_features(kernel, n_components)`` gives the steps of a ridge machine on features.

    Examples
    --------
    >>> from mercer import KernelRegressor
    >>> how, steps = front_door_steps(KernelRegressor(), Shape(20_000, 8), lambda kernel, size: [])
    >>> how
    'search for a kernel, then the exact kernel by conjugate gradients'
    """
    n, width = shape.n_rows, shape.n_columns
    columns = Step("columns", 8 * min(n, 2**16) * width, seconds=ENCODING * n * width)
    linear = Step("linear model", 0, {"sums64": float(n) * width * width})
    asked = machine.kernel is not None or machine.n_components != "auto"
    free = machine.encoder is None and not asked and machine.approximation == "auto"
    if free and is_searchable(n, width):
        search = search_steps(shape, machine.effort)
        found = choose_centres(n)
        rows = 8 * n * width * (ROW_COPIES - 1)
        if found.name == "exact" and n <= EXACT_ROWS:
            how, solve = "the exact kernel", direct_steps(shape, LEFT)
        elif found.name == "exact":
            how = "the exact kernel by conjugate gradients"
            solve = iterative_steps(shape, matrix_memory(), LEFT)
        else:
            how = f"{found.n_components:,} landmarks"
            solve = landmark_steps(shape, int(found.n_components or 0), found.memory)
        solve = [_with_memory(step, rows) for step in solve]
        return f"search for a kernel, then {how}", [columns, linear, *search, *solve]
    method = choose_method(
        n, machine.n_components, machine.approximation, has_feature_map(machine.kernel)
    )
    pilot = pilot_step(shape) if not _is_given(machine.kernel) else None
    first = [columns, linear, *([pilot] if pilot else [])]
    if method.n_components is None:
        solve = direct_steps(shape) if n <= MOST_DIRECT else iterative_steps(shape, matrix_memory())
        return "the exact kernel", [*first, *solve]
    size = method.n_components
    return f"{size:,} features", [*first, *of_features(machine.kernel, size)]


def _is_given(kernel: Any) -> bool:
    """Return whether a kernel was given whole, and is not to be compared with others."""
    return kernel is not None and not isinstance(kernel, str)


def _with_memory(step: Step, more: int) -> Step:
    return replace(step, memory=step.memory + more)


def search_steps(shape: Shape, effort: str) -> list[Step]:
    """Return the stages of a search for kernel and metric, as they usually are.

    Examples
    --------
    >>> [step.name for step in search_steps(Shape(20_000, 8), "quick")]
    ['search on 894 rows', 'search on 2,236 rows']
    """
    n, width, targets = shape.n_rows, shape.n_columns, min(shape.n_targets, TARGETS)
    sample = min(n, SAMPLE_ROWS[effort])
    held = int(min(SHARE * sample, MOST_HELD_OUT))
    cost = (1 + width / COLUMNS + targets / TARGETS) ** 0.5
    sizes = sorted({min(int(size / cost), sample - held) for size in STAGES[effort]})
    found = []
    for size, count in zip(sizes, TRIALS, strict=False):
        rows = size + held
        gradient = 4.0 * GRADIENT_ROWS * size * (width + 4) / 2
        if size <= DIRECT_ROWS:
            work = {
                "kernel32": rows * size,
                "cholesky": len(FINE) * size**3 / 3,
                "sums64": gradient,
            }
            memory = 8 * size * size * 2 + 4 * rows * size * 2
        else:
            rank = min(RANK, max(50, rows // ROWS_EACH))
            passes = ITERATIONS * len(FINE) * (targets + 1)
            work = {
                "kernel32": rows * rows / 2 + rows * rank,
                "bytes": passes * (2.0 * rows * rows + 16.0 * rows * rank),
                "sums64": gradient + 3.0 * rows * rank * rank,
            }
            memory = 2 * rows * rows + 8 * rows * (rank + 8 * len(FINE) * (targets + 1))
        memory += 3 * 8 * sample * width
        total = {kind: count * amount for kind, amount in work.items()}
        found.append(Step(f"search on {size:,} rows", memory, total))
    return found


def pilot_step(shape: Shape) -> Step:
    """Return the comparison of kernels on a sample, by cross-validated features.

    Examples
    --------
    >>> pilot_step(Shape(20_000, 8)).name
    'comparison of kernels'
    """
    sample = Shape(min(shape.n_rows, PILOT_ROWS), shape.n_columns, shape.n_targets)
    size = min(PILOT_COMPONENTS, max(32, sample.n_rows // 4))
    steps = feature_steps(sample, size, FOLDS)
    work: dict[str, float] = {}
    for step in steps:
        for kind, amount in step.work.items():
            if kind != "rows":
                work[kind] = work.get(kind, 0.0) + PILOT_FITS * amount
    work["sums64"] += PILOT_FITS * 2.0 * sample.n_rows * sample.n_columns * size
    return Step("comparison of kernels", max(step.memory for step in steps), work)


def landmark_steps(shape: Shape, size: int, memory: int) -> list[Step]:
    """Return the steps of kernel functions of some rows, by conjugate gradients.

    Examples
    --------
    >>> landmark_steps(Shape(200_000, 8), 1000, 10**8)[0].name
    'conjugate gradients with landmarks'
    """
    n = float(shape.n_rows)
    work = {
        "kernel": n * size,
        "bytes": 2 * 4.0 * n * size * 30 * (LEFT + 1) * (shape.n_targets + 1) / 2,
        "cholesky": (LEFT + 2) * float(size) ** 3,
    }
    return [Step("conjugate gradients with landmarks", memory, work)]
