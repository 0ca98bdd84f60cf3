"""Labels and probabilities from a decision for every class."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin

from .labels import decided, every_class


class Decisions(ClassifierMixin):
    """A classifier that knows a number for every class, and how sure these are.

    Subclasses have ``classes_``, ``_decisions`` (one column for two classes) and
    ``_calibrated_scale``.
    """

    def decision_function(self, X):
        """Return the predictions of every class; for two classes those of the second.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        decision : array of shape (n_samples,) or (n_samples, n_classes)
        """
        values = self._decisions(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X):
        """Return the label of every row.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        return decided(self.decision_function(X), self.classes_)

    def predict_proba(self, X):
        """Return the calibrated probability of every class.

        It is a softmax of the decisions, with the scale that gives left-out rows, and half a
        row more that is wrong, the greatest likelihood.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X):
        """Return the logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : array of shape (n_samples, n_classes)
        """
        values = every_class(self._decisions(X))
        return log_softmax(self._calibrated_scale() * values, axis=1)
