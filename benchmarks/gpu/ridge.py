"""Ridge machines on a card: time over that of their products, coefficients beside the CPU's.

``python -m benchmarks.gpu.ridge --out DIR`` on a machine with CUDA; ``--small`` tries everything
on the CPU by torch, in a few seconds, with sizes at which times say nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch

import mercer
from mercer import FeatureRidge, Gaussian, RandomFourier
from mercer._devices import sent_ahead

from ..options import out_option
from ..report import Report, Table, Target, publish
from .card import card
from .timing import Timed, timed

#: Candidates of the plain solve with many targets.
ALPHAS = 31
FOLDS = 5


@dataclass(frozen=True)
class Sizes:
    """How much is computed.

    Attributes
    ----------
    rows, columns, components : int
        Of the rows that are learnt by random features.
    compared : int
        Rows that the CPU learns, too.
    block : int
        Rows in a block of a stream.
    probe_rows, probe_columns, probe_targets : int
        Of the regression with many targets.
    repeats : int
        Calls of which the median is taken, after a first one.
    """

    rows: int
    columns: int
    components: int
    compared: int
    block: int
    probe_rows: int
    probe_columns: int
    probe_targets: int
    repeats: int


CARD = Sizes(1_000_000, 64, 4096, 100_000, 50_000, 100_000, 768, 10_000, 3)
SMALL = Sizes(4000, 8, 64, 2000, 500, 1000, 16, 50, 1)


@click.command()
@out_option
@click.option("--small", is_flag=True, help="Small sizes, on the CPU by torch.")
def main(out: Path, small: bool) -> None:
    """Measure ridge machines on a card."""
    sizes, device = (SMALL, "cpu") if small else (CARD, "cuda")
    begin = time.perf_counter()
    tables, targets = one_target(sizes, device)
    probing = many_targets(sizes, device)
    tables = [card(device), *tables, probing]
    if small:
        targets = []
    publish("gpu_ridge", Report(tables, targets), out)
    print(f"{time.perf_counter() - begin:.0f} seconds in all", flush=True)


def machine(sizes: Sizes, selection: Any = FOLDS) -> FeatureRidge:
    """Return the machine that is measured: 31 candidates, 5-fold cross-validation."""
    kernel = Gaussian(2.0 * sizes.columns**0.5)
    features = RandomFourier(kernel, n_components=sizes.components, random_state=0)
    return FeatureRidge(features, selection=selection)


def data(sizes: Sizes, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows and noisy values of a smooth function, in float32."""
    generator = torch.Generator(device).manual_seed(0)
    shape = sizes.rows, sizes.columns
    X = torch.randn(shape, generator=generator, device=device)
    noise = torch.randn(sizes.rows, generator=generator, device=device)
    return X, torch.sin(X[:, 0] + X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.3 * noise


def one_target(sizes: Sizes, device: str) -> tuple[list[Table], list[Target]]:
    """Measure a fit of many rows: from the card, and from blocks on the host."""
    X, y = data(sizes, device)
    repeats = sizes.repeats
    W = torch.randn(sizes.columns, sizes.components, device=device)

    def products() -> torch.Tensor:
        Z = X @ W
        return Z.T @ Z

    limit = timed(products, repeats, device)
    limit_ms = limit.milliseconds
    fit = timed(lambda: machine(sizes).fit(X, y), repeats, device)
    found = [("X W and Z'Z, float32", limit), ("fit, 5-fold", fit)]
    found.append(("fit, gcv", timed(lambda: machine(sizes, "gcv").fit(X, y), 1, device)))
    with mercer.config(precision="tf32"):
        rounded = timed(lambda: machine(sizes).fit(X, y), 1, device)
    found.append(("fit, 5-fold, TF32", rounded))
    found.append(("predict", timed(lambda: fit.result.predict(X), repeats, device)))
    some = X[: sizes.compared, :]
    bars = timed(lambda: fit.result.predict(some, return_std=True), 1, device)
    found.append((f"predict with std, {sizes.compared:,} rows", bars))
    rows = [row(name, one, limit_ms) for name, one in found]
    shape = f"n = {sizes.rows:,}, d = {sizes.columns}, {sizes.components:,} features, float32"
    own = Table(f"FeatureRidge, {shape}, 31 candidates", rows)

    streamed, copying, computing = from_host(sizes, device, X, y, fit.milliseconds)
    slower = max(copying.milliseconds, computing)
    stream_rows = [
        row("copying the blocks", copying, slower),
        {**row("computing (fit on the card)", fit, slower), "peak GB": None},
        row("fit of the stream", streamed, slower),
    ]
    stream = Table(f"From a generator of NumPy blocks of {sizes.block:,} rows", stream_rows)

    apart = compared(sizes, X, y, rounded.result, fit.result)
    targets = [
        Target("fit, 5-fold, over its products", "at most", 2.5, fit.milliseconds / limit_ms),
        Target(
            "fit of a stream over the slower of copying and computing",
            "at most",
            1.3,
            streamed.milliseconds / slower,
        ),
        Target(
            "coefficients beside those of the CPU",
            "at most",
            1e-5,
            apart.rows[0]["coefficients apart"],
        ),
    ]
    return [own, stream, apart], targets


def row(name: str, one: Timed, limit: float) -> dict[str, Any]:
    """Return a row of a table of times."""
    return {
        "what": name,
        "ms": one.milliseconds,
        "over the limit": one.milliseconds / limit,
        "peak GB": one.peak / 1e9,
    }


def from_host(
    sizes: Sizes, device: str, X: torch.Tensor, y: torch.Tensor, computing: float
) -> tuple[Timed, Timed, float]:
    """Measure a fit from a generator of NumPy blocks, and the copies of them alone."""
    rows, targets = X.cpu().numpy(), y.cpu().numpy()

    def blocks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, sizes.rows, sizes.block):
            yield rows[start : start + sizes.block], targets[start : start + sizes.block]

    def copy_all() -> None:
        for _ in sent_ahead(blocks(), device):
            pass

    def learn() -> FeatureRidge:
        with mercer.config(device=device):
            return machine(sizes).fit(blocks())

    return timed(learn, sizes.repeats, device), timed(copy_all, sizes.repeats, device), computing


def compared(
    sizes: Sizes, X: torch.Tensor, y: torch.Tensor, rounded: FeatureRidge, whole: FeatureRidge
) -> Table:
    """Compare with the coefficients that the CPU finds of the same rows."""
    some, few = X[: sizes.compared, :], y[: sizes.compared]
    ours = machine(sizes).fit(some, few)
    begin = time.perf_counter()
    theirs = machine(sizes).fit(some.cpu().numpy(), few.cpu().numpy())
    seconds = time.perf_counter() - begin
    double = machine(sizes).set_params(alpha=theirs.alpha_)
    exact = double.fit(some.double(), few.double())
    cases = [
        (f"{sizes.compared:,} rows: card and CPU", ours, theirs),
        (f"{sizes.compared:,} rows: CPU in float32 and card in float64", theirs, exact),
        (f"{sizes.rows:,} rows: TF32 and float32 products", rounded, whole),
    ]
    rows = []
    for name, one, other in cases:
        apart = np.linalg.norm(one.coef_ - other.coef_) / np.linalg.norm(other.coef_)
        rows.append(
            {
                "what": name,
                "coefficients apart": float(apart),
                "alpha": one.alpha_,
                "other alpha": other.alpha_,
                "CPU seconds": seconds if other is theirs else None,
            }
        )
    return Table("Coefficients, relative difference", rows)


def many_targets(sizes: Sizes, device: str) -> Table:
    """Measure a ridge parameter of its own for each of many targets, on columns as they are."""
    generator = torch.Generator(device).manual_seed(1)
    n, d, t = sizes.probe_rows, sizes.probe_columns, sizes.probe_targets
    X = torch.randn(n, d, generator=generator, device=device)
    coef = torch.randn(d, t, generator=generator, device=device)
    level = torch.logspace(-2, 1, t, device=device)
    Y = X @ coef + level * d**0.5 * torch.randn(n, t, generator=generator, device=device)
    grid = np.logspace(-2, 5, ALPHAS)

    def ours(selection: Any) -> Callable[[], FeatureRidge]:
        model = FeatureRidge(alpha=grid, selection=selection, per_target=True)
        return lambda: model.fit(X, Y)

    plain = timed(lambda: plain_solve(X, Y, grid), 1, device)
    folds = timed(ours(FOLDS), 1, device)
    gcv = timed(ours("gcv"), 1, device)
    predicted = timed(lambda: folds.result.predict(X), 1, device)
    noise = np.linalg.norm(coef.cpu().numpy())

    def error(found: np.ndarray) -> float:
        return float(np.linalg.norm(found - coef.cpu().numpy()) / noise)

    rows = [
        {
            **row("plain torch, 5-fold", plain, plain.milliseconds),
            "error of coefficients": error(plain.result.cpu().numpy()),
        },
        {
            **row("FeatureRidge, 5-fold", folds, plain.milliseconds),
            "error of coefficients": error(folds.result.coef_.T),
        },
        {
            **row("FeatureRidge, gcv", gcv, plain.milliseconds),
            "error of coefficients": error(gcv.result.coef_.T),
        },
        {
            **row("FeatureRidge, predict", predicted, plain.milliseconds),
            "error of coefficients": None,
        },
    ]
    return Table(
        f"An alpha for each of {t:,} targets, n = {n:,}, d = {d}, {ALPHAS} candidates", rows
    )


def plain_solve(X: torch.Tensor, Y: torch.Tensor, alphas: np.ndarray) -> torch.Tensor:
    """Return coefficients by cross-validation as one writes it down: predictions for each alpha."""
    n, t = Y.shape
    errors = torch.zeros(len(alphas), t, device=X.device)
    fold_of = torch.arange(n, device=X.device) % FOLDS
    for fold in range(FOLDS):
        held = fold_of == fold
        X_mean, Y_mean = X[~held].mean(dim=0), Y[~held].mean(dim=0)
        values, vectors, rotated = decomposed(X[~held] - X_mean, Y[~held] - Y_mean)
        turned, wanted = (X[held] - X_mean) @ vectors, Y[held] - Y_mean
        for place, alpha in enumerate(alphas):
            lost = wanted - turned @ (rotated / (values[:, None] + float(alpha)))
            errors[place] += (lost * lost).sum(dim=0)
    best = torch.as_tensor(alphas, dtype=X.dtype, device=X.device)[errors.argmin(dim=0)]
    values, vectors, rotated = decomposed(X - X.mean(dim=0), Y - Y.mean(dim=0))
    return vectors @ (rotated / (values[:, None] + best[None, :]))


def decomposed(X: torch.Tensor, Y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return eigenvalues and eigenvectors of X'X, and X'Y in their coordinates."""
    values, vectors = torch.linalg.eigh(X.T @ X)
    return values.clamp_min(0), vectors, vectors.T @ (X.T @ Y)


if __name__ == "__main__":
    main()
