"""Measure every number that the guide and the theory pages quote.

Writes ``docs/theory/measurements.md``. Takes a few minutes; the tables of errors are the
same on every machine (to rounding), the table of times is not.

Usage: ``python docs/measure.py [anchor ...]``.
"""

import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from scipy.linalg import hadamard
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler

import mercer
from mercer import (
    NTK,
    ArcCosine,
    ArcCosineFeatures,
    Exponential,
    Gaussian,
    GegenbauerFeatures,
    IRKMClassifier,
    IRKMRegressor,
    Laplace,
    Matern,
    RandomFourier,
    RFMRegressor,
)
from mercer.datasets import TARGETS, HierarchicalTask, make_epistasis
from mercer.kernels.derivatives import derivative_norm, mean_squared_gradients
from mercer.kernels.taylor import cosine_taylor
from mercer.kernels.zonal_coefficients import by_angles, by_powers


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
    # An entry that is constant and wrong (the smallest Hadamard blocks have some) must not
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
    """Orthogonal Fourier features with all norms √d: bias for the Gaussian kernel."""
    rows = []
    for d in (3, 8, 64):
        X = unit_rows(8, d)
        kernel = Gaussian()
        grams = {"chi": [], "fixed": []}
        for seed in range(400):
            features = RandomFourier(kernel, n_components=4 * d, random_state=seed).fit(X)
            W = features.frequencies_
            for name, radii in (("chi", W), ("fixed", W / np.linalg.norm(W, axis=0) * d**0.5)):
                Z = np.hstack([np.cos(X @ radii), np.sin(X @ radii)]) / np.sqrt(W.shape[1])
                grams[name].append(Z @ Z.T)
        for name, label in (("chi", "chi (mercer)"), ("fixed", "all √d")):
            rows.append([d, label, *bias(grams[name], kernel(X))])
    return table(["d", "norms", "bias of the worst entry", "in standard errors"], rows)


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


#: Gegenbauer features as published, and mercer's changes, one after the other.
PUBLISHED = {"signs": "plus", "exact": 0, "fold": False, "directions": "iid"}
ADDED = {
    "as published": PUBLISHED,
    "alternating signs": PUBLISHED | {"signs": "alternating"},
    "exact low degrees": PUBLISHED | {"signs": "alternating", "exact": "auto"},
    "folding": PUBLISHED | {"signs": "alternating", "exact": "auto", "fold": True},
    "orthogonal (default)": {},
}


def relative_error(make, X, K, seeds=6):
    """Return the relative error of the kernel matrix, the mean over seeds, as text."""
    errors = []
    for seed in range(seeds):
        Z = make(seed).fit_transform(X)
        errors.append(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
    mean = float(np.mean(errors))
    return f"{mean:.1e}" if mean < 1e-3 else f"{mean:.4f}" if mean < 0.01 else f"{mean:.3f}"


def zonal_maps(kernel, X, size, maps):
    """Return the errors of Gegenbauer features with options, and then of Fourier features."""
    K = kernel(X)
    cells = []
    with warnings.catch_warnings():
        # Some have too few degrees and warn; the table shows their errors.
        warnings.simplefilter("ignore")
        for options in maps:
            options = {"n_components": size} | options

            def zonal(seed, options=options):
                return GegenbauerFeatures(kernel, random_state=seed, **options)

            cells.append(relative_error(zonal, X, K))

    def fourier(seed):
        return RandomFourier(kernel, n_components=size, random_state=seed)

    known = hasattr(kernel, "lengthscale")
    return [*cells, relative_error(fourier, X, K) if known else "-"]


def zonal_added():
    """What each idea adds, kernel by kernel."""
    rows = []
    rng = np.random.default_rng(0)
    for kernel, d, size in (
        (Gaussian(), 9, 512),
        (Gaussian(), 30, 512),
        (NTK(depth=1), 20, 1024),
        (NTK(depth=3), 20, 1024),
        (NTK(depth=3), 256, 2048),
    ):
        X = rng.standard_normal((200, d)) / d**0.5
        cells = zonal_maps(kernel, X, size, ADDED.values())[:-1]
        if not isinstance(kernel, Gaussian):
            cells[3] = "-"
        rows.append([f"`{kernel!r}`", d, size, *cells])
    return table(["kernel", "d", "m", *ADDED], rows)


def zonal_radius():
    """Gaussian kernels of rows of increasing radius."""
    rows = []
    rng = np.random.default_rng(0)
    for d in (3, 9, 30):
        for radius in (0.5, 1.0, 1.5, 2.0, 3.0):
            X = rng.standard_normal((200, d)) * radius / d**0.5
            rows.append([d, radius, *zonal_maps(Gaussian(), X, 512, [PUBLISHED, {}])])
    head = ["d", "radius in lengthscales", "as published", "`GegenbauerFeatures`"]
    return table([*head, "`RandomFourier`"], rows)


def zonal_sphere():
    """Points of the sphere in three dimensions: harmonics and random directions."""
    rows = []
    X = unit_rows(300, 3)
    for kernel in (Gaussian(0.5), Gaussian(0.1), Matern(lengthscale=0.3), NTK(depth=2)):
        fine = {"tolerance": 1e-12}
        cells = zonal_maps(kernel, X, 1024, [PUBLISHED, {"exact": 0}, fine])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            used = GegenbauerFeatures(kernel, n_components=1024, **fine).fit_transform(X).shape[1]
        rows.append([f"`{kernel!r}`", *cells[:3], used, cells[3]])
    head = ["kernel", "as published", "random directions", "harmonics", "columns"]
    return table([*head, "`RandomFourier`"], rows)


def zonal_series():
    """Coefficients of exp(2 cos) by integrals over the angle, against positive sums."""
    rows = []
    kernel = Exponential(lengthscale=0.5**0.5)
    for d in (3, 16, 32, 64, 128, 1024):
        exact = by_powers(cosine_taylor(kernel, 1.0, 200), d, 30)
        found = by_angles(kernel, d, 30)
        total = abs(exact.sum() / kernel.diag(np.ones((1, 1)))[0] - 1)
        rows.append([d, f"{abs(found - exact).max():.0e}", f"{total:.0e}"])
    return table(["d", "integrals: largest error", "sums: error of their total, k(x, x)"], rows)


def irkm_steps():
    """A hierarchical polynomial: fresh rows in every iteration, or all of them again."""
    d, rows = 100, []
    task = HierarchicalTask(d, noise=0.1)
    X_new, y_new = HierarchicalTask(d).sample(2000, random_state=10**6)
    fixed = {"alpha": 1e-6, "patience": None, "standardize": False}

    def errors(seeds, data, **parameters):
        found = []
        for seed in range(seeds):
            model = IRKMRegressor(Laplace(d**0.5), random_state=seed, **parameters | fixed)
            found.append(np.mean((model.fit(*data(seed)).predict(X_new) - y_new) ** 2))
        return f"{np.mean(found):.3f}", f"{np.median(found):.3f}"

    for size in (40, 63, 100):
        cells = []
        for mixing in (0.0, 0.5, 1.0):
            fresh = {"fresh": True, "batch_size": size, "mixing": mixing}
            cells.append(" / ".join(errors(20, lambda seed: (task,), **fresh)))

        def every(seed, size=size):
            return task.sample(11 * size, random_state=seed)

        cells += [errors(6, every, n_iterations=n)[0] for n in (0, 10)]
        rows.append([size, 11 * size, *cells])
    head = ["rows per step", "in total", "fresh, mixing 0", "fresh, 1/2", "fresh, 1"]
    return table([*head, "all rows, no weights", "all rows every time"], rows)


def epistasis(sizes=(500, 1000)):
    """How often the two loci of a disease have the two largest weights."""
    rows = []
    variants = [{"mixing": mixing, "alpha": 1.0} for mixing in (0.0, 0.5, 0.9, 1.0)]
    for size in sizes:
        counts = []
        for parameters in [*variants, {"mixing": 0.9}]:
            found = 0
            for seed in range(10):
                X, y, loci = make_epistasis(random_state=seed, return_loci=True)
                model = IRKMClassifier(random_state=0, **parameters).fit(X[:size], y[:size])
                found += set(np.argsort(model.column_weights_)[-2:]) == set(loci)
            counts.append(f"{found} of 10")
        rows.append([size, *counts])
    head = ["rows", "mixing 0", "1/2", "0.9", "1"]
    return table([*head, "0.9, `alpha=None`"], rows)


#: Targets of 20 normal columns: few columns, one direction, and all columns.
LEARNT = {
    "x₁ x₂": lambda X: X[:, 0] * X[:, 1],
    "x₁ + x₁ x₂ x₃": lambda X: X[:, 0] + X[:, 0] * X[:, 1] * X[:, 2],
    "sin 2u, u one direction of all": lambda X: np.sin(2 * X.mean(axis=1) * X.shape[1] ** 0.5),
    "norm of x": lambda X: np.linalg.norm(X, axis=1),
    "sum of all sin 2x": lambda X: np.sin(2 * X).sum(axis=1),
    "noise": lambda X: np.zeros(len(X)),
}


def learnt():
    """What weights gain, target by target, and whether `left_out_error_` shows it."""
    rows = []
    machines = {
        "no weights": IRKMRegressor(n_iterations=0),
        "`IRKMRegressor`": IRKMRegressor(),
        "`RFMRegressor`": RFMRegressor(random_state=0),
        "with `validation_fraction=None`": RFMRegressor(validation_fraction=None),
    }
    for name, target in LEARNT.items():
        cells = []
        for machine in machines.values():
            measured, expected = [], []
            for seed in range(5):
                rng = np.random.default_rng(seed)
                X = rng.standard_normal((1400, 20))
                y = target(X)
                y = y / max(y.std(), 0.1) + (0.1 if y.any() else 1.0) * rng.standard_normal(1400)
                model = clone(machine).fit(X[:400], y[:400])
                measured.append(1 - model.score(X[400:], y[400:]))
                expected.append(model.left_out_error_)
            cells.append(f"{np.mean(measured):.3f} ({np.mean(expected):.3f})")
        rows.append([name, *cells])
    return table(["target", *machines], rows)


def laplace_fit(X, y, lengthscale):
    """Return the kernel matrix and the coefficients of a ridge regression."""
    K = Laplace(lengthscale)(X)
    return K, np.linalg.solve(K + 1e-6 * np.eye(len(K)), y)


def released_derivative(X, K, beta, lengthscale):
    """Return w ∘ D as the authors' code has it: the other sign, pairs of equal signs only."""
    squares = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    W = np.maximum(np.outer(beta, beta) * K / (lengthscale * np.sqrt(squares)), 0.0)
    return np.einsum("ij,i,ij->j", X, W.sum(axis=1), X) - np.einsum("ij,ij->j", X, W @ X)


def derivative_sign():
    """The true columns by D, and by the derivative of the released code."""
    d, rows = 200, []
    task = HierarchicalTask(d, polynomial=TARGETS["figure1"])
    for size in (24, 69, 200, 600):
        scores = []
        for seed in range(10):
            X, y = task.sample(size, random_state=seed)
            K, beta = laplace_fit(X, y, d**0.5)
            D = derivative_norm(Laplace(d**0.5), X, None, beta, beta)
            for values in (D, released_derivative(X, K, beta, d**0.5)):
                others = values[3:]
                scores.append((values[:3].mean() - others.mean()) / others.std())
        ours, theirs = np.mean(scores[::2]), np.mean(scores[1::2])
        rows.append([size, f"{ours:+.1f}", f"{theirs:+.1f}"])
    return table(["rows", "D", "released code"], rows)


def derivative_loop():
    """The loop by hand, with the derivative and with that of the released code."""
    d, rows = 100, []
    task = HierarchicalTask(d, noise=0.1)
    X_new, y_new = HierarchicalTask(d).sample(2000, random_state=10**6)
    for size in (63, 100):
        cells = []
        for released in (False, True):
            errors = []
            for seed in range(20):
                w = np.ones(d)
                for step in range(11):
                    X, y = task.sample(size, random_state=1000 * seed + step)
                    X = X * np.sqrt(w)
                    K, beta = laplace_fit(X, y, d**0.5)
                    E = w * mean_squared_gradients(Laplace(d**0.5), X, X, beta)
                    if released:
                        D = released_derivative(X, K, beta, d**0.5)
                    else:
                        D = np.maximum(derivative_norm(Laplace(d**0.5), X, X, beta, beta), 0)
                    used, first, second = w, E + 0.01 / d, D / size + 0.01 / d
                    w = d / 2 * (first / first.sum() + second / second.sum())
                predicted = Laplace(d**0.5)(X_new * np.sqrt(used), X) @ beta
                errors.append(np.mean((predicted - y_new) ** 2))
            cells.append(f"{np.mean(errors):.3f} / {np.median(errors):.3f}")
        rows.append([size, *cells])
    return table(["rows per step", "D, clipped at 0", "released code"], rows)


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
    """Seconds (best of seven) and peak memory besides the output."""
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
    return table(["float32 rows, except where stated", "time", "output", "other memory"], rows)


SECTIONS = {
    "gibbs": (
        "One Gibbs sweep against the exact draw",
        "Plain ReLU features, 512 of them, 400 seeds, 8 unit rows; the entry of the kernel "
        "matrix with the largest bias in standard errors. Below 4 is compatible with chance.",
        gibbs,
    ),
    "chi": (
        "Norms of orthogonal frequencies",
        "`Gaussian()` on 8 unit rows, 4 d features, 400 seeds; mercer's own frequencies, and the "
        "same with every norm set to √d.",
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
        "Mean squared error over that of independent frequencies with independent norms; 100 "
        "normal rows, max(128, 4 d) features, 100 seeds, lengthscale by the median rule.",
        fourier,
    ),
    "zonal-added": (
        "Zonal features: what each idea adds",
        "Relative error of the kernel matrix of 200 normal rows of mean squared norm 1, mean of 6 "
        "seeds. Each column adds to those before it; the NTK has degrees up to 8 in all lines. "
        "Zonal kernels have nothing to fold.",
        zonal_added,
    ),
    "zonal-radius": (
        "Zonal features by the radius of the rows",
        "`Gaussian()`, 200 normal rows whose root mean squared norm is the radius, 512 features, "
        "mean of 6 seeds.",
        zonal_radius,
    ),
    "zonal-sphere": (
        "Zonal features on the sphere",
        "300 random points of the sphere in three dimensions, up to 1,024 features, mean of 6 "
        "seeds, `tolerance=1e-12` for the harmonics.",
        zonal_sphere,
    ),
    "zonal-series": (
        "Coefficients in many dimensions",
        "exp(2 cos), degrees up to 30: the largest difference between coefficients by integrals "
        "over the angle (22 panels of 64 nodes) and by sums of positive terms; and "
        "whether the latter sum to k(x, x).",
        zonal_series,
    ),
    "irkm-steps": (
        "Column weights: fresh rows and the same rows",
        "x₁ + x₂ + x₁x₂x₃ + x₁x₂x₃x₄ of 100 signs, noise 0.1; mean squared error on 2,000 new rows "
        "without noise (their variance is 4) after up to 10 iterations, `Laplace(10.0)`, "
        "`alpha=1e-6`. Fresh rows: mean / median of 20 seeds; all rows: mean of 6.",
        irkm_steps,
    ),
    "irkm-epistasis": (
        "Column weights: two loci among a hundred",
        "`make_epistasis`, heritability 0.2, 10 data sets, `IRKMClassifier` with `alpha=1.0` "
        "except in the last column: the number of data sets in which the two loci of the disease "
        "have the two largest weights.",
        epistasis,
    ),
    "irkm-targets": (
        "What feature learning gains",
        "400 rows of 20 normal columns, targets of variance 1 with noise 0.1 (the last: noise "
        "only), defaults; 1 - R² on 1,000 new rows, and in brackets the machine's own "
        "`left_out_error_`, both means of 5 seeds.",
        learnt,
    ),
    "irkm-sign": (
        "The sign of the derivative norm",
        "x₁ + x₂ + x₃ + x₁x₂x₃ of 200 signs, `Laplace(√200)`, all weights 1: the difference "
        "between the three true columns and the mean of the others, in standard deviations of the "
        "others; mean of 10 seeds.",
        derivative_sign,
    ),
    "irkm-sign-loop": (
        "The sign of the derivative norm, in the loop",
        "Target and fresh rows as [above](#irkm-steps), mixing 1/2, the loop written out in NumPy, "
        "safeguard 0.01; the error of the last of 11 fits, mean / median of 20 seeds.",
        derivative_loop,
    ),
    "rounding": (
        "Rounding",
        "256 Fourier features of 3000 normal rows with 20 columns, `Gaussian()`.",
        rounding,
    ),
    "time": (
        "Time and memory",
        "Two threads of a shared machine, best of seven, after a warm-up that compiles. "
        "Orders of magnitude only; memory is the peak that Python allocates besides input and "
        "output, under the default budget of 1 GB.",
        timing,
    ),
}


INTRODUCTION = (
    "# Measurements",
    "The numbers that other pages quote. `docs/measure.py` writes this page: run it to check "
    "them, all or the sections named by their anchors. Seeds are fixed; z-scores and ratios still "
    "vary a little with the versions of NumPy and BLAS.",
)


def section(anchor):
    """Return a section of the page, measured."""
    title, story, measure = SECTIONS[anchor]
    return "\n\n".join([f"({anchor})=\n## {title}", story, measure()])


def known(path):
    """Return the sections that a page has, by their anchors."""
    parts = path.read_text().strip().split("\n\n(")[1:]
    return {part.split(")=")[0]: f"({part}" for part in parts}


def main():
    path = Path(__file__).parent / "theory/measurements.md"
    chosen = sys.argv[1:] or list(SECTIONS)
    found = known(path) if sys.argv[1:] else {}
    with mercer.config(n_jobs=2, progress=False):
        for anchor in chosen:
            found[anchor] = section(anchor)
    path.write_text("\n\n".join([*INTRODUCTION, *found.values()]) + "\n")


if __name__ == "__main__":
    main()
