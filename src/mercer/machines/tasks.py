"""What users ask of all machines: predictions with error bars, or labels with probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax

from .._array import is_foreign, joined_rows, moved, namespace, ones_for_rows
from .._sklearn import ClassifierMixin, RegressorMixin
from .._words import listed
from ..engine.cluster import Partitions, answered, on_cluster
from ..engine.streams import Block, as_weights, is_stream, refuse_beside_stream, stream_names
from .calibration import every_class
from .estimator import Machine, Values


class Predicting(Machine):
    """How machines of both tasks answer for rows and for streams of blocks."""

    def _all_values(self, X: Any, with_variance: bool = False) -> Values:
        """Return predictions for rows, or for all rows of a stream."""
        if not is_stream(X):
            return self.raw_predict(X, with_variance)
        found = [values for _, values in self._block_values(X, with_variance)]
        if not found:
            raise ValueError("The stream of blocks is empty: at least one block is needed.")
        variances = [part[1] for part in found if part[1] is not None]
        values = joined_rows([part[0] for part in found])
        return values, joined_rows(variances) if variances else None

    def _block_values(self, stream: Any, with_variance: bool) -> Iterator[tuple[Any, Values]]:
        """Yield the blocks of a stream with the predictions for their rows."""
        names, known = (
            None if found is None else list(found)
            for found in (stream_names(stream), getattr(self, "feature_names_in_", None))
        )
        if names is not None and known is not None and names != known:
            raise ValueError(
                f"The columns of the stream are {listed(names)}, but {type(self).__name__} was "
                f"fitted with {listed(known)}; give TableStream columns=[...] in this order."
            )
        for item in self._blocks(stream):
            with warnings.catch_warnings():
                if names is not None:
                    # They were compared; blocks are arrays, and have none.
                    warnings.filterwarnings("ignore", "X does not have valid feature names")
                values = self.raw_predict(_rows(item), with_variance)
            yield item, values

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
        if on_cluster(X):
            found = Partitions.of(X, y, sample_weight).total(_score_sums, self, "score")
            return float(found.score())
        if not is_stream(X):
            values = self.raw_predict(X, False)[0]
            checked = targets.check(y, values.shape[0], beside=values)
            return _scored(targets, checked, targets.decode(values), sample_weight)
        refuse_beside_stream(y=y, sample_weight=sample_weight)
        true: list[Any] = []
        predicted: list[Any] = []
        parts: list[Any] = []
        for item, (values, _) in self._block_values(X, False):
            if not isinstance(item, tuple) or item[1] is None or np.shape(item[1])[-1:] == (0,):
                raise ValueError(
                    "score needs targets: let the stream yield (X, y), for a TableStream with "
                    "target=..."
                )
            true.append(targets.check(item[1], values.shape[0], beside=values))
            predicted.append(targets.decode(values))
            given = item[2] if len(item) == 3 else None
            own = as_weights(given, values.shape[0], beside=predicted[-1])
            parts.append(ones_for_rows(predicted[-1]) if own is None else own)
        return _scored(targets, *map(joined_rows, (true, predicted, parts)))


def _score_sums(machine: Any, block: Block, start: None) -> Any:
    """Return what the score follows from, of a block of a cluster."""
    targets, n_rows = machine.targets_, len(block.X)
    if block.y is None:
        raise ValueError(
            "score needs targets: give y, or blocks (X, y), for rows on a cluster as well."
        )
    checked = targets.check(block.y, n_rows)
    predicted = targets.decode(machine.raw_predict(block.X, False)[0])
    return targets.score_sums(checked, predicted, as_weights(block.weights, n_rows))


def _scored(targets: Any, checked: Any, predicted: Any, sample_weight: Any) -> float:
    """Return the score, computed where the decoded predictions are."""
    weights = as_weights(sample_weight, predicted.shape[0], beside=predicted)
    return float(targets.score(moved(checked, predicted), predicted, weights))


def _rows(item: Any) -> Any:
    """Return the rows of a block, with or without targets."""
    return item[0] if isinstance(item, tuple) else item


class Regression(RegressorMixin, Predicting):
    """A machine that predicts numbers."""

    if not TYPE_CHECKING:
        # scikit-learn's mixin, which comes first, has a score of its own.
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
        if on_cluster(X):
            return answered(self, "predict", X, return_std=return_std)
        values, variances = self._all_values(X, return_std)
        if variances is None:
            return targets.decode(values)
        return targets.decode(values), targets.decode(namespace(variances).sqrt(variances))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class Classification(ClassifierMixin, Predicting):
    """A machine that predicts labels: it knows a number for every class, and how sure these are."""

    if not TYPE_CHECKING:
        # scikit-learn's mixin, which comes first, has a score of its own.
        score = Predicting.score

    @property
    def classes_(self) -> np.ndarray:
        """The labels."""
        return np.asarray(self.targets_.classes)

    def decision_function(self, X: Any) -> Any:
        """Return the predictions of every class; for two classes those of the second.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            The rows.

        Returns
        -------
        decision : array of shape (n_samples,) or (n_samples, n_classes)
        """
        if on_cluster(X):
            return answered(self, "decision_function", X)
        values = self._all_values(X)[0]
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Any:
        """Return the label of every row.

        For rows on a device they are there too, if they are numbers or booleans; strings are
        NumPy arrays.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            The rows.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        if on_cluster(X):
            return answered(self, "predict", X)
        return self.targets_.decode(self._all_values(X)[0])

    def predict_proba(self, X: Any) -> Any:
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
        if on_cluster(X):
            return answered(self, "predict_proba", X)
        found = self.predict_log_proba(X)
        return namespace(found).exp(found)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            The rows.

        Returns
        -------
        log_probabilities : array of shape (n_samples, n_classes)
        """
        if on_cluster(X):
            return answered(self, "predict_log_proba", X)
        values = self.probability_scale_ * every_class(self._all_values(X)[0])
        if not is_foreign(values):
            return np.asarray(log_softmax(values, axis=1))
        xp = namespace(values)
        values = values - xp.max(values, axis=1, keepdims=True)
        return values - xp.log(xp.sum(xp.exp(values), axis=1, keepdims=True))
