"""What feature-learning machines choose by themselves: kernel, ridge parameters, solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..._array import free_device_memory
from ..._settings import settings
from ..._sklearn import checked
from ...engine.config import matrix_memory
from ...kernels import Gaussian, Kernel, Laplace
from ...kernels.derivatives import has_slopes
from ...solvers.cost import EXACT_ROWS, STEP_EXACT_COPIES, STEP_SUMS_COPIES
from ..estimator import checked_alpha
from ..report import AS_ASKED, CRITERIA
from .data import Scales

#: Rows up to which every iteration may take all of them as centres.
ITERATIVE_ROWS = 20_000
#: The same on an accelerator, and rows up to which it decomposes their kernel matrix.
DEVICE_ITERATIVE_ROWS, DEVICE_EXACT_ROWS = 100_000, 10_000
#: Rows from which on some can be held out.
ENOUGH_ROWS = 50
#: Candidates for the ridge parameter, for kernels that are 1 at distance 0. A larger one would
#: smooth away the traces of columns that only interact, as long as nothing else is learnt.
ALPHAS = np.logspace(-6, 0, 7)


class Choices(NamedTuple):
    """What was chosen for the steps of a machine, and why."""

    kernel: Kernel
    kernel_reason: str
    solver: str
    solver_reason: str
    alpha_reason: str


def choose_kernel(
    kernel: Kernel | None, scales: Scales, matrix: bool = False
) -> tuple[Kernel, str]:
    """Return the kernel of reweighted rows, and why it is that one.

    Parameters
    ----------
    kernel : Kernel or None
        What was asked for.
    scales : Scales
        Of the rows.
    matrix : bool, default=False
        Whether a matrix is learnt, and not a weight for each column.
    """
    if kernel is None:
        total = float(np.sqrt(np.sum(scales.deviation**2)))
        return Laplace(total if total > 0 else 1.0), "its lengthscale is the typical norm of a row"
    kernel = checked(kernel)
    if kernel.needs_data():
        raise ValueError(
            f"kernel={kernel!r} takes its lengthscale from data; give a number (rows are "
            "standardised, so that √d is a typical one), or None for that."
        )
    if not has_slopes(kernel):
        raise ValueError(
            f"kernel={kernel!r} has no known derivatives; use Laplace, ProductLaplace, "
            "PoweredExponential, Gaussian, Matern, Exponential, Polynomial or NTK."
        )
    if not has_slopes(kernel, matrix):
        raise ValueError(
            f"kernel={kernel!r} depends on the choice of axes, so that no matrix can be learnt, "
            "only a weight for each column; use IRKMRegressor or IRKMClassifier, or Laplace here."
        )
    return kernel, AS_ASKED


def choose_alphas(
    alpha: Any, kernel: Kernel, scales: Scales, solver: str
) -> tuple[np.ndarray, str]:
    """Return candidates for the ridge parameter, and how one of them is chosen.

    Parameters
    ----------
    alpha : float, array of floats or None
        What was asked for.
    kernel : Kernel
        The kernel; its value at a typical row is the unit.
    scales : Scales
        Of the rows.
    solver : {"exact", "iterative", "features", "nystrom"}
        By which solver it is chosen.
    """
    how = CRITERIA[{"exact": "loo", "iterative": "held_out"}.get(solver, "gcv")]
    if alpha is not None:
        given = np.atleast_1d(checked_alpha(alpha)).astype(float)
        return given, AS_ASKED if len(given) == 1 else f"{how} over your {len(given)} candidates"
    typical = scales.typical[None, :]
    unit = float(kernel.diag(typical if typical.any() else np.ones_like(typical))[0])
    return ALPHAS * unit, how


def choose_solver(
    solver: str,
    n_components: int,
    n_rows: int,
    kernel: Kernel,
    place: Callable[[], Any] | None = None,
) -> tuple[str, int | None, str]:
    """Return the solver, with how many features or landmarks, and why.

    Parameters
    ----------
    solver : {"auto", "exact", "iterative", "features", "nystrom"}
        What was asked for.
    n_components : int
        Features or landmarks that were asked for.
    n_rows : int
        Rows to learn from.
    kernel : Kernel
        The kernel.
    place : callable, default=None
        Returns some rows where they are learnt; ``None`` means the host.
    """
    if solver == "features" and not isinstance(kernel, Gaussian):
        raise ValueError(
            f"solver='features' needs a Gaussian kernel, but kernel={kernel!r}: gradients of "
            "its random features have no finite variance; use solver='nystrom'."
        )
    if solver != "auto":
        return solver, n_components, AS_ASKED
    budget = settings().memory
    affordable = int((budget / (8 * STEP_SUMS_COPIES)) ** 0.5)
    # Features come in pairs.
    size = min(n_components, max(2, affordable - affordable % 2))
    if n_rows <= EXACT_ROWS and STEP_EXACT_COPIES * 8 * n_rows**2 <= budget:
        return "exact", None, f"{n_rows:,} rows have an affordable kernel matrix"
    if n_rows <= size:
        return "exact", None, f"{n_rows:,} rows cost no more than as many features"
    rows = None if n_rows <= EXACT_ROWS or place is None else place()
    room, iterative_rows = matrix_memory(rows), ITERATIVE_ROWS
    if free_device_memory(rows) is not None:
        iterative_rows = DEVICE_ITERATIVE_ROWS
        if n_rows <= DEVICE_EXACT_ROWS and STEP_EXACT_COPIES * 8 * n_rows**2 <= room:
            return "exact", None, f"the kernel matrix of {n_rows:,} rows suits the accelerator"
    if EXACT_ROWS < n_rows <= iterative_rows and 2 * n_rows**2 <= room:
        return "iterative", None, f"{n_rows:,} rows are too many to decompose their kernel matrix"
    why = f"{n_rows:,} rows are more than {EXACT_ROWS:,}"
    if n_rows <= EXACT_ROWS:
        why = f"the kernel matrix of {n_rows:,} rows does not fit the memory budget"
    if size < n_components:
        why += f", which allows {size:,} features"
    if isinstance(kernel, Gaussian):
        return "features", size, f"{why}; the kernel is Gaussian"
    return "nystrom", size, f"{why}; random features suit the Gaussian kernel only"
