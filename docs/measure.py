"""Measure every number that the guide and the theory pages quote.

Writes ``docs/theory/measurements.md``. Takes a minute or two; the tables of errors come out
the same on every machine (to rounding), the table of times does not.

Usage: ``python docs/measure.py [path]``.
"""

import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
from scipy.linalg import hadamard
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler

import mercer
from mercer import NTK, ArcCosine, ArcCosineFeatures, Gaussian, Laplace, RandomFourier


def table(header, rows):
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def unit_rows(n, d, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def bias(estimates, K):
    """Return the bias of the worst entry with its standard error, and their ratio, as text."""
    estimates = np.asarray(estimates)
    upper = np.triu_indices(K.shape[0], 1)
    difference = estimates.mean(axis=0)[upper] - K[upper]
    # An entry that never varies and is wrong (the smallest Hadamard blocks have some) must not
    # divide by zero.
    error = np.maximum(estimates.std(axis=0, ddof=1)[upper] / len(estimates) ** 0.5, 1e-6)
    worst = np.argmax(abs(difference) / error)
    difference, error = difference[worst], error[worst]
    score = abs(difference) / error
    return f"{difference:+.4f} ± {error:.4f}", f"{score:.1f}" if score < 1000 else "over 1000"


def mean_squared_error(make, X, K, seeds):
    """Return the mean squared error of all entries of the kernel matrix."""
    total = 0.0
    for seed in range(seeds):
        Z = make(seed).fit_transform(X)
        total += np.mean((Z @ Z.T - K) ** 2)
    return total / seeds


def gibbs():
    """One Gibbs sweep against the exact draw: bias of plain ReLU features."""
    rows = []
    for d in (3, 5, 10):
        X = unit_rows(8, d)
        K = ArcCosine(order=1)(X)
        for sampling in ("leverage", "gibbs"):
            grams = []
            for seed in range(400):
                Z = ArcCosineFeatures(
                    1, n_components=512, method="plain", sampling=sampling, random_state=seed
                ).fit_transform(X)
                grams.append(Z @ Z.T)
            rows.append([d, f"`{sampling}`", *bias(grams, K)])
    return table(["d", "sampling", "bias of the worst entry", "in standard errors"], rows)


def chi_radii():
    """Orthogonal Fourier features with all lengths √d: bias for the Gaussian kernel."""
    rows = []
    for d in (3, 8, 64):
        X = unit_rows(8, d)
        kernel = Gaussian()
        grams = {"chi": [], "fixed": []}
        for seed in range(400):
            features = RandomFourier(kernel, n_components=4 * d, random_state=seed).fit(X)
            W = features.weights_
            for name, radii in (("chi", W), ("fixed", W / np.linalg.norm(W, axis=0) * d**0.5)):
                Z = np.hstack([np.cos(X @ radii), np.sin(X @ radii)]) / np.sqrt(W.shape[1])
                grams[name].append(Z @ Z.T)
        for name, label in (("chi", "chi (mercer)"), ("fixed", "all √d")):
            rows.append([d, label, *bias(grams[name], kernel(X))])
    return table(["d", "lengths", "bias of the worst entry", "in standard errors"], rows)


def hadamard_bias():
    """Step features with HD3 directions: dense rows, and rows with a single entry."""
    rows = []
    for p in (4, 8, 16, 32, 64, 128):
        H = hadamard(p) / np.sqrt(p)
        cells = []
        for X in (unit_rows(8, p), np.eye(p)[:4]):
            K = ArcCosine(order=0)(X)
            rng = np.random.default_rng(1)
            grams = []
            for _ in range(20):
                P = np.broadcast_to(X, (1000, *X.shape))
                for _ in range(3):
                    P = (P * rng.choice([-1.0, 1.0], (1000, 1, p))) @ H
                Z = (P > 1e-9) * np.sqrt(2 / p)
                grams.append(Z @ Z.transpose(0, 2, 1))
            cells += bias(np.concatenate(grams), K)
        rows.append([p, *cells])
    return table(
        [
            "padded columns",
            "dense rows",
            "in standard errors",
            "one-hot rows",
            "in standard errors",
        ],
        rows,
    )


def deflation():
    """Squared error of antithetic over deflated, at equal dimension."""
    factors = (1.1, 1.25, 1.5, 2, 4, 16)
    rows = []
    for order in (1, 0):
        for d in (8, 20, 64):
            X = unit_rows(60, d)
            K = ArcCosine(order=order)(X)
            cells = []
            for factor in factors:
                size = int(np.ceil(factor * (d + 1)))
                error = {}
                for method in ("antithetic", "deflated"):

                    def make(seed, order=order, size=size, method=method):
                        return ArcCosineFeatures(
                            order, n_components=size, method=method, random_state=seed
                        )

                    error[method] = mean_squared_error(make, X, K, 60)
                cells.append(f"{error['antithetic'] / error['deflated']:.1f}")
            rows.append([order, d, *cells])
    return table(["order", "d", *(f"m = {factor} (d + 1)" for factor in factors)], rows)


def published():
    """Squared error of plain Gaussian features over deflated ones."""
    rows = []
    for order in (1, 0):
        for d, m in ((8, 64), (20, 256), (64, 512)):
            X = unit_rows(60, d)
            K = ArcCosine(order=order)(X)
            plain = mean_squared_error(
                lambda seed, order=order, m=m: ArcCosineFeatures(
                    order, n_components=m, method="plain", sampling="gaussian", random_state=seed
                ),
                X,
                K,
                60,
            )
            deflated = mean_squared_error(
                lambda seed, order=order, m=m: ArcCosineFeatures(
                    order, n_components=m, random_state=seed
                ),
                X,
                K,
                60,
            )
            row = [order, d, m, f"{plain:.2e}", f"{deflated:.2e}", f"{plain / deflated:.0f}"]
            rows.append(row)
    return table(["order", "d", "m", "plain, Gaussian", "deflated", "ratio"], rows)


def fourier():
    """Squared error of Fourier maps over that of independent frequencies."""
    variants = {
        "orthogonal": {"projection": "orthogonal", "stratified": False},
        "independent, stratified": {"projection": "gaussian", "stratified": True},
        "orthogonal, stratified (default)": {},
        "ssf": {"projection": "ssf"},
        "fastfood": {"projection": "fastfood"},
    }
    rows = []
    for kernel in (Gaussian("median"), Laplace("median")):
        for d in (3, 5, 8, 64):
            X = np.random.default_rng(0).standard_normal((100, d))
            known = kernel.fitted_to(X)
            K = known(X)

            def error(known=known, X=X, K=K, d=d, **parameters):
                return mean_squared_error(
                    lambda seed: RandomFourier(
                        known, n_components=max(128, 4 * d), random_state=seed, **parameters
                    ),
                    X,
                    K,
                    100,
                )

            base = error(projection="gaussian", stratified=False)
            ratios = [f"{error(**parameters) / base:.2f}" for parameters in variants.values()]
            rows.append([type(kernel).__name__, d, *ratios])
    return table(["kernel", "d", *variants], rows)


def rounding():
    """Largest differences between ways to compute the same features."""
    X = np.random.default_rng(0).standard_normal((3000, 20))
    features = RandomFourier(n_components=256, random_state=0).fit(X)
    with mercer.config(n_jobs=1, block_rows=3000):
        whole = features.transform(X)
    with mercer.config(n_jobs=2, block_rows=7):
        blocks = features.transform(X)
    with mercer.config(n_jobs=1, block_rows=3000):
        single = features.transform(X.astype(np.float32))
    rows = [
        ["blocks of 7 rows on two threads", f"{abs(blocks - whole).max():.0e}"],
        ["float32 rows", f"{abs(single - whole).max():.0e}"],
    ]
    return table(["against one block of float64 rows", "largest difference"], rows)


def timing():
    """Seconds (best of seven) and peak memory beside the output."""
    rows = []
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_000, 64)).astype(np.float32)
    few = X[:5000]
    v = rng.standard_normal(5000)
    sampler = RBFSampler(n_components=1024, random_state=0)
    fourier = RandomFourier(n_components=1024, random_state=0)
    wide = X[:25_000].astype(np.float64)
    jobs = {
        "`RBFSampler`, 50 000 × 64 → 1024": (clone(sampler).fit(X).transform, X),
        "`RandomFourier`, 50 000 × 64 → 1024": (fourier.fit(X).transform, X),
        "`RBFSampler`, 25 000 × 64 → 1024, float64": (clone(sampler).fit(wide).transform, wide),
        "`RandomFourier`, 25 000 × 64 → 1024, float64": (fourier.transform, wide),
        "`RandomFourier(projection='hd3')`, 50 000 × 64 → 1024": (
            clone(fourier).set_params(projection="hd3").fit(X).transform,
            X,
        ),
        "`ArcCosineFeatures`, 50 000 × 64 → 1024": (
            ArcCosineFeatures(n_components=1024).fit(X).transform,
            X,
        ),
        "`Gaussian(1.0)(X)`, 5000 × 64": (Gaussian(1.0), few),
        "`NTK(depth=3)(X)`, 5000 × 64": (NTK(depth=3), few),
        "`NTK(depth=3).matvec(X, v)`, 5000 × 64": (lambda X: NTK(depth=3).matvec(X, v), few),
    }
    for name, (job, rows_in) in jobs.items():

        def work(job=job, rows_in=rows_in):
            return job(rows_in)

        output = work()
        seconds = []
        for _ in range(7):
            start = time.perf_counter()
            output = work()
            seconds.append(time.perf_counter() - start)
        size = output.nbytes
        del output
        tracemalloc.start()
        output = work()
        peak = tracemalloc.get_traced_memory()[1] - size
        tracemalloc.stop()
        del output
        rows.append(
            [
                name,
                f"{min(seconds):.2f} s",
                f"{size / 1e6:.1f} MB",
                f"{max(0.0, peak / 1e6):.1f} MB",
            ]
        )
    return table(["float32 rows, except where stated", "time", "output", "memory beside it"], rows)


SECTIONS = {
    "gibbs": (
        "One Gibbs sweep against the exact draw",
        "Plain ReLU features, 512 of them, 400 seeds, 8 unit rows; the entry of the kernel "
        "matrix that is furthest off in standard errors. Below 4 is what chance gives.",
        gibbs,
    ),
    "chi": (
        "Lengths of orthogonal frequencies",
        "`Gaussian()` on 8 unit rows, 4 d features, 400 seeds; mercer's own frequencies, and the "
        "same with every length set to √d.",
        chi_radii,
    ),
    "hd3": (
        "Hadamard directions in few columns",
        "Step features from one block H D H D H D, 20 000 draws: bias of the worst entry for 8 "
        "dense unit rows that fill the padded columns, and for 4 rows with a single one. (mercer "
        "refuses this projection below 64 padded columns.)",
        hadamard_bias,
    ),
    "deflation": (
        "Where deflation starts to pay",
        "Mean squared error of the antithetic map over that of the deflated map, both with m "
        "features and orthogonal directions; 60 unit rows, 60 seeds. Above 1 deflation wins.",
        deflation,
    ),
    "published": (
        "Deflated against plain features",
        "Mean squared error on 60 unit rows, 60 seeds.",
        published,
    ),
    "fourier": (
        "Random Fourier features",
        "Mean squared error over that of independent frequencies with independent lengths; 100 "
        "normal rows, max(128, 4 d) features, 100 seeds, lengthscale by the median rule.",
        fourier,
    ),
    "rounding": (
        "Rounding",
        "256 Fourier features of 3000 normal rows with 20 columns, `Gaussian()`.",
        rounding,
    ),
}


def main():
    path = Path(
        sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "theory/measurements.md"
    )
    parts = [
        "# Measurements",
        "The numbers that other pages quote. This page is written by `docs/measure.py`: run it to "
        "check them. Seeds are fixed; z-scores and ratios still move a little with the versions "
        "of NumPy and BLAS.",
    ]
    for anchor, (title, story, measure) in SECTIONS.items():
        parts += [f"## {title} {{ #{anchor} }}", story, measure()]
    with mercer.config(n_jobs=2, progress=False):
        parts += [
            "## Time and memory { #time }",
            "Two threads of a shared machine, best of seven, after a warm-up that compiles. Take "
            "them as a scale; memory is what Python allocates beside input and output at its peak, "
            "under the default budget of 1 GB.",
            timing(),
        ]
    path.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
