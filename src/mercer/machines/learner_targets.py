"""Targets of machines that learn features: numbers, and classes as numbers."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight

from .._sklearn import StrOptions, check_is_fitted, check_labels, check_targets
from .feature_learner import CONSTRAINTS, FeatureLearner


class Numbers:
    """Targets that are numbers."""

    def _encode(self, y, n_rows, first):
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        Y = check_targets(y, n_rows)
        if first:
            self._one_target = Y.ndim == 1
        return Y[:, None] if Y.ndim == 1 else Y

    def _row_weights(self, y, sample_weight):
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


class ClassLearner(ClassifierMixin, FeatureLearner):
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
        n_iterations=10,
        ridge="loo",
        negative="clip",
        solver="auto",
        n_components=2048,
        fresh=False,
        batch_size=None,
        patience=5,
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
            standardize=standardize,
            warm_start=warm_start,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def _encode(self, y, n_rows, first):
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        labels = check_labels(y, n_rows)
        if first:
            self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise ValueError(
                f"There is one class only, {self.classes_[0]!r}; at least two are needed."
            )
        unknown = ~np.isin(labels, self.classes_)
        if unknown.any():
            raise ValueError(
                f"A later block has the label {labels[unknown][0]!r}, which the first has not; "
                "let the first block hold all classes."
            )
        codes = np.searchsorted(self.classes_, labels)
        if len(self.classes_) == 2:
            return (2.0 * codes - 1.0)[:, None]
        return np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)

    def _row_weights(self, y, sample_weight):
        if self.class_weight is None:
            return sample_weight
        labels = np.asarray(y)
        values = compute_class_weight(self.class_weight, classes=self.classes_, y=labels)
        weights = values[np.searchsorted(self.classes_, labels)]
        # Classes against each other: as many rows as there are, whatever the unit.
        weights = weights / weights.mean()
        return weights if sample_weight is None else weights * np.asarray(sample_weight)

    def decision_function(self, X):
        """Return what decides between the classes.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : array of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second of two classes; largest for the class that is predicted.
        """
        check_is_fitted(self, "history_")
        found = self._predicted(X)
        return found[:, 0] if len(self.classes_) == 2 else found

    def predict(self, X):
        """Return labels.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        found = self.decision_function(X)
        if found.ndim == 1:
            return self.classes_[(found > 0).astype(int)]
        return self.classes_[np.argmax(found, axis=1)]
