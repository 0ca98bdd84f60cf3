"""Kernel, metric, encoding, lengthscale and ridge parameter by successive halving.

Stages have more and more rows and fewer and fewer candidates. All are compared on the same held-out
rows, and what survives starts the next stage with its metric, lengthscale and ridge parameter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...kernels import Kernel
from .trial import HeldOutData, Trial

#: Rows of the stages, by effort.
STAGES = {
    "quick": (1000, 2000),
    "default": (1500, 4000, 8000),
    "thorough": (2000, 6000, 16000),
}
#: Held-out rows, as a share of all and at most.
SHARE, MOST_HELD_OUT = 0.2, 4000
#: Candidates that a stage hands to the next, and updates of the metric in each stage.
SURVIVORS, UPDATES = (4, 2, 1), (3, 6, 5)
#: Combinations of kernel and encoding for which a metric is learnt in the first stage.
PROMISING = 8
#: Factors of the lengthscale, and the gain that is worth a step.
FACTORS, GAIN = (2.0**-6, 2.0**4), 0.002


@dataclass(frozen=True)
class Stage:
    """What a stage of the search found."""

    n_rows: int
    n_trials: int
    best: Trial
    seconds: float


@dataclass(frozen=True)
class Found:
    """What the search found: the best trial, and how it came to it."""

    best: Trial
    stages: list[Stage]
    plain_error: float


class Search:
    """Searches kernels, metrics and encodings on a sample of rows.

    Parameters
    ----------
    encode : callable
        Gives the rows of the sample in an encoding, by its name.
    encodings : sequence of str
        The names.
    Y : array of shape (n_rows, n_targets)
        Targets of the sample.
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
    """

    def __init__(
        self,
        encode: Callable[[str], np.ndarray],
        encodings: Sequence[str],
        Y: np.ndarray,
        families: Sequence[Kernel],
        effort: str = "default",
        seed: int = 0,
        deadline: float = np.inf,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._encode, self._encodings = encode, list(encodings)
        self._Y, self._families, self._seed = Y, list(families), seed
        self._deadline, self._note = deadline, note
        self._generator = np.random.default_rng(seed)
        n = len(Y)
        self._order = self._generator.permutation(n)
        self._n_held = int(min(SHARE * n, MOST_HELD_OUT))
        most = n - self._n_held
        sizes = [min(size, most) for size in STAGES[effort]]
        self._sizes = sorted(set(sizes))
        self._data: dict[tuple[str, int], HeldOutData] = {}
        self._n_trials = 0

    def run(self) -> Found:
        """Return the best trial."""
        stages: list[Stage] = []
        start = time.perf_counter()
        trials, plain = self._first(self._sizes[0])
        stages.append(self._told(self._sizes[0], trials, start))
        for number, size in enumerate(self._sizes[1:], 1):
            if self._late():
                break
            start = time.perf_counter()
            # Few rows tell little of a metric: the second stage sees every kernel.
            kept = self._distinct(trials, by_kernel=number == 1)[: SURVIVORS[number - 1]]
            found = [self._grown(trial, size, UPDATES[number]) for trial in kept]
            trials = [trial for trial in found if trial is not None] or trials
            stages.append(self._told(size, trials, start))
        return Found(min(trials, key=_error), stages, plain)

    def _first(self, size: int) -> tuple[list[Trial], float]:
        """Return trials of all families and encodings, and of metrics for the promising ones."""
        plain: list[Trial] = []
        for encoding in self._encodings:
            for family in self._families:
                if plain and self._late():
                    break
                start = min((t for t in plain if t.encoding == encoding), key=_error, default=None)
                alpha = 1e-2 if start is None else start.alpha
                plain.append(self._scaled(Trial(family, encoding, alpha=alpha), size, (2.0,)))
            self._data = {key: value for key, value in self._data.items() if key[1] == size}
        plain.sort(key=_error)
        trials = list(plain)
        for one in plain[:PROMISING]:
            for matrix in (False, True):
                if self._late():
                    break
                trials += self._learnt(one, size, UPDATES[0], matrix)
        return sorted(trials, key=_error), plain[0].error

    def _grown(self, trial: Trial, size: int, n_updates: int) -> Trial | None:
        """Return the best of a trial on more rows, its metric updated there."""
        if self._late():
            return None
        again = self._fit(replace(trial, kernel=None, coef=None), size)
        tried = [again]
        # What few rows could not teach, more may.
        kinds = (False, True) if trial.weights is None else (trial.weights.matrix,)
        for matrix in kinds:
            tried += self._learnt(again, size, n_updates, matrix)
        best = min(tried, key=_error)
        return self._scaled(best, size, (2.0**0.5,))

    def _learnt(self, trial: Trial, size: int, n_updates: int, matrix: bool) -> list[Trial]:
        """Return trials with a metric that is updated again and again while it helps."""
        found, last, best, idle = [], trial, trial.error, 0
        for _ in range(n_updates):
            if self._late():
                break
            fresh = self._at(trial.encoding, size).updated(last, matrix, self._generator)
            if fresh is None:
                break
            last = self._fit(fresh, size)
            found.append(last)
            # A metric may need a second update before it helps.
            idle = idle + 1 if last.error > 0.99 * best else 0
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
                moved = False
                while FACTORS[0] <= best.factor * direction <= FACTORS[1] and not self._late():
                    other = self._fit(replace(best, factor=best.factor * direction), size)
                    if other.error > (1 - GAIN) * best.error:
                        break
                    best, moved = other, True
                if moved:
                    break
        return best

    def _fit(self, trial: Trial, size: int) -> Trial:
        self._n_trials += 1
        return self._at(trial.encoding, size).fitted(trial, self._seed)

    def _at(self, encoding: str, size: int) -> HeldOutData:
        """Return some learning rows and the held-out rows in an encoding."""
        key = encoding, size
        if key not in self._data:
            held = self._order[: self._n_held]
            places = np.concatenate([self._order[self._n_held : self._n_held + size], held])
            X = np.asarray(self._encode(encoding), dtype=float)[places]
            self._data[key] = HeldOutData(X, self._Y[places], size)
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

    def _told(self, size: int, trials: list[Trial], start: float) -> Stage:
        best = min(trials, key=_error)
        stage = Stage(size, self._n_trials, best, time.perf_counter() - start)
        if self._note is not None:
            self._note(
                f"{size:,} rows: {type(best.family).__name__}, {best.encoding}, metric "
                f"{best.metric}, error {best.error:.4g} after {self._n_trials} trials"
            )
        return stage


def _error(trial: Trial) -> float:
    return trial.error
