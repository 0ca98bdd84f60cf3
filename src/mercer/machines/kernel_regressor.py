"""The front door to regression: data in, everything else chosen and reported."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from .._sklearn import check_targets, fit_context
from .kernel_machine import CONSTRAINTS, KernelMachine
from .regressor import FeatureRidge


class KernelRegressor(RegressorMixin, KernelMachine):
    """Kernel regression that makes its own choices and says what they were.

    It encodes the columns (see :class:`TableEncoder`), compares kernels and lengthscales on a
    sample of the rows, takes the exact kernel for few rows and random features for many,
    chooses the ridge parameter by cross-validation, and keeps a report of all that, with the
    score to expect on new rows and that of a linear model.

    Parameters
    ----------
    kernel : Kernel, str or None, default=None
        A kernel, the name of one whose lengthscale is then found from data (``"gaussian"``,
        ``"laplace"``, ``"matern"``, ``"arccosine"``, ``"nngp"``, ``"ntk"``), or ``None`` for
        the best of the Gaussian, Laplace and Matérn kernels.
    n_components : int or "auto", default="auto"
        The number of features; ``"auto"`` goes by the rows and the memory budget.
    approximation : {"auto", "exact", "features"}, default="auto"
        ``"auto"`` is exact for up to 2,000 rows and for kernels without a feature map.
    alpha : float, array of floats or None, default=None
        The ridge parameter, candidates for it, or ``None`` for 31 candidates.
    encoder : transformer or None, default=None
        What turns the table into numbers, block by block; ``None`` means a
        :class:`TableEncoder` whose scaling is chosen with the kernel.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the features: the same data gives the same model.

    Attributes
    ----------
    report_ : FitReport
        What was chosen, why, and what to expect.
    kernel_ : Kernel
        The kernel.
    target_name_ : str or None
        The name of the target, where the data had one.
    encoder_ : TableEncoder
        The fitted encoder.
    machine_ : FeatureRidge
        The fitted machine on encoded rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import KernelRegressor
    >>> sizes = [n / 50 for n in range(200)]
    >>> frame = pd.DataFrame({"size": sizes, "colour": ["red", "blue"] * 100})
    >>> price = [s * s if c == "red" else 5 - s for s, c in frame.itertuples(index=False)]
    >>> model = KernelRegressor().fit(frame, price)
    >>> model.predict(pd.DataFrame({"size": [2.0], "colour": ["blue"]})).round(1)
    array([3.])
    >>> model.report_.method, bool(model.report_.score > 0.99)
    ('exact', True)
    """

    _parameter_constraints = CONSTRAINTS
    _task = "regression"

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Learn from all rows.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features), or a stream
            Rows with numbers, categories, dates and missing entries; or blocks ``(X, y)`` or
            ``(X, y, sample_weight)``: a list, a :class:`~mercer.io.TableStream`, an iterator.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Targets; ``None`` for a stream.
        sample_weight : array of shape (n_samples,), default=None
            How many times each row counts.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def predict(self, X, return_std=False):
        """Return predictions, and how sure they are.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Also return the standard deviation of a new observation.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_targets)
        std : array of the same shape, only with ``return_std``
        """
        return self._by_blocks(lambda rows: self.machine_.predict(rows, return_std=return_std), X)

    def _machine(self, **parameters):
        return FeatureRidge(**parameters)

    def _check_y(self, y, n_rows):
        return check_targets(y, n_rows)

    def _see_targets(self, y):
        columns = 1 if y.ndim == 1 else y.shape[1]
        if getattr(self, "_n_targets", columns) != columns:
            raise ValueError(f"y has {columns} columns, but earlier blocks had {self._n_targets}.")
        self._n_targets = columns

    def _comparable(self, y):
        return super()._comparable(y) and bool(np.ptp(y, axis=0).any())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
