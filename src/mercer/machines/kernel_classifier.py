"""The front door to classification: data in, everything else chosen and reported."""

from __future__ import annotations

from collections import Counter

import numpy as np
from sklearn.base import ClassifierMixin

from .._sklearn import check_labels, fit_context
from .classifier import FeatureRidgeClassifier
from .kernel_machine import CONSTRAINTS, KernelMachine


class KernelClassifier(ClassifierMixin, KernelMachine):
    """Kernel classification that makes its own choices and says what they were.

    As :class:`KernelRegressor`, with a :class:`FeatureRidgeClassifier` inside: labels of any
    kind, two classes or more, calibrated probabilities.

    Parameters
    ----------
    kernel : Kernel, str or None, default=None
        A kernel, the name of one whose lengthscale is then found from data, or ``None`` for
        the best of the Gaussian, Laplace and Matérn kernels.
    n_components : int or "auto", default="auto"
        The number of features; ``"auto"`` goes by the rows and the memory budget.
    approximation : {"auto", "exact", "features"}, default="auto"
        ``"auto"`` is exact for up to 2,000 rows and for kernels without a feature map.
    alpha : float, array of floats or None, default=None
        The ridge parameter, candidates for it, or ``None`` for 31 candidates.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; ``"balanced"`` gives every class the same total weight.
    encoder : transformer or None, default=None
        What turns the table into numbers, block by block; ``None`` means a
        :class:`TableEncoder` whose scaling is chosen with the kernel.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the features: the same data gives the same model.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    report_ : FitReport
        What was chosen, why, and what to expect.
    kernel_ : Kernel
        The kernel.
    target_name_ : str or None
        The name of the target, where the data had one.
    encoder_ : TableEncoder
        The fitted encoder.
    machine_ : FeatureRidgeClassifier
        The fitted machine on encoded rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mercer import KernelClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = KernelClassifier().fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.95)
    True
    >>> model.report_.score_name
    'accuracy'
    """

    _parameter_constraints = {**CONSTRAINTS, "class_weight": [dict, str, None]}
    _task = "classification"

    def __init__(
        self,
        kernel=None,
        *,
        n_components="auto",
        approximation="auto",
        alpha=None,
        class_weight=None,
        encoder=None,
        random_state=0,
    ):
        super().__init__(
            kernel,
            n_components=n_components,
            approximation=approximation,
            alpha=alpha,
            encoder=encoder,
            random_state=random_state,
        )
        self.class_weight = class_weight

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Learn from all rows.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features), or a stream
            Rows with numbers, categories, dates and missing entries; or blocks ``(X, y)`` or
            ``(X, y, sample_weight)``: a list, a :class:`~mercer.io.TableStream`, an iterator.
        y : array of shape (n_samples,)
            Labels; ``None`` for a stream.
        sample_weight : array of shape (n_samples,), default=None
            How many times each row counts.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    @property
    def classes_(self):
        """The labels."""
        return self.machine_.classes_

    def predict(self, X):
        """Return the label of every row.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        return self._by_blocks(lambda rows: self.machine_.predict(rows), X)

    def predict_proba(self, X):
        """Return the calibrated probability of every class.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
        """
        return self._by_blocks(lambda rows: self.machine_.predict_proba(rows), X)

    def predict_log_proba(self, X):
        """Return the logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : array of shape (n_samples, n_classes)
        """
        return self._by_blocks(lambda rows: self.machine_.predict_log_proba(rows), X)

    def decision_function(self, X):
        """Return the predictions of every class; for two classes those of the second.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        decision : array of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._by_blocks(lambda rows: self.machine_.decision_function(rows), X)

    def _machine(self, **parameters):
        machine = FeatureRidgeClassifier(class_weight=self._class_weights(), **parameters)
        machine._start(list(self._label_counts))
        return machine

    def _check_y(self, y, n_rows):
        return check_labels(y, n_rows)

    def _see_targets(self, y):
        if not hasattr(self, "_label_counts"):
            self._label_counts = Counter()
        self._label_counts.update(y.tolist())

    def _class_weights(self):
        """Return the weights of the classes as a dictionary, or ``None``."""
        if self.class_weight is None or isinstance(self.class_weight, dict):
            return self.class_weight
        if self.class_weight != "balanced":
            raise ValueError(
                f"class_weight must be a dict, 'balanced' or None, but {self.class_weight!r} came."
            )
        counts = self._label_counts
        total = sum(counts.values())
        return {label: total / (len(counts) * count) for label, count in counts.items()}

    def _comparable(self, y):
        return super()._comparable(y) and len(np.unique(y)) > 1
