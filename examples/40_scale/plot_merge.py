"""
Ten lines that merge machines without Dask: processes here, files between them
==============================================================================

Each process learns a part of the rows and saves its sums; whoever finds all files merges them. The
same lines go for Ray, Spark, MPI, or a batch queue on a shared disk. Left: what the machines tell
while they are merged, against one machine that has seen all rows. Right: the merged machine is
that one, to rounding, in whatever order the files come.
"""

import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer import FeatureRidge, Gaussian, RandomFourier

N_PARTS, PART_ROWS, N_WORKERS = 12, 5000, 2
COLOURS = ("C0", "C1")


def part_of_the_rows(number):
    """Return rows and targets of a part; elsewhere it would be read from a disk."""
    generator = np.random.default_rng(number)
    X = generator.uniform(-3, 3, (PART_ROWS, 3))
    noise = 0.3 * generator.standard_normal(PART_ROWS)
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.3 * X[:, 2] + noise


def machine():
    """Return the same machine everywhere: a lengthscale that is a number, and a seed."""
    return FeatureRidge(RandomFourier(Gaussian(1.5), n_components=400, random_state=0))


def learn(number, folder):
    """Learn a part and save its sums; doing so twice changes nothing."""
    path = folder / f"{number}.mercer"
    mercer.save(machine().partial_fit(*part_of_the_rows(number)), path)
    return path


def merged(paths):
    """Return the machine that has learnt from all parts."""
    model = mercer.load(paths[0])
    for path in paths[1:]:
        model.merge(mercer.load(path))
    return model


def main():
    new = np.random.default_rng(100).uniform(-3, 3, (2000, 3))
    truth = np.sin(2 * new[:, 0]) * new[:, 1] + 0.3 * new[:, 2]
    with tempfile.TemporaryDirectory() as name:
        start = time.perf_counter()
        with ProcessPoolExecutor(N_WORKERS, mp_context=get_context("spawn")) as pool:
            paths = list(pool.map(partial(learn, folder=Path(name)), range(N_PARTS)))
        model = merged(paths)
        print(f"{N_PARTS} parts, {N_WORKERS} processes: {time.perf_counter() - start:.1f} s")
        errors = []
        growing = mercer.load(paths[0])
        for number, path in enumerate(paths):
            if number:
                growing.merge(mercer.load(path))
            errors.append(np.sqrt(np.mean((growing.predict(new) - truth) ** 2)))
        shuffled = merged([paths[k] for k in np.random.default_rng(0).permutation(N_PARTS)])
    one = machine().fit(part_of_the_rows(number) for number in range(N_PARTS))
    expected = one.predict(new)
    difference, other = (abs(m.predict(new) - expected) for m in (model, shuffled))
    print(f"predictions differ from those of one machine by {difference.max():.1e} at most")
    print(f"and by {other.max():.1e} if the files come in another order")

    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", facecolor="white")
    counts = np.arange(1, N_PARTS + 1)
    left.plot(counts, errors, "o-", color=COLOURS[0], label="merged so far")
    alone = np.sqrt(np.mean((one.predict(new) - truth) ** 2))
    left.axhline(alone, color=COLOURS[1], ls="--", label="one machine, all rows")
    left.set(xlabel="parts that are merged", ylabel="error on new rows, root mean square", ylim=0)
    left.legend()
    for values, label, colour in (
        (difference, "files in order", COLOURS[0]),
        (other, "files in another order", COLOURS[1]),
    ):
        shares = np.linspace(0, 100, len(values))
        right.plot(shares, np.sort(np.maximum(values, 1e-17)), label=label, color=colour)
    right.set_yscale("log")
    right.set(
        xlabel="share of 2,000 new rows (%)", ylabel="difference of predictions", ylim=(1e-17, 1)
    )
    right.legend()
    for panel in (left, right):
        panel.grid(alpha=0.25)
        panel.set_axisbelow(True)
    plt.show()


if __name__ == "__main__":
    main()
