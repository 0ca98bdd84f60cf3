"""Sketches and NTK features against scikit-learn and against the transforms they need."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.fft
import scipy.sparse
from sklearn.kernel_approximation import PolynomialCountSketch

from mercer import NTKFeatures, Polynomial, PolynomialSketch

from ..exact import features_error
from ..report import Report, Table
from ..runner import Case, check, measure

N_ROWS, N_FEATURES, N_COMPONENTS, N_COMPARED = 20_000, 128, 2048, 300
DEGREE = 3
#: Columns of each part of the NTK features.
PART = 1024
#: Columns and non-zeros of the wide sparse rows.
WIDE, SHARE = 10_000, 0.01


def run(repeats: int) -> Report:
    """Return polynomial sketches of dense and sparse rows, and NTK features."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((N_ROWS, N_FEATURES)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    few = scipy.sparse.random_array((N_ROWS, N_FEATURES), density=SHARE, random_state=generator)
    wide = scipy.sparse.random_array((N_ROWS // 4, WIDE), density=SHARE, random_state=generator)
    dense = polynomial(X, f"dense, n={N_ROWS} d={N_FEATURES}", repeats)
    sparse = polynomial(csr(few), f"CSR, 1 % of d={N_FEATURES}, n={N_ROWS}", repeats)
    wide_table = polynomial(csr(wide), f"CSR, 1 % of d={WIDE}, n={N_ROWS // 4}", repeats)
    tangent = measure(
        f"NTK depth 2, n={N_ROWS} d={N_FEATURES} m0=m1=ms={PART} float32", ntk(X), repeats
    )
    targets = [
        check(dense, "PolynomialSketch", "speed / peer", "at least", 5.0),
        check(sparse, "PolynomialSketch", "speed / peer", "at least", 10.0),
        check(wide_table, "PolynomialSketch", "speed / peer", "at least", 10.0),
        check(tangent, "NTKFeatures", "time / limit", "at most", 1.5),
    ]
    return Report([dense, sparse, wide_table, tangent], targets)


def csr(rows: Any) -> scipy.sparse.csr_array:
    """Return CSR rows of unit norm in float32."""
    rows = scipy.sparse.csr_array(rows).astype(np.float32)
    norms = np.sqrt(rows.multiply(rows).sum(axis=1))
    scale = scipy.sparse.diags_array(1 / np.where(norms > 0, norms, 1))
    return scipy.sparse.csr_array(scale @ rows).astype(np.float32)


def polynomial(X: Any, what: str, repeats: int) -> Table:
    """Return the comparison with scikit-learn's sketch of the same kernel."""
    ours = PolynomialSketch(DEGREE, n_components=N_COMPONENTS, random_state=0).fit(X[:10])
    peer = PolynomialCountSketch(
        degree=DEGREE, gamma=1.0, coef0=1, n_components=N_COMPONENTS, random_state=0
    ).fit(X[:10])
    error = features_error(Polynomial(degree=DEGREE)(X[:N_COMPARED].astype(float)))
    cases = [
        Case("PolynomialSketch", "ours", partial(ours.transform, X), error),
        Case("PolynomialCountSketch", "peer", partial(peer.transform, X), error),
    ]
    return measure(f"degree {DEGREE} m={N_COMPONENTS} float32, {what}", cases, repeats)


def ntk(X: np.ndarray) -> list[Case]:
    """Return the random NTK features, and the products and transforms that they need."""
    features = NTKFeatures(
        2, n_components=2 * PART, n_relu=PART, n_step=PART, method="random", random_state=0
    ).fit(X[:10])
    return [
        Case("NTKFeatures", "ours", partial(features.transform, X)),
        Case("products and transforms", "limit", products_and_transforms(X)),
    ]


def products_and_transforms(X: np.ndarray) -> Callable[[], Any]:
    """Return a function that does only the matrix products and the real transforms."""
    # Of the columns of a part, d + 1 are exact in the first layer and one in the second.
    widths = [(X.shape[1], PART - X.shape[1] - 1), (PART, PART - 1)]
    weights = [np.ones(shape, dtype=np.float32) for shape in widths]
    hidden = [X, np.ones((len(X), PART), dtype=np.float32)]
    buffers = [np.ones((len(X), shape[1]), dtype=np.float32) for shape in widths]
    rows = np.ones((len(X), PART), dtype=np.float32)
    spectrum = scipy.fft.rfft(rows, axis=1)

    def work() -> None:
        for left, right, buffer in zip(hidden, weights, buffers, strict=True):
            np.matmul(left, right, out=buffer)
        for _ in weights:
            for _ in range(2):
                scipy.fft.rfft(rows, axis=1, workers=2)
            scipy.fft.irfft(spectrum, n=PART, axis=1, workers=2)

    return work
