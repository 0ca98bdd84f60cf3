"""Iteratively reweighted kernel machines: a weight for every column."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._registry import storable
from ..._sklearn import check_feature_names_in
from ..targets import NumberTargets
from ..tasks import Regression
from .base import FeatureLearner
from .classifier import LearningClassifier
from .state import LearntAttributes
from .weights import ColumnWeights


class _Columns(LearntAttributes):
    """What learnt weights of columns tell."""

    @property
    def column_weights_(self) -> np.ndarray:
        """The weights of the columns."""
        return self._fitted().weights.value

    def _equal_weights(self, n_features: int) -> ColumnWeights:
        return ColumnWeights.equal(n_features)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns: each is multiplied by a number.

        Parameters
        ----------
        input_features : array of str or None, default=None
            Names, if they were not known in ``fit``.

        Returns
        -------
        names : array of str
        """
        self._fitted()
        return check_feature_names_in(self, input_features)


@storable
class IRKMRegressor(_Columns, Regression, FeatureLearner):
    r"""Kernel regression that learns a weight for every column.

    The kernel is :math:`k(\sqrt w \circ x, \sqrt w \circ y)`. After every fit the weights
    become a mix of the mean squared gradients of the fitted function and of the derivatives
    :math:`\beta^\top (\partial K / \partial w_j) \beta`, by which the norm of the fit would
    fall [1]_. Columns that interact but have no effect of their own are found by the latter
    with few rows.

    Parameters
    ----------
    kernel : Kernel, default=None
        :class:`~mercer.Laplace`, :class:`~mercer.ProductLaplace`,
        :class:`~mercer.PoweredExponential`, :class:`~mercer.Gaussian`,
        :class:`~mercer.Matern`, :class:`~mercer.Exponential`, :class:`~mercer.Polynomial`,
        :class:`~mercer.NTK` or another kernel whose derivatives are known, or a sum of such
        kernels :class:`~mercer.OnColumns`; ``None`` is a Laplace kernel whose lengthscale is
        the typical norm of a row, √d for standardised columns.
    mixing : float, default=0.5
        The share of the derivatives, alpha in [1]_; 0 uses the gradients only.
    safeguard : float, default=3e-3
        Added to every column in each update, over the number of columns, so that a column
        whose weight is 0 can recover.
    n_iterations : int or None, default=None
        How often weights are updated, at most; ``None`` means 10.
    alpha : float, array of floats or None, default=None
        The ridge parameter that is added to the kernel matrix, candidates for it, or ``None``
        for seven candidates; leave-one-out (generalised cross-validation for many rows) chooses.
    negative : {"clip", "shift"}, default="clip"
        What becomes of negative derivatives: they are set to zero, or all are shifted so that
        the smallest is zero.
    solver : {"auto", "exact", "iterative", "features", "nystrom"}, default="auto"
        The kernel matrix of all rows, decomposed or by conjugate gradients; random Fourier
        features of a Gaussian kernel; or the kernel functions of some rows. ``"auto"`` is exact
        for up to about 3,400 rows, iterative up to 20,000 where memory allows half of the float32
        kernel matrix, then features for the Gaussian kernel and Nyström for others.
    n_components : int, default=2048
        Features, or landmarks.
    fresh : bool, default=False
        Use new rows in every iteration: X is then an object with a method
        ``sample(n, random_state)``, such a function, blocks of rows, or an array that is split
        into batches.
    batch_size : int or None, default=None
        Rows of an iteration with ``fresh=True``; needed for a sampler.
    patience : int or None, default=5
        Stop after so many iterations without a smaller error; ``None``: never.
    validation_fraction : float, "auto" or None, default="auto"
        The share of the rows that is held out to choose the best iteration: their errors take
        the place of leave-one-out errors, which are too small where much is learnt from few
        rows. In the end the function is learnt from all rows. Takes a third pass over a stream.
        ``"auto"`` is 0.2 for a matrix, if there are 50 rows, and ``None`` for weights of
        columns, whose leave-one-out errors are nearly unbiased.
    standardize : bool, default=True
        Bring columns to mean 0 and standard deviation 1 first.
    warm_start : bool, default=False
        Begin with the weights of the last ``fit``.
    verbose : int, default=0
        ``1`` prints a line for each stage of a fit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of random features, of landmarks, of fresh rows, and of held-out rows.

    Attributes
    ----------
    column_weights_ : array of shape (n_features,)
        The weights of the best iteration; their sum is the number of columns.
    feature_importances_ : array of shape (n_features,)
        The weights divided by their sum.
    history_ : list of dict
        Error, ridge parameter and importances of every iteration.
    n_iter_ : int
        How often the weights were updated.
    best_iteration_ : int
        The iteration whose error is smallest: that machine is kept.
    left_out_error_ : float
        Its leave-one-out squared error over the variance of the targets (that of held-out rows,
        with ``validation_fraction``).
    validation_fraction_ : float or None
        The share of the rows that was held out.
    alpha_ : float
        Its ridge parameter.
    solver_, solver_reason_ : str
        How it was solved, and why so.
    kernel_ : Kernel
        The kernel of reweighted rows.
    report_ : LearnerReport
        What was chosen and why, what was learnt, and how good it is, in words: print it.

    References
    ----------
    .. [1] L. Zhu, D. Davis, D. Drusvyatskiy and M. Fazel, "Iteratively reweighted kernel
       machines efficiently learn sparse functions", 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import IRKMRegressor
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (300, 30))
    >>> y = X[:, 4] + X[:, 4] * X[:, 7] * X[:, 9]
    >>> model = IRKMRegressor(random_state=0).fit(X, y)
    >>> [int(k) for k in sorted(np.argsort(model.column_weights_)[-3:])]
    [4, 7, 9]
    """

    def _new_targets(self) -> NumberTargets:
        return NumberTargets()


@storable
class IRKMClassifier(_Columns, LearningClassifier):
    """Kernel classification that learns a weight for every column.

    Squared loss on codes of the classes; everything else as in :class:`IRKMRegressor`.

    Parameters
    ----------
    kernel, mixing, safeguard, n_iterations, alpha, negative, solver, n_components, fresh, \
batch_size, patience, validation_fraction, standardize, warm_start, verbose, random_state
        As in :class:`IRKMRegressor`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    column_weights_ : array of shape (n_features,)
        The weights of the best iteration.
    feature_importances_ : array of shape (n_features,)
        The weights divided by their sum.
    history_ : list of dict
        Error, ridge parameter and importances of every iteration.
    n_iter_, best_iteration_, left_out_error_, validation_fraction_, alpha_, solver_, \
solver_reason_, kernel_, report_
        As in :class:`IRKMRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import IRKMClassifier
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (300, 20))
    >>> y = np.where(X[:, 2] * X[:, 5] > 0, "same", "other")
    >>> model = IRKMClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y)
    1.0
    """
