"""Blocks of rows, in any order and on any machine, give what all rows at once give."""

from __future__ import annotations

import pickle
import warnings
from functools import partial
from typing import Any

import numpy as np

from ..data import raised
from .trial import MachineTrial, assert_identical


def check_streams(trial: MachineTrial) -> None:
    """A list of blocks equals the rows.

    So does an iterator, which can be read once only; or it is refused with the way out, or the
    machine warns that something was fitted on the first block only.
    """
    if not trial.takes_streams():
        return
    expected = trial.answers(trial.fitted())
    trial.assert_close(trial.answers(trial.fitted(trial.blocks())), expected, "a list of blocks")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            machine = trial.fitted(iter(trial.blocks()))
        except ValueError as error:
            assert ";" in str(error) or "use " in str(error), f"no way out is given: {error}"
            return
    actual = trial.answers(machine)
    if not any("first block" in str(warning.message) for warning in told):
        trial.assert_close(actual, expected, "an iterator of blocks")


def check_streams_refuse_second_targets(trial: MachineTrial) -> None:
    """A stream brings its own targets: others beside it are refused, and an empty one too."""
    if not trial.takes_streams():
        return
    machine = trial.fitted()
    expected = trial.answers(machine)
    message = raised(lambda: machine.fit(trial.blocks(), trial.y), ValueError)
    assert "y" in message.split(), f"the error does not name y: {message}"
    message = raised(lambda: machine.fit(iter([])), ValueError)
    assert "empty" in message or "block" in message, f"an empty stream: {message}"
    assert_identical(trial.answers(machine), expected, "after a refused stream")


def check_partial_fit(trial: MachineTrial) -> None:
    """Blocks that are learnt one after the other, in any order, equal one fit."""
    if not trial.can("partial_fit"):
        return
    expected = trial.answers(trial.fitted())
    for order in ((0, 1, 2), (2, 0, 1)):
        machine = trial.fresh()
        for k in order:
            assert machine.partial_fit(*trial.blocks()[k]) is machine
            trial.answers(machine)
        trial.assert_close(trial.answers(machine), expected, f"partial_fit in the order {order}")
    unasked = trial.fresh()
    for block in trial.blocks():
        unasked.partial_fit(*block)
    trial.assert_close(trial.answers(unasked), expected, "partial_fit, asked at the end only")


def check_merge(trial: MachineTrial) -> None:
    """Machines that have learnt parts of the rows are added up to one fit; the others stay."""
    if not trial.can("merge"):
        return
    expected = trial.answers(trial.fitted())
    for order in ((0, 1, 2), (2, 1, 0)):
        first, *others = [trial.fitted(*trial.blocks()[k]) for k in order]
        for other in others:
            before = trial.answers(other)
            assert first.merge(other) is first, "merge must return the machine itself"
            assert_identical(trial.answers(other), before, "the other machine after merge")
        trial.assert_close(trial.answers(first), expected, f"merged in the order {order}")


def check_refused_merge(trial: MachineTrial) -> None:
    """A merge that is refused says why, and changes neither machine, now or later."""
    if not trial.can("merge"):
        return
    first, second, third = trial.blocks()
    for name, stranger in _strangers(trial, *second):
        machine = trial.fitted(*first)
        kept = [pickle.loads(pickle.dumps(part)) for part in (machine, stranger)]
        message = raised(partial(machine.merge, stranger), ValueError, TypeError)
        assert message, f"merge with {name}: the error says nothing"
        before = trial.answers(kept[0])
        assert_identical(trial.answers(machine), before, f"after a refused merge with {name}")
        _assert_unchanged(trial, machine, kept[0], third, f"the machine, merged with {name}")
        if hasattr(stranger, "partial_fit") and hasattr(stranger, "n_features_in_"):
            block = third[0][:, : stranger.n_features_in_], _known(stranger, third[1])
            _assert_unchanged(trial, stranger, kept[1], block, f"the other machine, {name}")


def _assert_unchanged(
    trial: MachineTrial, machine: Any, kept: Any, block: tuple[Any, Any], what: str
) -> None:
    """Raise an error unless two machines answer alike, before and after one more block."""
    rows = trial.new_rows[:, : machine.n_features_in_]
    assert_identical(trial.answers(machine, rows), trial.answers(kept, rows), what)
    actual = trial.answers(machine.partial_fit(*block), rows)
    expected = trial.answers(kept.partial_fit(*block), rows)
    assert_identical(actual, expected, f"{what}, one block later")


def _strangers(trial: MachineTrial, X: Any, y: Any) -> list[tuple[str, Any]]:
    """Return machines that cannot be merged with one that has learnt from such rows."""
    narrow = trial.fitted(X[:, 1:], y)
    found = [("an unfitted machine", trial.fresh()), ("a machine of fewer columns", narrow)]
    if trial.classifies:
        labels = np.char.add(y.astype(str), "!")
        found.append(("a machine of other classes", trial.fitted(X, labels)))
    elif trial.tags.target_tags.multi_output:
        two = trial.fitted(X, np.column_stack([y, y]))
        found.append(("a machine of two targets", two))
    found.append(("no machine at all", "text"))
    return found


def _known(machine: Any, y: Any) -> Any:
    """Return targets as the machine knows them: in its labels, and as many columns."""
    if hasattr(machine, "classes_"):
        codes = np.unique(y, return_inverse=True)[1]
        return np.asarray(machine.classes_)[codes]
    width = np.shape(machine.predict(np.zeros((1, machine.n_features_in_))))[1:]
    return np.column_stack([y] * width[0]) if width else y
