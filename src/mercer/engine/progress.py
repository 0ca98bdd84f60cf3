"""Progress of long work: a bar after two seconds, a line a stage, or the user's callback."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token

from .._settings import ProgressCallback, settings
from .screen import Bar


class Progress:
    """Counts finished work from any thread and shows it from the thread that waits.

    Inside a :class:`Job` the counts belong to the stage that runs; inside another ``Progress``
    of the same thread they are told to a callback only, as one bar is enough.

    Parameters
    ----------
    label : str
        What the work is called.
    total : int
        How much there is to do.

    Examples
    --------
    >>> from mercer.engine.progress import Progress
    >>> with Progress("counting", 10) as progress:
    ...     progress.advance(4)
    ...     progress.show()
    """

    def __init__(self, label: str, total: int) -> None:
        self.label = label
        #: What else there is to tell, such as a residual; shown behind the label.
        self.detail = ""
        self.total = total
        self.done: int = 0
        self._lock = threading.Lock()
        self._told = -1
        self._silent = False
        self._bar: Bar | None = None
        self._callback: ProgressCallback | None = None
        self._outer: Progress | Stage | None = None
        self._token: Token[Progress | Stage | None] | None = None

    def __enter__(self) -> Progress:
        self._outer = _around.get()
        self._callback, visible = _listeners()
        self._silent = self._callback is None and not visible
        if visible and self._outer is None:
            self._bar = Bar()
        self._token = _around.set(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                self.show()
        finally:
            if self._token is not None:
                _around.reset(self._token)
            if self._bar is not None:
                self._bar.close()

    def advance(self, amount: int) -> None:
        """Add finished work; safe to call from every thread."""
        with self._lock:
            self.done += amount

    def show(self) -> None:
        """Tell the callback, or move the bar, if there is news."""
        if self._outer is not None:
            self._outer.remind()
        if self._silent or self.done == self._told:
            return
        self._told = self.done
        if isinstance(self._outer, Stage):
            self._outer.count(self.done, self.total, self.detail)
        elif self._callback is not None:
            if self._stage() is None:
                self._callback(self.done, self.total, self.label + self.detail)
        else:
            self.remind()

    def remind(self) -> None:
        """Show again what is known, for a bar whose time to appear has come meanwhile."""
        if self._outer is not None:
            self._outer.remind()
        elif self._bar is not None:
            self._bar.show(self.label + self.detail, self.done, self.total)

    def _stage(self) -> Stage | None:
        """Return the stage that this is a part of, however deep."""
        outer = self._outer
        while isinstance(outer, Progress):
            outer = outer._outer
        return outer


class Job:
    """One bar over all stages of a long computation, such as a fit.

    What runs inside a stage, in the same thread, opens no bar of its own: its counts move the
    bar of the job, whose label is ``"KernelRegressor: search (2/3)"``. A callback hears
    ``(0, 1, label)`` when a stage starts, the counts of the work inside, and ``(1, 1, label)``
    when it has finished. A job inside another one moves no bar.

    Parameters
    ----------
    label : str
        What the computation is called, for example the class that is fitted.
    stages : sequence of str
        Names of the stages, in order; some may be skipped.
    verbose : int or bool, default=0
        From 1 on a line for every finished stage goes to stderr, whatever ``config`` says of
        progress; it is all that is seen where stderr is a file.

    Examples
    --------
    >>> from mercer.engine.progress import Job
    >>> with Job("KernelRegressor", ["search", "solve"]) as job:
    ...     with job.stage("search") as stage:
    ...         stage.note("Gaussian(lengthscale=2.0) of 26 candidates")
    ...     with job.stage("solve"):
    ...         pass
    """

    def __init__(self, label: str, stages: Sequence[str], *, verbose: int | bool = 0) -> None:
        self.label = label
        self.stages: tuple[str, ...] = tuple(stages)
        self.verbose: int = int(verbose)
        self._bar: Bar | None = None
        self._callback: ProgressCallback | None = None
        self._outer: Progress | Stage | None = None

    def __enter__(self) -> Job:
        self._outer = _around.get()
        if self._outer is None:
            self._callback, visible = _listeners()
            if visible:
                self._bar = Bar()
                self._bar.appear_by_itself()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Run one of the stages in a ``with`` block.

        Parameters
        ----------
        name : str
            Its name, one of ``stages``.

        Returns
        -------
        stage : context manager of Stage
            With a method ``note`` for a short result.
        """
        if name not in self.stages:
            raise ValueError(f"stage must be one of {list(self.stages)}, got {name!r}.")
        number = f"{self.stages.index(name) + 1}/{len(self.stages)}"
        stage = Stage(f"{self.label}: {name} ({number})", self._bar, self._callback, self._outer)
        token = _around.set(stage)
        start = time.monotonic()
        try:
            stage.count(0, 1)
            yield stage
            stage.tell(1, 1)
        finally:
            _around.reset(token)
        if self.verbose > 0:
            text = f": {stage.result}" if stage.result else ""
            line = f"{stage.label} {time.monotonic() - start:.1f} s{text}"
            (self._bar or Bar()).write(line)


class Stage:
    """A part of a :class:`Job` that runs; made by :meth:`Job.stage`."""

    def __init__(
        self,
        label: str,
        bar: Bar | None,
        callback: ProgressCallback | None,
        outer: Progress | Stage | None,
    ) -> None:
        self.label = label
        self.result: str = ""
        self.detail: str = ""
        self._bar = bar
        self._callback = callback
        self._outer = outer
        self._counts = (0, 1)

    def note(self, text: str) -> None:
        """Say the result of the stage in a few words, for the line of ``verbose``."""
        self.result = text

    def count(self, done: int, total: int, detail: str = "") -> None:
        """Tell and show how much of the work inside is done, and a detail of it."""
        self._counts, self.detail = (done, total), detail
        self.tell(done, total)
        self.remind()

    def tell(self, done: int, total: int) -> None:
        """Tell the callback which share of the stage is done."""
        if self._callback is not None:
            self._callback(done, total, self.label + self.detail)

    def remind(self) -> None:
        """Show again what is known, for a bar whose time to appear has come meanwhile."""
        if self._outer is not None:
            self._outer.remind()
        elif self._bar is not None:
            done, total = self._counts
            # A stage that has counted nothing yet has no share that is done: the bar pulses.
            self._bar.show(
                self.label + self.detail, done, None if total == 1 and done == 0 else total
            )


_around: ContextVar[Progress | Stage | None] = ContextVar("mercer progress", default=None)


def _listeners() -> tuple[ProgressCallback | None, bool]:
    """Return the callback, if there is one, and whether a bar is wanted instead."""
    progress = settings().progress
    return (None, progress) if isinstance(progress, bool) else (progress, False)
