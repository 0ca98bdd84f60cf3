"""Ridge regression and classification on features, in one pass over the rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._registry import storable
from .._sklearn import fit_context
from .base import CONSTRAINTS, RidgeMachine
from .solved import SolvedClassification, SolvedRegression
from .targets import LabelTargets, NumberTargets
from .tasks import Classification, Regression


@storable
class FeatureRidge(Regression, SolvedRegression, RidgeMachine):
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
    tolerance : float, default=0.01
        For features with ``n_components="auto"``: they double until further doublings promise to
        raise the held-out R² by less than this, all together.

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
    growth_ : GrowthPath
        How features with ``n_components="auto"`` grew: sizes and held-out scores.

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
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from all rows, forgetting what was learnt before.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            Rows, or an iterator of blocks ``(X, y)`` or ``(X, y, sample_weight)``.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Targets; ``None`` for a stream.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights: a row of weight two counts as two rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from one more block of rows; the order of blocks does not matter.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The block.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Its targets.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights: a row of weight two counts as two rows.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight)

    def _new_targets(self, classes: Any = None) -> NumberTargets:
        return NumberTargets()


@storable
class FeatureRidgeClassifier(Classification, SolvedClassification, RidgeMachine):
    r"""Ridge classification on features, exact, in one pass over the rows.

    One target for each class, +1 for its rows and -1 for the others (a single one for two
    classes), fitted as :class:`FeatureRidge` does; the class of the largest prediction wins.

    Probabilities are calibrated: a sample of at most 2,000 training rows is kept, their exact
    leave-one-out predictions follow from the same sums, and the scale of the softmax of the
    predictions is fitted to them by maximum likelihood.

    Parameters
    ----------
    features : transformer or None, default=None
        A feature map, a pipeline of transformers, or ``None`` for the columns as they are.
    alpha : float, array of floats or None, default=None
        The ridge parameter, candidates for it, or ``None`` for 31 candidates about the mean
        eigenvalue of the features.
    selection : "gcv", "loo" or int, default="gcv"
        How to choose among candidates, as in :class:`FeatureRidge`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; ``"balanced"`` gives every class the same total weight, and
        needs all labels at once (``fit`` on rows, not on a stream).
    per_target : bool, default=False
        Choose ``alpha`` for every class by itself.
    fit_intercept : bool, default=True
        Fit a constant for each class, which is not penalised.
    tolerance : float, default=0.01
        For features with ``n_components="auto"``: they double until further doublings promise to
        raise the held-out R² by less than this, all together.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    alpha_ : float or array of shape (n_targets,)
        The ridge parameter that was chosen.
    solution_ : Solution
        What the solver did.
    features_ : transformer or None
        The fitted features.
    growth_ : GrowthPath
        How features with ``n_components="auto"`` grew: sizes and held-out scores.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import FeatureRidgeClassifier, Gaussian, RandomFourier
    >>> X, y = load_digits(return_X_y=True)
    >>> features = RandomFourier(Gaussian("median"), n_components=400, random_state=0)
    >>> model = FeatureRidgeClassifier(features).fit(X[:1200], y[:1200])
    >>> bool(model.score(X[1200:], y[1200:]) > 0.94)
    True
    >>> model.predict_proba(X[:2]).shape
    (2, 10)
    """

    _parameter_constraints = {**CONSTRAINTS, "class_weight": [dict, str, None]}

    def __init__(
        self,
        features: Any = None,
        *,
        alpha: Any = None,
        selection: Any = "gcv",
        class_weight: Any = None,
        per_target: bool = False,
        fit_intercept: bool = True,
        tolerance: float = 0.01,
    ) -> None:
        super().__init__(
            features,
            alpha=alpha,
            selection=selection,
            per_target=per_target,
            fit_intercept=fit_intercept,
            tolerance=tolerance,
        )
        self.class_weight = class_weight

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn from all rows, forgetting what was learnt before.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            Rows, or an iterator of blocks ``(X, y)`` or ``(X, y, sample_weight)``.
        y : array of shape (n_samples,)
            Labels; ``None`` for a stream.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights: a row of weight two counts as two rows.
        classes : array of shape (n_classes,), default=None
            All labels there are; needed for a stream whose first block lacks some.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, classes)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more block of rows; the order of blocks does not matter.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The block.
        y : array of shape (n_samples,)
            Its labels.
        classes : array of shape (n_classes,), default=None
            All labels there are; needed in the first call if its block lacks some.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights: a row of weight two counts as two rows.

        Returns
        -------
        self
        """
        if self._state is not None and classes is not None:
            known = self.classes_
            if not np.array_equal(np.unique(np.asarray(classes)), known):
                raise ValueError(
                    f"classes={list(classes)!r} differ from those of the first call, "
                    f"{known.tolist()!r}."
                )
        return self._partial_fit(X, y, sample_weight, classes)

    def _new_targets(self, classes: Any = None) -> LabelTargets:
        return LabelTargets(classes, self.class_weight)
