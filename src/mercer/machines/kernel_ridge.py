"""Ridge regression and classification with an exact kernel: that of a Gaussian process."""

from __future__ import annotations

import time
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from .._array import to_numpy
from .._random import seed_of
from .._registry import storable
from .._sklearn import RANDOM_STATE, Interval, StrOptions, check_rows, checked, fit_context
from ..engine.config import matrix_memory
from ..engine.streams import as_weights, is_stream, refuse_beside_stream, stream_names
from ..engine.threads import allowed_threads
from ..kernels import Gaussian, Kernel
from ..solvers import Problem
from ..solvers.cost import exact_memory
from ..solvers.row_systems import IterativeOptions
from .estimator import ALPHA, adopt, checked_alpha
from .kernel_state import UNSOLVED, KernelState, gathered_rows
from .solved import SolvedClassification, SolvedMachine, SolvedRegression
from .targets import LabelTargets, NumberTargets, Targets
from .tasks import Classification, Regression

#: Rows up to which the kernel matrix is decomposed by default.
DIRECT_ROWS = 8000
#: The same where conjugate gradients cannot solve the system.
MOST_DIRECT_ROWS = 16_000
#: Rows that the iterative solver needs.
FEWEST_ROWS = 10
CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [Kernel, None],
    "alpha": ALPHA,
    "selection": [StrOptions({"gcv", "loo"})],
    "per_target": ["boolean"],
    "fit_intercept": ["boolean"],
    "solver": [StrOptions({"auto", "direct", "iterative"})],
    "n_centres": [Interval(Integral, 2, None, closed="left"), None],
    "tol": [Interval(Real, 0, 1, closed="neither"), None],
    "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    "random_state": RANDOM_STATE,
}


class ExactKernelMachine(SolvedMachine):
    """What :class:`KernelRidge` and :class:`KernelRidgeClassifier` share."""

    _state: KernelState | None = None

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        alpha: Any = None,
        selection: str = "loo",
        per_target: bool = False,
        fit_intercept: bool = True,
        solver: str = "auto",
        n_centres: int | None = None,
        tol: float | None = None,
        time_limit: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.selection = selection
        self.per_target = per_target
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.n_centres = n_centres
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state

    @abstractmethod
    def _new_targets(self) -> Targets:
        """Return targets of which nothing is known yet."""

    @abstractmethod
    def _loss(self, targets: Any, centres: bool) -> str:
        """Return the loss that is asked for, where its solver and the classes allow it."""

    @property
    def kernel_(self) -> Kernel:
        """The kernel with its fitted lengthscale."""
        return self._fitted().kernel

    @property
    def solver_report_(self) -> str:
        """How far an iterative solver came, and which loss did better; else empty."""
        return str(self._fitted().how)

    @property
    def rows_(self) -> np.ndarray:
        """The training rows with positive weight, in float64."""
        return self._fitted().rows

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn from scratch; only a fit that succeeds replaces what was learnt before."""
        fresh = clone(self)
        names = stream_names(X)
        if is_stream(X):
            refuse_beside_stream(y=y, sample_weight=sample_weight)
            X, y, sample_weight = gathered_rows(X, fresh._new_targets(), fresh)
        else:
            X = check_rows(X, owner=fresh, reset=True)
        if names is not None:
            fresh.feature_names_in_ = names
        fresh._learn(X, y, sample_weight)
        return adopt(self, fresh)

    @allowed_threads()
    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn from checked rows."""
        alpha = checked_alpha(self.alpha)
        kernel = checked(Gaussian("median") if self.kernel is None else self.kernel)
        targets = self._new_targets()
        found = targets.check(y, X.shape[0])
        targets.observe(found)
        encoded = targets.encode(found)
        counts = as_weights(sample_weight, X.shape[0])
        weights = targets.weights(encoded, counts, whole=True)
        rows, kernel = to_numpy(X).astype(float), kernel.fitted_to(X)
        Y = targets.expand(encoded)
        if weights is not None:
            if not weights.any():
                raise ValueError(
                    "sample_weight is zero for every row; at least one weight must be positive."
                )
            known = weights > 0
            rows, Y, weights = rows[known], Y[known], weights[known]
            counts = None if counts is None else counts[known]
        state = KernelState(targets, kernel, rows, weights, counts)
        problem = Problem(alpha, self.fit_intercept, self.per_target, self.selection == "loo")
        loss = self._loss(targets, self.n_centres is not None and self.n_centres < len(rows))
        if self._iterates(len(rows)):
            limit = np.inf if self.time_limit is None else time.perf_counter() + self.time_limit
            options = IterativeOptions(self.n_centres, self.tol, seed_of(self.random_state), limit)
            state.learn_iteratively(Y, problem, options, loss)
            # In float64 and by a decomposition, small ridge parameters can still be solved.
            able = self.solver == "auto" and self.n_centres is None and self.time_limit is None
            if able and state.residual >= UNSOLVED and _is_decomposable(len(rows)):
                state.learn_after_all(Y, problem, loss)
            else:
                state.warn_of_residual(self.tol)
        else:
            state.learn(Y, problem, loss)
        state.n_rows = int(X.shape[0])
        self._state = state

    def _iterates(self, n_rows: int) -> bool:
        """Return whether conjugate gradients solve, or say why they cannot."""
        asked = self.solver == "iterative" or self.n_centres is not None
        if self.solver == "direct" and self.n_centres is not None:
            raise ValueError("n_centres needs the iterative solver; use solver='auto'.")
        if asked and self.per_target:
            raise ValueError(
                "The iterative solver chooses one alpha for all targets; use per_target=False, or "
                "solver='direct' without n_centres."
            )
        enough = n_rows >= FEWEST_ROWS
        if asked and not enough:
            raise ValueError(
                f"The iterative solver holds rows out and needs {FEWEST_ROWS} at least, but "
                f"n_samples={n_rows} have weight; use solver='direct'."
            )
        many = self.solver == "auto" and n_rows > DIRECT_ROWS
        return asked or (many and not self.per_target)

    def raw_predict(
        self, X: Any, with_variance: bool = False
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return predictions of shape (n_rows, n_targets), and their variances."""
        return self._fitted().values(check_rows(X, owner=self), with_variance)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_decomposable(n_rows: int) -> bool:
    """Return whether rows that were too many by choice are few enough by need."""
    return n_rows <= MOST_DIRECT_ROWS and exact_memory(n_rows) <= matrix_memory()


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
