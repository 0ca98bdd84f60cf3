"""What a fit will take: the record that :func:`mercer.plan` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..machines.report import Report


@dataclass(frozen=True)
class PlannedStep:
    """A step of a fit.

    Attributes
    ----------
    name : str
        What is done.
    seconds : float
        How long it takes.
    memory : int
        Bytes that are held meanwhile.
    spare : int, default=0
        How many of them are taken only as long as there is room.

    Examples
    --------
    >>> import mercer
    >>> step = mercer.plan((1000, 5), mercer.FeatureRidge(mercer.RandomFourier())).steps[-1]
    >>> type(step).__name__, step.seconds > 0, step.memory > 0
    ('PlannedStep', True, True)
    """

    name: str
    seconds: float
    memory: int
    spare: int = 0


@dataclass(frozen=True, repr=False)
class Plan(Report):
    """The memory and time that a fit will take, step by step, before it runs.

    Attributes
    ----------
    what : str
        What is planned.
    n_rows, n_columns : int
        What it learns from.
    steps : tuple of PlannedStep
        What it does; the memory of a step is that at its peak, beside the rows that are given.
    budget : int
        The bytes that it may take: what ``mercer.config(memory=...)`` says or, by default, 70 % of
        the memory that is free.
    ways_out : tuple of str
        What would fit, where this does not.
    assumed : str
        What cannot be known beforehand, and was taken to be as it usually is.
    n_encoded : int or None
        How many columns the machine sees, once they are encoded; ``None``: as many as there are.

    Examples
    --------
    >>> steps = (PlannedStep("kernel matrix", 1.0, 3 * 10**9), PlannedStep("solve", 2.5, 8 * 10**9))
    >>> plan = Plan("KernelRidge()", 20_000, 8, steps, 4 * 10**9, ("solver='iterative'",))
    >>> plan.memory, plan.seconds, plan.fits
    (8000000000, 3.5, False)
    >>> plan
    Plan
    fit       KernelRidge()
    data      20,000 rows, 8 columns
    memory    8 GB at its peak (solve), of 4 GB: does not fit
    time      3.5 s on this machine
    steps     kernel matrix 1 s, 3 GB; solve 2.5 s, 8 GB
    instead   solver='iterative'
    """

    what: str
    n_rows: int
    n_columns: int
    steps: tuple[PlannedStep, ...]
    budget: int
    ways_out: tuple[str, ...] = ()
    assumed: str = ""
    n_encoded: int | None = None

    @property
    def memory(self) -> int:
        """Bytes at the peak, beside the rows that are given."""
        return max((step.memory for step in self.steps), default=0)

    @property
    def seconds(self) -> float:
        """Time of all steps."""
        return sum(step.seconds for step in self.steps)

    @property
    def fits(self) -> bool:
        """Whether the memory is within the budget, but for what is taken only if there is room."""
        return max((step.memory - step.spare for step in self.steps), default=0) <= self.budget

    def lines(self) -> list[tuple[str, str]]:
        """Return pairs of a heading and a sentence."""
        largest = max(self.steps, key=lambda step: step.memory)
        verdict = "fits" if self.fits else "does not fit"
        data = f"{self.n_rows:,} rows, {self.n_columns:,} columns"
        if self.n_encoded not in (None, self.n_columns):
            data += f"; {self.n_encoded:,} columns once encoded"
        found = [
            ("fit", self.what),
            ("data", data),
            (
                "memory",
                f"{in_bytes(self.memory)} at its peak ({largest.name}), of "
                f"{in_bytes(self.budget)}: {verdict}",
            ),
            ("time", f"{in_time(self.seconds)} on this machine"),
            (
                "steps",
                "; ".join(
                    f"{step.name} {in_time(step.seconds)}, {in_bytes(step.memory)}"
                    for step in self.steps
                ),
            ),
        ]
        if self.assumed:
            found.append(("assumed", self.assumed))
        if self.ways_out:
            found.append(("instead", "; or ".join(self.ways_out)))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, totals included."""
        totals = {"memory": self.memory, "seconds": self.seconds, "fits": self.fits}
        return {**super().as_dict(), **totals}


def in_bytes(number: float) -> str:
    """Return a number of bytes in words.

    Examples
    --------
    >>> in_bytes(1.234e9), in_bytes(5e6), in_bytes(800)
    ('1.23 GB', '5 MB', '0.8 kB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if number >= unit:
            return (
                f"{number / unit:.3g} {name}"
                if number < 1000 * unit
                else f"{number / unit:,.0f} {name}"
            )
    return f"{number / 1e3:.3g} kB"


def in_time(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> in_time(2e-6), in_time(0.034), in_time(12.3), in_time(300), in_time(9000), in_time(10**6)
    ('< 1 ms', '0.034 s', '12 s', '5 min', '2.5 h', '12 days')
    """
    if seconds < 1e-3:
        return "< 1 ms"
    if seconds < 100:
        return f"{seconds:.2g} s"
    if seconds < 6000:
        return f"{seconds / 60:.2g} min"
    hours = seconds / 3600
    return f"{hours:.2g} h" if hours < 100 else f"{hours / 24:,.0f} days"
