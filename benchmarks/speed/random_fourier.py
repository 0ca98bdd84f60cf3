"""Random Fourier features against scikit-learn's ``RBFSampler``."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from mercer import Gaussian, RandomFourier

from ..exact import features_error, gamma_of, gaussian_kernel
from ..report import Report
from ..runner import Case, check, measure, product_limit

N_ROWS, N_FEATURES, N_COMPONENTS, N_COMPARED = 50_000, 64, 2048, 500
#: The speed to reach, in times that of the peer.
SPEED = {"float32": 1.7, "float64": 4.0}


def run(repeats: int) -> Report:
    """Return the measurements in float32 and float64."""
    tables, targets = [], []
    for dtype, speed in SPEED.items():
        X = np.random.default_rng(0).standard_normal((N_ROWS, N_FEATURES)).astype(dtype)
        ours = RandomFourier(Gaussian("median"), n_components=N_COMPONENTS, random_state=0).fit(X)
        lengthscale = ours.kernel_.lengthscale
        peer = RBFSampler(gamma=gamma_of(lengthscale), n_components=N_COMPONENTS, random_state=0)
        peer.fit(X)
        error = features_error(gaussian_kernel(X[:N_COMPARED], lengthscale))
        cases = [
            Case("RandomFourier", "ours", partial(ours.transform, X), error),
            Case("RBFSampler", "peer", partial(peer.transform, X), error),
            product_limit(X, N_COMPONENTS // 2, N_COMPONENTS),
        ]
        title = f"n={N_ROWS} d={N_FEATURES} m={N_COMPONENTS} {dtype}"
        table = measure(title, cases, repeats)
        tables.append(table)
        targets += [
            check(table, "RandomFourier", "speed / peer", "at least", speed),
            check(table, "RandomFourier", "time / limit", "at most", 2.0),
            check(table, "RandomFourier", "extra MB", "at most", 64.0),
        ]
    return Report(tables, targets)
