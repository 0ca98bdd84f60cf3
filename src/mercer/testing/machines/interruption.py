"""A fit that is interrupted leaves what was learnt before, whole and usable."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from ...engine.config import config
from .trial import MachineTrial, assert_identical

#: Calls at which a fit is interrupted, evenly distributed over all of them.
POINTS = 8
#: Python makes no promise about an interruption here: errors of finalisers are ignored, a block
#: that is being left is not left a second time, and a module is imported whole or not at all.
UNSAFE = {"__del__", "__exit__", "<module>"}


class Interrupter:
    """Counts the calls of functions of some packages; raises ``KeyboardInterrupt`` at one.

    It is a profile function of this thread, as :func:`sys.setprofile` takes them: no machine
    need know of it.
    """

    def __init__(self, packages: set[str], at: int | None = None) -> None:
        self.packages = packages
        self.at = at
        self.calls: int = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Count a call."""
        code = frame.f_code
        module = str(frame.f_globals.get("__name__", ""))
        if event != "call" or module.partition(".")[0] not in self.packages or module == __name__:
            return
        # A generator is also entered to be closed, where errors are ignored.
        if code.co_name in UNSAFE or code.co_flags & inspect.CO_GENERATOR:
            return
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count the calls in a ``with`` block."""
        before = sys.getprofile()
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(before)


def check_interruption(trial: MachineTrial) -> None:
    """``KeyboardInterrupt`` at any call during ``fit`` leaves the earlier fit, or the new one.

    A machine that learns step by step may keep its best step instead, if it warns.
    """
    packages = {"mercer", type(trial.machine).__module__.partition(".")[0]}
    refit = _Refit(trial)
    counter = Interrupter(packages)
    with counter.watching():
        refit.run(trial.fresh())
    for at in np.unique(np.linspace(1, counter.calls, POINTS).astype(int)):
        interrupter = Interrupter(packages, int(at))
        machine = trial.fitted()
        with interrupter.watching():
            kept = refit.run(machine)
        refit.assert_whole(machine, kept, f"call {at} of {counter.calls}")
    machine.fit(trial.X, trial.y)
    assert_identical(trial.answers(machine), refit.old, "a fit after an interrupted one")


def check_interruption_by_progress(trial: MachineTrial) -> None:
    """``KeyboardInterrupt`` from a progress callback leaves the earlier fit as it was."""

    def stop(done: int, total: int, label: str) -> None:
        raise KeyboardInterrupt

    refit, machine = _Refit(trial), trial.fitted()
    with config(progress=stop, block_rows=7):
        kept = refit.run(machine)
    refit.assert_whole(machine, kept, "the progress callback")


class _Refit:
    """A second fit, on other rows, that may be interrupted."""

    def __init__(self, trial: MachineTrial) -> None:
        self.trial = trial
        self.X = trial.rows(2)
        self.y = trial.targets(self.X)
        self.old = trial.answers(trial.fitted())
        self.new = trial.answers(trial.fitted(self.X, self.y))

    def run(self, machine: Any) -> bool:
        """Fit a machine; return whether an interruption was answered by a warning."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                machine.fit(self.X, self.y)
            except KeyboardInterrupt:
                return False
        return any("nterrupted" in str(warning.message) for warning in told)

    def assert_whole(self, machine: Any, kept_a_step: bool, where: str) -> None:
        """Raise an error unless the machine answers as the old fit, or as the new one."""
        actual = self.trial.answers(machine)
        if kept_a_step or np.array_equal(actual["predict"], self.new["predict"]):
            return
        assert_identical(actual, self.old, f"interrupted at {where}")
