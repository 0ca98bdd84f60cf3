"""Arrays of other libraries, on whatever devices there are, are learnt as those of NumPy are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..._array import device_of, is_foreign
from ..arrays import array_libraries
from .trial import MachineTrial


def check_array_libraries(trial: MachineTrial) -> None:
    """Rows of any library, on any device, give the predictions of the same rows of NumPy."""
    if not trial.options.on_device:
        return
    expected = trial.answers(trial.fitted())
    for name, make in _libraries():
        machine = trial.fitted(make(trial.X), _given(trial, make))
        actual = trial.answers(machine, make(trial.new_rows))
        trial.assert_close(actual, expected, f"rows of {name}")
        score = machine.score(make(trial.X), _given(trial, make))
        assert isinstance(score, float), f"the score of {name} is a {type(score).__name__}"


def check_answers_where_rows_are(trial: MachineTrial) -> None:
    """Predictions are in the library, and on the device, of the rows; labels may be strings."""
    if not trial.options.on_device:
        return
    for name, make in _libraries():
        machine = trial.fitted(make(trial.X), _given(trial, make))
        rows = make(trial.new_rows)
        for question in ("predict", "decision_function", "predict_proba"):
            if not hasattr(machine, question):
                continue
            answer = getattr(machine, question)(rows)
            if not is_foreign(answer) and answer.dtype.kind in "OU":
                continue
            assert is_foreign(answer), f"{question} of {name} answers with NumPy arrays"
            assert device_of(answer) == device_of(rows), f"{question} of {name} is elsewhere"


def _libraries() -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Yield the names and the makers of arrays of every library but NumPy."""
    for name, make in array_libraries().items():
        if name != "numpy":
            yield name, make


def _given(trial: MachineTrial, make: Callable[[Any], Any]) -> Any:
    """Return targets in a library; strings as NumPy has them."""
    return trial.y if trial.y.dtype.kind in "OU" else make(np.asarray(trial.y))
