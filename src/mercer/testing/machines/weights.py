"""Sample weights count rows: twice, as often as said, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from .trial import ERROR_BARS, GROUP, MachineTrial

#: What rows of weight 0 hold: anything that counts them is destroyed by it.
HUGE = 1e10


def check_equal_weights(trial: MachineTrial) -> None:
    """Weights of one are no weights, and other weights make a difference."""
    if not trial.takes("sample_weight"):
        return
    expected = trial.answers(trial.fitted())
    ones = trial.fitted(trial.X, trial.y, sample_weight=np.ones(len(trial.X)))
    trial.assert_close(trial.answers(ones), expected, "weights of one")
    uneven = trial.answers(trial.fitted(trial.X, trial.y, sample_weight=_uneven(trial)))
    name = "decision_function" if "decision_function" in expected else "predict"
    assert not np.array_equal(uneven[name], expected[name]), "weights change nothing"


def check_weights_repeat_rows(trial: MachineTrial) -> None:
    """A row of integer weight equals so many copies of the row."""
    if not trial.takes("sample_weight"):
        return
    weights = _uneven(trial)
    repeats = weights.astype(int)
    weighted = trial.fitted(trial.X, trial.y, sample_weight=weights)
    repeated = trial.fitted(np.repeat(trial.X, repeats, axis=0), np.repeat(trial.y, repeats))
    actual, expected = trial.answers(weighted), trial.answers(repeated)
    for answers in (actual, expected):
        # Probabilities may be calibrated on held-out rows: a row is held out with all its weight,
        # but one of its copies alone.
        answers.pop("predict_proba", None)
        if not trial.options.counted_weights:
            answers.pop(ERROR_BARS, None)
    trial.assert_close(actual, expected, "integer weights")


def check_rows_without_weight(trial: MachineTrial) -> None:
    """Rows of weight 0 change nothing, whatever they hold.

    They stand behind the others: what is drawn for a row may depend on its position.
    """
    if not trial.takes("sample_weight"):
        return
    X, y = _spoiled(trial)
    machine = trial.fitted(
        np.vstack([trial.X, X]),
        np.concatenate([trial.y, y]),
        sample_weight=np.repeat([1.0, 0.0], [len(trial.X), len(X)]),
    )
    expected = trial.answers(trial.fitted())
    trial.assert_close(trial.answers(machine), expected, f"rows of {HUGE} with weight 0")


def check_blocks_without_weight(trial: MachineTrial) -> None:
    """A block of weight 0 changes nothing, whatever it holds, as the first or the last one."""
    if not trial.takes("sample_weight") or not trial.can("partial_fit"):
        return
    X, y = _spoiled(trial)
    expected = trial.answers(trial.fitted())
    last = trial.fitted().partial_fit(X, y, sample_weight=np.zeros(len(X)))
    trial.assert_close(trial.answers(last), expected, f"a last block of {HUGE} with weight 0")
    first = trial.fresh()
    try:
        first.partial_fit(X, y, sample_weight=np.zeros(len(X)))
    except ValueError as error:
        # Nothing can be learnt yet, and a machine may say so; it must go on from there.
        assert "sample_weight" in str(error), f"the error does not name sample_weight: {error}"
    first.partial_fit(trial.X, trial.y)
    trial.assert_close(trial.answers(first), expected, f"a first block of {HUGE} with weight 0")


def _uneven(trial: MachineTrial) -> np.ndarray:
    """Return weights of one, two and three."""
    return np.asarray(1.0 + np.arange(len(trial.X)) % 3)


def _spoiled(trial: MachineTrial) -> tuple[np.ndarray, Any]:
    """Return rows of huge numbers; labels are those that there are."""
    X = HUGE * (1 + trial.rows(3)[:GROUP] ** 2)
    return X, (trial.y[:GROUP] if trial.classifies else X[:, 0])
