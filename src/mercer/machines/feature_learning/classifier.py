"""What the feature-learning classifiers share: labels as targets, and weights of classes."""

from __future__ import annotations

from typing import Any

from ..._sklearn import StrOptions
from ...kernels import Kernel
from ..targets import LabelTargets
from ..tasks import Classification
from .base import CONSTRAINTS, FeatureLearner


class LearningClassifier(Classification, FeatureLearner):
    """A feature-learning machine whose targets are labels."""

    _parameter_constraints = {
        **CONSTRAINTS,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        mixing: float = 0.5,
        safeguard: float = 3e-3,
        n_iterations: int | None = None,
        alpha: Any = None,
        negative: str = "clip",
        solver: str = "auto",
        n_components: int = 2048,
        fresh: bool = False,
        batch_size: int | None = None,
        patience: int | None = 5,
        validation_fraction: Any = "auto",
        standardize: bool = True,
        warm_start: bool = False,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel,
            mixing=mixing,
            safeguard=safeguard,
            n_iterations=n_iterations,
            alpha=alpha,
            negative=negative,
            solver=solver,
            n_components=n_components,
            fresh=fresh,
            batch_size=batch_size,
            patience=patience,
            validation_fraction=validation_fraction,
            standardize=standardize,
            warm_start=warm_start,
            verbose=verbose,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def _new_targets(self) -> LabelTargets:
        return LabelTargets(
            class_weight=self.class_weight, way_out="let the first block hold all classes"
        )
