"""One trial: an estimator is fitted, timed, watched for memory, and tested."""

from __future__ import annotations

import pickle
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...engine.peak_memory import PeakMemory
from ...features.approximation import ApproximationError, approximation_error
from ...features.base import FeatureMap
from ...features.kernel_of import kernel_of
from ...io import save
from ...io.errors import ModelFileError
from ...kernels import FunctionKernel, Kernel
from .data import Data
from .losses import error_interval, losses_of
from .methods import Method, Settings
from .records import Trial

#: Rows of a first fit that is not measured: it compiles, and loads libraries.
WARM_ROWS = 64
#: Rows on which features are compared with their kernel.
KERNEL_ROWS = 500


@dataclass(frozen=True)
class Outcome:
    """A trial, the model it has fitted, and the memory measure.

    Attributes
    ----------
    trial : Trial
        What was measured.
    model : estimator
        Fitted.
    memory_counts : str
        What the memory is that of.
    """

    trial: Trial
    model: Any
    memory_counts: str


def warm_up(method: Method, size: int | None, data: Data, settings: Settings) -> None:
    """Fit a method on few rows, so that what is loaded and compiled first is not measured.

    Parameters
    ----------
    method : Method
        What is compared.
    size : int or None
        Features.
    data : Data
        The rows.
    settings : Settings
        How estimators are made.
    """
    X, y = data.training(WARM_ROWS, method.view)
    model, _ = method.make(size, settings)
    # What is wrong with it, the trial itself will tell.
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        model.fit(X, y).predict(X)


def run_trial(
    method: Method, size: int | None, data: Data, settings: Settings, most_rows: int
) -> Outcome:
    """Return what a fit of a method costs, and how good it is.

    Parameters
    ----------
    method : Method
        What is compared.
    size : int or None
        Features.
    data : Data
        The rows.
    settings : Settings
        How estimators are made.
    most_rows : int
        Rows that a method learns from which does so from a sample.

    Examples
    --------
    >>> from mercer.diagnostics.comparison.data import prepared
    >>> from mercer.diagnostics.comparison.methods import NAMED
    >>> from mercer.diagnostics.comparison.tuning import Tuner
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> data = prepared(X, X[:, 0], "auto", 0.2, 100, 0)
    >>> settings = Settings("regression", Tuner(data.X_train, data.y_train, data.task, 0), 0)
    >>> run_trial(NAMED["linear"], None, data, settings, 100).trial.error < 0.1
    True
    """
    X, y = data.training(most_rows if method.sampled else None, method.view)
    X_test = data.testing(method.view)
    model, about = method.make(size, settings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        with PeakMemory() as memory:
            fit_seconds, _ = _timed(lambda: model.fit(X, y))
        predict_seconds, predicted = _timed(lambda: model.predict(X_test))
    predicted = np.asarray(predicted)
    losses = losses_of(data.y_test, predicted, data.task)
    error, low, high = error_interval(losses, data.task)
    quality = kernel_quality(model, X)
    trial = Trial(
        method=method.label,
        n_components=size,
        error=error,
        low=low,
        high=high,
        kernel_error=None if quality is None else quality.relative,
        kernel_low=None if quality is None else quality.low,
        kernel_high=None if quality is None else quality.high,
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        memory=max(0, memory.growth),
        model_bytes=model_bytes(model),
        n_train=int(X.shape[0]),
        degrees_of_freedom=_of_solution(model, "degrees_of_freedom"),
        alpha=_of_solution(model, "alpha"),
        about=about,
        notes=_told(caught),
        predicted=predicted,
        losses=losses,
    )
    return Outcome(trial, model, memory.counts)


def _timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def kernel_quality(model: Any, X: Any) -> ApproximationError | None:
    """Return how far the features of a fitted machine are from their kernel, if it is known.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array of shape (n_rows, n_columns)
        Rows that it has seen.

    Examples
    --------
    >>> from mercer import FeatureRidge
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> kernel_quality(FeatureRidge().fit(X, X[:, 0]), X) is None
    True
    """
    features = getattr(model, "features_", None)
    if features is None:
        return None
    try:
        return approximation_error(features, X, n_rows=KERNEL_ROWS)
    except TypeError:
        # A transformer of which nothing says what it approximates.
        return None


def exact_kernel(model: Any) -> Kernel | None:
    """Return the kernel that a fitted machine approximates or holds, if it has a name.

    Examples
    --------
    >>> from mercer import FeatureRidge, Gaussian, RandomFourier
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> exact_kernel(FeatureRidge(RandomFourier(Gaussian(2.0), n_components=8)).fit(X, X[:, 0]))
    Gaussian(lengthscale=2.0)
    """
    features = getattr(model, "features_", None)
    if features is not None:
        found = kernel_of(features) if isinstance(features, FeatureMap) else None
    else:
        found = getattr(model, "kernel_", None)
    named = isinstance(found, Kernel) and not isinstance(found, FunctionKernel)
    return found if named else None


def model_bytes(model: Any) -> int:
    """Return the bytes of what a fitted model needs to predict.

    Of mercer's machines it is the size of their compact model file; with a map of others, and of
    other estimators, that of the pickle.

    Examples
    --------
    >>> from mercer import FeatureRidge
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> 100 < model_bytes(FeatureRidge().fit(X, X[:, 0])) < 10_000
    True
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mercer"
        try:
            save(model, path, compact=True)
            return path.stat().st_size
        except (ModelFileError, TypeError):
            pass
    features = getattr(model, "features_", None)
    parts = model if features is None else (features, model.coef_, model.intercept_)
    return len(pickle.dumps(parts))


def _of_solution(model: Any, name: str) -> float | None:
    """Return a number of the ridge solution, the mean over targets, if there is one."""
    solution = getattr(model, "solution_", None)
    value = getattr(solution, name, None)
    return None if value is None else float(np.mean(value))


def _told(caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return the warnings of a fit, each once."""
    return tuple(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))
