"""The map for a kernel and some rows, by measured rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, singledispatch
from typing import Any

import numpy as np

from .._array import is_foreign, is_sparse
from .._html import facts
from .._settings import settings
from .._sklearn import check_rows
from .._words import one_line
from ..engine.rows import visit_rows
from ..kernels import (
    CNTK,
    NNGP,
    NTK,
    ArcCosine,
    Exponential,
    Gaussian,
    Kernel,
    Polynomial,
    PowerSeries,
)
from ..kernels.lengthscale import RowSummary
from ..kernels.radial import is_angular, on_sphere
from ..ops.images import image_shape_of
from .base import FeatureMap
from .for_kernel import Maker, maker_for
from .fourier import RandomFourier
from .frequencies import has_spectral_measure
from .nystrom import NystromFeatures
from .polynomial import DotProductSketch
from .rules import Situation, choose
from .zonal import GegenbauerFeatures
from .zonal.region import find_region, on_one_sphere


@dataclass(frozen=True)
class MapChoice:
    """A feature map that was chosen, and why.

    Attributes
    ----------
    features : FeatureMap
        The map, not fitted.
    reason : str
        The rule.
    situation : Situation
        What the rule goes by.

    Examples
    --------
    >>> from mercer import Laplace, choose_map
    >>> choose_map(Laplace(), np.diag([1.0, 2.0, 3.0]))
    RandomFourier(kernel=Laplace()): RandomFourier (rows not known to lie on a sphere, or a ...)
    """

    features: FeatureMap
    reason: str
    situation: Situation

    def __repr__(self) -> str:
        return f"{' '.join(repr(self.features).split())}: {self.reason}"

    def _repr_html_(self) -> str:
        pairs = [("features", one_line(self.features)), ("reason", self.reason)]
        return facts(type(self).__name__, pairs)


def choose_map(
    kernel: Kernel, X: Any, n_components: int = 512, random_state: Any = None
) -> MapChoice:
    """Return the map for a kernel that suits some rows best, and why.

    Goes by the number of columns, how many lengthscales the rows are apart, whether they lie on a
    sphere, are sparse or on a device; the rules, and what was measured on them, are in the guide
    ("Which map?"). Landmarks, which make large models, are chosen only where they hold the kernel
    exactly, and for kernels that have no other map.

    Parameters
    ----------
    kernel : Kernel
        What is to be approximated; a lengthscale by a rule is taken from the rows.
    X : array of shape (n_samples, n_features)
        The rows, or some of them.
    n_components : int, default=512
        The number of features.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the map.

    Returns
    -------
    choice : MapChoice
        With the map as ``features``, not fitted.

    Examples
    --------
    >>> from mercer import Gaussian, choose_map
    >>> X = np.random.default_rng(0).standard_normal((500, 8))
    >>> type(choose_map(Gaussian(6.0), X).features).__name__
    'GegenbauerFeatures'
    >>> choose_map(Gaussian(1.0), X, n_components=256, random_state=0)
    RandomFourier(kernel=Gaussian(), n_components=256, random_state=0): RandomFourier (rows ...)
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"kernel must be a kernel, such as mercer.Gaussian('median'), got {kernel!r}."
        )
    rows, kernel = kernel.as_rows(X)
    rows = check_rows(rows)
    if isinstance(kernel, CNTK):
        image_shape_of(rows, kernel.image_shape)
    summary = RowSummary()
    visit_rows(summary.update, rows, label="norms")
    if kernel.needs_data():
        kernel = kernel.from_summary(summary)
    width = int(rows.shape[1])
    density = rows.nnz / max(1, rows.shape[0] * width) if is_sparse(rows) else 1.0
    device = is_foreign(rows) or settings().device is not None
    situation = Situation(
        width, n_components, density=density, device=device, **_place(kernel, summary)
    )
    return chosen_map(kernel, situation, random_state)


def chosen_map(kernel: Kernel, situation: Situation, random_state: Any = None) -> MapChoice:
    """Return the map for a kernel in a known situation.

    Parameters
    ----------
    kernel : Kernel
        Its lengthscale a number.
    situation : Situation
        What is known of the rows.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the map.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> chosen_map(Gaussian(), Situation(n_features=3, n_components=64, sphere=True)).features
    GegenbauerFeatures(kernel=Gaussian(), n_components=64)
    """
    situation = replace(situation, power=_power(kernel))
    question = family_of(kernel)
    rule = choose(question, situation)
    own = maker_for(kernel)
    makers: dict[str, Maker | None] = {
        "GegenbauerFeatures": partial(GegenbauerFeatures, kernel),
        "DotProductSketch": partial(DotProductSketch, kernel, degree=max(8, situation.power)),
        "NystromFeatures": partial(NystromFeatures, kernel),
    }
    maker = makers.get(rule.choice, own)
    assert maker is not None
    features = maker(n_components=situation.n_components, random_state=random_state)
    name, reason = type(features).__name__, rule.reason
    if rule.choice != name:
        # The family has one map, and the rule is on its methods.
        reason = f"{name}, {reason}"
        if rule is not choose(question, situation.without_rows()):
            features.set_params(method=rule.choice)
    if isinstance(features, RandomFourier) and hasattr(kernel, "spectral_radii"):
        directions = choose(name, situation)
        if directions is not choose(name, situation.without_rows()):
            features.set_params(projection=directions.choice)
            reason = f"{reason}, {directions.reason}"
    return MapChoice(features, reason, situation)


@singledispatch
def family_of(kernel: Any) -> str:
    """Return which rules are those of a kernel.

    Examples
    --------
    >>> from mercer import Laplace, Matern
    >>> family_of(Laplace()), family_of(Matern() + Laplace())
    ('distance', 'other')
    """
    return "distance" if has_spectral_measure(kernel) else "other"


@family_of.register
def _(kernel: Gaussian) -> str:
    return "Gaussian"


@family_of.register
def _(kernel: Polynomial) -> str:
    return "polynomial"


@family_of.register(Exponential)
@family_of.register(PowerSeries)
def _(kernel: Kernel) -> str:
    return "power series"


@family_of.register
def _(kernel: ArcCosine) -> str:
    return "arc-cosine"


@family_of.register(NTK)
@family_of.register(NNGP)
def _(kernel: Kernel) -> str:
    return "NTKFeatures"


@family_of.register
def _(kernel: CNTK) -> str:
    return "CNTKSketch"


def _power(kernel: Kernel) -> int:
    """Return the degree of a polynomial kernel, the depth of a network; 1 of others."""
    if isinstance(kernel, (NTK, NNGP)):
        return int(kernel.depth)
    return int(kernel.degree) if isinstance(kernel, Polynomial) else 1


def _place(kernel: Kernel, summary: RowSummary) -> dict[str, Any]:
    """Return where rows lie, as far as it matters for a kernel."""
    if is_angular(kernel) or not on_sphere(kernel):
        return {}
    if on_one_sphere(summary):
        return {"sphere": True}
    if not isinstance(kernel, (Gaussian, Exponential, PowerSeries)):
        return {}
    region = find_region(kernel, "auto", summary)
    scale = float(getattr(kernel, "lengthscale", 1.0))
    reach = float(np.sqrt(np.mean(region.norms**2))) / scale
    return {"reach": reach, "furthest": region.largest / scale}
