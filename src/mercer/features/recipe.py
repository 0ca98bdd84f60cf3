"""A map as a recipe: seed, parameters and what it learnt, in place of the numbers it drew."""

from __future__ import annotations

import re
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .._array import namespace
from .._random import DrawBudget, stored_random_state
from .._registry import registered, storable
from .base import FeatureMap
from .rows_seen import LearnsFromRows

#: Features that show whether a map was drawn as before.
PROOF = 64
#: Random numbers that a recipe may ask for: a gigabyte of them.
LARGEST_DRAW = 2**27
#: The largest number of columns, features, ... that a recipe may name, and the largest power.
LARGEST_SIZE, LARGEST_POWER = 2**27, 2**12
#: Parameters that are powers.
POWERS = ("degree", "depth", "order")
#: What a recipe holds beside parameters.
KNOWN = ("seed_", "kernel_", "n_features_in_", "feature_names_in_", "_sklearn_output_config")


@storable
@dataclass(frozen=True)
class Recipe:
    """What is enough to draw a fitted map again, and features to compare with then.

    Attributes
    ----------
    kind : str
        Module and name of the class of the map.
    parameters, state : dict
        Parameters, and attributes that are not drawn.
    n_drawn : int
        Random numbers that the map draws; not more than this are drawn again.
    proof : array
        Features of a row that is always the same.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RandomFourier
    >>> features = RandomFourier(n_components=8, random_state=0).fit(np.eye(3))
    >>> again = Recipe.of(features).draw()
    >>> bool((again.frequencies_ == features.frequencies_).all())
    True
    """

    kind: str
    parameters: dict[str, Any]
    state: dict[str, Any]
    n_drawn: int
    proof: np.ndarray

    @staticmethod
    def serves(feature_map: FeatureMap) -> bool:
        """Return whether a map is fitted, and can be drawn again."""
        return feature_map.__sklearn_is_fitted__() and feature_map.traits_.by_recipe

    @classmethod
    def of(cls, feature_map: FeatureMap) -> Recipe:
        """Return the recipe of a fitted map, or say that it is too large to be drawn again."""
        kind = type(feature_map)
        known = {k: v for k, v in vars(feature_map).items() if k in _state_names(kind)}
        parameters = feature_map.get_params(deep=False)
        if "random_state" in parameters:
            parameters["random_state"] = stored_random_state(
                feature_map.random_state, getattr(feature_map, "seed_", None)
            )
        _refuse_large(feature_map, known, feature_map.n_drawn_)
        name = f"{kind.__module__}:{kind.__name__}"
        return cls(name, parameters, known, feature_map.n_drawn_, _proof(feature_map))

    def draw(self) -> FeatureMap:
        """Return the map, drawn again; no more than the recipe says, and than is allowed."""
        kind = registered(*self.kind.split(":", 1))
        if kind is None or not issubclass(kind, FeatureMap):
            raise ValueError(f"a {self.kind} cannot be drawn again")
        unknown = sorted(set(self.state) - set(_state_names(kind)))
        if unknown:
            raise ValueError(f"its recipe sets {unknown[0]!r}")
        n_drawn = int(self.n_drawn)
        _refuse_large(kind(**self.parameters), self.state, n_drawn)
        made = kind.redrawn(self.parameters, self.state, DrawBudget(n_drawn))
        if not made.traits_.by_recipe:
            raise ValueError(f"a {self.kind} cannot be drawn again")
        if not np.allclose(_proof(made), self.proof, rtol=1e-6, atol=1e-9):
            raise ValueError(
                "its random features come out differently here; save it with compact=False"
            )
        return made


def _state_names(kind: type) -> tuple[str, ...]:
    return KNOWN + (kind.learned if issubclass(kind, LearnsFromRows) else ())


def _refuse_large(feature_map: FeatureMap, state: dict[str, Any], n_drawn: int) -> None:
    """Refuse what would take much memory to draw, before anything is drawn."""
    if n_drawn > LARGEST_DRAW:
        raise ValueError(
            f"a map of {n_drawn:,} random numbers is too large to be drawn again (the limit is "
            f"{LARGEST_DRAW:,}); save it with compact=False"
        )
    sizes = {"n_features_in_": state["n_features_in_"], **feature_map.get_params(deep=True)}
    sizes |= {f"kernel_.{k}": v for k, v in state["kernel_"].get_params(deep=True).items()}
    sizes.pop("random_state", None)
    for name, value in sizes.items():
        is_power = re.split(r"__|\.", name)[-1] in POWERS
        largest = LARGEST_POWER if is_power else LARGEST_SIZE
        if isinstance(value, Integral) and int(value) > largest:
            raise ValueError(
                f"{name}={int(value):,} is too large for a map to be drawn again (the limit is "
                f"{largest:,}); save it with compact=False"
            )


def _proof(feature_map: FeatureMap) -> np.ndarray:
    """Return features of a row that is always the same."""
    row = np.cos(np.arange(feature_map.n_features_in_) + 1.0)[None, :]
    return np.asarray(feature_map.map_block(row, namespace(row))[0][:PROOF])
