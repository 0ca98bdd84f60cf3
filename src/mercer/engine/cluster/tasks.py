"""What runs on a worker: a function of one block, within the memory and threads of the worker."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._settings import Settings, settings
from ..blocks import NonFiniteError
from ..config import config
from ..streams import Block
from ..threads import allowed_threads

#: The share of a worker's memory that one of its tasks may use: its blocks, results that wait to be
#: merged and the libraries themselves take the rest.
MEMORY_SHARE = 0.25


class Shared:
    """Something that all tasks of a pass read, which is one key of the graph.

    Dask looks for other collections inside of tuples, lists and dataclasses; here it does not.

    Parameters
    ----------
    value : object
        Must not be changed by those who read it.
    """

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass(frozen=True)
class Budget:
    """What one task may use.

    Attributes
    ----------
    settings : Settings
        Those of the client.
    slots : int
        Tasks that run at once in a process, where no worker says it.
    """

    settings: Settings
    slots: int

    @classmethod
    def here(cls, slots: int) -> Budget:
        """Return the settings of this thread, without what tells somebody of progress."""
        found = settings()
        plain = {name: getattr(found, name) for name in Settings.__dataclass_fields__}
        return cls(Settings(**{**plain, "progress": False}), slots)

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Put the settings in force, with the memory and the threads of this worker."""
        worker, given = current_worker(), self.settings
        slots, memory, n_jobs = self.slots, given.memory, given.n_jobs
        if worker is not None:
            slots = max(1, int(worker.state.nthreads))
            limit = getattr(getattr(worker, "memory_manager", None), "memory_limit", None)
            if limit:
                memory = min(memory, int(MEMORY_SHARE * limit / slots))
            # A worker runs as many tasks at once as it has threads.
            n_jobs = 1
        elif slots > 1:
            memory, n_jobs = memory // slots, 1
        unchanged = given.memory_is_default and memory == given.memory
        with (
            config(
                memory="default" if unchanged else max(1, memory),
                n_jobs=n_jobs,
                block_rows=given.block_rows,
                progress=False,
                device=given.device,
                precision=given.precision,
            ),
            allowed_threads(),
        ):
            yield


def current_worker() -> Any:
    """Return the worker that runs this task, or ``None`` where there is no cluster."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None


@dataclass(frozen=True)
class Work:
    """A function of the blocks of a pass, and how to run it.

    Attributes
    ----------
    function : callable
        Called as ``function(shared, block, start)``; it must change none of them.
    budget : Budget
        What it may use.
    topic : str
        Whom to tell of finished blocks.
    """

    function: Callable[[Any, Block, Any], Any]
    budget: Budget
    topic: str

    def __call__(self, shared: Shared, block: Block, number: int, n_before: Any, start: Any) -> Any:
        """Return what the function makes of a block, ``None`` of one without rows."""
        found = None
        if n_rows_of(block.X):
            with self.budget.in_force(), named(number, n_before):
                checked = paired(block)
                found = self.function(shared.value, checked, start)
        worker = current_worker()
        if worker is not None:
            worker.log_event(self.topic, number)
        return found


@contextmanager
def named(number: int, n_before: int | None) -> Iterator[None]:
    """Tell errors of a block where it is."""
    try:
        yield
    except Exception as error:
        if isinstance(error, NonFiniteError) and n_before is not None:
            raise error.below(n_before) from error
        if n_before is None or not isinstance(error, NonFiniteError):
            where = "" if n_before is None else f", which begins at row {n_before}"
            error.add_note(f"Rows are counted within partition {number}{where}.")
        raise


def merged(parts: list[Any]) -> Any:
    """Return the sum of what some blocks gave; none of them is changed.

    A worker may be asked for the same sum again, after another one was lost.

    Parameters
    ----------
    parts : list
        Objects with a method ``merge``, or ``None``.
    """
    found = [part for part in parts if part is not None]
    if len(found) < 2:
        return found[0] if found else None
    total = copy.deepcopy(found[0])
    for part in found[1:]:
        total.merge(part)
    return total


def paired(block: Block) -> Block:
    """Return a block whose rows and targets are equally many, or say that they are not."""
    n_rows = n_rows_of(block.X)
    for name, values in (("y", block.y), ("sample_weight", block.weights)):
        if values is not None and n_rows_of(values) != n_rows:
            raise ValueError(
                f"X and {name} have different blocks: one of X has {n_rows} rows, and that of "
                f"{name} beside it {n_rows_of(values)}; cut both alike, for example with "
                f"{name}.rechunk(X.chunks[0]), or take both from one data frame."
            )
    return block


def n_rows_of(values: Any) -> int:
    """Return how many rows an array, a frame or a list has.

    Examples
    --------
    >>> n_rows_of([1, 2]), n_rows_of(np.eye(3))
    (2, 3)
    """
    return int(values.shape[0]) if hasattr(values, "shape") else len(values)


def block_of(X: Any, y: Any = None, weights: Any = None) -> Block:
    """Return a block of what the tasks of rows, targets and weights have given."""
    if isinstance(X, tuple):
        return Block(*X, *(None,) * (3 - len(X)))
    return Block(X if hasattr(X, "shape") else np.asarray(X), y, weights)
