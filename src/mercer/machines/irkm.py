"""Iteratively reweighted kernel machines: a weight for every column."""

from __future__ import annotations

from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_feature_names_in

from .._sklearn import check_is_fitted
from .feature_learner import FeatureLearner
from .learner_targets import ClassLearner, Numbers
from .weights import ColumnWeights


class _Columns:
    """What learnt weights of columns tell."""

    _weights_class: type = ColumnWeights

    @property
    def weights_(self):
        """The weights of the columns."""
        return self._weights.value

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns: each is multiplied by a number.

        Parameters
        ----------
        input_features : array of str or None, default=None
            Names, if they were not known in ``fit``.

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self, "history_")
        return _check_feature_names_in(self, input_features)


class IRKMRegressor(_Columns, Numbers, RegressorMixin, FeatureLearner):
    r"""Kernel regression that learns a weight for every column.

    The kernel is :math:`k(\sqrt w \circ x, \sqrt w \circ y)`. After every fit the weights
    become a mix of the mean squared gradients of the fitted function and of the derivatives
    :math:`\beta^\top (\partial K / \partial w_j) \beta`, by which the norm of the fit would
    fall [1]_. Columns that interact but have no effect of their own are found by the latter
    with few rows.

    Parameters
    ----------
    kernel : Kernel, default=None
        :class:`~mercer.Laplace`, :class:`~mercer.Gaussian`, :class:`~mercer.Matern`,
        :class:`~mercer.Exponential`, :class:`~mercer.Polynomial`, :class:`~mercer.NTK` or
        another kernel whose derivatives are known; ``None`` is a Laplace kernel as wide as
        the rows are long, √d for standardised columns.
    alpha : float, default=0.5
        The share of the derivatives; 0 uses the gradients only.
    safeguard : float, default=3e-3
        What all columns share before anything is known of them; it keeps those that had no
        weight in the race.
    n_iterations : int or None, default=None
        How often weights are updated, at most; ``None`` means 10.
    ridge : float or "loo", default="loo"
        The ridge parameter that is added to the kernel matrix, or leave-one-out (generalised
        cross-validation for many rows) chooses one.
    negative : {"clip", "shift"}, default="clip"
        What becomes of negative derivatives: zero, or all are moved up by the smallest.
    solver : {"auto", "exact", "features", "nystrom"}, default="auto"
        The kernel matrix of all rows; random Fourier features of a Gaussian kernel; or the
        kernel functions of some rows. ``"auto"`` is exact for up to 5,000 rows, then features
        for the Gaussian kernel and Nyström for others.
    n_components : int, default=2048
        Features, or landmarks.
    fresh : bool, default=False
        Learn every iteration from rows of its own: X is then an object with a method
        ``sample(n, random_state)``, a function like it, blocks of rows, or rows to be cut.
    batch_size : int or None, default=None
        Rows of an iteration with ``fresh=True``; needed for a sampler.
    patience : int or None, default=5
        Stop after so many iterations without a smaller left-out error; ``None``: never.
    validation_fraction : float, "auto" or None, default="auto"
        The share of the rows that is kept aside to choose the best iteration: their errors take
        the place of left-out errors, which are too small where much is learnt from few rows.
        In the end the function is learnt from all rows. Takes a third pass over a stream.
        ``"auto"`` is 0.2 for a matrix, if there are 50 rows, and ``None`` for weights of
        columns, whose left-out errors deceive little.
    standardize : bool, default=True
        Bring columns to mean 0 and spread 1 first.
    warm_start : bool, default=False
        Begin with the weights of the last ``fit``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of random features, of landmarks, of fresh rows, and of rows kept aside.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        The weights of the best iteration; their sum is the number of columns.
    feature_importances_ : array of shape (n_features,)
        The same as shares.
    history_ : list of dict
        Error, ridge parameter and importances of every iteration.
    n_iter_ : int
        How often the weights were updated.
    best_iteration_ : int
        The iteration whose left-out error is smallest: that machine is kept.
    left_out_error_ : float
        Its left-out squared error over the variance of the targets (of rows kept aside, with
        ``validation_fraction``).
    validation_fraction_ : float or None
        The share of the rows that was kept aside.
    ridge_ : float
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
    >>> [int(k) for k in sorted(np.argsort(model.weights_)[-3:])]
    [4, 7, 9]
    """


class IRKMClassifier(_Columns, ClassLearner):
    """Kernel classification that learns a weight for every column.

    Squared loss on codes of the classes; everything else as in :class:`IRKMRegressor`.

    Parameters
    ----------
    kernel, alpha, safeguard, n_iterations, ridge, negative, solver, n_components, fresh, \
batch_size, patience, validation_fraction, standardize, warm_start, random_state
        As in :class:`IRKMRegressor`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    weights_ : array of shape (n_features,)
        The weights of the best iteration.
    feature_importances_ : array of shape (n_features,)
        The same as shares.
    history_ : list of dict
        Error, ridge parameter and importances of every iteration.
    n_iter_, best_iteration_, left_out_error_, validation_fraction_, ridge_, solver_, \
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
