"""Feature maps and exact kernels on a card: time over that of their own products and passes.

Run ``python -m benchmarks.gpu.maps`` where there is a CUDA device.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch

import mercer
from mercer import NTK, Gaussian, NTKFeatures, RandomFourier

from ..options import out_option
from ..report import Report, Table, Target, publish
from .timing import timed

#: Milliseconds on an H200 before there were fused kernels.
BEFORE = {
    "one-shot, depth 1": 1040.0,
    "one-shot, depth 3": 2350.0,
    "sketch, depth 1": 736.0,
    "sketch, depth 3": 3710.0,
}
FASTER = 10.0


@dataclass(frozen=True)
class Sizes:
    """Sizes of the problems."""

    n: int = 200_000
    d: int = 64
    m: int = 4096
    n_exact: int = 20_000
    repeats: int = 7


SMALL = Sizes(n=2000, d=16, m=128, n_exact=300, repeats=1)


def own_work(name: str, X: Any, sizes: Sizes, device: str) -> Callable[[], Any]:
    """Return the products and Fourier transforms of a map, and one write of its output.

    Nothing but these: no activations, sums, hashes or norms.
    """
    method, _, depth = name.partition(", depth ")
    products, transforms, layers = [(sizes.d, sizes.m // 2)], 0, int(depth or 1)
    size = sizes.m
    if method == "random":
        size = round(0.7 * sizes.m)
        relu = sizes.m - size
        products = [(sizes.d, relu)] + [(relu, relu)] * (layers - 1)
        transforms = 3 * layers
    elif method == "one-shot":
        products, transforms = [], 3 * (7 if layers == 1 else 15)
    elif method == "sketch":
        # Two series of degree 8 and a product of two factors, in half of the columns.
        products, size, transforms = [], sizes.m // 2, layers * (2 * 3 * 7 + 3)
    weights = [torch.randn(shape, device=device) for shape in products]
    sources = {shape[0]: torch.randn(sizes.n, shape[0], device=device) for shape in products}
    buffers = {shape: torch.empty(sizes.n, shape[1], device=device) for shape in products}
    result = torch.empty(sizes.n, sizes.m, device=device)
    # Some rows at a time, as many as the cache of the card holds.
    block = torch.randn(min(sizes.n, 4096), size, device=device)
    n_blocks = -(-sizes.n // block.shape[0])

    def work() -> Any:
        for W in weights:
            torch.mm(sources[W.shape[0]], W, out=buffers[tuple(W.shape)])
        for _ in range(transforms // 3 * n_blocks if transforms else 0):
            spectrum = torch.fft.rfft(block)
            torch.fft.rfft(block)
            torch.fft.irfft(spectrum, n=size)
        return result.fill_(1.0)

    return work


def maps(X: Any, sizes: Sizes, device: str) -> tuple[Table, list[Target]]:
    """Return times of feature maps beside that of one product and one write of their output."""
    cases = {
        "RandomFourier": RandomFourier(Gaussian(8.0), n_components=sizes.m, random_state=0),
        **{
            f"{method}, depth {depth}": NTKFeatures(
                depth=depth, method=method, n_components=sizes.m, random_state=0
            )
            for method in ("zonal", "random", "one-shot", "sketch")
            for depth in (1, 3)
        },
    }
    output = 4 * sizes.n * sizes.m
    limit = timed(own_work("limit", X, sizes, device), sizes.repeats, device).milliseconds
    wide = torch.randn(sizes.d, sizes.m, device=device)
    plain = timed(lambda: torch.cos(X @ wide + 1.0), sizes.repeats, device)
    rows = [
        _row("product and one write", limit, limit),
        _row("torch.cos(X @ W + b)", plain.milliseconds, limit, None, plain.peak / output),
    ]
    del plain
    targets = []
    for name, features in cases.items():
        features.fit(X[:100, :])
        own = timed(own_work(name, X, sizes, device), sizes.repeats, device).milliseconds
        found = timed(lambda own=features: own.transform(X), sizes.repeats, device)
        time, peak = found.milliseconds, found.peak / output
        del found
        rows.append(_row(name, time, limit, own, peak))
        if name == "RandomFourier":
            targets.append(Target(f"{name} over the limit", "at most", 2.0, time / limit))
        if name in ("zonal, depth 1", "random, depth 1"):
            targets.append(Target(f"{name}, over its own work", "at most", 4.0, time / own))
        if name in BEFORE:
            targets.append(
                Target(f"{name}, speed over before", "at least", FASTER, BEFORE[name] / time)
            )
        targets.append(Target(f"{name}, peak over output", "at most", 1.1, peak))
    shape = f"n={sizes.n:,}, d={sizes.d}, {sizes.m:,} columns, float32"
    return Table(f"Feature maps, {shape}", rows), targets


def _row(
    name: str, time: float, limit: float, own: float | None = None, peak: float | None = None
) -> dict[str, Any]:
    return {
        "map": name,
        "ms": time,
        "over product and write": time / limit,
        "own products, transforms, write: ms": own,
        "over own": None if own is None else time / own,
        "peak over output": peak,
    }


def exact_kernel(sizes: Sizes, device: str) -> tuple[Table, list[Target]]:
    """Return time and error of an exact kernel matrix beside the plain formula in float32."""
    n = sizes.n_exact
    X = torch.randn(n, sizes.d, device=device)
    # Near duplicates, where the plain formula has lost its digits.
    X[n // 2 : n // 2 + 100] = X[:100] * (1 + 1e-3 * torch.randn(100, sizes.d, device=device))
    kernel = NTK(depth=3)
    some = torch.cat([X[:100], X[n // 2 : n // 2 + 100]])
    exact = kernel(some.double())

    def error(function: Callable[[Any], Any]) -> float:
        return float((torch.abs(function(some).double() - exact) / exact.max()).max())

    plain = timed(lambda: plain_ntk(X), sizes.repeats, device)
    peak_plain, time_plain = plain.peak, plain.milliseconds
    del plain
    ours = timed(lambda: kernel(X), sizes.repeats, device)
    output = 4 * n * n
    rows = [
        {
            "kernel": "plain formula in float32",
            "ms": time_plain,
            "over plain": 1.0,
            "largest error over largest value": error(plain_ntk),
            "peak over output": peak_plain / output,
        },
        {
            "kernel": "NTK(depth=3)",
            "ms": ours.milliseconds,
            "over plain": ours.milliseconds / time_plain,
            "largest error over largest value": error(kernel),
            "peak over output": ours.peak / output,
        },
    ]
    target = Target("exact NTK over the plain formula", "at most", 1.5, rows[1]["over plain"])
    title = f"Exact NTK of depth 3, {n:,} x {n:,}, d={sizes.d}"
    return Table(title, rows), [target]


def plain_ntk(X: Any, depth: int = 3) -> Any:
    """Return the NTK by arc cosines in float32, which is wrong near duplicates."""
    norms = torch.linalg.norm(X, dim=1)
    S = torch.clamp((X / norms[:, None]) @ (X / norms[:, None]).T, -1.0, 1.0)
    K = S
    for _ in range(depth):
        angle = torch.acos(S)
        D = 1 - angle / math.pi
        S = torch.clamp((torch.sqrt(1 - S * S) + (math.pi - angle) * S) / math.pi, -1.0, 1.0)
        K = K * D + S
    return K * norms[:, None] * norms[None, :]


def precisions(X: Any, sizes: Sizes, device: str) -> Table:
    """Return time and kernel error of features whose products are rounded."""
    rows = []
    some = X[: min(sizes.n, 2000), :]
    for m in (sizes.m // 4, sizes.m, 4 * sizes.m):
        features = RandomFourier(Gaussian(8.0), n_components=m, random_state=0).fit(some)
        exact = features.kernel_(some.double())
        reference = features.transform(some.double())
        for precision in ("float32", "tf32", "bfloat16"):
            with mercer.config(precision=precision):
                Z = features.transform(some).double()
                found = timed(lambda own=features: own.transform(X), sizes.repeats, device)
            K = Z @ Z.T
            rows.append(
                {
                    "columns": m,
                    "precision": precision,
                    "ms": found.milliseconds,
                    "kernel error": float(torch.linalg.norm(K - exact) / torch.linalg.norm(exact)),
                    "features against float64": float(
                        torch.linalg.norm(Z - reference) / torch.linalg.norm(reference)
                    ),
                }
            )
            del found
    return Table("RandomFourier, Gaussian(8), by the precision of products", rows)


@click.command()
@click.option("--small", is_flag=True, help="Small sizes, on the processor.")
@out_option
def main(small: bool, out: Path) -> None:
    """Measure feature maps and exact kernels on a card."""
    sizes, device = (SMALL, "cpu") if small else (Sizes(), "cuda")
    torch.manual_seed(0)
    X = torch.randn(sizes.n, sizes.d, device=device)
    mercer.set_config(progress=False)
    feature_table, targets = maps(X, sizes, device)
    kernel_table, more = exact_kernel(sizes, device)
    report = Report([feature_table, kernel_table, precisions(X, sizes, device)], targets + more)
    publish("gpu_maps", report, out)


if __name__ == "__main__":
    main()
