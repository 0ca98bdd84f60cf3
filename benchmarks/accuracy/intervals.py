"""Whether reported errors are true: coverage of their 95 % intervals, and Lanczos against LAPACK.

Every map is fitted once on 2,000 normal rows of five columns, of thirty for ternary features. The
error of all rows is computed; then it is reported from 500 rows, drawn anew each time. Fewer than
90 of 100 intervals would be too few.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler

import mercer
from mercer import (
    NNGP,
    NTK,
    ArcCosineFeatures,
    DotProductSketch,
    Gaussian,
    GegenbauerFeatures,
    Laplace,
    Matern,
    NNGPFeatures,
    NTKFeatures,
    NystromFeatures,
    Polynomial,
    PolynomialSketch,
    PowerSeries,
    ProductFeatures,
    ProductLaplace,
    QuantizedFourier,
    RandomFourier,
    TernaryFeatures,
)
from mercer.diagnostics import statistical_dimension
from mercer.diagnostics.spectral import extreme_eigenvalues
from mercer.features import GradientFeatures, TensorNTKFeatures
from mercer.features.kernel_of import features_of, kernel_of
from mercer.features.some_rows import relative_norm, some_rows

from ..report import Report, Table, Target

N_ROWS, N_SEEN, N_REPEATED, QUICK = 2000, 500, 400, 50
N_COLUMNS, WIDE = 5, 30
SPECTRAL_ROWS, ALPHAS = 1200, (10.0, 1.0, 0.1)
LEAST, NEAR = 90.0, 1e-6

GAUSSIAN = Gaussian(2.0)
MAPS: dict[str, Any] = {
    "RandomFourier": RandomFourier(GAUSSIAN, n_components=100),
    "RandomFourier, Laplace": RandomFourier(Laplace(2.0), n_components=100),
    "RandomFourier, ProductLaplace": RandomFourier(ProductLaplace(2.0), n_components=100),
    "RandomFourier, Fastfood": RandomFourier(Matern(2.0), n_components=100, projection="fastfood"),
    "QuantizedFourier, 2 bits": QuantizedFourier(GAUSSIAN, n_components=100, bits=2),
    "TernaryFeatures": TernaryFeatures(Gaussian(6.0), n_components=200, sparsity=0.1),
    "ArcCosineFeatures, order 0": ArcCosineFeatures(order=0, n_components=100),
    "ArcCosineFeatures, order 1": ArcCosineFeatures(order=1, n_components=100),
    "NTKFeatures": NTKFeatures(depth=2, n_components=200),
    "NTKFeatures, one-shot": NTKFeatures(depth=2, n_components=200, method="one-shot"),
    "NTKFeatures, random": NTKFeatures(depth=2, n_components=200, method="random"),
    "NTKFeatures, sketch": NTKFeatures(depth=2, n_components=200, method="sketch"),
    "NNGPFeatures": NNGPFeatures(depth=2, n_components=200),
    "GegenbauerFeatures": GegenbauerFeatures(GAUSSIAN, n_components=200),
    "GegenbauerFeatures, NTK": GegenbauerFeatures(NTK(2), n_components=200),
    "NystromFeatures": NystromFeatures(GAUSSIAN, n_components=100),
    "PolynomialSketch, degree 2": PolynomialSketch(degree=2, n_components=100),
    "PolynomialSketch, degree 4": PolynomialSketch(degree=4, gamma=0.2, n_components=100),
    "DotProductSketch": DotProductSketch(PowerSeries.near(NNGP(depth=2)), n_components=100),
    "DotProductSketch, polynomial": DotProductSketch(Polynomial(degree=2), n_components=100),
    "ProductFeatures": ProductFeatures(
        [GegenbauerFeatures(GAUSSIAN, n_components=40), RandomFourier(n_components=10)],
        [[0, 1, 2], [3]],
    ),
    "TensorNTKFeatures": TensorNTKFeatures(depth=1, n_relu=20, n_step=10),
    "GradientFeatures": GradientFeatures(depth=1, width=20),
    "scikit-learn's RBFSampler": RBFSampler(gamma=0.1, n_components=100),
    "scikit-learn's Nystroem": Nystroem(gamma=0.1, n_components=100),
    "scikit-learn's PolynomialCountSketch": PolynomialCountSketch(degree=3, n_components=100),
}


def run(quick: bool = False) -> Report:
    """Return coverage by map, and differences of extreme eigenvalues."""
    n_repeated = QUICK if quick else N_REPEATED
    with mercer.config(progress=False):
        rows = [covered(name, features, n_repeated) for name, features in MAPS.items()]
        spectral = [spectra(alpha) for alpha in ALPHAS]
        probes = [probed(alpha, n_repeated) for alpha in ALPHAS]
    fewest = min(rows, key=lambda row: row["covered %"])
    return Report(
        [
            Table(f"{n_repeated} intervals of 95 % from {N_SEEN} of {N_ROWS:,} rows", rows),
            Table("Extreme eigenvalues: Lanczos iterations less LAPACK", spectral),
            Table("Statistical dimension from 30 random vectors of signs", probes),
        ],
        [
            Target(
                f"fewest covered, in %: {fewest['map']}", "at least", LEAST, fewest["covered %"]
            ),
            Target(
                "largest difference of eigenvalues",
                "at most",
                NEAR,
                max(row["largest difference"] for row in spectral),
            ),
        ],
    )


def covered(name: str, features: Any, n_repeated: int) -> dict[str, Any]:
    """Return how often the interval of a map covers the error of all rows."""
    columns = WIDE if name.startswith("TernaryFeatures") else N_COLUMNS
    X = np.random.default_rng(0).standard_normal((N_ROWS, columns))
    if name.startswith("ProductFeatures"):
        X = X[:, :4]
    features = features.set_params(random_state=0).fit(X)
    kernel = kernel_of(features)
    K, Z = np.asarray(kernel(X)), features_of(features, X)
    above, below = (Z @ Z.T - K) ** 2, K**2
    true = float(np.sqrt(above.sum() / below.sum()))
    found = []
    for seed in range(n_repeated):
        # Which rows: their number stands in for them.
        seen = some_rows(features, X, N_SEEN, seed, kernel)
        places = np.flatnonzero(np.isin(X[:, 0], seen.chosen[:, 0]))
        part = np.ix_(places, places)
        found.append(relative_norm(above[part], below[part], seen.inclusion))
    values, low, high = np.asarray(found).T
    print(name, file=sys.stderr, flush=True)
    return {
        "map": name,
        "covered %": 100 * float(np.mean((low <= true) & (true <= high))),
        "error of all rows": true,
        "mean reported": float(values.mean()),
        "median width %": 100 * float(np.median((high - low) / values)),
    }


def spectra(alpha: float) -> dict[str, Any]:
    """Return extreme eigenvalues both ways, and the largest difference."""
    X = np.random.default_rng(0).standard_normal((SPECTRAL_ROWS, N_COLUMNS))
    features = RandomFourier(GAUSSIAN, n_components=500, random_state=0).fit(X)
    K, Z = features.kernel_(X), features.transform(X)
    dense, found = (extreme_eigenvalues(Z, K, alpha, how) for how in ("dense", "lanczos"))
    return {
        "alpha": alpha,
        "smallest": dense[0],
        "largest": dense[1],
        "largest difference": max(abs(a - b) for a, b in zip(dense, found, strict=True)),
    }


def probed(alpha: float, n_repeated: int) -> dict[str, Any]:
    """Return the statistical dimension, and how estimates of it scatter in standard errors."""
    X = np.random.default_rng(0).standard_normal((SPECTRAL_ROWS, N_COLUMNS))
    kernel = Laplace(2.0)
    exact = statistical_dimension(kernel, X, alpha).value
    found = [
        statistical_dimension(kernel, X, alpha, method="probes", random_state=seed)
        for seed in range(n_repeated // 10)
    ]
    scores = [(one.value - exact) / one.standard_error for one in found]
    return {
        "alpha": alpha,
        "exact": exact,
        "mean estimate": float(np.mean([one.value for one in found])),
        "median standard error": float(np.median([one.standard_error for one in found])),
        "within 2 standard errors %": 100 * float(np.mean(np.abs(scores) < 2)),
    }
