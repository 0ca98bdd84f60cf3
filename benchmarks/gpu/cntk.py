"""CIFAR-10 by features of the convolutional tangent kernel, on one card: accuracy and seconds.

``python -m benchmarks.gpu.cntk --cifar cifar10.npz --out DIR`` on a machine with CUDA; ``--small``
runs the same on the CPU with few images. Results are written after every case. The strength of the
whitening is chosen on held-out training images unless it is given; ``--explore`` compares
settings on these, too. ``--mnist mnist.npz`` classifies MNIST instead, with 4,096 columns: on a
card all images, with ``--small`` some on the CPU.

Work for an image of 1,024 positions at depth 3 with m features and inner width w, in numbers:

* products: w (w / 2) and w (m / 4) multiplications at each position, 1.6 G for w = 1,024 and
  m = 4,096: 0.2 PFLOP for 60,000 images, 0.4 s at 500 TFLOP/s;
* sketches of patches: 9 w reads in each of two layers, 2 w written: 40 MB in bfloat16, 2.4 TB
  through the caches for all images, 0.5 s at 5 TB/s;
* activated layers: 2 w written by the first two, and read by sketches and gates; the last one is
  averaged where it is made: 15 MB, 0.9 TB, 0.3 s at 3 TB/s.

About 1.5 s in bfloat16. Mirrored images take twice the time. The authors' code took 92.5 s for
4,096 columns on the same card and files, at 66.44 % accuracy, and 194 s for 8,192.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch

import mercer
from mercer import CNTKSketch, FeatureRidgeClassifier
from mercer.ops import gates, patches

from ..options import out_option
from ..report import Report, Table, Target, publish
from .card import card
from .labelled import Clock, Data, Prepared, digits, loaded
from .timing import synchronize

#: Seconds of the features and test accuracy of the authors' code on an H200, same files.
AUTHORS = {4096: (92.5, 0.6644), 8192: (194.0, None)}
#: Test accuracy and seconds on the slides, original pixels.
SLIDES = {4096: (0.6758, 780), 8192: (0.7046, 1870), 16384: (0.7206, 5160)}
#: Columns up to which sums are kept for five folds: 8 bytes times their square, for each fold.
FOLDS_UP_TO = 8192
#: Training images that are held out to compare settings.
HELD_OUT = 0.1
#: Strengths of the whitening to choose from.
STRENGTHS = (100.0, 30.0, 10.0)


@dataclass(frozen=True)
class Case:
    """One set of features.

    Attributes
    ----------
    components, width : int
        Features, and columns of inner layers.
    precision : str
        Of products and of what is stored.
    regularization : float or None
        Of the whitening.
    block : int
        Images in flight.
    mirrored : bool
        Whether features are the means of images and mirror images.
    degree : int or None
        Of the series in place of the ReLU.
    """

    components: int
    width: int | None = None
    precision: str = "bfloat16"
    regularization: float | None = 30.0
    block: int = 64
    mirrored: bool = False
    degree: int | None = 2


def features_for(case: Case, shape: tuple[int, ...]) -> CNTKSketch:
    """Return the feature map of a case."""
    return CNTKSketch(
        depth=3,
        n_components=case.components,
        width=case.width,
        method="random",
        degree=case.degree,
        mirrored=case.mirrored,
        image_shape=shape,
        random_state=0,
    )


def features_of(
    case: Case, rows: torch.Tensor, shape: tuple[int, ...], device: str, clock: Clock
) -> tuple[Any, dict[str, float]]:
    """Return features of all rows, and what they took."""
    # NumPy's compiled loops are the faster ones on a processor, which has no use for bfloat16.
    compiled = device == "cpu" and case.precision == "float32"
    given: Any = rows.numpy() if compiled else rows
    features = features_for(case, shape)
    start = time.perf_counter()
    features.fit(given[:2])
    drawn = time.perf_counter() - start
    with mercer.config(memory="14GB", block_rows=case.block, precision=case.precision):
        start = time.perf_counter()
        features.transform(given[: 2 * case.block])
        synchronize(device)
        first = time.perf_counter() - start
        reset_peak(device)
        start = time.perf_counter()
        Z = torch.as_tensor(features.transform(given))
        synchronize(device)
        seconds = time.perf_counter() - start
    peak = peak_memory(device)
    clock.say(
        f"{case}: drawn in {drawn:.1f} s, first blocks {first:.1f} s, all {seconds:.2f} s, "
        f"peak {peak / 1e9:.1f} GB"
    )
    return Z, {"draw s": drawn, "first blocks s": first, "features s": seconds, "peak": peak}


def learnt(case: Case, Z: torch.Tensor, data: Data, n_fit: int, device: str) -> dict[str, Any]:
    """Return the accuracy of a ridge classifier that chooses its parameter on training rows."""
    selection: Any = 5 if case.components <= FOLDS_UP_TO else "gcv"
    stop = n_fit if n_fit == data.n_train else data.n_train
    test = slice(data.n_train, None) if n_fit == data.n_train else slice(n_fit, stop)
    reset_peak(device)
    start = time.perf_counter()
    with mercer.config(memory="4GB", precision="float32"):
        model = FeatureRidgeClassifier(None, selection=selection)
        # Small alphas are the best ones: sums of products in float32 would not know of them.
        model.fit(Z[:n_fit].double(), data.labels[:n_fit])
        predicted = model.predict(Z[test].double())
    synchronize(device)
    right = torch.as_tensor(predicted).to(device) == data.labels[test]
    return {
        "ridge s": time.perf_counter() - start,
        "ridge peak": peak_memory(device),
        "alpha": float(np.max(model.alpha_)),
        "selection": str(selection),
        "accuracy": float(right.double().mean()),
    }


def measured(
    case: Case, data: Data, prepared: Prepared, n_fit: int, device: str, clock: Clock
) -> dict[str, Any]:
    """Return the row of a case."""
    rows = prepared.rows(case.regularization, n_fit)
    # What does not take part is not computed.
    rows = rows if n_fit == data.n_train else rows[: data.n_train]
    Z, took = features_of(case, rows, data.shape, device, clock)
    found = learnt(case, Z, data, n_fit, device)
    clock.say(f"accuracy {found['accuracy']:.4f}, ridge {found['ridge s']:.1f} s")
    return {
        "columns": case.components,
        "mirrored": case.mirrored,
        "degree": case.degree or "ReLU",
        "inner width": case.width or "default",
        "precision": case.precision,
        "whitening": str(case.regularization),
        "accuracy %": 100 * found["accuracy"],
        "features s": took["features s"],
        "images": len(rows),
        "draw s": took["draw s"],
        "first blocks s": took["first blocks s"],
        "features peak GB": took["peak"] / 1e9,
        "ridge s": found["ridge s"],
        "ridge peak GB": found["ridge peak"] / 1e9,
        "alpha": found["alpha"],
        "selection": found["selection"],
    }


def checked(rows: torch.Tensor, shape: tuple[int, ...], device: str, clock: Clock) -> Table:
    """Compare with NumPy and with the exact kernel; without fused kernels if these are wrong."""
    some = rows[:16]
    features = features_for(Case(2048), shape).fit(some)
    host = features.transform(some.cpu().numpy())
    clock.say("features of NumPy")
    found = []
    for fused in (True, False):
        if not fused:
            for module in (patches, gates):
                module.has_fused_kernels = lambda _: False
        try:
            found = [difference(features, some, host, p) for p in PRECISIONS]
        except Exception:
            traceback.print_exc()
            clock.say(f"fused={fused} failed")
            continue
        clock.say(f"fused={fused}: {found}")
        if found[0]["apart from NumPy"] < 1e-3:
            break
    try:
        exact = features.kernel_(some.double()).cpu().numpy()
        error = np.linalg.norm(host @ host.T - exact) / np.linalg.norm(exact)
        found.append({"what": "kernel error, 2,048 columns", "apart from NumPy": float(error)})
        clock.say(f"kernel error {error:.4f}")
    except Exception:
        traceback.print_exc()
    return Table("Features of 16 images", found)


PRECISIONS = ("float32", "tf32", "bfloat16")


def difference(features: Any, some: torch.Tensor, host: np.ndarray, precision: str) -> Any:
    """Return how far features on the device are from those of NumPy."""
    with mercer.config(precision=precision):
        there = features.transform(some).cpu().numpy()
    apart = float(np.linalg.norm(there - host) / np.linalg.norm(host))
    return {"what": precision, "apart from NumPy": apart}


def explored(data: Data, small: bool) -> Iterator[Case]:
    """Yield cases that differ from one in one setting."""
    base = Case(256 if small else 4096, width=64 if small else 1024)
    yield base
    for regularization in (100.0, 10.0, 1.0, None):
        yield replace(base, regularization=regularization)
    yield replace(base, degree=None)
    yield replace(base, degree=4)
    for factor in (0.5, 2):
        yield replace(base, width=int(factor * (base.width or 0)))
    yield replace(base, mirrored=True)
    yield replace(base, precision="tf32")
    yield replace(base, block=4 * base.block)
    yield replace(base, block=base.block // 4)


def chosen(case: Case, data: Data, prepared: Prepared, device: str, clock: Clock) -> Table:
    """Compare strengths of the whitening on held-out training images, with narrow features."""
    n_fit = int(data.n_train * (1 - HELD_OUT))
    narrow = replace(case, components=min(4096, case.components), width=min(1024, case.components))
    rows = []
    for regularization in STRENGTHS:
        one = replace(narrow, regularization=regularization)
        rows.append(measured(one, data, prepared, n_fit, device, clock))
    return Table("Strength of the whitening, accuracy on held-out training images", rows)


def final(small: bool, case: Case) -> list[Case]:
    """Return the cases of the table."""
    sizes = (128, 256) if small else (4096, 8192, 16384)
    cases = [replace(case, components=m) for m in sizes]
    narrow = replace(cases[0], width=64 if small else 512)
    return [*cases, *(replace(one, mirrored=True) for one in (narrow, *cases))]


def targets_of(rows: list[dict[str, Any]]) -> list[Target]:
    """Return the targets: a tenth of the authors' time at their accuracy, below 16 GB."""
    targets = []
    for row in rows:
        m, name = row["columns"], f"{row['columns']:,} columns"
        name += ", mirrored" if row["mirrored"] else ""
        name += "" if row["inner width"] == "default" else f", inner width {row['inner width']}"
        seconds, accuracy = AUTHORS.get(m, (None, None))
        if seconds is not None:
            targets.append(Target(f"{name}: seconds", "at most", seconds / 10, row["features s"]))
        if accuracy is not None:
            measured = row["accuracy %"]
            targets.append(Target(f"{name}: accuracy %", "at least", 100 * accuracy, measured))
        if m in SLIDES:
            slides = 100 * SLIDES[m][0]
            targets.append(
                Target(f"{name}: accuracy % of the slides", "at least", slides, row["accuracy %"])
            )
        targets.append(Target(f"{name}: peak GB", "at most", 16.0, row["features peak GB"]))
    return targets


def classified_digits(data: Data, device: str, clock: Clock, out: Path) -> None:
    """Write the accuracy on digits; whitening would drown these in the noise of their borders."""
    on_cpu = device == "cpu"
    precision = "float32" if on_cpu else "bfloat16"
    case = Case(256 if on_cpu else 4096, precision=precision, regularization=None)
    row = measured(case, data, Prepared(data, clock), data.n_train, device, clock)
    title = f"MNIST, {data.n_train:,} training images, accuracy on test images"
    publish("gpu_cntk_mnist", Report([card(device), Table(title, [row])]), out)


def profiled(case: Case, rows: torch.Tensor, shape: tuple[int, ...], device: str) -> str:
    """Return where the time of one block goes."""
    from torch.profiler import ProfilerActivity, profile

    features = features_for(case, shape).fit(rows[:2])
    kinds = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with mercer.config(memory="14GB", block_rows=case.block, precision=case.precision):
        features.transform(rows[: case.block])
        with profile(activities=kinds) as found:
            features.transform(rows[: 4 * case.block])
            synchronize(device)
    order = "cuda_time_total" if device == "cuda" else "cpu_time_total"
    return found.key_averages().table(sort_by=order, row_limit=25, max_name_column_width=60)


def reset_peak(device: str) -> None:
    """Begin to measure the memory of the device."""
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def peak_memory(device: str) -> int:
    """Return the most bytes that were allocated on the device."""
    return torch.cuda.max_memory_allocated() if device == "cuda" else 0


@click.command()
@click.option("--small", is_flag=True, help="Few images and columns, on the CPU.")
@click.option("--explore", is_flag=True, help="Compare settings on held-out training images.")
@click.option("--profile", "profiling", is_flag=True, help="Also say where time goes.")
@click.option("--only", type=int, help="Only this number of columns.")
@click.option("--width", type=int, help="Columns of inner layers.")
@click.option("--regularization", type=float, help="Of whitening; 0 is none.  [default: chosen]")
@click.option("--block", type=int, default=64, help="Images in flight.")
@click.option(
    "--cifar",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="MERCER_CIFAR",
    help="The file of images.  [env: MERCER_CIFAR]",
)
@click.option(
    "--mnist",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of digits, to be classified instead.",
)
@out_option
def main(
    small: bool,
    explore: bool,
    profiling: bool,
    only: int | None,
    width: int | None,
    regularization: float | None,
    block: int,
    cifar: Path | None,
    mnist: Path | None,
    out: Path,
) -> None:
    """Classify CIFAR-10 on a card."""
    device = "cpu" if small else "cuda"
    mercer.set_config(progress=False)
    clock = Clock(device)
    if mnist is not None:
        classified_digits(digits(mnist, device, small), device, clock, out)
        return
    if cifar is None:
        raise click.UsageError("The images are needed: --cifar FILE (or MERCER_CIFAR).")
    data = loaded(cifar, device, small)
    clock.say(f"{len(data.images):,} images on {device}")
    prepared = Prepared(data, clock)
    given = STRENGTHS[0] if regularization is None else regularization or None
    case = Case(0, width, regularization=given, block=block)
    n_fit = int(data.n_train * (1 - HELD_OUT)) if explore else data.n_train
    rows_of_case = prepared.rows(case.regularization, n_fit)
    tables = [card(device), checked(rows_of_case, data.shape, device, clock)]
    if regularization is None and not explore:
        smallest = final(small, case)[0]
        tables.append(chosen(smallest, data, prepared, device, clock))
        best = max(tables[-1].rows, key=lambda row: row["accuracy %"])
        case = replace(case, regularization=float(best["whitening"]))
    cases = list(explored(data, small)) if explore else final(small, case)
    name = "gpu_cntk_settings" if explore else "gpu_cntk"
    rows: list[dict[str, Any]] = []
    for one in cases:
        if only is not None and one.components != only:
            continue
        try:
            rows.append(measured(one, data, prepared, n_fit, device, clock))
        except Exception:
            traceback.print_exc()
            clock.say(f"{one} failed")
            continue
        where = "held-out training images" if explore else "test images"
        title = f"CIFAR-10 (JPEG), depth 3, filter 3, accuracy on {where}"
        targets = [] if explore or small else targets_of(rows)
        publish(name, Report([*tables, Table(title, rows)], targets), out)
    if profiling:
        text = profiled(cases[0], prepared.rows(cases[0].regularization, n_fit), data.shape, device)
        (out / f"{name}_profile.txt").write_text(text, encoding="utf-8")
        print(text, flush=True)
    clock.say("done")


if __name__ == "__main__":
    main()
