"""The front door to regression and classification: everything chosen from data, and reported."""

from __future__ import annotations

from typing import Any, Self

from ..._registry import storable
from ..._sklearn import fit_context
from ...kernels import Kernel
from ..kernel_ridge import KernelRidge, KernelRidgeClassifier
from ..ridge import FeatureRidge, FeatureRidgeClassifier
from ..targets import LabelTargets, NumberTargets
from ..tasks import Classification, Regression
from .base import CONSTRAINTS, KernelMachine


@storable
class KernelRegressor(Regression, KernelMachine):
    """Kernel regression that makes its own choices and says what they were.

    It encodes the columns (see :class:`TableEncoder`), compares kernels and lengthscales on a
    sample of the rows, takes the exact kernel for few rows and random features for many,
    chooses the ridge parameter by cross-validation, and keeps a report of all that, with the
    score to expect on new rows and that of a linear model.

    Parameters
    ----------
    kernel : Kernel, str or None, default=None
        A kernel, the name of one whose lengthscale is then found from data (``"gaussian"``
        or ``"rbf"``, ``"laplace"``, ``"matern"``, ``"arccosine"``, ``"nngp"``, ``"ntk"``), or
        ``None`` for the best of the Gaussian, Laplace and Matérn kernels; where metrics are
        searched (``effort``) of Matérn 3/2, Laplace, product Laplace and powered exponential ones.
        ``"auto"``: the best of Gaussian, Laplace and neural tangent kernels of depth 1, 2 and 4
        on a sample, by successive halving, or a linear model if that does as well; no metrics.
    n_components : int or "auto", default="auto"
        The number of features; ``"auto"`` goes by the rows and the memory budget.
    approximation : {"auto", "exact", "features"}, default="auto"
        ``"auto"`` is exact for up to about 3,400 rows and for kernels without a feature map.
    alpha : float, array of floats or None, default=None
        The ridge parameter, candidates for it, or ``None`` for 31 candidates.
    encoder : transformer or None, default=None
        What turns the table into numbers: any transformer, such as a ``ColumnTransformer``;
        ``None`` means a :class:`TableEncoder` whose scaling is chosen with the kernel.
    effort : {"quick", "default", "thorough"}, default="default"
        How much is searched for tables of 2,000 to a million rows:
        kernels, metrics and encodings are compared on samples of up to 2,500, 9,000 or 16,000 rows.
    time_limit : float or None, default=None
        Seconds after which the search of metrics stops, and iterations of the solver too, which
        have a second at least; it does not shorten fits of fewer than 2,000 rows, of a kernel that
        is given, or of features.
    verbose : int, default=0
        ``1`` prints a line for each stage of a fit: columns, search, solve.
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
    encoder_ : transformer
        The fitted encoder.
    machine_ : KernelRidge or FeatureRidge
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
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features), or a stream
            Rows with numbers, categories, dates and missing values; or blocks ``(X, y)`` or
            ``(X, y, sample_weight)``: a list, a :class:`~mercer.io.TableStream`, an iterator.
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

    def _ridge(
        self, targets: NumberTargets, **parameters: Any
    ) -> tuple[FeatureRidge, dict[str, Any]]:
        return FeatureRidge(**parameters), {}

    def _exactly(self, targets: NumberTargets, **parameters: Any) -> KernelRidge:
        return KernelRidge(**parameters)


@storable
class KernelClassifier(Classification, KernelMachine):
    """Kernel classification that makes its own choices and says what they were.

    As :class:`KernelRegressor`, with a :class:`FeatureRidgeClassifier` inside: labels of any
    kind, two classes or more, calibrated probabilities. An exact kernel of two classes is fitted
    by squares and with a logistic loss, and the one with the smaller log loss on held-out rows is
    kept; ``report_`` says which.

    Parameters
    ----------
    kernel : Kernel, str or None, default=None
        A kernel, the name of one whose lengthscale is then found from data, or ``None`` for
        the best of the Gaussian, Laplace and Matérn kernels; where metrics are searched
        (``effort``) of Matérn 3/2, Laplace, product Laplace and powered exponential ones.
        ``"auto"``: the best of Gaussian, Laplace and neural tangent kernels of depth 1, 2 and 4
        on a sample, by successive halving, or a linear model if that does as well; no metrics.
    n_components : int or "auto", default="auto"
        The number of features; ``"auto"`` goes by the rows and the memory budget.
    approximation : {"auto", "exact", "features"}, default="auto"
        ``"auto"`` is exact for up to about 3,400 rows and for kernels without a feature map.
    alpha : float, array of floats or None, default=None
        The ridge parameter, candidates for it, or ``None`` for 31 candidates.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; ``"balanced"`` gives every class the same total weight.
    encoder : transformer or None, default=None
        What turns the table into numbers: any transformer, such as a ``ColumnTransformer``;
        ``None`` means a :class:`TableEncoder` whose scaling is chosen with the kernel.
    effort : {"quick", "default", "thorough"}, default="default"
        How much is searched for tables of 2,000 to a million rows:
        kernels, metrics and encodings are compared on samples of up to 2,500, 9,000 or 16,000 rows.
    time_limit : float or None, default=None
        Seconds after which the search of metrics stops, and iterations of the solver too, which
        have a second at least; it does not shorten fits of fewer than 2,000 rows, of a kernel that
        is given, or of features.
    verbose : int, default=0
        ``1`` prints a line for each stage of a fit: columns, search, solve.
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
    encoder_ : transformer
        The fitted encoder.
    machine_ : KernelRidgeClassifier or FeatureRidgeClassifier
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
        kernel: Kernel | str | None = None,
        *,
        n_components: Any = "auto",
        approximation: str = "auto",
        alpha: Any = None,
        class_weight: Any = None,
        encoder: Any = None,
        effort: str = "default",
        time_limit: float | None = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            kernel,
            n_components=n_components,
            approximation=approximation,
            alpha=alpha,
            encoder=encoder,
            effort=effort,
            time_limit=time_limit,
            verbose=verbose,
            random_state=random_state,
        )
        self.class_weight = class_weight

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features), or a stream
            Rows with numbers, categories, dates and missing values; or blocks ``(X, y)`` or
            ``(X, y, sample_weight)``: a list, a :class:`~mercer.io.TableStream`, an iterator.
        y : array of shape (n_samples,)
            Labels; ``None`` for a stream.
        sample_weight : array of shape (n_samples,), default=None
            Sample weights: a row of weight two counts as two rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _new_targets(self) -> LabelTargets:
        return LabelTargets(class_weight=self.class_weight, way_out="give rows of all classes")

    def _ridge(
        self, targets: LabelTargets, **parameters: Any
    ) -> tuple[FeatureRidgeClassifier, dict[str, Any]]:
        weights = self._class_weights(targets)
        machine = FeatureRidgeClassifier(class_weight=weights, **parameters)
        return machine, {"classes": targets.classes}

    def _exactly(self, targets: LabelTargets, **parameters: Any) -> KernelRidgeClassifier:
        weights = self._class_weights(targets)
        return KernelRidgeClassifier(loss="auto", class_weight=weights, **parameters)

    def _class_weights(self, targets: LabelTargets) -> Any:
        """Return the weights of the classes; those of all labels, if they are balanced."""
        return targets.balanced_weights() if self.class_weight == "balanced" else self.class_weight

    @property
    def probability_scale_(self) -> float:
        """The scale of the softmax, calibrated on held-out rows."""
        return float(self._fitted().machine.probability_scale_)
