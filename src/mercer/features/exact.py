"""Exact kernel values as features: what a machine needs to be an exact kernel machine."""

from __future__ import annotations

import numpy as np

from .._array import to_numpy
from .._sklearn import (
    BaseEstimator,
    TransformerMixin,
    check_is_fitted,
    check_rows,
    checked,
    fit_context,
)
from ..kernels import Gaussian, Kernel


class KernelColumns(TransformerMixin, BaseEstimator):
    """The kernel of every row with all rows that it was fitted on, and with itself.

    As ``features`` of :class:`FeatureRidge` it makes an exact kernel machine, whose memory
    grows with the square of the rows: that of a Gaussian process, error bars included.

    Parameters
    ----------
    kernel : Kernel, default=None
        The kernel; ``None`` means ``Gaussian("median")``.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, its lengthscale a number.
    rows_ : array of shape (n_samples, n_features)
        The rows that it was fitted on, in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FeatureRidge, Gaussian
    >>> from mercer.features import KernelColumns
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = FeatureRidge(KernelColumns(Gaussian(1.0)), alpha=1e-6).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[2.0]]) - np.sin(2.0)) < 1e-4)
    True
    """

    _parameter_constraints: dict = {"kernel": [Kernel, None]}

    def __init__(self, kernel=None):
        self.kernel = kernel

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Keep the rows of ``X``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.
        y : ignored

        Returns
        -------
        self : KernelColumns
        """
        X = check_rows(X, owner=self, reset=True)
        kernel = checked(Gaussian("median") if self.kernel is None else self.kernel)
        self.kernel_ = kernel.fitted_to(X)
        self.rows_ = to_numpy(X).astype(float)
        return self

    def transform(self, X):
        """Return k(x, x_j) for all rows that were kept, and k(x, x) in the last column.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        K : array of shape (n_samples, n_rows + 1)
        """
        check_is_fitted(self)
        X = to_numpy(check_rows(X, owner=self)).astype(float)
        return np.column_stack([self.kernel_(X, self.rows_), self.kernel_.diag(X)])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
