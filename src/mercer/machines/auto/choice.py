"""Which kernel: the one that was asked for, the best of a family, or the best of several."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ...features.for_kernel import has_features
from ...kernels import NNGP, NTK, ArcCosine, Kernel
from ...ops.images import checked_image_shape
from ..report import AS_ASKED
from .halving import chosen_by_halving
from .pilot import AUTO, Candidate, Pilot, named_kernel

#: Zonal kernels, which need a constant column to tell rows of different lengths apart.
ANGULAR = (ArcCosine, NNGP, NTK)
#: What is tried when no kernel is given.
FAMILIES = ("gaussian", "matern", "laplace")


def refuse_dropped_pixels(kernel: Any, given: int, width: int) -> None:
    """Refuse to see images without the constant pixels that an encoder has dropped.

    Parameters
    ----------
    kernel : Kernel, str or None
        What was asked for.
    given, width : int
        The columns before and after encoding.

    Examples
    --------
    >>> from mercer import CNTK
    >>> refuse_dropped_pixels(CNTK(image_shape=(8, 8, 1)), 64, 64)
    """
    shape = getattr(kernel, "image_shape", None)
    if shape is not None and math.prod(checked_image_shape(shape)) == given != width:
        raise ValueError(
            f"Once encoded, {given:,} columns are {width:,}, as constant ones are dropped, and are "
            f"no images of shape {tuple(shape)} any more; pass the kernel to KernelRidge or "
            "KernelRidgeClassifier, which take pixels as they are."
        )


def choose_kernel(kernel: Kernel | str | None, pilot: Pilot) -> tuple[Candidate, str]:
    """Return the kernel with its encoding, and why: from what was asked for and the pilot.

    Parameters
    ----------
    kernel : Kernel, str or None
        What was asked for.
    pilot : Pilot
        Who compares.
    """
    scalings, constant_free = pilot.sample.scalings(), pilot.sample.columns.free
    if isinstance(kernel, str) and kernel == AUTO:
        return chosen_by_halving(
            pilot, scalings, partial(_median, pilot), partial(_length, pilot), constant_free
        )
    if isinstance(kernel, Kernel):
        if constant_free and isinstance(kernel, ANGULAR):
            best, _ = _best_constant(kernel, pilot, scalings[0])
            return best, _explanation(best, pilot, AS_ASKED)
        reason = AS_ASKED
        if kernel.needs_data():
            rows = pilot.sample.rows(scalings[0])
            kernel = kernel.fitted_to(rows)
            reason += f", its lengthscale from {rows.shape[0]:,} rows"
        return Candidate(kernel, scalings[0]), reason
    found: list[tuple[Candidate, float]] = []
    for number, name in enumerate(FAMILIES if kernel is None else (kernel,)):
        # Further kernels are tried with the encoding that suits the first one.
        encodings = scalings if number == 0 else [min(found, key=_error_of)[0].scaling]
        found += [
            _best_of_family(named_kernel(name), pilot, scaling, constant_free)
            for scaling in encodings
        ]
    chosen = min(found, key=_error_of)[0]
    if kernel is not None:
        return chosen, _explanation(chosen, pilot, AS_ASKED)
    untried = "the default, as there are too few rows (or targets) to compare kernels on"
    tried = f" ({', '.join(name.title() for name in FAMILIES)})"
    return chosen, _explanation(chosen, pilot, untried, tried)


def _error_of(found: tuple[Candidate, float]) -> float:
    return found[1]


def _explanation(best: Candidate, pilot: Pilot, untried: str, tried: str = "") -> str:
    """Return why a candidate was taken; ``untried`` if there was no comparison."""
    if pilot.n_tried == 0:
        return untried
    n_rows = pilot.sample.rows(best.scaling, best.constant).shape[0]
    what = "constants" if best.constant else "lengthscales"
    reason = f"the best on {n_rows:,} rows of {pilot.n_tried} {what}{tried}"
    return reason + (
        ", all columns divided by one common scale" if best.scaling == "common" else ""
    )


def _best_of_family(
    kernel: Kernel, pilot: Pilot, scaling: str, constant_free: bool
) -> tuple[Candidate, float]:
    if "lengthscale" not in kernel.get_params(deep=False):
        if constant_free and isinstance(kernel, ANGULAR):
            return _best_constant(kernel, pilot, scaling)
        return Candidate(kernel, scaling), np.inf
    median = _median(pilot, kernel, scaling)

    def make(factor: float) -> Candidate:
        return Candidate(clone(kernel).set_params(lengthscale=float(median * factor)), scaling)

    return pilot.best_scale(make, 0.5)


def _best_constant(kernel: Kernel, pilot: Pilot, scaling: str) -> tuple[Candidate, float]:
    """Return a zonal kernel with the constant column that suits it best."""
    length = _length(pilot, scaling)

    def make(factor: float) -> Candidate:
        return Candidate(kernel, scaling, float(length * factor))

    return pilot.best_scale(make) if has_features(kernel) else (make(1.0), np.inf)


def _median(pilot: Pilot, kernel: Kernel, scaling: str) -> float:
    """Return the median distance of rows of the sample, as a kernel measures it."""
    known = clone(kernel).set_params(lengthscale="median").fitted_to(pilot.sample.rows(scaling))
    return float(known.get_params(deep=False)["lengthscale"])


def _length(pilot: Pilot, scaling: str) -> float:
    """Return the root of the mean square of the lengths of rows of the sample."""
    X = pilot.sample.rows(scaling)
    squares = X.multiply(X).sum() if hasattr(X, "multiply") else (X * X).sum()
    return max(float(squares / X.shape[0]) ** 0.5, 1e-6)
