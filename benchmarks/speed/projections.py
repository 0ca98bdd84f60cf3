"""Random Fourier features by every projection, from narrow to wide rows.

The peer is the default projection, orthogonal: a faster one should not have a larger error.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mercer import Gaussian, RandomFourier

from ..exact import features_error, gaussian_kernel
from ..report import Report
from ..runner import Case, measure, product_limit

N_ROWS, N_COMPONENTS, N_COMPARED = 4_000, 4096, 500
WIDTHS = (64, 512, 2048)
PROJECTIONS = ("orthogonal", "gaussian", "hd3", "fastfood", "ssf")


def run(repeats: int) -> Report:
    """Return the measurements in float32, a table for each width of the rows."""
    tables = []
    for width in WIDTHS:
        X = np.random.default_rng(0).standard_normal((N_ROWS, width), dtype=np.float32)
        kernel = Gaussian("median").fitted_to(X)
        error = features_error(gaussian_kernel(X[:N_COMPARED], kernel.lengthscale))
        cases = []
        for projection in PROJECTIONS:
            features = RandomFourier(
                kernel, n_components=N_COMPONENTS, projection=projection, random_state=0
            ).fit(X)
            role = "peer" if projection == "orthogonal" else "ours"
            cases.append(Case(projection, role, partial(features.transform, X), error))
        cases.append(product_limit(X, N_COMPONENTS // 2, N_COMPONENTS))
        title = f"n={N_ROWS} d={width} m={N_COMPONENTS} float32"
        tables.append(measure(title, cases, repeats))
    return Report(tables)
