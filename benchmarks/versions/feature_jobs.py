"""Jobs of kernels, feature maps and the table encoder.

A job prepares its data and returns a function without arguments, which is what is measured; that
returns an array, which both versions must agree on. It imports what it measures itself, and runs
with either version.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .data import frame, problem, rows

Job = Callable[[], np.ndarray]
N_COMPONENTS = 1024


def random_fourier(dtype: Any) -> Job:
    """Random Fourier features."""
    from mercer import RandomFourier

    X = rows(20_000, 30, dtype)
    return partial(RandomFourier(n_components=N_COMPONENTS, random_state=0).fit(X).transform, X)


def kernel_matrix(name: str, n: int) -> Job:
    """The exact matrix of a kernel with its defaults."""
    import mercer

    return partial(getattr(mercer, name)(), rows(n, 30))


def kernel_product() -> Job:
    """The product of a kernel matrix with two vectors, without the matrix."""
    from mercer import Laplace

    X = rows(4000, 30)
    return partial(Laplace().matvec, X, X[:, :2])


def mapped(name: str, n: int, *arguments: Any, **options: Any) -> Job:
    """The features of a map, in float32."""
    import mercer

    X = rows(n, 20, np.float32)
    made = getattr(mercer, name)(*arguments, random_state=0, **options)
    return partial(made.fit(X).transform, X)


def gegenbauer() -> Job:
    """Zonal features of a Gaussian kernel."""
    from mercer import Gaussian

    return mapped("GegenbauerFeatures", 10_000, Gaussian(1.0), n_components=N_COMPONENTS, degree=12)


def input_gradients() -> Job:
    """The gradients of a kernel machine at its rows."""
    from mercer import Laplace
    from mercer.kernels.derivatives import input_gradients

    X, y = problem(2000, 20)
    return partial(input_gradients, Laplace(4.0), X, X, y)


def squared_gradients() -> Job:
    """What one iteration of a feature-learning machine needs of a kernel's derivatives."""
    from mercer import Gaussian
    from mercer.kernels.derivatives import mean_squared_gradients

    X, y = problem(2000, 20)
    return partial(mean_squared_gradients, Gaussian(4.0), X, X, y)


def table_encoder() -> Job:
    """Encoding a table of numbers, missing values, categories and dates."""
    from mercer import TableEncoder

    table = frame(20_000)
    return lambda: np.asarray(TableEncoder().fit(table).transform(table))


JOBS: dict[str, Callable[[], Job]] = {
    "random_fourier_float32": partial(random_fourier, np.float32),
    "random_fourier_float64": partial(random_fourier, np.float64),
    "gaussian_matrix": partial(kernel_matrix, "Gaussian", 3000),
    "ntk_matrix": partial(kernel_matrix, "NTK", 2000),
    "laplace_matvec": kernel_product,
    "arccosine": partial(mapped, "ArcCosineFeatures", 20_000, n_components=N_COMPONENTS),
    "ntk_zonal": partial(mapped, "NTKFeatures", 10_000, 2, n_components=1024, method="zonal"),
    "ntk_random": partial(mapped, "NTKFeatures", 5000, 2, n_components=1024, method="random"),
    "ntk_sketch": partial(mapped, "NTKFeatures", 2000, 2, n_components=1024, method="sketch"),
    "polynomial_sketch": partial(mapped, "PolynomialSketch", 5000, n_components=N_COMPONENTS),
    "gegenbauer": gegenbauer,
    "input_gradients": input_gradients,
    "squared_gradients": squared_gradients,
    "table_encoder": table_encoder,
}
