"""Ridge classification on features, with calibrated probabilities."""

from __future__ import annotations

import numpy as np

from .._sklearn import check_is_fitted, check_labels, fit_context
from ..engine.sample import RowSample
from .base import CONSTRAINTS, RidgeMachine
from .decisions import Decisions
from .labels import (
    as_targets,
    best_scale,
    every_class,
    label_codes,
    with_class_weights,
)

#: Training rows kept for the calibration of probabilities.
CALIBRATION_ROWS = 2000


class FeatureRidgeClassifier(Decisions, RidgeMachine):
    r"""Ridge classification on features, exact, in one pass over the rows.

    One target for each class, +1 for its rows and -1 for the others (a single one for two
    classes), fitted as :class:`FeatureRidge` does; the class of the largest prediction wins.

    Probabilities are calibrated: a sample of at most 2,000 training rows is kept, their exact
    leave-one-out predictions follow from the same sums, and the scale of the softmax of the
    predictions is fitted to them by maximum likelihood.

    Parameters
    ----------
    features : transformer or None, default=None
        A feature map, a pipeline of transformers, or ``None`` for the columns as they are.
    alpha : float, array of floats or None, default=None
        The ridge parameter, candidates for it, or ``None`` for 31 candidates about the mean
        eigenvalue of the features.
    selection : "gcv", "loo" or int, default="gcv"
        How to choose among candidates, as in :class:`FeatureRidge`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; ``"balanced"`` gives every class the same total weight, and
        needs all labels at once (``fit`` on rows, not on a stream).
    per_target : bool, default=False
        Choose ``alpha`` for every class by itself.
    fit_intercept : bool, default=True
        Fit a constant for each class, which is not penalised.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    alpha_ : float or array of shape (n_targets,)
        The ridge parameter that was chosen.
    solution_ : Solution
        What the solver did.
    features_ : transformer or None
        The fitted features.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import FeatureRidgeClassifier, Gaussian, RandomFourier
    >>> X, y = load_digits(return_X_y=True)
    >>> features = RandomFourier(Gaussian("median"), n_components=400, random_state=0)
    >>> model = FeatureRidgeClassifier(features).fit(X[:1200], y[:1200])
    >>> bool(model.score(X[1200:], y[1200:]) > 0.94)
    True
    >>> model.predict_proba(X[:2]).shape
    (2, 10)
    """

    _parameter_constraints = {**CONSTRAINTS, "class_weight": [dict, str, None]}

    def __init__(
        self,
        features=None,
        *,
        alpha=None,
        selection="gcv",
        class_weight=None,
        per_target=False,
        fit_intercept=True,
    ):
        super().__init__(
            features,
            alpha=alpha,
            selection=selection,
            per_target=per_target,
            fit_intercept=fit_intercept,
        )
        self.class_weight = class_weight

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None, classes=None):
        """Learn from all rows, forgetting what was learnt before.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            Rows, or an iterator of blocks ``(X, y)`` or ``(X, y, sample_weight)``.
        y : array of shape (n_samples,)
            Labels; ``None`` for a stream.
        sample_weight : array of shape (n_samples,), default=None
            How many times each row counts.
        classes : array of shape (n_classes,), default=None
            All labels there are; needed for a stream whose first block lacks some.

        Returns
        -------
        self
        """
        return self._fit_anew(X, y, sample_weight, classes=classes)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from one more block of rows; the order of blocks does not matter.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The block.
        y : array of shape (n_samples,)
            Its labels.
        classes : array of shape (n_classes,), default=None
            All labels there are; needed in the first call if its block lacks some.
        sample_weight : array of shape (n_samples,), default=None
            How many times each row counts.

        Returns
        -------
        self
        """
        if not hasattr(self, "features_"):
            self._start(classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={list(classes)!r} differ from those of the first call, "
                f"{list(self.classes_)!r}."
            )
        return self._partial_fit(X, y, sample_weight)

    def _decisions(self, X):
        check_is_fitted(self)
        return self._predictions(X)[0]

    def _start(self, classes=None):
        if classes is not None:
            self.classes_ = np.unique(np.asarray(classes))

    def _encode(self, y, n_rows, first):
        y = check_labels(y, n_rows)
        if first and not hasattr(self, "classes_"):
            self.classes_ = np.unique(y)
        return label_codes(y, self.classes_, "name all classes in the first call, classes=[...]")

    def _n_outputs(self):
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _expand(self, encoded):
        return as_targets(encoded, len(self.classes_))

    def _weights(self, y, sample_weight, streaming=False):
        """Return sample weights times class weights."""
        return with_class_weights(self.class_weight, y, self.classes_, sample_weight, streaming)

    def _observe(self, Z, Y, weights):
        if not hasattr(self, "_sample"):
            self._sample = RowSample(CALIBRATION_ROWS)
        self._sample.add(Z, Y, np.ones(len(Y)) if weights is None else weights)

    def _merge_targets(self, other):
        if not np.array_equal(self.classes_, other.classes_):
            raise ValueError(
                f"The machines know different classes, {list(self.classes_)!r} and "
                f"{list(other.classes_)!r}; name all of them with classes=[...]."
            )
        self._sample.merge(other._sample)

    def _finish(self, solution):
        super()._finish(solution)
        binary = len(self.classes_) == 2
        self.coef_ = solution.coef.T
        self.intercept_ = solution.intercept[:1] if binary else solution.intercept
        return self

    def _left_out(self):
        """Return exact leave-one-out decisions of the sample, its labels and weights."""
        Z, Y, weights = self._sample.columns
        solution = self.solution_
        fitted = Z @ solution.coef + solution.intercept
        left_out = np.empty_like(fitted)
        for lam in np.unique(solution.lam):
            chosen = solution.lam == lam
            leverage = (weights * self._posterior(lam).quadratic(Z))[:, None]
            # A row that carries its own fit alone has nothing to say when it is left out.
            rest = np.maximum(1 - leverage, 1e-6)
            left_out[:, chosen] = Y[:, chosen] - (Y - fitted)[:, chosen] / rest
        labels = (Y[:, 0] > 0).astype(int) if Y.shape[1] == 1 else Y.argmax(axis=1)
        return every_class(left_out), labels, weights

    def _calibrated_scale(self):
        """Return the scale of the softmax, fitted once."""
        if "scale" not in self._posteriors:
            self._posteriors["scale"] = best_scale(*self._left_out())
        return self._posteriors["scale"]

    def _before_compact(self, caches):
        caches["scale"] = self._calibrated_scale()

    _score_name = "accuracy"

    def _expected_score(self):
        """Return the accuracy to expect on new rows."""
        decisions, labels, weights = self._left_out()
        right = decisions.argmax(axis=1) == labels
        return float(np.average(right, weights=weights)) if weights.any() else float(right.mean())

    def _score_reason(self):
        return f"leave-one-out of {len(self._sample.keys):,} rows"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
