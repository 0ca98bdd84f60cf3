"""Who works: a thread per core over a list of tasks, BLAS held to one thread meanwhile."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from .._settings import settings
from .progress import Progress

Task = TypeVar("Task")


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
_original: Any = None
_before: int | None = None


@contextmanager
def limited_blas(threads: int) -> Iterator[None]:
    """Hold BLAS to some threads until the last of all concurrent holders leaves.

    The limit is a setting of the whole process: were each caller to save and restore it, two
    that overlap would restore each other's limit and leave it there for good. The lowest limit
    of all that are held counts, and none is raised above what BLAS had before.
    """
    global _original, _before
    controller = _controller("torch" in sys.modules)
    with _lock:
        if not _held:
            _original = controller.limit(limits=None, user_api="blas")
            found = controller.select(user_api="blas").lib_controllers
            _before = min((library.num_threads for library in found), default=None)
        _held.append(threads)
        _set_lowest(controller)
    try:
        yield
    finally:
        with _lock:
            _held.remove(threads)
            if _held:
                _set_lowest(controller)
            else:
                _original.restore_original_limits()
                _original = None


def _set_lowest(controller: ThreadpoolController) -> None:
    lowest = min(_held) if _before is None else min(*_held, _before)
    controller.limit(limits=lowest, user_api="blas")


def single_threaded_blas() -> AbstractContextManager[None]:
    """Hold BLAS to one thread, where threads of our own do the work."""
    return limited_blas(1)


@contextmanager
def allowed_threads() -> Iterator[None]:
    """Hold BLAS to the threads that the settings allow, if they name a number."""
    if settings().n_jobs is None:
        yield
        return
    with limited_blas(settings().workers()):
        yield


@cache
def _controller(with_torch: bool) -> ThreadpoolController:
    """Return the handle on the BLAS libraries, looked up once (it scans what is loaded)."""
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
