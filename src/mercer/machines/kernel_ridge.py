"""Ridge regression and classification with an exact kernel: that of a Gaussian process."""

from __future__ import annotations

from typing import Any, Self

from .._registry import storable
from .._sklearn import StrOptions, fit_context
from ..kernels import Kernel
from .exact_machine import CONSTRAINTS, ExactKernelMachine
from .solved import SolvedClassification, SolvedRegression
from .targets import LabelTargets, NumberTargets
from .tasks import Classification, Regression


@storable
class KernelRidge(Regression, SolvedRegression, ExactKernelMachine):
    r"""Ridge regression with an exact kernel, with error bars and exact leave-one-out.

    Minimises :math:`\|y - f - b\|^2 + \alpha \|f\|_k^2`, so that
    :math:`f(x) = \sum_i \beta_i k(x, x_i)` with :math:`(K + \alpha) \beta = y - b`: the posterior
    mean of a Gaussian process with kernel :math:`\sigma^2 k / \alpha` and noise
    :math:`\sigma^2`. Memory and time of an iteration grow with the square of the rows.

    Parameters
    ----------
    kernel : Kernel, default=None
        The kernel; ``None`` means ``Gaussian("median")``.
    alpha : float, array of floats or None, default=None
        The ridge parameter, candidates for it, or ``None`` for 31 candidates about the mean
        eigenvalue of the kernel matrix.
    selection : {"loo", "gcv"}, default="loo"
        How to choose among candidates: exact leave-one-out or generalised cross-validation.
    per_target : bool, default=False
        Choose ``alpha`` for every target by itself.
    fit_intercept : bool, default=True
        Fit a constant, which is not penalised.
    solver : {"auto", "direct", "iterative"}, default="auto"
        ``"direct"`` decomposes the kernel matrix; ``"iterative"`` runs preconditioned conjugate
        gradients on float32 tiles until the error on a tenth of the rows, held out, no longer
        falls, and then with all rows; ``"auto"`` does so above 8,000 rows.
    n_centres : int or None, default=None
        So many rows, drawn at random, are the centres of the kernel functions, instead of all;
        for more rows than time and memory allow. Takes the iterative solver.
    tol : float or None, default=None
        The relative residual to which the iterative solver goes on, whatever the held-out error
        says; below 1e-7 it computes in float64 throughout.
    time_limit : float or None, default=None
        Seconds after which the iterative solver starts no further iteration.
    random_state : int, RandomState, Generator or None, default=0
        Draws held-out rows, centres and the landmarks of the preconditioner.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its fitted lengthscale.
    rows_ : array of shape (n_rows, n_features)
        The centres: the training rows with positive weight, or some of them, in float64.
    coef_ : array of shape (n_rows,) or (n_targets, n_rows)
        The coefficients of their kernel functions.
    intercept_ : float or array of shape (n_targets,)
        The constant.
    alpha_ : float or array of shape (n_targets,)
        The ridge parameter that was chosen.
    noise_variance_ : array of shape (n_targets,)
        The estimated variance of the noise.
    solution_ : Solution
        What the solver did: scores of all candidates, degrees of freedom, condition.

    See Also
    --------
    FeatureRidge : The same on features, for many rows.
    KernelRegressor : Chooses kernel and method by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelRidge
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(0, 6, (200, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * generator.standard_normal(200)
    >>> model = KernelRidge(Gaussian(1.0)).fit(X, y)
    >>> mean, std = model.predict([[2.0]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(2.0)) < 0.1), bool(abs(std[0] - 0.1) < 0.02)
    (True, True)
    """

    _parameter_constraints = CONSTRAINTS

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            Rows; or blocks ``(X, y)`` or ``(X, y, sample_weight)``, which are put together.
            Kernels of images take a batch of images, too.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Targets; ``None`` for a stream.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights: a row of weight two counts as two rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _new_targets(self) -> NumberTargets:
        return NumberTargets()

    def _loss(self, targets: Any, centres: bool) -> str:
        return "squared"


@storable
class KernelRidgeClassifier(Classification, SolvedClassification, ExactKernelMachine):
    r"""Ridge classification with an exact kernel, with calibrated probabilities.

    One target for each class, +1 for its rows and -1 for the others (a single one for two
    classes), fitted as :class:`KernelRidge` does. The scale of the softmax that gives
    probabilities is fitted to the exact leave-one-out predictions of all rows.

    Parameters
    ----------
    kernel : Kernel, default=None
        The kernel; ``None`` means ``Gaussian("median")``.
    loss : {"squared", "logistic", "auto"}, default="squared"
        ``"logistic"`` minimises :math:`\sum_i \log(1 + e^{-y_i f(x_i)}) + \tfrac{\alpha}{2}
        \|f - b\|_k^2` for two classes by Newton steps, which begin with the fit of the squares;
        ``"auto"`` keeps the one with the smaller log loss on held-out rows, and squares with more
        classes or with ``n_centres``.
    alpha : float, array of floats or None, default=None
        The ridge parameter, candidates for it, or ``None`` for 31 candidates. With ``"auto"`` it
        is that of squares; the logistic loss tries 1, 0.32, 0.1 and 0.03 times as much.
    selection : {"loo", "gcv"}, default="loo"
        How to choose among candidates, as in :class:`KernelRidge`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; ``"balanced"`` gives every class the same total weight.
    per_target : bool, default=False
        Choose ``alpha`` for every class by itself.
    fit_intercept : bool, default=True
        Fit a constant for each class, which is not penalised.
    solver, n_centres, tol, time_limit, random_state
        As in :class:`KernelRidge`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    loss_ : {"squared", "logistic"}
        The loss whose decision function was taken; ``solver_report_`` says by how much.
    kernel_, rows_, alpha_, solution_
        As in :class:`KernelRidge`; scores of a logistic loss are log losses.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelRidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelRidgeClassifier().fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    _parameter_constraints = {
        **CONSTRAINTS,
        "loss": [StrOptions({"squared", "logistic", "auto"})],
        "class_weight": [dict, str, None],
    }

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        loss: str = "squared",
        alpha: Any = None,
        selection: str = "loo",
        class_weight: Any = None,
        per_target: bool = False,
        fit_intercept: bool = True,
        solver: str = "auto",
        n_centres: int | None = None,
        tol: float | None = None,
        time_limit: float | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            kernel,
            alpha=alpha,
            selection=selection,
            per_target=per_target,
            fit_intercept=fit_intercept,
            solver=solver,
            n_centres=n_centres,
            tol=tol,
            time_limit=time_limit,
            random_state=random_state,
        )
        self.loss = loss
        self.class_weight = class_weight

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            Rows; or blocks ``(X, y)`` or ``(X, y, sample_weight)``, which are put together.
            Kernels of images take a batch of images, too.
        y : array of shape (n_samples,)
            Labels; ``None`` for a stream.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights: a row of weight two counts as two rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    @property
    def loss_(self) -> str:
        """The loss that was taken: ``"squared"`` or ``"logistic"``."""
        return str(self._fitted().loss)

    def _new_targets(self) -> LabelTargets:
        return LabelTargets(class_weight=self.class_weight, way_out="give rows of all classes")

    def _loss(self, targets: LabelTargets, centres: bool) -> str:
        able = targets.n_columns == 1 and not centres
        if self.loss == "logistic" and not able:
            got = f"n_centres={self.n_centres}" if centres else f"{len(targets.classes)} classes"
            raise ValueError(
                f"loss='logistic' needs two classes and all rows as centres, got {got}; use "
                "loss='auto' or loss='squared'."
            )
        return self.loss if able else "squared"
