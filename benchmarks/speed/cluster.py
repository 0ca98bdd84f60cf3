"""Learning from a Parquet folder with two workers of Dask, against the stream of one machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mercer import FeatureRidge, Gaussian, RandomFourier
from mercer.io import TableStream

from ..report import Report, Table
from ..runner import REST, check
from .stream import N_FEATURES, write

N_ROWS = int(os.environ.get("MERCER_CLUSTER_ROWS", "2000000"))
N_COMPONENTS = 1024
#: Workers, of one thread each.
N_WORKERS = 2
#: When a worker is killed, as shares of the time of an undisturbed fit.
KILLED_AT = (0.25, 0.5, 0.75)
#: The cluster has a process of its own: what this one receives is what a client receives.
CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(
        n_workers=int(sys.argv[1]),
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def run(repeats: int) -> Report:
    """Return times, bytes that the client receives, and what killed workers change."""
    rows = []
    with tempfile.TemporaryDirectory() as name, cluster(Path(name)) as client:
        folder = write(Path(name) / "table", N_ROWS)
        warm_up = write(Path(name) / "warm up", 50_000)
        fit_stream(warm_up)
        fit_cluster(warm_up)
        stream = min(timed(fit_stream, folder)[0] for _ in range(2))
        with received() as count:
            seconds, model = timed(fit_cluster, folder)
        first_bytes = count[0]
        seconds = min(seconds, timed(fit_cluster, folder)[0])
        time.sleep(REST)
        with killing(client, seconds) as killed:
            disturbed, again = timed(fit_cluster, folder)
        rows.append(
            {
                "case": "undisturbed",
                "seconds": seconds,
                "stream seconds": stream,
                "time / stream": seconds / stream,
                "bytes / 8 m²": first_bytes / (8 * N_COMPONENTS**2),
                "killed": 0,
                "difference": 0.0,
            }
        )
        rows.append(
            {
                "case": "workers killed",
                "seconds": disturbed,
                "stream seconds": stream,
                "time / stream": disturbed / stream,
                "bytes / 8 m²": float("nan"),
                "killed": len(killed),
                "difference": relative_difference(again, model),
            }
        )
    title = f"{N_WORKERS} workers, Parquet folder, n={N_ROWS} d={N_FEATURES} m={N_COMPONENTS}"
    table = Table(f"{title} float32", rows)
    targets = [
        check(table, "undisturbed", "time / stream", "at most", 1.25),
        check(table, "undisturbed", "bytes / 8 m²", "below", 3.0),
        check(table, "workers killed", "killed", "at least", 3),
        check(table, "workers killed", "difference", "at most", 1e-10),
    ]
    return Report([table], targets)


def machine() -> FeatureRidge:
    """Return the machine that is measured."""
    features = RandomFourier(Gaussian(5.0), n_components=N_COMPONENTS, random_state=0)
    return FeatureRidge(features)


def fit_stream(folder: Path) -> FeatureRidge:
    """Learn from the folder with one process."""
    return machine().fit(TableStream(folder, target="y"))


def fit_cluster(folder: Path) -> FeatureRidge:
    """Learn from the folder with the workers."""
    import dask.dataframe

    frame = dask.dataframe.read_parquet(folder)
    return machine().fit(frame[[f"x{j}" for j in range(N_FEATURES)]], frame["y"])


def timed(function: Any, folder: Path) -> tuple[float, FeatureRidge]:
    """Return the seconds that a fit takes, and its machine."""
    time.sleep(REST)
    start = time.perf_counter()
    model = function(folder)
    return time.perf_counter() - start, model


def relative_difference(one: FeatureRidge, other: FeatureRidge) -> float:
    """Return the largest difference of coefficients over the largest of them."""
    return float(np.abs(one.coef_ - other.coef_).max() / np.abs(other.coef_).max())


@contextmanager
def cluster(folder: Path) -> Iterator[Any]:
    """Start workers in processes of their own, and yield a client."""
    from distributed import Client

    script = folder / "cluster.py"
    script.write_text(CLUSTER)
    process = subprocess.Popen(
        [sys.executable, str(script), str(N_WORKERS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        with Client(process.stdout.readline().strip()) as client:
            client.wait_for_workers(N_WORKERS)
            yield client
    finally:
        process.communicate("")


@contextmanager
def received() -> Iterator[list[int]]:
    """Count the bytes that this process reads from sockets."""
    from tornado.iostream import IOStream

    original, count = IOStream.read_from_fd, [0]

    def counting(self: Any, buffer: Any) -> Any:
        found = original(self, buffer)
        count[0] += found or 0
        return found

    IOStream.read_from_fd = counting
    try:
        yield count
    finally:
        IOStream.read_from_fd = original


@contextmanager
def killing(client: Any, seconds: float) -> Iterator[list[int]]:
    """Kill a worker by SIGKILL at some times of a fit; yield the list of those that were killed."""
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        start = time.perf_counter()
        for share in KILLED_AT:
            if over.wait(max(0.0, start + share * seconds - time.perf_counter())):
                return
            process = next(iter(client.run(os.getpid).values()))
            os.kill(process, signal.SIGKILL)
            killed.append(process)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()
