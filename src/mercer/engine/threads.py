"""Who works: a thread per core over a list of tasks, BLAS held to one thread meanwhile."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from .._limits import processor_quota
from .._settings import settings
from .progress import Progress

Task = TypeVar("Task")

#: Operations of one call of BLAS or LAPACK below which one thread does it: a tenth of a second. A
#: second thread saves less than half of that, and costs as much again: threads of BLAS wait for
#: each other, and for the next call, by spinning. On a busy machine two are up to seven times
#: slower than one (measured: decompositions of 1,000 rows, products of 300 by 300).
SMALL_WORK = 4e9
#: The same for one of many calls that follow each other, where threads find the next one soon.
SMALL_CALL = 2e8
#: The same for a loop of OpenMP, whose threads stay: some milliseconds.
SMALL_LOOP = 1e8


def run_tasks(
    work: Callable[[Task], object],
    tasks: Sequence[Task],
    weight: Callable[[Task], int],
    label: str,
    workers: int | None = None,
    native: bool = True,
) -> None:
    """Run ``work`` on every task, on as many threads as the settings allow.

    Tasks are taken in order by whoever is free. The first error stops the others after
    their current task and is raised here; so does an interruption from the keyboard.

    Parameters
    ----------
    work : callable
        Called as ``work(task)``; it must not touch what another task writes.
    tasks : sequence
        What to do.
    weight : callable
        How much of the whole a task is, for progress.
    label : str
        What the work is called in the progress bar.
    workers : int, optional
        Threads, instead of those of the settings.
    native : bool, default=True
        Whether NumPy does the work; threads of other libraries are not limited.
    """
    workers = min(workers or settings().workers(), len(tasks))
    held = single_threaded_blas() if native else nullcontext()
    with held, Progress(label, sum(weight(task) for task in tasks)) as progress:
        if workers <= 1:
            for task in tasks:
                work(task)
                progress.advance(weight(task))
                progress.show()
            return
        queue = _Queue(tasks)

        def drain() -> None:
            for task in queue:
                work(task)
                progress.advance(weight(task))

        with ThreadPoolExecutor(workers, thread_name_prefix="mercer") as pool:
            pending = {pool.submit(drain) for _ in range(workers)}
            try:
                while pending:
                    done, pending = wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION)
                    for future in done:
                        future.result()
                    progress.show()
            finally:
                queue.close()


class _Queue:
    """Hands each task to one thread, until it is closed."""

    def __init__(self, tasks: Sequence[Any]) -> None:
        self._tasks = iter(tasks)
        self._lock = threading.Lock()
        self._open = True

    def close(self) -> None:
        self._open = False

    def __iter__(self) -> Iterator[Any]:
        while True:
            with self._lock:
                if not self._open:
                    return
                try:
                    task = next(self._tasks)
                except StopIteration:
                    return
            yield task


_lock = threading.Lock()
_held: list[int] = []
#: The libraries that are held, with the threads that each had before.
_before: list[tuple[Any, int]] = []
_in_force: int | None = None


@contextmanager
def limited_blas(threads: int) -> Iterator[None]:
    """Hold BLAS to some threads until the last of all concurrent holders leaves.

    The limit is a setting of the whole process: were each caller to save and restore it, two
    that overlap would restore each other's limit and leave it there for good. The lowest limit
    of all that are held counts, and none is raised above what a library had before. A holder
    inside another with the same limit costs next to nothing.
    """
    with _lock:
        if not _held:
            _before[:] = [
                (library, library.num_threads)
                for library in _libraries("torch" in sys.modules)
                if library.num_threads is not None
            ]
        _held.append(threads)
        _set_lowest()
    try:
        yield
    finally:
        with _lock:
            _held.remove(threads)
            _set_lowest()


def _set_lowest() -> None:
    """Set the lowest limit that is held, or restore what was set before the first."""
    global _in_force
    lowest = min(_held, default=None)
    if lowest == _in_force:
        return
    for library, threads in _before:
        library.set_num_threads(threads if lowest is None else min(lowest, threads))
    _in_force = lowest


def single_threaded_blas() -> AbstractContextManager[None]:
    """Hold BLAS to one thread, where threads of our own do the work."""
    return limited_blas(1)


@contextmanager
def allowed_threads(operations: float = math.inf, total: float = 0.0) -> Iterator[None]:
    """Hold BLAS to the threads that the settings allow, and to one for small work.

    Parameters
    ----------
    operations : float, optional
        Of the largest call of BLAS or LAPACK there will be.
    total : float, optional
        Of all calls, where they are many.
    """
    if operations < SMALL_WORK and (operations < SMALL_CALL or total < SMALL_WORK):
        threads = 1
    elif settings().n_jobs is not None or processor_quota() is not None:
        # By itself BLAS starts a thread for each core of the host, whatever its container may use.
        threads = settings().workers()
    else:
        yield
        return
    with limited_blas(threads):
        yield


@contextmanager
def openmp_threads(operations: float) -> Iterator[None]:
    """Hold the loops of OpenMP that this thread starts to one thread for small work.

    scikit-learn's k-means is made of such loops. The limit is one of the calling thread alone.

    Parameters
    ----------
    operations : float
        Of one loop.
    """
    threads = 1 if operations < SMALL_LOOP else settings().workers()
    before = [(library, library.num_threads) for library in _openmp_libraries()]
    for library, number in before:
        library.set_num_threads(min(threads, number))
    try:
        yield
    finally:
        for library, number in before:
            library.set_num_threads(number)


@cache
def _openmp_libraries() -> list[Any]:
    """Return the handles on the OpenMP libraries, looked up once."""
    import sklearn.cluster  # noqa: F401

    return list(ThreadpoolController().select(user_api="openmp").lib_controllers)


@cache
def _libraries(with_torch: bool) -> list[Any]:
    """Return the handles on the BLAS libraries, looked up once (it scans what is loaded)."""
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
