"""Figures 1, 2, 3 and 8 of the IRKM paper at its own size, d = 500, on a card.

``python -m benchmarks.gpu.irkm_figures --out DIR`` on a machine with CUDA, where the picture may be
made later: ``--picture-from DIR/gpu_irkm_figures.json``. ``--small`` tries everything on the CPU.

The methods are those of :mod:`benchmarks.papers.irkm_figures`. Machines draw their rows on the host
and learn on the device; several processes share it, as most of the fits are small. Seeds are taken
in turn until the time is over, ten of them at most as in the paper; tables say how many there were.
The paper's text tells no errors, only who comes first: its curves are compared by the power of d
from which on a method has learnt the function.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
import numpy as np

import mercer

from ..options import out_option
from ..papers.irkm_figures import PAPER_SETTINGS, QUICK_SETTINGS, reused_irkm
from ..papers.irkm_tasks import TEST_ROWS, TEST_SEED, Setting, fresh_error, reused_error
from ..report import Report, Table, publish
from .card import card
from .networks import Training, smallest_errors

NAME = "gpu_irkm_figures"
#: Seeds, at most, and those whose networks are trained together.
SEEDS, NETWORK_SEEDS = 10, 5
NETWORK = "network, 2n rows"
NETWORKS = (Training(512, 2), Training(512, 4), Training(512, 6), Training(256, 4))
QUICK_NETWORKS = (Training(32, 2, steps=200),)
#: A test error below this means that the function is learnt; the noise is 0.01.
LEARNT = 0.1

MACHINES: dict[str, Callable[[Setting, int, int], float]] = {
    "kernel ridge, 2n rows": partial(reused_error, steps=0),
    "IRKM(0), n a step": partial(fresh_error, mixing=0.0),
    "IRKM(1/2), n a step": partial(fresh_error, mixing=0.5),
    "RFM(0), n a step": partial(fresh_error, mixing=0.0, matrix=True),
    "RFM(1/2), n a step": partial(fresh_error, mixing=0.5, matrix=True),
    "IRKM(1/2), 2n rows reused": reused_irkm,
}
#: What the paper compares in each figure but for kernel ridge and networks, which are in all.
COMPARED = {
    "figure 1": ("IRKM(0), n a step", "IRKM(1/2), n a step", "IRKM(1/2), 2n rows reused"),
    "figure 2": ("IRKM(0), n a step", "IRKM(1/2), n a step", "IRKM(1/2), 2n rows reused"),
    "figure 3": ("IRKM(1/2), n a step", "RFM(0), n a step", "RFM(1/2), n a step"),
    "figure 8A": ("IRKM(1/2), n a step", "RFM(1/2), n a step", "IRKM(1/2), 2n rows reused"),
    "figure 8B": ("IRKM(1/2), n a step", "RFM(1/2), n a step", "IRKM(1/2), 2n rows reused"),
}


@dataclass(frozen=True)
class Job:
    """One fit of a machine, or of all networks of a shape, at one number of rows."""

    setting: Setting
    method: str
    exponent: float
    n: int
    seed: int
    device: str
    training: Training | None = None

    def errors(self) -> dict[int, float]:
        """Return test errors by seed."""
        if self.training is None:
            with mercer.config(device=self.device, progress=False):
                return {self.seed: MACHINES[self.method](self.setting, self.n, self.seed)}
        seeds = range(self.seed, self.seed + NETWORK_SEEDS)
        tasks = [self.setting.task(seed) for seed in seeds]
        rows = [task.sample(2 * self.n, seed) for task, seed in zip(tasks, seeds, strict=True)]
        tests = [
            task.sample(TEST_ROWS, TEST_SEED + seed)
            for task, seed in zip(tasks, seeds, strict=True)
        ]
        found = smallest_errors(self.training, rows, tests, self.device)
        return dict(zip(seeds, found, strict=True))


#: A job with its errors by seed, and its seconds.
Result = tuple[Job, dict[int, float], float]


@click.command()
@out_option
@click.option("--small", is_flag=True, help="Small sizes, on the CPU by torch.")
@click.option("--device", default="cuda", help="Where to learn.  [default: cuda]")
@click.option("--processes", default=8, help="Processes that share the device.  [default: 8]")
@click.option("--minutes", default=4.5, help="When no fit is begun any more.  [default: 4.5]")
@click.option(
    "--picture-from",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Only draw the picture of these results.",
)
def main(
    out: Path,
    small: bool,
    device: str,
    processes: int,
    minutes: float,
    picture_from: Path | None,
) -> None:
    """Repeat figures of the IRKM paper at its own size."""
    if picture_from is not None:
        picture(picture_from, out / f"{NAME}.png")
        return
    begin = time.perf_counter()
    if small:
        few = tuple(replace(one, exponents=one.exponents[:1]) for one in QUICK_SETTINGS)
        jobs = list(jobs_of(few, 1, QUICK_NETWORKS, "cpu"))
        results: list[Result | BaseException] = [timed_errors(job) for job in jobs]
        device = "cpu"
    else:
        jobs = list(jobs_of(PAPER_SETTINGS, SEEDS, NETWORKS, device))
        results = shared(jobs, processes, begin + 60 * minutes)
    finished = [one for one in results if not isinstance(one, BaseException)]
    publish(NAME, Report([card(device), *tables_of(finished)]), out)
    done = f"{len(results)} of {len(jobs)} jobs"
    print(f"{done}, {time.perf_counter() - begin:.0f} seconds in all", flush=True)
    for one in results:
        if isinstance(one, BaseException):
            # What the others have found is written by now.
            raise one


def jobs_of(
    settings: tuple[Setting, ...], n_seeds: int, networks: tuple[Training, ...], device: str
) -> Iterator[Job]:
    """Yield jobs seed by seed, the long ones of a seed first; some networks after the first seed.

    The other networks, which cost most and say least, come last.
    """
    for seed in range(n_seeds):
        round_jobs = []
        for setting in settings:
            for exponent, n in setting.rows():
                own = partial(Job, setting, exponent=exponent, n=n, seed=seed, device=device)
                names = ("kernel ridge, 2n rows", *COMPARED[setting.name])
                round_jobs.extend(own(method=name) for name in names)
        yield from sorted(round_jobs, key=cost, reverse=True)
        if seed == 0:
            yield from network_jobs(settings, 0, networks, device)
    for seed in range(NETWORK_SEEDS, n_seeds, NETWORK_SEEDS):
        yield from network_jobs(settings, seed, networks, device)


def network_jobs(
    settings: tuple[Setting, ...], seed: int, networks: tuple[Training, ...], device: str
) -> Iterator[Job]:
    """Yield the jobs that train networks of some seeds together."""
    for setting in settings:
        for exponent, n in reversed(list(setting.rows())):
            for training in networks:
                yield Job(setting, NETWORK, exponent, n, seed, device, training)


def cost(job: Job) -> float:
    """Return what a machine costs, roughly: an iteration of d columns and n rows."""
    matrix = job.method.startswith("RFM")
    steps = job.setting.rotated_steps if matrix else job.setting.steps
    return steps * (job.n**2 * job.setting.d + (100 * job.setting.d**3 if matrix else 0))


def timed_errors(job: Job) -> Result:
    """Return a job with its errors and seconds."""
    start = time.perf_counter()
    errors = job.errors()
    return job, errors, time.perf_counter() - start


def shared(jobs: list[Job], processes: int, deadline: float) -> list[Result | BaseException]:
    """Return the results, or errors, of jobs that several processes have begun in time."""
    threads = str(max(1, (os.cpu_count() or 1) // processes))
    os.environ.update({"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads})
    results: list[Result | BaseException] = []
    waiting, left = set[Future[Result]](), iter(jobs)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        while True:
            while len(waiting) < processes and time.perf_counter() < deadline:
                job = next(left, None)
                if job is None:
                    break
                waiting.add(pool.submit(timed_errors, job))
            if not waiting:
                return results
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            results.extend(one.exception() or one.result() for one in done)
            if len(results) % 50 < len(done):
                print(f"{len(results)} of {len(jobs)} jobs", flush=True)


def tables_of(results: list[Result]) -> list[Table]:
    """Return a table for each figure, and from which power of d on each method has learnt."""
    found: dict[tuple[str, str, float, int], dict[int, float]] = {}
    seconds: dict[tuple[str, str, float, int], float] = {}
    titles: dict[str, str] = {}
    for job, errors, spent in results:
        key = (job.setting.name, job.method, job.exponent, job.n)
        titles[job.setting.name] = job.setting.title
        seconds[key] = seconds.get(key, 0.0) + spent
        own = found.setdefault(key, {})
        for seed, error in errors.items():
            # Of networks the best one counts.
            own[seed] = min(error, own.get(seed, np.inf))
    tables, first = [], []
    for name in sorted(titles):
        rows = []
        for method in (*MACHINES, NETWORK):
            keys = sorted(key for key in found if key[:2] == (name, method))
            rows.extend(row(key, found[key], seconds[key]) for key in keys)
            learnt = [key[2] for key in keys if np.mean(list(found[key].values())) < LEARNT]
            if keys:
                first.append(
                    {"figure": name, "method": method, "s": min(learnt) if learnt else None}
                )
        tables.append(Table(titles[name], rows))
    title = f"The power s of d from which on the mean error is below {LEARNT} (noise 0.01)"
    return [*tables, Table(title, first)]


def row(
    key: tuple[str, str, float, int], errors: dict[int, float], seconds: float
) -> dict[str, Any]:
    """Return a row of a table: errors over seeds, and seconds for each of them."""
    values = list(errors.values())
    return {
        "method": key[1],
        "s": key[2],
        "n": key[3],
        "seeds": len(values),
        "mean MSE": float(np.mean(values)),
        "median MSE": float(np.median(values)),
        "smallest": float(np.min(values)),
        "largest": float(np.max(values)),
        "seconds": seconds / len(values),
    }


def picture(results: Path, path: Path) -> None:
    """Draw mean errors against s, a panel for each figure."""
    from ..papers.plot import Axis, Panel, draw

    tables = json.loads(results.read_text(encoding="utf-8"))["tables"]
    panels = [
        Panel(", ".join(title.split(", ")[:2]), rows)
        for title, rows in tables.items()
        if title.startswith("figure")
    ]
    x = Axis("s", "log n / log d", "linear")
    draw(path, panels, [x] * len(panels), Axis("mean MSE", "mean test MSE (noise 0.01)"))


if __name__ == "__main__":
    main()
