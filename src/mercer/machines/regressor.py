"""Ridge regression on features."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from .._sklearn import check_is_fitted, check_targets, fit_context
from .base import CONSTRAINTS, RidgeMachine


class FeatureRidge(RegressorMixin, RidgeMachine):
    r"""Ridge regression on features, exact, in one pass over the rows.

    Minimises :math:`\|y - Z\theta - b\|^2 + \alpha \|\theta\|^2` from sums that are gathered
    block by block: memory does not grow with the rows, blocks may come in any order, and the
    sums of two machines can be added. The ridge parameter is chosen from the same pass, by
    generalised cross-validation or by exact cross-validation.

    Parameters
    ----------
    features : transformer or None, default=None
        A feature map, a pipeline of transformers, or ``None`` for the columns as they are.
    alpha : float, array of floats or None, default=None
        The ridge parameter, candidates for it, or ``None`` for 31 candidates about the mean
        eigenvalue of the features.
    selection : "gcv", "loo" or int, default="gcv"
        How to choose among candidates: generalised cross-validation; exact leave-one-out,
        which sees the rows twice; or, for a number of folds, exact cross-validation from
        sums that are kept fold by fold (a row's fold is drawn from its position).
    per_target : bool, default=False
        Choose ``alpha`` for every target by itself.
    fit_intercept : bool, default=True
        Fit a constant, which is not penalised.

    Attributes
    ----------
    coef_ : array of shape (n_components,) or (n_targets, n_components)
        The coefficients of the features.
    intercept_ : float or array of shape (n_targets,)
        The constant.
    alpha_ : float or array of shape (n_targets,)
        The ridge parameter that was chosen.
    noise_variance_ : array of shape (n_targets,)
        The estimated variance of the noise.
    solution_ : Solution
        What the solver did: method, scores of all candidates, degrees of freedom, condition.
    features_ : transformer or None
        The fitted features.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FeatureRidge, Gaussian, RandomFourier
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-3, 3, (2000, 2))
    >>> y = np.sin(X[:, 0]) * X[:, 1] + 0.1 * generator.standard_normal(2000)
    >>> features = RandomFourier(Gaussian("median"), n_components=200, random_state=0)
    >>> model = FeatureRidge(features).fit(X, y)
    >>> bool(model.score(X, y) > 0.99)
    True
    >>> mean, std = model.predict(X[:3], return_std=True)
    >>> bool((abs(std - 0.1) < 0.01).all())
    True
    """

    _parameter_constraints = CONSTRAINTS

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Learn from all rows, forgetting what was learnt before.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            Rows, or an iterator of blocks ``(X, y)`` or ``(X, y, sample_weight)``.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Targets; ``None`` for a stream.
        sample_weight : array of shape (n_samples,), default=None
            How many times each row counts.

        Returns
        -------
        self
        """
        return self._fit_anew(X, y, sample_weight)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, sample_weight=None):
        """Learn from one more block of rows; the order of blocks does not matter.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The block.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Its targets.
        sample_weight : array of shape (n_samples,), default=None
            How many times each row counts.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight)

    def predict(self, X, return_std=False):
        """Return predictions, and how sure they are.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Also return the standard deviation of a new observation in the Bayesian linear
            model: noise and uncertainty of the coefficients together.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_targets)
        std : array of the same shape, only with ``return_std``
        """
        check_is_fitted(self)
        values, variances = self._predictions(X, with_variance=return_std)
        shape = (-1,) if self._one_target else values.shape
        if not return_std:
            return values.reshape(shape)
        return values.reshape(shape), np.sqrt(variances).reshape(shape)

    def _encode(self, y, n_rows, first):
        Y = check_targets(y, n_rows)
        if first:
            self._one_target = Y.ndim == 1
            self._n_targets = 1 if Y.ndim == 1 else Y.shape[1]
        Y = Y[:, None] if Y.ndim == 1 else Y
        if Y.shape[1] != self._n_targets:
            raise ValueError(
                f"y has {Y.shape[1]} columns, but earlier blocks had {self._n_targets}."
            )
        return Y

    def _n_outputs(self):
        return self._n_targets

    _score_name = "R2"

    def _expected_score(self):
        """Return the R² to expect on new rows."""
        return 1 - self._expected_error()

    def _score_reason(self):
        names = {"cv": "cross-validation", "loo": "leave-one-out"}
        return names.get(self.solution_.criterion, "generalised cross-validation")

    def _finish(self, solution):
        super()._finish(solution)
        self.coef_ = solution.coef[:, 0] if self._one_target else solution.coef.T
        self.intercept_ = float(solution.intercept[0]) if self._one_target else solution.intercept
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags
