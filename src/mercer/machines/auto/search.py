"""Kernel, metric, encoding, lengthscale and ridge parameter by successive halving.

Stages have more and more rows and fewer and fewer candidates. All are compared on the same held-out
rows, and what survives starts the next stage with its metric, lengthscale and ridge parameter.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._array import as_floating, take_rows
from ...kernels import Kernel
from ...kernels.derivatives import has_slopes
from .trial import HeldOutData, Trial

#: Rows of the stages, by effort, for tables of few columns and targets.
STAGES: dict[str, tuple[int, ...]] = {
    "quick": (1000, 2500),
    "default": (1500, 4000, 9000),
    "thorough": (2000, 6000, 16000),
}
#: Columns and targets that make a trial twice as expensive.
COLUMNS, TARGETS = 64, 8
#: More targets than so many are replaced by as many random sums of them.
MOST_TARGETS = 8
#: Held-out rows, as a share of all and at most.
SHARE, MOST_HELD_OUT = 0.2, 4000
#: Candidates that a stage hands to the next, and updates of the metric in each stage.
SURVIVORS, UPDATES = (4, 2, 1), (3, 4, 4)
#: The share of the error that an update of the metric must leave behind to count as a gain.
WORTH = 0.995
#: Combinations of kernel and encoding for which a metric is learnt in the first stage.
PROMISING = 5
#: Kinds of metrics: whether it is a matrix, and the power of the mean squared gradients.
KINDS = ((False, 0.5), (False, 1.0), (True, 0.5), (True, 1.0))
#: Factors of the lengthscale, and the gain that is worth a step.
FACTORS, GAIN = (2.0**-6, 2.0**8), 0.002


@dataclass(frozen=True)
class Stage:
    """What a stage of the search found."""

    n_rows: int
    n_trials: int
    best: Trial
    trial_seconds: float


@dataclass(frozen=True)
class Found:
    """What the search found: the best trial, and how it came to it since the clock was started."""

    best: Trial
    stages: list[Stage]
    plain_error: float
    in_time: bool
    started: float


class Search:
    """Searches kernels, metrics and encodings on a sample of rows.

    Parameters
    ----------
    encode : callable
        Gives the rows of the sample in an encoding, by its name, as arrays of any library: trials
        are computed where they are.
    encodings : sequence of str
        The names.
    Y : array of shape (n_rows, n_targets)
        Targets of the sample.
    weights : array of shape (n_rows,) or None
        Positive sample weights.
    families : sequence of Kernel
        Kernels with a lengthscale.
    effort : {"quick", "default", "thorough"}
        How many rows the stages have.
    seed : int
        Splits the rows and draws landmarks.
    deadline : float
        Value of ``time.perf_counter()`` after which no trial starts.
    note : callable
        Is told of the best trial after every stage.

    Examples
    --------
    >>> from mercer.kernels import Laplace
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    >>> Y = np.sin(3 * X[:, :1])
    >>> found = Search(lambda name: X, ["plain"], Y, None, [Laplace()]).run()
    >>> found.best.metric, bool(found.best.error < found.plain_error)
    ('weights', True)
    """

    def __init__(
        self,
        encode: Callable[[str], Any],
        encodings: Sequence[str],
        Y: np.ndarray,
        weights: np.ndarray | None,
        families: Sequence[Kernel],
        effort: str = "default",
        seed: int = 0,
        deadline: float = np.inf,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._encode, self._encodings = encode, list(encodings)
        self._families, self._seed, self._weights = list(families), seed, weights
        self._deadline, self._note = deadline, note
        self._generator = np.random.default_rng(seed)
        self._Y = mixed_targets(Y, self._generator)
        n = len(Y)
        self._order = self._generator.permutation(n)
        self._n_held = int(min(max(1, SHARE * n), MOST_HELD_OUT))
        most = n - self._n_held
        wide = min(int(encode(name).shape[1]) for name in encodings)
        cost = (1 + wide / COLUMNS + self._Y.shape[1] / TARGETS) ** 0.5
        self._sizes = sorted({min(int(size / cost), most) for size in STAGES[effort]})
        self._data: dict[tuple[str, int], HeldOutData] = {}
        self._n_trials, self._plain = 0, np.inf
        #: The rows and the best trial of the last stage that has one.
        self._best: tuple[int, Trial] | None = None

    def run(self) -> Found:
        """Return the best trial; an interruption from the keyboard ends the search early."""
        started = time.perf_counter()
        stages: list[Stage] = []
        try:
            # What was yielded before an interruption stays in the list.
            stages.extend(self._run(started))
        except KeyboardInterrupt:
            if self._best is None:
                raise
            size, best = self._best
            stages.append(self._told(size, [best], started, 0))
            warnings.warn(
                f"Interrupted; the search ends with the best of {self._n_trials} trials, and the "
                "model is solved with it (interrupt again to stop that, too).",
                UserWarning,
                stacklevel=2,
            )
            return Found(best, stages, self._plain, False, started)
        best = stages[-1].best
        return Found(best, stages, self._plain, not self._late(), started)

    def _run(self, started: float) -> Iterator[Stage]:
        """Yield the stages, one after the other."""
        trials = self._first(self._sizes[0])
        yield self._told(self._sizes[0], trials, started, 0)
        for number, size in enumerate(self._sizes[1:], 1):
            if self._late():
                break
            start, before = time.perf_counter(), self._n_trials
            # Few rows tell little of a metric: the second stage sees every kernel.
            kept = self._distinct(trials, by_kernel=number == 1)[: SURVIVORS[number - 1]]
            leader = min(trials, key=_error)
            found = [self._grown(trial, leader, size, UPDATES[number]) for trial in kept]
            trials = [trial for trial in found if trial is not None] or trials
            yield self._told(size, trials, start, before)

    def linear_error(self, X: np.ndarray) -> float:
        """Return the held-out error of a linear model that learns from the rows of a last stage.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            The rows of the sample as a linear model sees them.
        """
        places = self._order[: self._n_held + self._sizes[-1]]
        weights = None if self._weights is None else self._weights[places]
        return HeldOutData(X[places], self._Y[places], self._n_held, weights).linear_error()

    def _first(self, size: int) -> list[Trial]:
        """Return trials of all families and encodings, and of metrics for the promising ones."""
        plain: list[Trial] = []
        for encoding in self._encodings:
            for family in self._families:
                if plain and self._late():
                    break
                plain.append(self._scaled(Trial(family, encoding), size, (2.0,)))
        plain.sort(key=_error)
        trials, self._plain = list(plain), plain[0].error
        for one in plain[:PROMISING]:
            for matrix, power in KINDS:
                if not self._late():
                    trials += self._learnt(one, size, UPDATES[0], matrix, power)
        return sorted(trials, key=_error)

    def _grown(self, trial: Trial, leader: Trial, size: int, n_updates: int) -> Trial | None:
        """Return the best of a trial on more rows, its metric updated there.

        It may begin with the metric and the encoding of the leader of all trials instead: a kernel
        that learnt nothing without a metric may be the best with one.
        """
        if self._late():
            return None
        again = self._fit(replace(trial, kernel=None, coef=None), size)
        metric = leader.weights
        if (
            metric is not None
            and repr(leader.family) != repr(trial.family)
            and has_slopes(trial.family, metric.matrix)
        ):
            fresh = Trial(trial.family, leader.encoding, weights=metric, power=leader.power)
            again = min(again, self._scaled(fresh, size, (2.0,)), key=_error)
        tried = [again]
        last = size == self._sizes[-1]
        for matrix, power in KINDS:
            # What few rows could not teach, more may; the last stage only refines.
            same = again.weights is not None and again.weights.matrix == matrix
            if again.weights is None or (same and (power == again.power or not last)):
                tried += self._learnt(again, size, n_updates, matrix, power)
        return self._scaled(min(tried, key=_error), size, (2.0**0.5,))

    def _learnt(
        self, trial: Trial, size: int, n_updates: int, matrix: bool, power: float
    ) -> list[Trial]:
        """Return trials with a metric that is updated again and again while it helps.

        A metric that drops columns makes rows nearer to each other: the lengthscale goes along.
        """
        found, last, best, idle, step = [], trial, trial.error, 0, 2.0
        for _ in range(n_updates):
            if self._late():
                break
            data = self._at(trial.encoding, size)
            fresh = data.updated(last, matrix, power, self._generator)
            if fresh is None:
                break
            last = self._fit(fresh, size)
            moved = self._moved(last, step, size)
            if moved.error < last.error:
                last = moved
            else:
                step = 1 / step
            found.append(last)
            # A metric may need a second update before it helps.
            idle = idle + 1 if last.error > WORTH * best else 0
            best = min(best, last.error)
            if idle == 2:
                break
        if best < trial.error:
            found.append(self._scaled(min(found, key=_error), size, (2.0,)))
        return found

    def _scaled(self, trial: Trial, size: int, steps: tuple[float, ...]) -> Trial:
        """Return the trial with the lengthscale that suits it best."""
        best = trial if np.isfinite(trial.error) and trial.kernel else self._fit(trial, size)
        for step in steps:
            for direction in (step, 1 / step):
                before = best
                while (other := self._moved(best, direction, size)).error < (1 - GAIN) * best.error:
                    best = other
                if best is not before:
                    break
        return best

    def _moved(self, trial: Trial, step: float, size: int) -> Trial:
        """Return the trial with another lengthscale, if that is in range."""
        if self._late() or not FACTORS[0] <= trial.factor * step <= FACTORS[1]:
            return trial
        return self._fit(replace(trial, factor=trial.factor * step), size)

    def _fit(self, trial: Trial, size: int) -> Trial:
        self._n_trials += 1
        found = self._at(trial.encoding, size).fitted(trial, self._seed)
        if self._best is None or size > self._best[0] or found.error < self._best[1].error:
            self._best = size, found
        return found

    def _at(self, encoding: str, size: int) -> HeldOutData:
        """Return the held-out rows and some learning rows in an encoding."""
        key = encoding, size
        if key not in self._data:
            # Rows of other stages are not needed any more.
            self._data = {k: v for k, v in self._data.items() if k[1] == size}
            places = self._order[: self._n_held + size]
            X = as_floating(take_rows(self._encode(encoding), places), "float64")
            weights = None if self._weights is None else self._weights[places]
            self._data[key] = HeldOutData(X, self._Y[places], self._n_held, weights)
        return self._data[key]

    def _distinct(self, trials: list[Trial], by_kernel: bool) -> list[Trial]:
        """Return the best trial of each kernel, or of each kernel, encoding and kind of metric."""
        best: dict[tuple[str, ...], Trial] = {}
        for trial in sorted(trials, key=_error):
            key = (repr(trial.family),)
            best.setdefault(key if by_kernel else (*key, trial.encoding, trial.metric), trial)
        return list(best.values())

    def _late(self) -> bool:
        return time.perf_counter() > self._deadline

    def _told(self, size: int, trials: list[Trial], start: float, before: int) -> Stage:
        best = min(trials, key=_error)
        each = (time.perf_counter() - start) / max(self._n_trials - before, 1)
        stage = Stage(size, self._n_trials, best, each)
        if self._note is not None:
            self._note(
                f"{size:,} rows: {type(best.family).__name__}, {best.encoding}, metric "
                f"{best.metric}, error {best.error:.4g} after {self._n_trials} trials"
            )
        return stage


def mixed_targets(Y: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return at most eight columns whose squared errors add up to those of all targets, on average.

    Parameters
    ----------
    Y : array of shape (n_rows, n_targets)
        Targets, such as indicators of many classes.
    generator : numpy.random.Generator
        Draws the signs of random sums.

    Examples
    --------
    >>> mixed_targets(np.eye(26), np.random.default_rng(0)).shape
    (26, 8)
    """
    if Y.shape[1] <= MOST_TARGETS:
        return Y
    signs = generator.choice([-1.0, 1.0], (Y.shape[1], MOST_TARGETS))
    return np.asarray(Y @ signs / MOST_TARGETS**0.5)


def _error(trial: Trial) -> float:
    return trial.error
