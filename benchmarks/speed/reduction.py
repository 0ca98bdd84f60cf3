"""Sums of many workers brought together in a tree: measured costs, and what they lead to at scale.

A part of the rows is learnt, pickled, unpickled and merged on this machine; a simulation runs the
tree of ``mercer.engine.cluster`` with these costs on as many workers as nobody has at home.
"""

from __future__ import annotations

import heapq
import math
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mercer
from mercer.engine.cluster.partitions import FAN_IN
from mercer.engine.cluster.tasks import merged
from mercer.solvers import RidgeStatistics, draws_below

from ..report import Report, Table
from ..runner import REST, check

N_ROWS, N_WORKERS, PART_ROWS, N_FEATURES = 10**10, 10**4, 10**6, 30
WIDTHS = (1024, 4096, 8192)
#: Workers to compare.
WORKERS = (10, 100, 1000, 10_000)
#: Rows that are learnt to measure how long a part takes.
MEASURED_ROWS = 32_768
#: Bytes a second that a worker receives: 10 Gbit/s.
BANDWIDTH = 1.25e9
#: Draws of folds that are timed.
DRAWS = 2_000_000


@dataclass(frozen=True)
class Costs:
    """Seconds of the steps of a reduction, and bytes of what moves.

    Attributes
    ----------
    part, pack, unpack, merge : float
        To learn a part, to pickle its sums, to unpickle them, and to add them to others.
    n_bytes : int
        Of the sums.
    """

    part: float
    pack: float
    unpack: float
    merge: float
    n_bytes: int

    @property
    def receive(self) -> float:
        """Seconds until the sums of another worker are there."""
        return self.pack + self.n_bytes / BANDWIDTH + self.unpack


@dataclass(frozen=True)
class Outcome:
    """What a simulation of the tree has found.

    Attributes
    ----------
    learnt, seconds : float
        When the last part is learnt, and when the root holds all sums.
    n_moved : int
        Sums that went from one worker to another.
    """

    learnt: float
    seconds: float
    n_moved: int


def run(repeats: int) -> Report:
    """Return measured costs, and simulated reductions of 10^10 rows on 10^4 workers."""
    rows, more = [], []
    for width in WIDTHS:
        costs = measured(width)
        n_parts = N_ROWS // PART_ROWS
        found = simulated(n_parts, N_WORKERS, costs)
        levels = math.ceil(math.log(N_WORKERS, FAN_IN))
        tail = levels * (FAN_IN - 1) * (costs.receive + costs.merge)
        rows.append(
            {
                "case": f"m={width}",
                "sums MB": costs.n_bytes / 1e6,
                "part s": costs.part,
                "receive s": costs.receive,
                "merge s": costs.merge,
                "learn s": found.learnt,
                "reduce s": found.seconds - found.learnt,
                "formula s": tail,
                "reduce / learn": (found.seconds - found.learnt) / found.learnt,
                "moved GB": found.n_moved * costs.n_bytes / 1e9,
                "root GB": (FAN_IN + 1) * costs.n_bytes / 1e9,
                "client MB": costs.n_bytes / 1e6,
            }
        )
        for n_workers in WORKERS:
            found = simulated(n_parts, n_workers, costs)
            more.append(
                {
                    "case": f"m={width}, {n_workers:,} workers",
                    "width": width,
                    "workers": n_workers,
                    "learn s": found.learnt,
                    "reduce s": found.seconds - found.learnt,
                }
            )
    title = f"n={N_ROWS:.0e} rows of {N_FEATURES} columns, {N_WORKERS:,} workers of one thread"
    scale = Table(title, rows)
    workers = Table(f"More and fewer workers, n={N_ROWS:.0e}", more)
    client = Table("The client and the scheduler", [overheads()])
    targets = [check(scale, f"m={m}", "reduce / learn", "at most", 0.5) for m in WIDTHS]
    return Report([scale, workers, client], targets)


def measured(width: int) -> Costs:
    """Return the costs of a tree of sums of so many features, measured with one thread."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((MEASURED_ROWS, N_FEATURES), dtype=np.float32)
    y = np.sin(X[:, 0]) * X[:, 1]
    features = mercer.RandomFourier(mercer.Gaussian(5.0), n_components=width, random_state=0)
    with mercer.config(n_jobs=1):
        model = mercer.FeatureRidge(features).partial_fit(X[:64], y[:64])
        learn = fastest(lambda: model.partial_fit(X, y), 2)
    # Of other rows, so about another point: merging moves it.
    sums, other = (RidgeStatistics(width, 1) for _ in range(2))
    for one in (sums, other):
        one.add(generator.standard_normal((256, width)), generator.standard_normal((256, 1)))
    text = pickle.dumps(sums, protocol=5)
    copy = fastest(lambda: merged([sums, other]))
    return Costs(
        part=learn * PART_ROWS / MEASURED_ROWS,
        pack=fastest(lambda: pickle.dumps(sums, protocol=5)),
        unpack=fastest(lambda: pickle.loads(text)),
        merge=copy,
        n_bytes=len(text),
    )


def fastest(function: Callable[[], Any], calls: int = 3) -> float:
    """Return the seconds of the fastest of some calls."""
    seconds = []
    for _ in range(calls):
        time.sleep(REST)
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def simulated(n_parts: int, n_workers: int, costs: Costs) -> Outcome:
    """Return when a tree of sums is done, event by event.

    Parts follow each other on a worker; a merge runs where the first of its sums is, once all are
    learnt, and receives the others one after the other.

    Parameters
    ----------
    n_parts, n_workers : int
        Parts of the rows, and workers of one thread.
    costs : Costs
        Of the steps.
    """
    level = [(part * n_workers // n_parts, 0.0) for part in range(n_parts)]
    free = np.zeros(n_workers)
    done = []
    for worker, _ in level:
        free[worker] += costs.part
        done.append((worker, float(free[worker])))
    learnt, n_moved = float(free.max()), 0
    while len(done) > 1:
        groups = [done[start : start + FAN_IN] for start in range(0, len(done), FAN_IN)]
        ready = [(max(end for _, end in group), number) for number, group in enumerate(groups)]
        heapq.heapify(ready)
        found: list[tuple[int, float]] = [(0, 0.0)] * len(groups)
        while ready:
            end, number = heapq.heappop(ready)
            group = groups[number]
            worker = group[0][0]
            away = sum(other != worker for other, _ in group)
            n_moved += away
            work = away * costs.receive + (len(group) - 1) * costs.merge
            # Merges come between parts: a worker that still learns is not waited for.
            start = max(end, free[worker] if free[worker] > learnt else end)
            free[worker] = max(free[worker], start + work)
            found[number] = (worker, start + work)
        done = found
    return Outcome(learnt, done[0][1], n_moved)


def overheads() -> dict[str, Any]:
    """Return what the client draws for folds, and what Dask's scheduler takes for each task."""
    import dask
    from distributed import Client, LocalCluster

    draw = fastest(lambda: draws_below([DRAWS], 5)) / DRAWS
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        tasks = [dask.delayed(abs)(number) for number in range(2000)]
        client.compute(dask.delayed(len)(tasks[:20])).result()
        task = fastest(lambda: client.compute(dask.delayed(len)(tasks)).result()) / len(tasks)
    return {
        "case": "per row and task",
        "draw of a fold ns": 1e9 * draw,
        "task ms": 1e3 * task,
        "folds of all rows s": draw * N_ROWS,
        "tasks of all parts s": task * (2 + 1 / (FAN_IN - 1)) * N_ROWS / PART_ROWS,
    }
