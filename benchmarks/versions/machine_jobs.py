"""Jobs of machines: a fit, and predictions for rows that were not learnt from."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .data import labels, problem
from .feature_jobs import Job

#: Rows that are predicted, the last ones.
N_NEW = 500


def ridge(**options: Any) -> Job:
    """Ridge regression on 2,048 features."""
    from mercer import FeatureRidge

    X, y = problem(5000 + N_NEW, 9, np.float32)
    return partial(predicted, FeatureRidge(fourier(2048), **options), X, y)


def ridge_classifier() -> Job:
    """Ridge classification on 1,024 features, with calibrated probabilities."""
    from mercer import FeatureRidgeClassifier

    X, y = problem(5000 + N_NEW, 9, np.float32)
    machine = FeatureRidgeClassifier(fourier(1024))
    return partial(predicted, machine, X, labels(y), "predict_proba")


def ridge_stream() -> Job:
    """Ridge regression on 1,024 features from an iterator of blocks."""
    from mercer import FeatureRidge

    X, y = problem(10_000 + N_NEW, 9, np.float32)
    parts = [slice(start, start + 1000) for start in range(0, 10_000, 1000)]

    def learnt() -> np.ndarray:
        machine = FeatureRidge(fourier(1024))
        machine.fit((X[part], y[part]) for part in parts)
        return np.asarray(machine.predict(X[-N_NEW:]))

    return learnt


def exact_ridge() -> Job:
    """Ridge regression with the exact kernel, alpha by leave-one-out."""
    from mercer import FeatureRidge, Gaussian, machines

    X, y = problem(1500 + N_NEW, 9)
    kernel = Gaussian(3.0)
    if hasattr(machines, "KernelRidge"):
        machine = machines.KernelRidge(kernel)
    else:
        # What older versions have instead of a machine of exact kernels.
        from mercer.features import KernelColumns

        machine = FeatureRidge(KernelColumns(kernel), selection="loo")
    return partial(predicted, machine, X, y)


def default_regressor(n: int) -> Job:
    """The regressor that makes its own choices."""
    from mercer import KernelRegressor

    X, y = problem(n + N_NEW, 9)
    return partial(predicted, KernelRegressor(), X, y)


def default_classifier(n: int) -> Job:
    """The classifier that makes its own choices."""
    from mercer import KernelClassifier

    X, y = problem(n + N_NEW, 9)
    return partial(predicted, KernelClassifier(), X, labels(y), "predict_proba")


def exact_learner(name: str) -> Job:
    """Three iterations of a feature-learning machine with the exact kernel."""
    import mercer

    X, y = problem(1500 + N_NEW, 20)
    machine = getattr(mercer, name)(solver="exact", n_iterations=3, random_state=0)
    return partial(predicted, machine, X, y)


def large_learner(name: str, solver: str, n_components: int) -> Job:
    """One iteration of a feature-learning machine on many rows."""
    import mercer

    X, y = problem(10_000 + N_NEW, 20)
    kernel = mercer.Gaussian(20**0.5) if solver == "features" else mercer.Laplace(20**0.5)
    options = {"solver": solver, "n_components": n_components, "n_iterations": 1}
    machine = getattr(mercer, name)(kernel, random_state=0, **options)
    return partial(predicted, machine, X, y)


def model_file(compact: bool) -> Job:
    """Saving and loading a machine of 2,048 features, and its predictions."""
    from mercer import FeatureRidge, load, save

    X, y = problem(4000, 9)
    machine = FeatureRidge(fourier(2048)).fit(X, y)
    folder = tempfile.TemporaryDirectory()

    def round_trip(folder: Any = folder) -> np.ndarray:
        path = Path(folder.name) / "machine.mercer"
        save(machine, path, compact=compact)
        return np.asarray(load(path).predict(X[:N_NEW]))

    return round_trip


def fourier(n_components: int) -> Any:
    """Return random Fourier features whose lengthscale is a number."""
    from mercer import Gaussian, RandomFourier

    return RandomFourier(Gaussian(3.0), n_components=n_components, random_state=0)


def predicted(machine: Any, X: np.ndarray, y: np.ndarray, ask: str = "predict") -> np.ndarray:
    """Return what a machine says of the last rows, learnt from the others."""
    machine.fit(X[:-N_NEW], y[:-N_NEW])
    return np.asarray(getattr(machine, ask)(X[-N_NEW:]), dtype=float)


JOBS: dict[str, Callable[[], Job]] = {
    "ridge_gcv": ridge,
    "ridge_folds": partial(ridge, selection=5),
    "ridge_one_alpha": partial(ridge, alpha=1.0),
    "ridge_classifier": ridge_classifier,
    "ridge_stream": ridge_stream,
    "exact_ridge": exact_ridge,
    "kernel_regressor_2000": partial(default_regressor, 2000),
    "kernel_regressor_8000": partial(default_regressor, 8000),
    "kernel_classifier_2000": partial(default_classifier, 2000),
    "kernel_classifier_8000": partial(default_classifier, 8000),
    "irkm_exact": partial(exact_learner, "IRKMRegressor"),
    "rfm_exact": partial(exact_learner, "RFMRegressor"),
    "irkm_features": partial(large_learner, "IRKMRegressor", "features", 512),
    "rfm_features": partial(large_learner, "RFMRegressor", "features", 512),
    "irkm_nystrom": partial(large_learner, "IRKMRegressor", "nystrom", 256),
    "rfm_nystrom": partial(large_learner, "RFMRegressor", "nystrom", 256),
    "model_file": partial(model_file, False),
    "model_file_compact": partial(model_file, True),
}
