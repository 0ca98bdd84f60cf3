"""What a comparison has measured: plain records, from which tables and pictures are made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..._html import facts
from .losses import are_tied
from .words import interval, seconds, three

#: Trials that a notebook shows.
MOST_SHOWN = 20
#: Numbers of a trial that tables show, with their unit.
COLUMNS = {
    "method": "",
    "n_components": "",
    "error": "",
    "error_low": "",
    "error_high": "",
    "tied_with_best": "",
    "kernel_error": "",
    "kernel_error_low": "",
    "kernel_error_high": "",
    "fit_seconds": "s",
    "predict_seconds": "s",
    "fit_memory_bytes": "B",
    "model_bytes": "B",
    "n_train": "rows",
    "degrees_of_freedom": "",
    "alpha": "",
    "about": "",
    "notes": "",
}


@dataclass(frozen=True)
class Trial:
    """One method, fitted once and tested.

    Attributes
    ----------
    method : str
        What tables and pictures call it.
    n_components : int or None
        The number of features, where it has one.
    error, low, high : float
        On the test rows: the root mean squared error, or the share of wrong labels; and a 95 %
        interval for that on all rows.
    kernel_error, kernel_low, kernel_high : float or None
        The relative error of the kernel matrix, with its interval, where features approximate one.
    fit_seconds, predict_seconds : float
        To learn, and to predict all test rows.
    memory : int
        Bytes by which memory grew at the peak of the fit.
    model_bytes : int
        Of what is kept to predict.
    n_train : int
        Rows that it learnt from.
    degrees_of_freedom, alpha : float or None
        Of the ridge solution, where there is one.
    about : str
        The kernel, and why it has these parameters.
    notes : tuple of str
        What was warned of while it learnt.
    predicted, losses : arrays of shape (n_test,)
        Predictions for the test rows, and what they lose.
    """

    method: str
    n_components: int | None
    error: float
    low: float
    high: float
    kernel_error: float | None
    kernel_low: float | None
    kernel_high: float | None
    fit_seconds: float
    predict_seconds: float
    memory: int
    model_bytes: int
    n_train: int
    degrees_of_freedom: float | None
    alpha: float | None
    about: str = ""
    notes: tuple[str, ...] = ()
    predicted: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)
    losses: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)

    @property
    def label(self) -> str:
        """The method, and how many features it has."""
        if self.n_components is None:
            return self.method
        return f"{self.method}, {self.n_components:,} features"


@dataclass(frozen=True)
class Skipped:
    """A trial that was not run, or that failed, and why."""

    method: str
    n_components: int | None
    reason: str

    def __str__(self) -> str:
        size = "" if self.n_components is None else f", {self.n_components:,} features"
        return f"{self.method}{size}: {self.reason}"


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of a kernel matrix, over its number of rows.

    Attributes
    ----------
    kernel : str
        The kernel.
    method : str
        The first method that uses it, whose colour it has.
    eigenvalues : array of shape (n_rows,)
        Descending.
    """

    kernel: str
    method: str
    eigenvalues: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class Weights:
    """What a method has learnt of the columns: a share of all weights for each."""

    method: str
    names: tuple[str, ...]
    values: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class Comparison:
    """Methods side by side, tested on the same rows; made by :func:`mercer.compare`.

    Attributes
    ----------
    task, task_reason : str
        ``"regression"`` or ``"classification"``, and why.
    methods : tuple of str
        All methods in the order of their colours.
    trials : tuple of Trial
        What was measured.
    skipped : tuple of Skipped
        What was not, and why.
    spectra : tuple of Spectrum
        Eigenvalues of the kernels.
    weights : tuple of Weights
        Weights of the columns, of methods that learn them.
    truth : array of shape (n_test,)
        The targets of the test rows.
    n_train, n_test, n_columns : int
        Rows to learn from and to test, and columns once encoded.
    deviation : float or None
        The standard deviation of the test targets, where they are numbers: the error of a
        constant.
    memory_counts : str
        How memory was measured: ``"resident memory"`` or ``"traced allocations"``.
    seconds : float
        Time of the whole comparison.
    interrupted : bool
        Whether it was stopped by hand before its end.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> found = mercer.compare(X, np.sin(2 * X[:, 0]), maps=["linear", "gaussian"], dims=[16, 128])
    >>> found.best.label
    'Fourier, Gaussian, 128 features'
    >>> [trial.label for trial in found.trials]
    ['linear', 'Fourier, Gaussian, 16 features', 'Fourier, Gaussian, 128 features']
    """

    task: str
    task_reason: str
    methods: tuple[str, ...]
    trials: tuple[Trial, ...]
    skipped: tuple[Skipped, ...]
    spectra: tuple[Spectrum, ...]
    weights: tuple[Weights, ...]
    truth: np.ndarray = field(repr=False)
    n_train: int
    n_test: int
    n_columns: int
    deviation: float | None
    memory_counts: str
    seconds: float
    interrupted: bool = False

    @property
    def error_name(self) -> str:
        """What the error is called."""
        return "RMSE" if self.task == "regression" else "share of wrong labels"

    @property
    def best(self) -> Trial:
        """The trial with the smallest error on the test rows."""
        return min(self.trials, key=lambda trial: trial.error)

    def best_of(self, method: str) -> Trial | None:
        """Return the best trial of a method, or ``None`` if it has none.

        Parameters
        ----------
        method : str
            One of ``methods``.
        """
        own = [trial for trial in self.trials if trial.method == method]
        return min(own, key=lambda trial: trial.error) if own else None

    def is_tied(self, trial: Trial) -> bool:
        """Return whether the test rows cannot tell a trial from the best one.

        Parameters
        ----------
        trial : Trial
            One of ``trials``.
        """
        return trial is self.best or are_tied(trial.losses, self.best.losses)

    def rows(self) -> list[dict[str, Any]]:
        """Return a dictionary for each trial, such as a data frame can be made of.

        Returns
        -------
        rows : list of dict
        """
        return [self._row(trial) for trial in self.trials]

    def _row(self, trial: Trial) -> dict[str, Any]:
        values: Iterable[Any] = (
            trial.method,
            trial.n_components,
            trial.error,
            trial.low,
            trial.high,
            self.is_tied(trial),
            trial.kernel_error,
            trial.kernel_low,
            trial.kernel_high,
            trial.fit_seconds,
            trial.predict_seconds,
            trial.memory,
            trial.model_bytes,
            trial.n_train,
            trial.degrees_of_freedom,
            trial.alpha,
            trial.about,
            "; ".join(trial.notes),
        )
        return dict(zip(COLUMNS, values, strict=True))

    def facts(self) -> list[tuple[str, str]]:
        """Return pairs of a heading and a sentence on what was compared, and how.

        Returns
        -------
        facts : list of (str, str)
        """
        columns = "column" if self.n_columns == 1 else "columns"
        found = [
            ("task", f"{self.task}: {self.task_reason}"),
            (
                "data",
                f"{self.n_train:,} rows to learn from, {self.n_test:,} to test, drawn at random; "
                f"{self.n_columns:,} {columns} once encoded",
            ),
        ]
        error = f"{self.error_name} on the test rows, with a 95 % interval"
        if self.deviation is not None:
            error += f"; a constant has {self.deviation:.3g}"
        found.append(("error", error))
        found.append(
            (
                "memory",
                f"growth of {self.memory_counts} of the process at the peak of the fit, beyond "
                "the training rows",
            )
        )
        found.append(("time", f"{self.seconds:.0f} s for everything"))
        if self.interrupted:
            found.append(("note", "interrupted: what was measured until then is here"))
        return found

    def _repr_html_(self) -> str:
        from .page import verdict

        order = sorted(self.trials, key=lambda trial: trial.error)
        rows = [
            (t.label, f"{three(t.error)} ({interval(t.low, t.high)})", seconds(t.fit_seconds))
            for t in order[:MOST_SHOWN]
        ]
        pairs = [("result", verdict(self)), *self.facts()]
        if len(order) > MOST_SHOWN:
            pairs.append(("shown", f"the best {MOST_SHOWN} of {len(order)}; rows() has all"))
        return facts("Comparison", pairs, ("method", self.error_name, "fit"), rows, best=0)

    def save(self, folder: str | Path, *, title: str = "Comparison") -> Path:
        """Write the report as HTML, its figures as PNG and SVG, and the numbers as CSV.

        Parameters
        ----------
        folder : str or Path
            Is made if it does not exist; files of an earlier report in it are replaced.
        title : str, default="Comparison"
            The heading of the report.

        Returns
        -------
        path : Path
            The report, ``report.html``.
        """
        from .folder import write_report

        return write_report(self, Path(folder), title)
