"""A machine can be copied, written down and read back."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from ...io import load, save
from ..data import raised
from .trial import ERROR_BARS, MachineTrial, assert_identical


def check_parameters(trial: MachineTrial) -> None:
    """Parameters go round, the constructor changes none of them, and neither does ``fit``."""
    machine = trial.fresh()
    given = machine.get_params(deep=False)
    for name, value in type(machine)(**given).get_params(deep=False).items():
        assert value is given[name], f"the constructor changed the parameter {name}"
    assert clone(machine).set_params(**given).get_params(deep=False) == given
    before = pickle.dumps(machine.get_params())
    machine.fit(trial.X, trial.y)
    assert pickle.dumps(machine.get_params()) == before, "fit changed the parameters"
    raised(lambda: machine.set_params(no_such_parameter=1), ValueError)


def check_clone(trial: MachineTrial) -> None:
    """A clone is unfitted, and learns the same: one seed gives one machine."""
    machine = trial.fitted()
    copied = clone(machine)
    raised(lambda: copied.predict(trial.X), ValueError, AttributeError)
    again = copied.fit(trial.X, trial.y)
    assert_identical(trial.answers(again), trial.answers(machine), "a clone, fitted")


def check_refit(trial: MachineTrial) -> None:
    """``fit`` returns the machine, and forgets what was learnt before."""
    other = trial.rows(2)
    machine = trial.fitted(other, trial.targets(other))
    assert machine.fit(trial.X, trial.y) is machine, "fit must return the machine itself"
    assert_identical(trial.answers(machine), trial.answers(trial.fitted()), "a second fit")


def check_pickle(trial: MachineTrial) -> None:
    """A pickled machine gives the same predictions; one that is not fitted can learn."""
    machine = trial.fitted()
    loaded = pickle.loads(pickle.dumps(machine))
    expected = trial.answers(machine)
    assert_identical(trial.answers(loaded), expected, "a pickled machine")
    unfitted = pickle.loads(pickle.dumps(trial.fresh())).fit(trial.X, trial.y)
    assert_identical(trial.answers(unfitted), expected, "a machine pickled before fit")


def check_model_file(trial: MachineTrial) -> None:
    """Saved and loaded, predictions are the same bit by bit; a compact file may drop error bars.

    A class that may not be stored in model files is refused by name.
    """
    machine = trial.fitted()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "machine.mercer"
        if _is_refused(machine, path):
            return
        expected = trial.answers(machine)
        assert_identical(trial.answers(_round_trip(machine, path)), expected, "a loaded machine")
        compact = trial.answers(_round_trip(machine, path, compact=True))
        for name in set(expected) - {ERROR_BARS}:
            assert name in compact, f"a compact machine has no {name}"
            assert np.array_equal(compact[name], expected[name]), f"compact: {name} differs"
        if trial.can("partial_fit"):
            block, *others = trial.blocks()
            learning = trial.fresh().partial_fit(*block)
            resumed = _round_trip(learning, path)
            for other in others:
                resumed.partial_fit(*other)
                learning.partial_fit(*other)
            assert_identical(
                trial.answers(resumed), trial.answers(learning), "partial_fit after loading"
            )


def _is_refused(machine: Any, path: Path) -> bool:
    """Return whether a stranger's class may not be stored; mercer's own must be."""
    kind = type(machine)
    try:
        save(machine, path)
    except (TypeError, ValueError) as error:
        assert kind.__module__.partition(".")[0] != "mercer", f"it cannot be saved: {error}"
        assert kind.__name__ in str(error), f"the error does not name the class: {error}"
        return True
    return False


def _round_trip(machine: Any, path: Path, **options: Any) -> Any:
    """Return what a model file gives back."""
    save(machine, path, **options)
    return load(path)


def check_repr(trial: MachineTrial) -> None:
    """``repr`` names the class, fitted or not, and a report can be printed."""
    for machine in (trial.fresh(), trial.fitted()):
        assert type(machine).__name__ in repr(machine)
    if hasattr(machine, "report_"):
        assert str(machine.report_).strip(), "the report is empty"
