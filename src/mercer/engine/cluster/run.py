"""Computing on the scheduler that Dask names: progress, interruption, and what went wrong."""

from __future__ import annotations

import threading
import warnings
from typing import Any

from ..._optional import require
from ..progress import Progress

#: Seconds between two looks at what is finished.
PAUSE = 0.1


def client_for(root: Any) -> Any:
    """Return the client of the cluster on which a task would run, ``None`` if that is none."""
    base = require("dask.base", "dask", "Learning on a cluster")
    owner = getattr(base.get_scheduler(collections=[root]), "__self__", None)
    return owner if hasattr(owner, "scheduler_info") else None


def slots_here(root: Any) -> int:
    """Return how many tasks run at once on this machine, where there is no cluster."""
    dask = require("dask", "dask", "Learning on a cluster")
    base = require("dask.base", "dask", "Learning on a cluster")
    get = base.get_scheduler(collections=[root])
    if getattr(get, "__name__", "") == "get_sync":
        return 1
    found = dask.config.get("num_workers", None)
    return int(found or require("dask.system", "dask", "Learning on a cluster").CPU_COUNT)


def computed(root: Any, label: str, total: int, prefix: str, topic: str = "") -> Any:
    """Return the value of a task, showing how many blocks are finished meanwhile.

    Parameters
    ----------
    root : Delayed
        The task.
    label : str
        What the work is called.
    total : int
        Blocks there are.
    prefix : str
        How the names of the tasks of blocks begin.
    topic : str, default=""
        Where workers tell of finished blocks; empty if they do not.
    """
    client = client_for(root)
    with Progress(label, total) as progress:
        if client is None:
            return _local(root, progress, prefix)
        return _remote(client, root, progress, topic)


def _local(root: Any, progress: Progress, prefix: str) -> Any:
    """Return the value of a task that is computed by threads or processes of this machine."""
    dask = require("dask", "dask", "Learning on a cluster")
    callbacks = require("dask.callbacks", "dask", "Learning on a cluster")

    def finished(key: Any, *about: Any) -> None:
        if str(key).startswith(prefix):
            progress.advance(1)
            progress.show()

    with callbacks.Callback(posttask=finished):
        (found,) = dask.compute(root)
    return found


def _remote(client: Any, root: Any, progress: Progress, topic: str) -> Any:
    """Return the value of a task that workers of a cluster compute."""
    finished: set[int] = set()
    ready = threading.Event()

    def heard(event: tuple[float, int]) -> None:
        # A block that is computed twice counts once.
        if event[1] not in finished:
            finished.add(event[1])
            progress.advance(1)

    if topic:
        client.subscribe_topic(topic, heard)
    try:
        with warnings.catch_warnings():
            # What all workers read travels with the graph on purpose: it can be made again.
            warnings.filterwarnings("ignore", "Sending large graph")
            future = client.compute(root)
        future.add_done_callback(lambda _: ready.set())
        try:
            while not ready.wait(PAUSE):
                progress.show()
            return future.result()
        except KeyboardInterrupt:
            future.cancel(force=True)
            raise
        finally:
            future.release()
    finally:
        if topic:
            client.unsubscribe_topic(topic)
