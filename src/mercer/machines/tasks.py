"""What users ask of all machines: predictions with error bars, or labels with probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin, RegressorMixin

from ..engine.streams import as_weights, is_stream, refuse_beside_stream
from .calibration import every_class
from .estimator import Machine, Values


class Predicting(Machine):
    """How machines of both tasks answer for rows and for streams of blocks."""

    def _all_values(self, X: Any, with_variance: bool = False) -> Values:
        """Return predictions for rows, or for all rows of a stream."""
        if not is_stream(X):
            return self.raw_predict(X, with_variance)
        found = [self.raw_predict(_rows(item), with_variance) for item in self._blocks(X)]
        if not found:
            raise ValueError("The stream of blocks is empty: at least one block is needed.")
        variances = [part[1] for part in found if part[1] is not None]
        values = np.concatenate([part[0] for part in found])
        return values, np.concatenate(variances) if variances else None

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R² of numbers, or the accuracy of labels.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            The rows; or blocks ``(X, y)`` or ``(X, y, sample_weight)``.
        y : array of shape (n_samples,) or (n_samples, n_targets), default=None
            The true targets; ``None`` for a stream.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        score : float
        """
        targets = self.targets_
        if not is_stream(X):
            values = self.raw_predict(X, False)[0]
            checked = targets.check(y, len(values))
            weights = as_weights(sample_weight, len(values))
            return float(targets.score(checked, targets.decode(values), weights))
        refuse_beside_stream(y=y, sample_weight=sample_weight)
        true: list[np.ndarray] = []
        predicted: list[np.ndarray] = []
        parts: list[np.ndarray] = []
        for item in self._blocks(X):
            values = self.raw_predict(_rows(item), False)[0]
            if not isinstance(item, tuple) or item[1] is None or np.shape(item[1])[-1:] == (0,):
                raise ValueError(
                    "score needs targets: let the stream yield (X, y), for a TableStream with "
                    "target=..."
                )
            true.append(targets.check(item[1], len(values)))
            predicted.append(targets.decode(values))
            given = item[2] if len(item) == 3 else None
            own = as_weights(given, len(values))
            parts.append(np.ones(len(values)) if own is None else own)
        return float(targets.score(*map(np.concatenate, (true, predicted, parts))))


def _rows(item: Any) -> Any:
    """Return the rows of a block, with or without targets."""
    return item[0] if isinstance(item, tuple) else item


class Regression(RegressorMixin, Predicting):
    """A machine that predicts numbers."""

    score = Predicting.score

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return predictions and, if asked for, their standard deviations.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            The rows; or blocks of them, such as a :class:`~mercer.io.TableStream`.
        return_std : bool, default=False
            Also return the standard deviation of a new observation of weight one in the Bayesian
            linear model: noise and uncertainty of the coefficients together.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_targets)
        std : array of the same shape, only with ``return_std``
        """
        targets = self.targets_
        values, variances = self._all_values(X, return_std)
        if variances is None:
            return targets.decode(values)
        return targets.decode(values), targets.decode(np.sqrt(variances))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class Classification(ClassifierMixin, Predicting):
    """A machine that predicts labels: it knows a number for every class, and how sure these are."""

    score = Predicting.score

    @property
    def classes_(self) -> np.ndarray:
        """The labels."""
        return np.asarray(self.targets_.classes)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the predictions of every class; for two classes those of the second.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            The rows.

        Returns
        -------
        decision : array of shape (n_samples,) or (n_samples, n_classes)
        """
        values = self._all_values(X)[0]
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of every row.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            The rows.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        return np.asarray(self.targets_.decode(self._all_values(X)[0]))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the calibrated probability of every class.

        It is a softmax of the decisions, with the scale that has the greatest likelihood on
        held-out rows, their labels smoothed as Platt does.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            The rows.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            The rows.

        Returns
        -------
        log_probabilities : array of shape (n_samples, n_classes)
        """
        values = every_class(self._all_values(X)[0])
        return np.asarray(log_softmax(self.probability_scale_ * values, axis=1))
