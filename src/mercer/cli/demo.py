"""``mercer demo``: exact kernel, linear model and random features side by side."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

#: Numbers of features to try, each twice the one before: the error falls by the square root of 2.
SIZES = (128, 256, 512, 1024, 2048)
#: Ridge parameter of the exact kernel machine; mercer's machines choose their own.
RIDGE = 1e-2


@dataclass(frozen=True)
class Row:
    """One line of the table: how a model did."""

    name: str
    accuracy: float
    seconds: float
    megabytes: float
    error: float | None = None


@click.command("demo", short_help="Compare an exact kernel with its random features.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also draw the kernels and the errors into this file (needs matplotlib).",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the random features.")
def command(picture: Path | None, seed: int) -> None:
    """Recognise handwritten digits with an exact kernel and with its random features.

    The table compares a linear model, the exact Gaussian kernel, and random Fourier features
    of growing number: test accuracy, how far the features are from the kernel, and the time
    and the memory it takes to learn and to predict. The 1,200 images to learn from are also
    taken shifted by one pixel in four directions. mercer's machines choose their ridge
    parameter; the exact kernel is given one that works well.

    \b
    mercer demo --picture demo.png
    """
    from rich.console import Console
    from rich.table import Table

    if picture is not None:
        if not picture.absolute().parent.is_dir():
            raise click.BadParameter(
                f"the folder of {picture} does not exist; make it first.",
                param_hint="--picture",
            )
        from .._optional import require

        try:
            require("matplotlib", "plot", "Drawing the picture")
        except ImportError as error:
            raise click.ClickException(str(error)) from error

    console = Console()
    data = _digits()
    rows, maps = _compare(data, seed)
    title = f"Digits: 1,200 images in 5 positions to learn from, {len(data[1])} to test"
    table = Table(title=title)
    table.add_column("model")
    for heading in ("test accuracy", "kernel error", "time", "memory"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row.name,
            f"{row.accuracy:.1%}",
            "-" if row.error is None else f"{row.error:.2%}",
            f"{row.seconds:.2f} s",
            f"{row.megabytes:.0f} MB",
        )
    console.print(table)
    last = rows[-1]
    console.print(
        "Kernel error is the measured distance between the exact kernel matrix and the one "
        f"that the features give. With {SIZES[-1]} features it is {last.error:.2%}, and the "
        "cost of learning no longer grows with the square of the rows.",
        width=min(console.width, 88),
    )
    if picture is not None:
        from ._demo_picture import draw

        draw(data, maps, rows, picture)
        console.print(f"The picture is in {picture}")


def _digits() -> tuple[Any, Any, Any, Any]:
    """Return the embedded digits as training rows, test rows and their labels."""
    import numpy as np
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    images = (X / 16).astype(np.float32).reshape(-1, 8, 8)
    order = np.random.default_rng(0).permutation(len(images))
    train, test = order[:1200], order[1200:]
    # Moving every image by one pixel makes a training set that is large for an exact kernel.
    shifts = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)]
    moved = [np.roll(images[train], shift, axis=(1, 2)) for shift in shifts]
    rows = np.concatenate(moved).reshape(-1, 64)
    return rows, images[test].reshape(-1, 64), np.tile(y[train], len(shifts)), y[test]


def _compare(data: tuple[Any, Any, Any, Any], seed: int) -> tuple[list[Row], list[Any]]:
    """Return a row for every model, and the fitted feature maps."""
    import numpy as np
    from sklearn.kernel_ridge import KernelRidge

    from .. import FeatureRidgeClassifier, Gaussian, RandomFourier, approximation_error
    from ..testing.memory import peak_bytes

    train, test, y_train, y_test = data
    targets = np.eye(10, dtype=np.float32)[y_train]
    kernel = Gaussian(lengthscale="median").fitted_to(train)
    # The first call of the process compiles or loads the compiled loops; that is not the cost.
    RandomFourier(kernel, n_components=16).fit(train).transform(train)
    kernel(train[:16])

    def exact() -> Any:
        model = KernelRidge(kernel="precomputed", alpha=RIDGE).fit(kernel(train), targets)
        return model.predict(kernel(test, train)).argmax(axis=1)

    def learnt(features: Any) -> Callable[[], Any]:
        return lambda: FeatureRidgeClassifier(features).fit(train, y_train).predict(test)

    def measured(name: str, function: Callable[[], Any], error: float | None = None) -> Row:
        start = time.perf_counter()
        predictions, peak = peak_bytes(function)
        seconds = time.perf_counter() - start
        return Row(name, float((predictions == y_test).mean()), seconds, peak / 1e6, error)

    rows = [measured("linear model", learnt(None)), measured("exact kernel", exact)]
    maps = []
    for size in SIZES:
        features = RandomFourier(kernel, n_components=size, random_state=seed).fit(train)
        error = approximation_error(features, train).relative
        rows.append(measured(f"mercer, {size} features", learnt(features), error))
        maps.append(features)
    return rows, maps
