"""``kernel="auto"``: Gaussian, Laplace or neural tangent kernel, by successive halving on a sample.

Rounds have more and more rows and features and fewer and fewer candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from ...kernels import NTK, Gaussian, Kernel, Laplace
from .pilot import Candidate, Pilot

#: Depths of neural tangent kernels.
DEPTHS = (1, 2, 4)
#: Factors of the median distance, and of the mean length of rows for a constant column.
SCALES, CONSTANTS = (0.25, 0.5, 1.0, 2.0), (0.5, 1.0, 2.0)
#: Rows and features of the rounds, and how many candidates the first ones hand to the next.
ROUNDS, SURVIVORS = ((1024, 128), (2048, 256), (4096, 512)), (6, 2)


def chosen_by_halving(
    pilot: Pilot,
    scalings: list[str],
    median: Callable[[Kernel, str], float],
    length: Callable[[str], float],
    constant_free: bool,
) -> tuple[Candidate, str]:
    """Return the kernel that survives, with its scale, and why.

    Parameters
    ----------
    pilot : Pilot
        Who compares.
    scalings : list of str
        Encodings of the columns: the first one is tried with all, the others with the best.
    median : callable
        ``median(kernel, scaling)``: the median distance that the kernel sees.
    length : callable
        ``length(scaling)``: the mean length of rows.
    constant_free : bool
        Whether a constant column can be added.
    """
    tried = candidates(scalings[0], median, length, constant_free)
    kept = tried
    for (n_rows, size), survivors in zip(ROUNDS[:-1], SURVIVORS, strict=True):
        errors = {id(one): pilot.error(one, n_rows, size, "gcv") for one in kept}
        kept = sorted(kept, key=lambda one: errors[id(one)])[:survivors]
    last = ROUNDS[-1]
    finals = [
        climbed(one, scaling, pilot, *last)
        for number, one in enumerate(kept)
        for scaling in (scalings if number == 0 else scalings[:1])
    ]
    best, error = min(finals, key=lambda found: found[1])
    if pilot.n_tried == 0:
        return best, "the first, as there are too few rows (or targets) to compare kernels on"
    names = f"Gaussian, Laplace, NTK of depth {', '.join(map(str, DEPTHS))}"
    return best, (
        f"the best of {len(tried)} candidates ({names}) in {len(ROUNDS)} rounds of halving, with "
        f"an error of {error:.3g} by generalised cross-validation"
    )


def candidates(
    scaling: str,
    median: Callable[[Kernel, str], float],
    length: Callable[[str], float],
    constant_free: bool,
) -> list[Candidate]:
    """Return what the first round compares."""
    found = []
    for kernel in (Gaussian(), Laplace()):
        unit = median(kernel, scaling)
        found += [
            Candidate(clone(kernel).set_params(lengthscale=float(unit * scale)), scaling)
            for scale in SCALES
        ]
    for depth in DEPTHS:
        constants: list[Any] = [None]
        if constant_free:
            constants = [float(length(scaling) * scale) for scale in CONSTANTS]
        found += [Candidate(NTK(depth), scaling, constant) for constant in constants]
    return found


def climbed(
    one: Candidate, scaling: str, pilot: Pilot, n_rows: int, size: int
) -> tuple[Candidate, float]:
    """Return a candidate with the scale that suits it best, and its error."""

    def make(factor: float) -> Candidate:
        kernel, constant = one.kernel, one.constant
        parameters = kernel.get_params(deep=False)
        if "lengthscale" in parameters:
            kernel = clone(kernel).set_params(lengthscale=parameters["lengthscale"] * factor)
        elif constant is not None:
            constant = constant * factor
        return Candidate(kernel, scaling, constant)

    def error(candidate: Candidate) -> float:
        return pilot.error(candidate, n_rows, size, "gcv")

    best, least = make(1.0), error(make(1.0))
    for factor in (2**-0.5, 2**0.5):
        other = make(factor)
        if repr(other) != repr(best) and error(other) < least:
            best, least = other, error(other)
    return best, least
