"""What machines that learn features choose by themselves: kernel, ridge parameters, solver."""

from __future__ import annotations

import numpy as np

from .._sklearn import checked
from ..engine.config import settings
from ..kernels import Gaussian, Laplace
from ..kernels.derivatives import has_slopes

#: Rows up to which the kernel matrix of all of them is affordable.
EXACT_ROWS = 5000
#: Arrays of the size of the kernel matrix that an exact step holds.
COPIES = 4
#: Candidates for the ridge parameter, for kernels that are 1 at distance 0. A larger one would
#: smooth away the traces of columns that only interact, as long as nothing else is learnt.
RIDGES = np.logspace(-6, 0, 7)
AS_ASKED = "as you asked for"


def choose_kernel(kernel, scales):
    """Return the kernel of reweighted rows, and why it is that one.

    Parameters
    ----------
    kernel : Kernel or None
        What was asked for.
    scales : Scales
        Of the rows.
    """
    if kernel is None:
        total = float(np.sqrt(np.sum(scales.spread**2)))
        return Laplace(total if total > 0 else 1.0), "as wide as typical rows are long"
    kernel = checked(kernel)
    if kernel._needs_data():
        raise ValueError(
            f"kernel={kernel!r} takes its lengthscale from data; give a number (rows are "
            "standardised, so that √d is a typical one), or None for that."
        )
    if not has_slopes(kernel):
        raise ValueError(
            f"kernel={kernel!r} has no known derivatives; use Laplace, Gaussian, Matern, "
            "Exponential, Polynomial or NTK."
        )
    return kernel, AS_ASKED


def choose_ridge(ridge, kernel, scales, solver):
    """Return candidates for the ridge parameter, and how one of them is chosen.

    Parameters
    ----------
    ridge : float or "loo"
        What was asked for.
    kernel : Kernel
        The kernel; its value at a typical row is the unit.
    scales : Scales
        Of the rows.
    solver : {"exact", "features", "nystrom"}
        Who chooses.
    """
    if ridge != "loo":
        return np.asarray([ridge]), AS_ASKED
    typical = np.where(scales.spread > 0, scales.spread, 0.0)[None, :]
    unit = float(kernel.diag(typical if typical.any() else np.ones_like(typical))[0])
    how = "leave-one-out" if solver == "exact" else "generalised cross-validation"
    return RIDGES * unit, how


def choose_solver(solver, n_rows, kernel):
    """Return who solves, and why.

    Parameters
    ----------
    solver : {"auto", "exact", "features", "nystrom"}
        What was asked for.
    n_rows : int
        Rows to learn from.
    kernel : Kernel
        The kernel.
    """
    if solver == "features" and not isinstance(kernel, Gaussian):
        raise ValueError(
            f"solver='features' needs a Gaussian kernel, but kernel={kernel!r}: gradients of "
            "its random features have no finite variance; use solver='nystrom'."
        )
    if solver != "auto":
        return solver, AS_ASKED
    fits = COPIES * 8 * n_rows**2 <= settings().memory
    if n_rows <= EXACT_ROWS and fits:
        return "exact", f"{n_rows:,} rows have an affordable kernel matrix"
    why = f"{n_rows:,} rows are more than {EXACT_ROWS:,}"
    if n_rows <= EXACT_ROWS:
        why = f"the kernel matrix of {n_rows:,} rows does not fit the memory budget"
    if isinstance(kernel, Gaussian):
        return "features", f"{why}, and the kernel is Gaussian"
    return "nystrom", f"{why}, and random features suit the Gaussian kernel only"
