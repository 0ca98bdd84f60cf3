"""Feature maps that grow: several maps side by side, each as large as all before it.

Inner products of unbiased features are on average the kernel's, and so is the weighted mean of
those of several maps that are drawn independently. A map that doubles keeps what it has, and draws
as much again beside it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone

from .._array import is_numpy, to_numpy
from .._random import DrawBudget, Stream
from .._registry import storable
from .._settings import settings
from .._sklearn import Interval, StrOptions
from .traits import MapTraits

#: Constraints of the parameters of maps that can grow.
COMPONENTS: list[Any] = [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})]
TOLERANCE: list[Any] = [Interval(Real, 0, 1, closed="neither")]
#: Features to begin with, and the most.
FIRST, MOST = 256, 2**17
#: Rows that the kernel error is measured on.
MEASURED_ROWS = 500
#: How much more features are drawn than it seems to take, as errors scatter; and the smallest part,
#: as a share of the parts before.
SPARE, SMALLEST = 1.05, 1 / 8
#: The fall of the error by a doubling that shows that more features do not help: a part of what is
#: missing is no noise.
STALLED = 0.95

#: Called as ``error(Z)`` with the features of the measured rows.
Measure = Callable[[np.ndarray], float]


@storable
@dataclass(frozen=True)
class GrowthPath:
    """How features grew.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of features, one after the other; the last one was taken.
    values : tuple of float
        What was measured at each of them.
    measure : str
        What that is, such as ``"kernel error"``.
    stopped : str
        Why it ended.

    Examples
    --------
    >>> GrowthPath((256, 512), (0.08, 0.049), "kernel error", "at most 0.05")
    kernel error 0.08 with 256, 0.049 with 512 features; stopped: at most 0.05
    """

    sizes: tuple[int, ...]
    values: tuple[float, ...]
    measure: str
    stopped: str

    def __repr__(self) -> str:
        steps = ", ".join(
            f"{value:.3g} with {size:,}"
            for size, value in zip(self.sizes, self.values, strict=True)
        )
        return f"{self.measure} {steps} features; stopped: {self.stopped}"


@storable
class Parts:
    """Fitted maps whose features stand side by side, each weighted by its share of them.

    Parameters
    ----------
    maps : sequence of FeatureMap
        Independent maps of one kernel, fitted.

    Examples
    --------
    >>> from mercer import RandomFourier
    >>> X = np.eye(3)
    >>> maps = [RandomFourier(n_components=m, random_state=m).fit(X) for m in (8, 16)]
    >>> Parts(maps).features(X, np).shape
    (3, 24)
    """

    def __init__(self, maps: Any) -> None:
        self.maps: tuple[Any, ...] = tuple(maps)

    @property
    def size(self) -> int:
        """The number of features of all maps together."""
        return sum(part.n_features_out_ for part in self.maps)

    def facts(self) -> dict[str, Any]:
        """Return the attributes of a map that is made of these."""
        drawn = sum(part.n_drawn_ for part in self.maps)
        return {
            **self._methods(),
            "parts_": self,
            "traits_": self.traits(),
            "n_drawn_": drawn,
            "n_features_out_": self.size,
        }

    def _methods(self) -> dict[str, str]:
        """Return which methods the maps have chosen and why, where they choose."""
        said = {
            name: dict.fromkeys(
                str(getattr(part, name)) for part in self.maps if name in vars(part)
            )
            for name in ("method_", "method_reason_")
        }
        return {name: "; ".join(values) for name, values in said.items() if values}

    def features(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return the features of a block of rows, in ``out`` if given."""
        total, start, found = self.size, 0, []
        for part in self.maps:
            stop, root = start + part.n_features_out_, (part.n_features_out_ / total) ** 0.5
            Z = part.map_block(X, xp)
            if out is None or not is_numpy(Z):
                found.append(Z * root)
            else:
                np.multiply(Z, root, out=out[:, start:stop])
            start = stop
        if not found:
            return out
        return found[0] if len(found) == 1 else xp.concat(found, axis=1)

    def traits(self) -> MapTraits:
        """Return the facts of the maps together."""
        each, total = [part.traits_ for part in self.maps], self.size
        shares = [part.n_features_out_ / total for part in self.maps]
        return MapTraits(
            unbiased=all(one.unbiased for one in each),
            scratch=max(one.scratch for one in each) + max(p.n_features_out_ for p in self.maps),
            by_recipe=False,
            guard=each[0].guard,
            excess=sum(s * one.excess for s, one in zip(shares, each, strict=True)),
            step=max(one.step for one in each),
        )


def made_of(feature_map: Any, kernel: Any, seed: int, parts: Parts) -> Any:
    """Return a fitted copy of a growing map that is made of given parts.

    Parameters
    ----------
    feature_map : FeatureMap
        The map, whose number of components is to grow.
    kernel : Kernel
        The kernel that all parts approximate.
    seed : int
        The seed of the map.
    parts : Parts
        The maps, fitted.

    Examples
    --------
    >>> from mercer import Gaussian, RandomFourier
    >>> growing = RandomFourier(Gaussian(), n_components="auto")
    >>> maps = [RandomFourier(Gaussian(), n_components=8).fit(np.eye(3)) for _ in range(2)]
    >>> made_of(growing, Gaussian(), 0, Parts(maps)).n_features_out_
    16
    """
    width = parts.maps[0].n_features_in_
    known = {"kernel_": kernel, "seed_": seed, "n_features_in_": width, **parts.facts()}
    parameters = clone(feature_map).get_params(deep=False)
    return type(feature_map).redrawn(parameters, known, DrawBudget())


def is_automatic(feature_map: Any) -> bool:
    """Return whether a map finds its number of features by growing.

    Examples
    --------
    >>> from mercer import RandomFourier
    >>> is_automatic(RandomFourier(n_components="auto")), is_automatic(RandomFourier())
    (True, False)
    """
    wanted = getattr(feature_map, "n_components", None)
    return isinstance(wanted, str) and wanted == "auto"


def new_part(feature_map: Any, kernel: Any, seed: int, number: int, size: int, X: Any) -> Any:
    """Return one more part of a growing map, fitted on checked rows.

    Parameters
    ----------
    feature_map : FeatureMap
        The map that grows, with its parameters.
    kernel : Kernel
        Its kernel, the lengthscale a number.
    seed, number : int
        The seed of the map, and how many parts there are; the first part has this very seed.
    size : int
        Features of the part.
    X : array of shape (n_rows, n_features)
        Checked rows, of which only the width matters.
    """
    if number:
        seed = int(Stream(seed).child("part", number).generator().integers(2**32))
    part = clone(feature_map).set_params(n_components=int(size), random_state=seed)
    if "kernel" in part.get_params(deep=False):
        part.set_params(kernel=kernel)
    return part.fit_checked(X)


def grown_parts(
    feature_map: Any,
    kernel: Any,
    seed: int,
    rows: Any,
    *,
    tolerance: float,
    error: Measure | None = None,
    name: str = "kernel error",
) -> tuple[Parts, GrowthPath]:
    """Return the parts of a map that is grown until an error is small enough, and the path.

    Each step draws what the error so far says is missing, if it falls with the root of the number
    of features, and at most as much as there is.

    Parameters
    ----------
    feature_map : FeatureMap
        The map.
    kernel : Kernel
        Its kernel, the lengthscale a number.
    seed : int
        The seed of the map.
    rows : array of shape (n_rows, n_features)
        Rows to measure on.
    tolerance : float
        The error at which it stops.
    error : callable, default=None
        ``error(Z)`` of the features of the rows; by default the relative error of their kernel
        matrix in the Frobenius norm.
    name : str
        What that is called.
    """
    if error is None:
        rows = rows[:MEASURED_ROWS]
    measured = rows.toarray() if hasattr(rows, "toarray") else rows
    measure = (
        frobenius(np.asarray(to_numpy(kernel(measured)), dtype=float)) if error is None else error
    )
    maps: list[Any] = []
    blocks: list[np.ndarray] = []
    sizes, values = [], []
    size, stalled = FIRST, 0
    while True:
        maps.append(new_part(feature_map, kernel, seed, len(maps), size, measured))
        blocks.append(np.asarray(to_numpy(maps[-1].transform_checked(measured)), dtype=float))
        total = sum(block.shape[1] for block in blocks)
        Z = np.concatenate([b * (b.shape[1] / total) ** 0.5 for b in blocks], axis=1)
        sizes.append(total)
        values.append(measure(Z))
        if values[-1] <= tolerance:
            stopped = f"at most {tolerance:g}"
            break
        wanted = SPARE * total * (values[-1] / tolerance) ** 2
        size = math.ceil(min(total, max(wanted - total, SMALLEST * total)))
        stalled = (
            stalled + 1
            if len(values) > 1
            and values[-1] > STALLED * values[-2]
            and (sizes[-1] >= 1.5 * sizes[-2])
            else 0
        )
        drawn = 8 * sum(part.n_drawn_ for part in maps) * (1 + size / total)
        if stalled == 2:
            stopped = "more features do not help"
        elif total + size > MOST:
            stopped = f"{MOST:,} features are the most"
        elif drawn + 8 * len(Z) * (total + size) * 2 > settings().memory:
            stopped = "the memory budget allows no more"
        else:
            continue
        warnings.warn(
            f"With {total:,} features the {name} is {values[-1]:.3g}, not {tolerance:g}: "
            f"{stopped}; give a larger tolerance, a larger lengthscale, or take the exact kernel.",
            UserWarning,
            stacklevel=2,
        )
        break
    return Parts(maps), GrowthPath(tuple(sizes), tuple(values), name, stopped)


def frobenius(K: np.ndarray) -> Measure:
    """Return the measure of the relative error of a kernel matrix.

    Examples
    --------
    >>> round(frobenius(np.eye(2))(np.asarray([[1.0, 0.0], [0.0, 0.0]])), 3)
    0.707
    """
    norm = float(np.linalg.norm(K)) or 1.0
    return lambda Z: float(np.linalg.norm(Z @ Z.T - K)) / norm
