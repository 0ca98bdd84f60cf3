"""The loop of feature-learning machines: fit, look at derivatives, reweight, and fit again."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ...engine.progress import Progress
from ..calibration import PredictedSample
from .data import Data
from .functions import Function
from .passes import ErrorPass, Errors
from .steps import Fit, Step
from .weights import Weights


class Iterate(NamedTuple):
    """An iteration: its number, its weights, and what was learnt with them."""

    step: int
    weights: Weights
    result: Fit

    def entry(self) -> dict[str, Any]:
        """Return what a history keeps."""
        return {
            "iteration": self.step,
            "error": self.result.error,
            "alpha": self.result.alpha,
            "importances": self.weights.importances(),
        }


def iterate(
    fit: Step,
    weights: Weights,
    batches: Iterator[Data],
    held: Data | None,
    update: Callable[[Weights, Fit], Weights],
    n_steps: int,
    patience: int | None,
) -> tuple[Iterate, list[dict[str, Any]]]:
    """Return the iteration of the smallest error, and the history of all.

    Parameters
    ----------
    fit : Step
        What does a step.
    weights : Weights
        The first weights.
    batches : iterator of Data
        The rows of every step.
    held : Data or None
        Held-out rows, whose errors then count instead of leave-one-out errors.
    update : callable
        Gives new weights for weights and a fit.
    n_steps : int
        How often weights are updated, at most.
    patience : int or None
        After how many steps without a smaller error to stop.
    """
    history: list[dict[str, Any]] = []
    best: Iterate | None = None
    last: float | None = None
    with Progress("learning features", n_steps + 1) as progress:
        for step in range(n_steps + 1):
            try:
                result = fit.run(next(batches), weights, last)
                if held is not None:
                    error, sample = validated(result.function, weights, held)
                    result = result._replace(error=error, held_out=sample.held_out)
            except KeyboardInterrupt:
                if best is None:
                    raise
                _say(f"Interrupted after {step} fits; the best of them is kept.")
                break
            last = result.alpha
            one = Iterate(step, weights, result)
            history.append(one.entry())
            progress.advance(1)
            progress.show()
            if best is None or result.error < best.result.error:
                best = one
            if patience is not None and step - best.step >= patience:
                break
            if step < n_steps:
                weights = update(weights, result)
    assert best is not None
    return best, history


def validated(function: Function, weights: Weights, data: Data) -> tuple[float, PredictedSample]:
    """Return the error on held-out rows, over the variance of the targets, and a sample of them.

    Parameters
    ----------
    function : Function
        Gives predictions for reweighted rows.
    weights : Weights
        The weights.
    data : Data
        The held-out rows.
    """
    found: Errors = data.total(ErrorPass(function.without_sums(), weights))
    return found.squares / data.weight / data.variance(), found.sample


def learnt_from_all(fit: Step, whole: Data, best: Iterate) -> Iterate:
    """Return the best iteration with a function of all rows, the held-out ones included.

    Parameters
    ----------
    fit : Step
        What does a step.
    whole : Data
        All rows.
    best : Iterate
        The iteration that the held-out rows have chosen.
    """
    try:
        again = fit.run(whole, best.weights, best.result.alpha)
    except KeyboardInterrupt:
        _say("Interrupted; the function has not learnt from the held-out rows.")
        return best
    kept = best.result._replace(function=again.function, alpha=again.alpha)
    return best._replace(result=kept)


def _say(what: str) -> None:
    warnings.warn(what, UserWarning, stacklevel=7)
