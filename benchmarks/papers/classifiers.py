"""Classifiers of the tables, each with its parameters chosen by folds of the training rows.

All choices are made by the error in the same three folds, which keep groups of rows together; a
random forest uses its out-of-bag rows instead. The error is the mean square of decision values
minus the codes of the classes, of probabilities minus zeros and ones, or the misclassification
rate of a support vector machine, which has neither. IRKM and RFM choose in two rounds: first a
kernel and its lengthscale, without any step; then the mixing and the number of steps.
Leave-one-out chooses their ridge parameters. It cannot choose the steps: the weights have seen
the rows that it leaves out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mercer import Gaussian, IRKMClassifier, Laplace, RFMClassifier

from .classification_sets import Split

FOREST, BOOSTING, SVM, NETWORK = "random forest", "gradient boosting", "RBF-SVM", "network"
RIDGE, IRKM, RFM = "kernel ridge", "IRKM", "RFM"
METHODS = (FOREST, BOOSTING, SVM, NETWORK, RIDGE, IRKM, RFM)
#: Lengthscales over √d, where d is the number of columns.
LAPLACE_WIDTHS, GAUSSIAN_WIDTHS = (0.3, 1.0, 3.0), (0.5, 1.5)
#: The mixing of derivatives (the paper's α), and steps.
MIXINGS, STEPS = (0.0, 0.5), (1, 3, 10)
#: Columns from which IRKM takes fewer steps, and up to which RFM takes any.
WIDE, WIDE_STEPS, MOST_COLUMNS = 1000, (1, 3), 200


def fitted(X: np.ndarray, y: np.ndarray, inner: Sequence[Split]) -> dict[str, Callable[[], Any]]:
    """Return functions that choose and fit each method, to be called in this order."""
    kernel: list[Any] = []

    def ridge() -> Any:
        kernel[:] = [chosen(kernels(X.shape[1]), X, y, inner)]
        return kernel[0].fit(X, y)

    def learner(kind: type) -> Callable[[], Any]:
        return lambda: chosen(steps(kind, kernel[0], X.shape[1]), X, y, inner).fit(X, y)

    def of(candidates: list[Any]) -> Callable[[], Any]:
        return lambda: chosen(candidates, X, y, inner).fit(X, y)

    return {
        FOREST: lambda: forest(X, y),
        BOOSTING: of(boosting()),
        SVM: of(machines(X.shape[1])),
        NETWORK: of(networks()),
        RIDGE: ridge,
        IRKM: learner(IRKMClassifier),
        RFM: learner(RFMClassifier),
    }


def chosen(candidates: Sequence[Any], X: np.ndarray, y: np.ndarray, inner: Sequence[Split]) -> Any:
    """Return the candidate of the smallest error in the folds, the first among equals."""
    if len(candidates) == 1:
        return candidates[0]
    return candidates[int(np.argmin([error(one, X, y, inner) for one in candidates]))]


def error(candidate: Any, X: np.ndarray, y: np.ndarray, inner: Sequence[Split]) -> float:
    """Return the mean error over the rows, each predicted while its fold is held out."""
    total = 0.0
    with warnings.catch_warnings():
        # Networks that have not converged, and classes that are missing in a fold.
        warnings.simplefilter("ignore")
        for train, test in inner:
            model = clone(candidate).fit(X[train], y[train])
            total += float(np.sum(losses(model, X[test], y[test])))
    return total / len(y)


def losses(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the loss of every row."""
    if isinstance(model, (IRKMClassifier, RFMClassifier)):
        # What they minimise, mapped from codes -1 and 1 to 0 and 1, a column for each class.
        values = (model.decision_function(X).reshape(len(y), -1) + 1) / 2
        values = values if values.shape[1] > 1 else np.column_stack([1 - values, values])
    elif hasattr(model, "predict_proba"):
        values = model.predict_proba(X)
    else:
        return (model.predict(X) != y).astype(float)
    return np.sum((values - (y[:, None] == model.classes_)) ** 2, axis=1)


def forest(X: np.ndarray, y: np.ndarray) -> Any:
    """Return the better of two forests, which differ in the columns considered at a split."""

    def out_of_bag(model: Any) -> float:
        codes = y[:, None] == model.classes_
        return float(np.nanmean((model.oob_decision_function_ - codes) ** 2))

    size = {"n_estimators": 200, "oob_score": True, "random_state": 0}
    models = [RandomForestClassifier(max_features=share, **size) for share in ("sqrt", 0.4)]
    return min((model.fit(X, y) for model in models), key=out_of_bag)


def boosting() -> list[Any]:
    """Return boosted trees by the rows of a leaf; short tables need small leaves."""
    return [
        HistGradientBoostingClassifier(min_samples_leaf=rows, random_state=0) for rows in (20, 5)
    ]


def machines(n_columns: int) -> list[Any]:
    """Return support vector machines by C and γ."""
    return [
        make_pipeline(StandardScaler(), SVC(C=C, gamma=width / n_columns))
        for C in (1.0, 10.0, 100.0)
        for width in (0.2, 1.0, 5.0)
    ]


def networks() -> list[Any]:
    """Return networks by their layers and penalties."""
    return [
        make_pipeline(
            StandardScaler(),
            MLPClassifier(hidden_layer_sizes=layers, alpha=penalty, random_state=0),
        )
        for layers, penalty in (((128,), 1e-4), ((128,), 1.0), ((128, 128), 1e-2))
    ]


def kernels(n_columns: int) -> list[Any]:
    """Return kernel ridge classifiers, IRKM without steps, by kernel and width."""
    root = n_columns**0.5
    narrow = [Laplace(width * root) for width in LAPLACE_WIDTHS]
    smooth = [Gaussian(width * root) for width in GAUSSIAN_WIDTHS]
    return [IRKMClassifier(kernel, n_iterations=0, random_state=0) for kernel in narrow + smooth]


def steps(kind: type, start: Any, n_columns: int) -> list[Any]:
    """Return the chosen kernel without steps, and machines that take some."""
    first = kind(start.kernel, n_iterations=0, validation_fraction=None, random_state=0)
    if kind is RFMClassifier and n_columns > MOST_COLUMNS:
        return [first]
    return [
        first,
        *(
            clone(first).set_params(mixing=mixing, n_iterations=n)
            for mixing in MIXINGS
            for n in (WIDE_STEPS if n_columns >= WIDE else STEPS)
        ),
    ]


def choice(model: Any) -> str:
    """Return what a fitted kernel machine has chosen; nothing for other methods."""
    if not isinstance(model, (IRKMClassifier, RFMClassifier)):
        return ""
    width = model.kernel.lengthscale / model.n_features_in_**0.5
    kernel = f"{type(model.kernel).__name__} {width:.2g} √d, alpha {model.alpha_:.0e}"
    if not model.n_iterations:
        return f"{kernel}, no steps"
    return (
        f"{kernel}, mixing={model.mixing:g}, {model.best_iteration_} of {model.n_iterations} steps"
    )
