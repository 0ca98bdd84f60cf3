"""Targets of machines that learn features: numbers, and classes as numbers."""

from __future__ import annotations

import numpy as np

from .._sklearn import StrOptions, check_is_fitted, check_labels, check_targets
from .decisions import Decisions
from .feature_learner import CONSTRAINTS, FeatureLearner
from .labels import (
    as_targets,
    best_scale,
    every_class,
    label_codes,
    with_class_weights,
)


class Numbers:
    """Targets that are numbers."""

    _score_name = "R2"

    def _expected_score(self, result):
        return 1 - result.error

    def _encode(self, y, n_rows, first):
        Y = check_targets(self._passed(y), n_rows)
        if first:
            self._one_target, self._n_targets = Y.ndim == 1, 1 if Y.ndim == 1 else Y.shape[1]
        Y = Y[:, None] if Y.ndim == 1 else Y
        if Y.shape[1] != self._n_targets:
            raise ValueError(
                f"All blocks must have the same targets, but the first has {self._n_targets} and "
                f"another {Y.shape[1]}."
            )
        return Y

    def _row_weights(self, y, sample_weight, streaming):
        return sample_weight

    def predict(self, X):
        """Return predictions.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_targets)
        """
        check_is_fitted(self, "history_")
        found = self._predicted(X)
        return found[:, 0] if self._one_target else found

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class ClassLearner(Decisions, FeatureLearner):
    """Targets that are labels: a column of -1 and 1, or one for each class."""

    _parameter_constraints = {
        **CONSTRAINTS,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        kernel=None,
        *,
        alpha=0.5,
        safeguard=3e-3,
        n_iterations=None,
        ridge="loo",
        negative="clip",
        solver="auto",
        n_components=2048,
        fresh=False,
        batch_size=None,
        patience=5,
        validation_fraction="auto",
        standardize=True,
        warm_start=False,
        class_weight=None,
        random_state=None,
    ):
        super().__init__(
            kernel,
            alpha=alpha,
            safeguard=safeguard,
            n_iterations=n_iterations,
            ridge=ridge,
            negative=negative,
            solver=solver,
            n_components=n_components,
            fresh=fresh,
            batch_size=batch_size,
            patience=patience,
            validation_fraction=validation_fraction,
            standardize=standardize,
            warm_start=warm_start,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def _encode(self, y, n_rows, first):
        labels = check_labels(self._passed(y), n_rows)
        if first:
            self.classes_ = np.unique(labels)
        codes = label_codes(labels, self.classes_, "let the first block hold all classes")
        return as_targets(codes, len(self.classes_))

    def _row_weights(self, y, sample_weight, streaming):
        return with_class_weights(self.class_weight, y, self.classes_, sample_weight, streaming)

    _score_name = "accuracy"

    def _expected_score(self, result):
        """Return the share of left-out rows that are right, and know from them how sure to be."""
        predicted, targets, weights = result.left_out
        decisions = every_class(self._scales.original(predicted))
        labels = every_class(self._scales.original(targets)).argmax(axis=1)
        self._scale = best_scale(decisions, labels, weights)
        return float(np.average(decisions.argmax(axis=1) == labels, weights=weights))

    def _decisions(self, X):
        check_is_fitted(self, "history_")
        return self._predicted(X)

    def _calibrated_scale(self):
        return self._scale
