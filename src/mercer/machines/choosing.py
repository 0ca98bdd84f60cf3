"""What the front door chooses from data: exact or features, how many, which kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .._words import did_you_mean
from ..engine.config import settings
from ..features.for_kernel import features_for, has_features
from ..kernels import NNGP, NTK, ArcCosine, Gaussian, Kernel, Laplace, Matern

#: Kernels by name.
NAMES = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "matern": Matern,
    "arccosine": ArcCosine,
    "nngp": NNGP,
    "ntk": NTK,
}
#: Kernels of the angle between rows.
ANGULAR = (ArcCosine, NNGP, NTK)
#: What is tried when no kernel is given.
FAMILIES = ("gaussian", "matern", "laplace")
#: Rows up to which an exact kernel costs no more than features.
EXACT_ROWS = 2000
#: Features by default, and where there are many rows and memory for it.
COMPONENTS, MANY_COMPONENTS, MANY_ROWS = 2048, 4096, 100_000
#: Folds of the cross-validation that chooses the ridge parameter.
FOLDS = 5
#: Rows and features that kernels are compared with.
PILOT_ROWS, PILOT_COMPONENTS = 4096, 512
#: How far a lengthscale may be from the median distance, and the gain worth a step there.
FACTORS, GAIN = (2.0**-5, 2.0**3), 0.002
#: Arrays of the size of the kernel matrix, or of the sums of products, that a fit holds at most.
EXACT_COPIES, SUMS_COPIES = 5, 10


@dataclass(frozen=True)
class Method:
    """Exact kernel or features, how many, why, and the bytes it takes."""

    name: str
    n_components: int | None
    reason: str
    memory: int


def exact_memory(n_rows):
    """Return the bytes of an exact kernel machine."""
    return 8 * EXACT_COPIES * n_rows**2


def features_memory(n_components):
    """Return the bytes of the sums of products of features, fold by fold."""
    return 8 * (FOLDS + SUMS_COPIES) * n_components**2


def choose_method(n_rows, n_components, approximation, featured):
    """Return exact or features, from the rows, the memory budget and what was asked for.

    Parameters
    ----------
    n_rows : int or None
        Rows to learn from; ``None`` if they are not known beforehand.
    n_components : int or "auto"
        Features that were asked for.
    approximation : {"auto", "exact", "features"}
        What was asked for.
    featured : bool
        Whether there is a feature map for the kernel.
    """
    budget = settings().memory
    if approximation == "features" or (n_components != "auto" and approximation == "auto"):
        if not featured:
            raise ValueError(
                "There is no feature map for this kernel (sums and products have none); use "
                "approximation='exact', or another kernel."
            )
        return _features(n_rows, n_components, "as you asked for")
    need = 0 if n_rows is None else exact_memory(n_rows)
    if approximation == "exact":
        return Method("exact", None, "as you asked for", need)
    if n_rows is None:
        if featured:
            return _features(None, n_components, "how many rows will come is not known")
        return Method("exact", None, "there is no feature map for this kernel", need)
    if n_rows <= EXACT_ROWS and need <= budget:
        return Method("exact", None, f"{n_rows:,} rows cost no more than features would", need)
    if featured:
        why = f"there are more than {EXACT_ROWS:,} rows, and an exact kernel would take"
        why += f" {need / 1e9:.3g} GB"
        return _features(n_rows, n_components, why)
    if need > budget:
        raise ValueError(
            f"An exact kernel of {n_rows:,} rows needs about {need / 1e9:.3g} GB, more than the "
            f"budget of {budget / 1e9:g} GB, and there is no feature map for this kernel; use "
            "kernel='gaussian', fewer rows, or a larger mercer.config(memory=...)."
        )
    return Method("exact", None, "there is no feature map for this kernel", need)


def _features(n_rows, n_components, why):
    if n_components != "auto":
        return Method("features", int(n_components), why, features_memory(int(n_components)))
    size = MANY_COMPONENTS if n_rows is not None and n_rows >= MANY_ROWS else COMPONENTS
    while n_rows is not None and size > n_rows / 2 and size > 64:
        size //= 2
    wanted, budget = size, settings().memory
    while features_memory(size) > budget and size > 64:
        size //= 2
    if size < wanted:
        why += f", and {budget / 1e9:g} GB of memory allow {size:,} features"
    return Method("features", size, why, features_memory(size))


@dataclass(frozen=True)
class Candidate:
    """A kernel and the encoding it is tried with."""

    kernel: Kernel
    scaling: str
    constant: float | None = None


class Pilot:
    """Compares kernels by cross-validation on a sample of the rows.

    Parameters
    ----------
    machine : estimator or None
        A ridge machine; its features are set, everything else stays. ``None`` if the sample
        cannot tell kernels apart: then all are equally good.
    encode : callable
        Called as ``encode(scaling, constant)``, returns the sample's rows as numbers.
    y, weights : arrays
        Targets and weights of the sample.
    seed : int
        Of the random features.
    """

    def __init__(self, machine, encode, y, weights, seed):
        self._machine, self._encode = machine, encode
        self._y, self._weights, self._seed = y, weights, seed
        self._rows: dict[tuple, Any] = {}
        self._errors: dict[tuple, float] = {}

    @property
    def n_tried(self):
        """How many kernels were compared."""
        return len(self._errors)

    def rows(self, scaling, constant=None):
        """Return the encoded rows of the sample."""
        key = scaling, constant
        if key not in self._rows:
            self._rows = {key: self._encode(scaling, constant)}
        return self._rows[key]

    def error(self, candidate):
        """Return the squared error of held-out rows, as a share of the targets' variance."""
        if self._machine is None:
            return 0.0
        key = repr(candidate.kernel), candidate.scaling, candidate.constant
        if key not in self._errors:
            X = self.rows(candidate.scaling, candidate.constant)
            size = int(min(PILOT_COMPONENTS, max(32, X.shape[0] // 4)))
            machine = clone(self._machine)
            machine.set_params(features=features_for(candidate.kernel, size, self._seed))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                machine.fit(X, self._y, self._weights)
            self._errors[key] = machine._expected_error()
        return self._errors[key]

    def best_scale(self, make, start=1.0):
        """Return the best candidate ``make(factor)``, climbing from ``start`` by factors."""
        factor, best = start, self.error(make(start))
        for step in (2.0, 2.0**0.5):
            for direction in (1 / step, step):
                moved = False
                while FACTORS[0] <= factor * direction <= FACTORS[1]:
                    error = self.error(make(factor * direction))
                    if error > (1 - GAIN) * best:
                        break
                    factor, best, moved = factor * direction, error, True
                if moved:
                    break
        return make(factor), best


def named_kernel(name, **parameters):
    """Return the kernel that a name stands for."""
    if name not in NAMES:
        hint = did_you_mean(name, NAMES, f"known are {', '.join(sorted(NAMES))}.")
        raise ValueError(f"kernel={name!r} is not the name of a kernel; {hint}")
    return NAMES[name](**parameters)


def choose_kernel(kernel, pilot, scalings, constant_free=True):
    """Return the kernel with its encoding, and why: from what was asked for and the pilot.

    Parameters
    ----------
    kernel : Kernel, str or None
        What was asked for.
    pilot : Pilot
        Who compares.
    scalings : list of str
        Encodings to try.
    constant_free : bool, default=True
        Whether a constant column may be added for kernels of the angle.
    """
    if isinstance(kernel, Kernel):
        if constant_free and isinstance(kernel, ANGULAR):
            best, _ = _best_constant(kernel, pilot, scalings[0])
            return best, _explanation(best, pilot)
        reason = "as you asked for"
        if kernel.needs_data():
            rows = pilot.rows(scalings[0])
            kernel = kernel.fitted_to(rows)
            reason += f", its lengthscale from {rows.shape[0]:,} rows"
        return Candidate(kernel, scalings[0]), reason
    best, least = None, np.inf
    for number, name in enumerate(FAMILIES if kernel is None else (kernel,)):
        for scaling in scalings if number == 0 else [best.scaling]:
            found, error = _best_of_family(named_kernel(name), pilot, scaling, constant_free)
            if best is None or error < least:
                best, least = found, error
    tried = "" if kernel is not None else f" ({', '.join(name.title() for name in FAMILIES)})"
    return best, _explanation(best, pilot, tried)


def _explanation(best, pilot, tried=""):
    """Return why a candidate was taken."""
    if pilot.n_tried == 0:
        return "as you asked for"
    n_rows = pilot.rows(best.scaling, best.constant).shape[0]
    what = "constants" if best.constant else "lengthscales"
    reason = f"the best on {n_rows:,} rows of {pilot.n_tried} {what}{tried}"
    return reason + (", columns scaled alike" if best.scaling == "common" else "")


def _best_of_family(kernel, pilot, scaling, constant_free):
    if "lengthscale" not in kernel.get_params(deep=False):
        if constant_free and isinstance(kernel, ANGULAR):
            return _best_constant(kernel, pilot, scaling)
        return Candidate(kernel, scaling), np.inf
    median = kernel.set_params(lengthscale="median").fitted_to(pilot.rows(scaling)).lengthscale

    def make(factor):
        return Candidate(clone(kernel).set_params(lengthscale=float(median * factor)), scaling)

    return pilot.best_scale(make, 0.5)


def _best_constant(kernel, pilot, scaling):
    """Return a kernel of the angle with the constant column that suits it best."""
    X = pilot.rows(scaling)
    squares = X.multiply(X).sum() if hasattr(X, "multiply") else (X * X).sum()
    length = max(float(squares / X.shape[0]) ** 0.5, 1e-6)

    def make(factor):
        return Candidate(kernel, scaling, float(length * factor))

    return pilot.best_scale(make) if has_features(kernel) else (make(1.0), np.inf)
