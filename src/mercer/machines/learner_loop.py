"""The loop of machines that learn features: fit, look at derivatives, weigh, and fit again."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from ..engine.progress import Progress
from .left_out import validated
from .weighted_fits import Fit


class Iterate(NamedTuple):
    """An iteration: its number, its weights, and what was learnt with them."""

    step: int
    weights: Any
    result: Fit

    def entry(self):
        """Return what a history keeps."""
        return {
            "iteration": self.step,
            "error": self.result.error,
            "ridge": self.result.lam,
            "importances": self.weights.importances(),
        }


def iterate(fit, weights, batches, held, update, n_steps, patience):
    """Return the iteration of the smallest error, and the history of all.

    Parameters
    ----------
    fit : ExactFit, FourierFit or NystromFit
        What does a step.
    weights : ColumnWeights or Metric
        The first weights.
    batches : iterator of Standardized
        The rows of every step.
    held : Standardized or None
        Rows kept aside, whose errors then count instead of left-out ones.
    update : callable
        Gives new weights for weights and a fit.
    n_steps : int
        How often weights are updated, at most.
    patience : int or None
        After how many steps without a smaller error to stop.
    """
    history, best, last = [], None, None
    with Progress("learning features", n_steps + 1) as progress:
        for step in range(n_steps + 1):
            try:
                result = fit.run(next(batches), weights, last)
                if held is not None:
                    error, left_out = validated(result.predictor, weights, held)
                    result = result._replace(error=error, left_out=left_out)
            except KeyboardInterrupt:
                if best is None:
                    raise
                _say(f"Interrupted after {step} fits; the best of them is kept.")
                break
            last = result.lam
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
    return best, history


def learnt_from_all(fit, whole, best):
    """Return the best iteration with a function of all rows, those kept aside included.

    Parameters
    ----------
    fit : ExactFit, FourierFit or NystromFit
        What does a step.
    whole : Standardized
        All rows.
    best : Iterate
        The iteration that the rows kept aside have chosen.
    """
    try:
        again = fit.run(whole, best.weights, best.result.lam)
    except KeyboardInterrupt:
        _say("Interrupted; the function has not learnt from the rows that were kept aside.")
        return best
    kept = best.result._replace(predictor=again.predictor, lam=again.lam)
    return best._replace(result=kept)


def _say(what):
    warnings.warn(what, UserWarning, stacklevel=7)
