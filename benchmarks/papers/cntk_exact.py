"""Seconds of the exact convolutional tangent kernel of CIFAR-10 images, on a CPU or a card.

``python -m benchmarks.papers.cntk_exact --data DIR`` computes the kernel matrix of a few images and
projects the seconds to more by the number of pairs, of which there are n (n + 1) / 2: each costs
the same. ``--images 1000`` computes what the CNTK sketch is compared with, and ``--device cuda``
does so by torch on a card. Images are standardised channel by channel, in float32.

Beside it stand the seconds of NumPy's arc cosine of as many numbers as the kernel takes.
"""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

import mercer
from mercer import CNTK

from ..options import data_option, out_option
from ..report import Report, Table, publish

#: Images that seconds are projected to.
PROJECTED = (1_000, 10_000, 50_000)


@click.command()
@out_option
@data_option
@click.option("--images", default=60, show_default=True, help="Images to measure with.")
@click.option("--depth", default=3, show_default=True, help="Layers.")
@click.option("--filter-size", default=3, show_default=True, help="Taps along an axis.")
@click.option("--dtype", default="float32", show_default=True, help="Of the images.")
@click.option("--device", default="cpu", show_default=True, help="cpu, or a device of torch.")
@click.option("--memory", default=10**9, show_default=True, help="Budget in bytes.")
def main(
    out: Path,
    data: Path | None,
    images: int,
    depth: int,
    filter_size: int,
    dtype: str,
    device: str,
    memory: int,
) -> None:
    """Measure the exact kernel of some images."""
    if data is None:
        raise click.UsageError("CIFAR-10 is needed: --data FOLDER (or MERCER_DATA).")
    X = cifar10(data, images).astype(dtype)
    kernel = CNTK(depth, filter_size)
    with mercer.config(progress=False, memory=memory):
        rows = [measured(kernel, X, device)]
    tables = [Table("Exact CNTK of CIFAR-10 images", rows), projections(rows[0])]
    if device == "cpu":
        tables.append(arc_cosines(dtype))
    else:
        from ..gpu.card import card

        tables.append(card(device))
    publish("papers_cntk_exact", Report(tables), out)


def cifar10(folder: Path, n_images: int) -> np.ndarray:
    """Return the first training images of the JPEG copy, channels standardised, in float64."""
    from PIL import Image

    file = np.load(folder / "cifar10.npz")
    raw, offsets = file["train_jpeg"].tobytes(), file["train_offsets"]
    parts = [raw[offsets[i] : offsets[i + 1]] for i in range(n_images)]
    X = np.stack([np.asarray(Image.open(io.BytesIO(part))) for part in parts]).astype(float)
    return (X - X.mean(axis=(0, 1, 2))) / X.std(axis=(0, 1, 2))


def measured(kernel: CNTK, X: np.ndarray, device: str) -> dict[str, Any]:
    """Return the seconds of a kernel matrix, and the nanoseconds of an entry in a layer."""
    n, height, width, _ = X.shape
    on_cpu = device == "cpu"
    rows: Any = X
    if not on_cpu:
        import torch

        rows = torch.as_tensor(X, device=device)
    # Compiles what the kernel needs.
    kernel(rows[:2])
    seconds, own = time.perf_counter(), time.process_time()
    K = kernel(rows)
    if not on_cpu:
        torch.cuda.synchronize()
    seconds, own = time.perf_counter() - seconds, time.process_time() - own
    pairs = n * (n + 1) // 2
    entries = pairs * (height * width) ** 2 * kernel.depth
    row = {
        "images": n,
        "depth": kernel.depth,
        "filter": kernel.filter_size,
        "dtype": str(X.dtype),
        "device": device,
        "seconds": seconds,
        "processor_seconds": own,
        "pairs_per_second": pairs / seconds,
        "ns_per_entry_and_layer": 1e9 * seconds / entries,
        "mean": float(K.mean()),
    }
    if on_cpu:
        row["processor_ns_per_entry_and_layer"] = 1e9 * own / entries
    return row


def projections(row: dict[str, Any]) -> Table:
    """Return the seconds that matrices of more images would take."""
    seconds = row["seconds"] / (row["images"] * (row["images"] + 1) / 2)
    return Table(
        "Projected by the number of pairs",
        [
            {"images": n, "seconds": seconds * n * (n + 1) / 2, "hours": seconds * n**2 / 7200}
            for n in PROJECTED
        ],
    )


def arc_cosines(dtype: str, size: int = 2**20, repeats: int = 20) -> Table:
    """Return the nanoseconds of an arc cosine and of a square root of NumPy."""
    x = np.random.default_rng(0).uniform(0, 1, size).astype(dtype)
    rows = []
    for function in (np.arccos, np.sqrt):
        function(x)
        start = time.process_time()
        for _ in range(repeats):
            function(x)
        took = time.process_time() - start
        rows.append({"function": function.__name__, "processor_ns": 1e9 * took / size / repeats})
    return Table(f"NumPy's functions in {dtype}", rows)


if __name__ == "__main__":
    main()
