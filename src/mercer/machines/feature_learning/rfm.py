"""Recursive feature machines: a matrix in the distance, that finds directions."""

from __future__ import annotations

import numpy as np

from ..._registry import storable
from ..targets import NumberTargets
from ..tasks import Regression
from .base import FeatureLearner
from .classifier import LearningClassifier
from .state import LearntAttributes
from .weights import Metric


class _Directions(LearntAttributes):
    """What a learnt matrix tells."""

    _iterations: int = 20
    _share: float | None = 0.2

    @property
    def metric_(self) -> np.ndarray:
        """The matrix of the distance."""
        return self._fitted().weights.value

    @property
    def components_(self) -> np.ndarray:
        """The directions that matter, as rows, the most important first."""
        return np.asarray(np.linalg.eigh(self.metric_)[1].T[::-1])

    def _equal_weights(self, n_features: int) -> Metric:
        return Metric.equal(n_features)


@storable
class RFMRegressor(_Directions, Regression, FeatureLearner):
    r"""Kernel regression that learns which directions matter.

    The kernel is :math:`k(M^{1/2} x, M^{1/2} y)`. After every fit the matrix M becomes a mix
    of the average outer product of the gradients [1]_ and of the derivative of the norm of
    the fit by M, its negative part cut off.

    Parameters
    ----------
    kernel
        As in :class:`IRKMRegressor`; kernels that depend on the choice of axes
        (:class:`~mercer.ProductLaplace`, :class:`~mercer.OnColumns`) have no matrix.
    mixing, safeguard, alpha, negative, solver, n_components, fresh, batch_size
        As in :class:`IRKMRegressor`.
    patience, validation_fraction, standardize, warm_start, verbose, random_state
        As in :class:`IRKMRegressor`.
    n_iterations : int or None, default=None
        How often the matrix is updated, at most; ``None`` means 20.

    Attributes
    ----------
    metric_ : array of shape (n_features, n_features)
        The matrix M of the best iteration; its trace is the number of columns.
    components_ : array of shape (n_features, n_features)
        Its eigenvectors as rows, that of the largest eigenvalue first.
    feature_importances_ : array of shape (n_features,)
        Shares of the columns in the trace.
    history_ : list of dict
        Error, ridge parameter and importances of every iteration.
    n_iter_, best_iteration_, left_out_error_, validation_fraction_, alpha_
        As in :class:`IRKMRegressor`.
    solver_, solver_reason_, kernel_, report_
        As in :class:`IRKMRegressor`.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin, "Mechanism for feature
       learning in neural networks and backpropagation-free machine learning models",
       Science 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RFMRegressor
    >>> X = np.random.default_rng(0).standard_normal((400, 10))
    >>> direction = np.ones(10) / 10**0.5
    >>> model = RFMRegressor(random_state=0).fit(X, np.sin(2 * X @ direction))
    >>> bool(abs(model.components_[0] @ direction) > 0.95)
    True
    """

    def _new_targets(self) -> NumberTargets:
        return NumberTargets()


@storable
class RFMClassifier(_Directions, LearningClassifier):
    """Kernel classification that learns which directions matter.

    Squared loss on codes of the classes; everything else as in :class:`RFMRegressor`.

    Parameters
    ----------
    kernel, mixing, safeguard, n_iterations, alpha, negative, solver, n_components, fresh, \
batch_size, patience, validation_fraction, standardize, warm_start, verbose, random_state
        As in :class:`RFMRegressor`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    metric_, components_, feature_importances_, history_, n_iter_, best_iteration_, \
left_out_error_, validation_fraction_, alpha_, solver_, solver_reason_, kernel_, report_
        As in :class:`RFMRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RFMClassifier
    >>> X = np.random.default_rng(0).standard_normal((300, 6))
    >>> y = abs(X[:, 0] + X[:, 1]) > 1
    >>> bool(RFMClassifier(random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """
