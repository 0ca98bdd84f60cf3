"""The comparison: all trials in turn, the small ones first, until they are done or time is up."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.linalg

from ..._array import to_numpy
from ..._random import seed_of
from ..._words import shortened
from ...engine.progress import Job
from ...kernels import Kernel
from .data import Data, prepared
from .methods import Method, Settings, methods_of
from .records import Comparison, Skipped, Spectrum, Trial, Weights
from .trial import Outcome, exact_kernel, run_trial, warm_up
from .tuning import Tuner

#: Numbers of features by default.
DIMS = (128, 256, 512, 1024, 2048)
#: Rows of which the spectrum of a kernel is computed.
SPECTRUM_ROWS = 1000


def compare(
    X: Any,
    y: Any,
    *,
    maps: Any = None,
    dims: Any = DIMS,
    task: str = "auto",
    test_size: float = 0.2,
    max_rows: int = 100_000,
    exact_rows: int = 2000,
    time_limit: float | None = None,
    random_state: Any = 0,
) -> Comparison:
    """Compare feature maps and kernels with each other, and with what they must beat.

    Every method learns from the same rows (the exact kernel and IRKM from some of them), which
    are encoded by a :class:`TableEncoder` (for the linear model without its soft clipping of
    outliers), and is tested on the same others. On features a
    :class:`FeatureRidge` learns, or its classifier, whoever wrote the map. The lengthscale of
    each kernel is chosen once, on a sample of the training rows, and all of its maps share it.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
        The rows; columns may hold numbers, categories, dates and missing values.
    y : array of shape (n_samples,)
        Numbers or labels.
    maps : iterable or mapping, default=None
        What to compare: the names ``"linear"``, ``"boosting"``, ``"exact"``, ``"irkm"``,
        ``"gaussian"``, ``"laplace"``, ``"matern"``, ``"ntk"``, ``"arccosine"``, ``"nystrom"``,
        ``"sklearn-rbf"``, ``"sklearn-nystroem"``; kernels; feature maps, whose
        ``n_components`` is set; and estimators, which learn as they are. The keys of a mapping
        are labels. ``None`` is all names but Matérn and arc-cosine.
    dims : int or iterable of int, default=(128, 256, 512, 1024, 2048)
        The numbers of features.
    task : {"auto", "regression", "classification"}, default="auto"
        What to learn; ``"auto"`` is classification for strings, booleans and at most 30
        different whole numbers.
    test_size : float or int, default=0.2
        The share, or the number, of rows to test on.
    max_rows : int, default=100000
        More rows than this are drawn from.
    exact_rows : int, default=2000
        Rows that the exact kernel and IRKM learn from, at most.
    time_limit : float or None, default=None
        Seconds after which no further fit starts; one that would probably take longer than what
        is left is skipped.
    random_state : int, RandomState, Generator or None, default=0
        Draws test rows and features.

    Returns
    -------
    comparison : Comparison
        Also if it is interrupted (Ctrl-C): with what was measured until then.

    See Also
    --------
    Comparison.save : Writes the report, its figures and the numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).standard_normal((400, 3))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 1]
    >>> found = mercer.compare(X, y, maps=["linear", "exact", "gaussian"], dims=[32, 256])
    >>> [trial.label for trial in found.trials]
    ['linear', 'exact, Gaussian', 'Fourier, Gaussian, 32 features',
     'Fourier, Gaussian, 256 features']
    >>> found.best_of("Fourier, Gaussian").error < found.best_of("linear").error
    True
    """
    start = time.perf_counter()
    methods, sizes = methods_of(maps), _checked_sizes(dims)
    limit = _checked_limit(time_limit)
    most_rows = _positive("exact_rows", exact_rows)
    seed = seed_of(random_state)
    data = prepared(X, y, task, test_size, max_rows, seed)
    tuner = Tuner(data.X_train, data.y_train, data.task, seed)
    work = _Work(data, Settings(data.task, tuner, seed), most_rows, start + limit)
    # Small ones first: if time runs out, all methods have got equally far.
    plan: list[tuple[Method, int | None]]
    plan = [(method, None) for method in methods if not method.sized]
    plan += [(method, size) for size in sizes for method in methods if method.sized]
    interrupted = False
    names = [_name(method, size) for method, size in plan]
    with Job("compare", names) as job:
        try:
            for (method, size), name in zip(plan, names, strict=True):
                with job.stage(name):
                    work.attempt(method, size)
        except KeyboardInterrupt:
            if not work.trials:
                raise
            interrupted = True
    if not work.trials:
        raise ValueError(f"No method could be measured. {work.skipped[0]}")
    return Comparison(
        task=data.task,
        task_reason=data.reason,
        methods=tuple(method.label for method in methods),
        trials=tuple(work.trials),
        skipped=tuple(work.skipped),
        spectra=tuple(work.spectra.values()),
        weights=tuple(work.weights),
        truth=data.y_test,
        n_train=len(data.y_train),
        n_test=len(data.y_test),
        n_columns=int(data.X_train.shape[1]),
        deviation=float(np.std(data.y_test)) if data.task == "regression" else None,
        memory_counts=work.memory_counts,
        seconds=time.perf_counter() - start,
        interrupted=interrupted,
    )


@dataclass
class _Work:
    """What a comparison has measured so far."""

    data: Data
    settings: Settings
    most_rows: int
    deadline: float
    trials: list[Trial] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    spectra: dict[str, Spectrum] = field(default_factory=dict)
    weights: list[Weights] = field(default_factory=list)
    memory_counts: str = ""
    warm: set[str] = field(default_factory=set)

    def attempt(self, method: Method, size: int | None) -> None:
        """Run a trial, or note why not."""
        left = self.deadline - time.perf_counter()
        expected = self._expected_seconds(method, size)
        if left <= 0 or expected > left:
            reason = "the time limit was reached"
            if 0 < left:
                reason = f"would take about {expected:.0f} s, and {left:.0f} s were left"
            self.skipped.append(Skipped(method.label, size, reason))
            return
        try:
            if method.label not in self.warm:
                self.warm.add(method.label)
                warm_up(method, size, self.data, self.settings)
            outcome = run_trial(method, size, self.data, self.settings, self.most_rows)
        except Exception as error:
            # Whatever a method of others raises, it must not cost what the rest has measured.
            text = " ".join(str(error).split())
            reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
            self.skipped.append(Skipped(method.label, size, reason))
            return
        self.trials.append(outcome.trial)
        self.memory_counts = outcome.memory_counts
        self._note_kernel(method, outcome)
        self._note_weights(method, outcome)

    def _expected_seconds(self, method: Method, size: int | None) -> float:
        """Return what a trial will take by the last one of its method; 0 if nothing is known."""
        if size is None:
            return 0.0
        for trial in reversed(self.trials):
            if trial.method == method.label and trial.n_components:
                # The sums of products grow with the square of the features.
                return trial.fit_seconds * (size / trial.n_components) ** 2
        return 0.0

    def _note_kernel(self, method: Method, outcome: Outcome) -> None:
        kernel = exact_kernel(outcome.model)
        name = None if kernel is None else shortened(repr(kernel))
        # What learns its kernel has one of its own, which compares with no other.
        if kernel is None or name in self.spectra or hasattr(outcome.model, "feature_importances_"):
            return
        rows = self.data.training(SPECTRUM_ROWS, method.view)[0]
        self.spectra[str(name)] = Spectrum(str(name), method.label, spectrum_of(kernel, rows))

    def _note_weights(self, method: Method, outcome: Outcome) -> None:
        values = getattr(outcome.model, "feature_importances_", None)
        if values is not None and len(values) == len(self.data.names):
            self.weights.append(Weights(method.label, self.data.names, np.asarray(values)))


def spectrum_of(kernel: Kernel, X: Any) -> np.ndarray:
    """Return the eigenvalues of a kernel matrix over its number of rows, the largest first.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array of shape (n_rows, n_columns)
        The rows.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> spectrum_of(Gaussian(1.0), np.zeros((2, 1)))
    array([1., 0.])
    """
    K = to_numpy(kernel(X)).astype(float)
    values = scipy.linalg.eigvalsh(K, overwrite_a=True)[::-1]
    return np.maximum(values, 0.0) / K.shape[0]


def _name(method: Method, size: int | None) -> str:
    return method.label if size is None else f"{method.label}, {size:,} features"


def _checked_sizes(dims: Any) -> list[int]:
    """Return the numbers of features, the smallest first."""
    given = list(dims) if isinstance(dims, Iterable) and not isinstance(dims, str) else [dims]
    if not given:
        raise ValueError("dims is empty: give at least one number of features.")
    return sorted({_positive("dims", size, 2) for size in given})


def _positive(name: str, value: Any, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must hold integers of at least {least}, got {value!r}.")
    return int(value)


def _checked_limit(time_limit: Any) -> float:
    if time_limit is None:
        return np.inf
    if isinstance(time_limit, bool) or not isinstance(time_limit, Real):
        limit = math.nan
    else:
        limit = float(time_limit)
    if not limit > 0:
        raise ValueError(f"time_limit must be a positive number of seconds, got {time_limit!r}.")
    return limit
