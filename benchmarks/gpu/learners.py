"""Feature learners on a card: time of an iteration over that of the products it needs.

``python -m benchmarks.gpu.learners --out DIR`` on a machine with CUDA; ``--small`` tries everything
on the CPU by torch, in a few seconds, with sizes at which times say nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch

from mercer import Gaussian, IRKMRegressor, Laplace, RFMRegressor

from ..options import out_option
from ..report import Report, Table, publish
from .card import card
from .timing import synchronize, timed

#: Updates of the weights: an iteration's time is that of so many and one more fits.
UPDATES = 2
ALPHA = 1e-3
NOISE = 0.1


@dataclass(frozen=True)
class Sizes:
    """How much is computed.

    Attributes
    ----------
    directions : tuple of int
        Rows and columns, of which a matrix is learnt.
    columns : tuple of int
        Rows and columns, of which each gets a weight.
    features : tuple of int
        Rows, columns and random features.
    square : int
        Side of the float64 product whose rate is measured.
    tested : int
        Rows to test on.
    """

    directions: tuple[int, int]
    columns: tuple[int, int]
    features: tuple[int, int, int]
    square: int
    tested: int


CARD = Sizes((50_000, 100), (20_000, 200), (1_000_000, 64, 2048), 16_384, 5000)
SMALL = Sizes((800, 10), (600, 12), (3000, 8, 64), 512, 200)


@click.command()
@out_option
@click.option("--small", is_flag=True, help="Small sizes, on the CPU by torch.")
def main(out: Path, small: bool) -> None:
    """Measure feature learners on a card."""
    sizes, device = (SMALL, "cpu") if small else (CARD, "cuda")
    begin = time.perf_counter()
    rates = {name: rate(sizes.square, dtype, device) for name, dtype in DTYPES.items()}
    speed = [{"product": f"{name}, {sizes.square:,}", "TFLOP/s": r} for name, r in rates.items()]
    tables = [card(device), Table("Rate of a large product", speed)]
    for name, measured in (("directions", directions), ("columns", columns), ("features", passes)):
        tables.append(measured(sizes, rates, device))
        print(f"{name}: {time.perf_counter() - begin:.0f} seconds so far", flush=True)
    publish("gpu_learners", Report(tables), out)


DTYPES = {"float64": torch.float64, "float32": torch.float32}


def rate(n: int, dtype: torch.dtype, device: str) -> float:
    """Return 10¹² operations a second of a square product."""
    A = torch.randn(n, n, dtype=dtype, device=device)
    out = torch.empty_like(A)
    found = timed(lambda: torch.mm(A, A, out=out), 3, device)
    return 2 * n**3 / found.milliseconds / 1e9


def data(n: int, d: int, rotated: bool, device: str, dtype: torch.dtype) -> Any:
    """Return normal rows and noisy values that depend on four columns, or on four directions."""
    generator = torch.Generator(device).manual_seed(0)
    X = torch.randn(n, d, generator=generator, device=device, dtype=dtype)
    Z = X
    if rotated:
        normal = torch.randn(d, 4, generator=generator, device=device, dtype=dtype)
        Z = X @ torch.linalg.qr(normal)[0]
    noise = torch.randn(n, generator=generator, device=device, dtype=dtype)
    y = Z[:, 0] + Z[:, 1] + Z[:, 0] * Z[:, 1] * Z[:, 2] + Z[:, 2] * Z[:, 3] + NOISE * noise
    return X, y


def learnt(machine: Any, data: Any, tested: int, device: str) -> tuple[float, float]:
    """Return the seconds of an iteration, and R² on rows that were not learnt."""
    X, y = data
    machine.set_params(n_iterations=UPDATES, patience=None, validation_fraction=None)
    machine.set_params(random_state=0)
    warm = min(2000, X.shape[0] - tested)
    machine.fit(X[:warm], y[:warm])
    synchronize(device)
    start = time.perf_counter()
    machine.fit(X[tested:], y[tested:])
    synchronize(device)
    seconds = (time.perf_counter() - start) / (UPDATES + 1)
    return seconds, machine.score(X[:tested], y[:tested])


def row(
    name: str,
    found: tuple[float, float | None],
    limit: float | None,
    device: str,
    peak: Callable[[], int],
) -> dict[str, Any]:
    """Return a row of a table of iterations."""
    return {
        "solver": name,
        "s an iteration": found[0],
        "s of its products": limit,
        "over them": None if limit is None else found[0] / limit,
        "R2 on new rows": found[1],
        "peak GB": peak() / 1e9,
    }


def peak_of(device: str) -> Callable[[], int]:
    """Return a function that tells the memory of the device that was taken since."""
    if not device.startswith("cuda"):
        return lambda: 0
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.max_memory_allocated


def exact_work(n: int, d: int) -> float:
    """Return the operations of an exact iteration, which are products all of them but for passes.

    Half of the kernel matrix, its Cholesky factor, the inverse of that (for leave-one-out), and
    the gradients at all rows.
    """
    return float(n) ** 2 * d + 2 * float(n) ** 3 / 3 + 2 * float(n) ** 2 * d


def factor_seconds(n: int, device: str) -> float:
    """Return the seconds of torch's own Cholesky factor of a float64 matrix of side n."""
    A = torch.zeros(n, n, dtype=torch.float64, device=device)
    A.fill_diagonal_(2.0)
    synchronize(device)
    start = time.perf_counter()
    torch.linalg.cholesky_ex(A)
    synchronize(device)
    return time.perf_counter() - start


def directions(sizes: Sizes, rates: dict[str, float], device: str) -> Table:
    """Measure RFM with all rows as centres: by a factor of the kernel matrix, and without."""
    n, d = sizes.directions
    rows = data(n + sizes.tested, d, True, device, torch.float64)
    kernel = Laplace(float(d) ** 0.5)
    limit = exact_work(n, d) / rates["float64"] / 1e12
    found = []
    for solver, own in (("exact", limit), ("iterative", None)):
        peak = peak_of(device)
        model = RFMRegressor(kernel, alpha=ALPHA, solver=solver)
        found.append(
            row(f"RFM, {solver}", learnt(model, rows, sizes.tested, device), own, device, peak)
        )
    peak = peak_of(device)
    alone = factor_seconds(n, device)
    found.append(row("torch's Cholesky factor alone", (alone, None), None, device, peak))
    return Table(f"A matrix of n = {n:,}, d = {d}: all rows as centres, float64", found)


def columns(sizes: Sizes, rates: dict[str, float], device: str) -> Table:
    """Measure IRKM with all rows as centres."""
    n, d = sizes.columns
    rows = data(n + sizes.tested, d, False, device, torch.float64)
    limit = exact_work(n, d) / rates["float64"] / 1e12
    peak = peak_of(device)
    model = IRKMRegressor(Laplace(float(d) ** 0.5), alpha=ALPHA, solver="exact")
    found = row("IRKM, exact", learnt(model, rows, sizes.tested, device), limit, device, peak)
    return Table(f"Weights of columns, n = {n:,}, d = {d}: all rows as centres, float64", [found])


def passes(sizes: Sizes, rates: dict[str, float], device: str) -> Table:
    """Measure IRKM with random features, which passes over the rows twice."""
    n, d, m = sizes.features
    rows = data(n + sizes.tested, d, False, device, torch.float32)
    # Twice the phases of half as many frequencies, Z'Z (its upper half), gradients and pulls.
    work = 2 * float(n) * d * m + float(n) * m**2 + float(n) * m * d + 2 * float(n) * m * d
    limit = work / rates["float32"] / 1e12
    peak = peak_of(device)
    model = IRKMRegressor(Gaussian(float(d) ** 0.5), alpha=1.0, solver="features", n_components=m)
    found = row("IRKM, features", learnt(model, rows, sizes.tested, device), limit, device, peak)
    return Table(f"Weights of columns, n = {n:,}, d = {d}, {m:,} random features, float32", [found])


if __name__ == "__main__":
    main()
