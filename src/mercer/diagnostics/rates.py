"""How fast this machine is: rates of the few operations that fits spend their time with."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from .._settings import settings
from ..engine.threads import allowed_threads, single_threaded_blas
from ..solvers.steps import Step

#: Sizes of what is measured: large enough for full speed, all of it within a second.
ROWS, COLUMNS, WIDE, STREAMED = 2048, 1024, 2048, 2**24
#: How often each is measured, at least and at most, and the seconds after which it is enough; the
#: fastest counts, as other work of the machine only slows down.
REPEATED, MOST, ENOUGH = 2, 12, 0.1


def machine_rates() -> dict[str, float]:
    """Return how many operations of each kind this machine does in a second.

    Measured once for each number of threads, in less than a second.

    Returns
    -------
    rates : dict
        ``"sums32"`` and ``"sums64"`` (operations in sums of products of features), ``"cholesky"``,
        ``"tridiagonal"`` (a reduction, by one thread), ``"bytes"`` (read from memory).

    Examples
    --------
    >>> rates = machine_rates()
    >>> sorted(rates)
    ['bytes', 'cholesky', 'sums32', 'sums64', 'tridiagonal']
    >>> rates is machine_rates()
    True
    """
    return _measured(settings().workers())


@cache
def _measured(workers: int) -> dict[str, float]:
    """Return the rates; allowed threads are those of the settings."""
    return _measure()


@allowed_threads()
def _measure() -> dict[str, float]:
    generator = np.random.default_rng(0)
    Z = generator.standard_normal((ROWS, COLUMNS))
    found = {}
    for name, dtype, rank_k in (("sums32", "f", blas.ssyrk), ("sums64", "d", blas.dsyrk)):
        seconds = fastest(partial(rank_k, 1.0, Z.astype(dtype).T))
        found[name] = ROWS * COLUMNS**2 / seconds
    S = np.asfortranarray(Z.T @ Z + np.eye(COLUMNS))
    # A small one suffers more from other work than large ones do, which are mostly products.
    factored = COLUMNS**3 / 3 / fastest(lambda: lapack.dpotrf(S))
    found["cholesky"] = max(factored, found["sums64"] / 2)
    # Half of a reduction is products with a vector, bound by memory, half those of matrices.
    wide, vector = np.ones((WIDE, WIDE), order="F"), np.ones(WIDE)
    columns = Z.T[:512]
    with single_threaded_blas():
        streamed = 2 * WIDE**2 / fastest(lambda: blas.dsymv(1.0, wide, vector))
        cached = 512**2 * ROWS / fastest(lambda: blas.dsyrk(1.0, columns))
    found["tridiagonal"] = 2 / (1 / streamed + 1 / cached)
    tile, row = np.ones((4096, STREAMED // 4096), dtype=np.float32), np.ones(4096, np.float32)
    found["bytes"] = tile.nbytes / fastest(lambda: row @ tile)
    return found


def fastest(function: Callable[[], Any]) -> float:
    """Return the seconds of the fastest of some calls.

    Examples
    --------
    >>> 0 < fastest(lambda: sum(range(1000))) < 1
    True
    """
    taken: list[float] = []
    while len(taken) < REPEATED or (len(taken) < MOST and sum(taken) < ENOUGH):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return max(min(taken), 1e-9)


def seconds_of(step: Step, rates: dict[str, float]) -> float:
    """Return how long a step takes.

    Parameters
    ----------
    step : Step
        What is done.
    rates : dict
        Rates by kind of work, all kinds of the step among them.

    Examples
    --------
    >>> seconds_of(Step("factorise", 0, {"cholesky": 2e9}, seconds=1.0), {"cholesky": 1e9})
    3.0
    """
    return step.seconds + sum(amount / rates[kind] for kind, amount in step.work.items())
