"""Bad input gets a sentence that names it, and what was learnt before stays."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ..bad_input import assert_bad_parameters_are_refused, bad_rows
from ..data import raised
from .trial import ERROR_BARS, MachineTrial, assert_identical

#: Kinds of bad rows that are good ones where missing values, or strings, are allowed.
MISSING, STRINGS = {"nan", "float32 nan", "infinity"}, {"strings", "dates"}


def check_bad_rows(trial: MachineTrial) -> None:
    """Bad rows are refused, in ``fit`` and in every question, with an error that says why."""
    machine = trial.fitted()
    expected = trial.answers(machine)
    allowed = set(MISSING) if trial.tags.input_tags.allow_nan else set()
    allowed |= STRINGS if trial.tags.input_tags.string else set()
    questions = [name for name in expected if name != ERROR_BARS]
    for name, (rows, word) in bad_rows(trial.options.n_features).items():
        if name in allowed:
            continue
        calls = [partial(machine.fit, rows, trial.y[: len(rows)])]
        calls += [partial(getattr(machine, ask), rows) for ask in questions]
        for call in calls:
            message = raised(call, ValueError, TypeError)
            assert word in message, f"bad rows ({name}): the error does not say {word!r}: {message}"
    assert_identical(trial.answers(machine), expected, "after bad rows were refused")


def check_wrong_columns(trial: MachineTrial) -> None:
    """Rows with a column less are refused by every question, with both numbers."""
    machine = trial.fitted()
    expected = trial.answers(machine)
    width = trial.options.n_features
    for ask in (name for name in expected if name != ERROR_BARS):
        message = raised(partial(getattr(machine, ask), trial.X[:, 1:]), ValueError)
        assert {str(width), str(width - 1)} <= _words(message), f"{ask}: {message}"
    if trial.can("partial_fit"):
        message = raised(lambda: machine.partial_fit(trial.X[:, 1:], trial.y), ValueError)
        assert str(width) in _words(message), f"partial_fit: {message}"
    assert_identical(trial.answers(machine), expected, "after a wrong number of columns")


def check_bad_targets(trial: MachineTrial) -> None:
    """Targets that are missing, too few, not finite or of too many dimensions are refused."""
    learn = [method for method in ("fit", "partial_fit") if trial.can(method)]
    for name, y, word in _bad_targets(trial):
        for method in learn:
            _assert_refused(trial, method, name, word, y)


def _bad_targets(trial: MachineTrial) -> Iterator[tuple[str, Any, str]]:
    """Yield a name, the targets, and a word of the error."""
    rows = len(trial.y)
    yield "no targets", None, "y"
    yield "too few targets", trial.y[:-1], str(rows - 1)
    yield "too many targets", np.concatenate([trial.y, trial.y[:2]]), str(rows + 2)
    yield "targets of three dimensions", np.zeros((rows, 2, 2)), ""
    if trial.classifies:
        spoiled = trial.y.astype(object)
        spoiled[7] = None
        yield "labels with a missing one", spoiled, "y"
    else:
        spoiled = trial.y.copy()
        spoiled[7] = np.nan
        yield "targets with NaN", spoiled, "7"


def check_bad_weights(trial: MachineTrial) -> None:
    """Weights that are negative, not finite, too few or all zero are refused by name."""
    if not trial.takes("sample_weight"):
        return
    ones = np.ones(len(trial.X))
    spoiled = {
        "all zero": 0 * ones,
        "negative": np.where(np.arange(len(ones)) == 3, -1.0, ones),
        "not finite": np.where(np.arange(len(ones)) == 3, np.nan, ones),
        "too few": ones[:-1],
        "of two dimensions": np.ones((len(ones), 2)),
    }
    for name, weights in spoiled.items():
        _assert_refused(
            trial,
            "fit",
            f"weights that are {name}",
            "sample_weight",
            trial.y,
            sample_weight=weights,
        )


def check_bad_parameters(trial: MachineTrial) -> None:
    """Every parameter refuses bad values by name, and what was learnt before stays."""
    machine = trial.fitted()
    expected = trial.answers(machine)
    given = machine.get_params(deep=False)
    assert_bad_parameters_are_refused(trial.fresh(), lambda broken: broken.fit(trial.X, trial.y))

    def refused(broken: Any) -> None:
        changed = broken.get_params(deep=False)
        machine.set_params(**{name: changed[name] for name in given})
        machine.fit(trial.X, trial.y)

    assert_bad_parameters_are_refused(trial.fresh(), refused)
    machine.set_params(**given)
    assert_identical(trial.answers(machine), expected, "after bad parameters were refused")


def _assert_refused(
    trial: MachineTrial, method: str, name: str, word: str, y: Any, **weights: Any
) -> None:
    """Raise an error unless targets or weights are refused with a word, and change nothing."""
    machine = trial.fitted()
    expected = trial.answers(machine)
    learn = getattr(machine, method)
    message = raised(lambda: learn(trial.X, y, **weights), ValueError, TypeError)
    assert message.strip(), f"{name}: the error says nothing"
    assert word in message, f"{name}: the error does not say {word!r}: {message}"
    assert_identical(trial.answers(machine), expected, f"after a refusal ({name})")


def _words(message: str) -> set[str]:
    return set(message.replace(",", " ").replace(".", " ").replace(";", " ").split())
