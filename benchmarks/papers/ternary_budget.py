"""Error of ridge machines against the memory of their features: lengthscales, alpha and seeds.

Every method has the same candidates for the lengthscale of the Gaussian kernel. At every budget
the machine with the best predictions for validation rows wins, alpha by generalised
cross-validation on the training rows; then features are drawn anew, several times, and the test
rows are predicted with that lengthscale and alpha. A method that has more than ``most_chosen``
features keeps the lengthscale that was chosen with at most as many, and smaller alphas are tried on
the validation rows.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from mercer import FeatureRidge, Gaussian, PackedFeatures
from mercer.features.packed import column_sums

from .ternary_methods import METHODS, Method, bits_per_row

#: Seeds of the features on which lengthscales are chosen: none of those that are measured.
CHOICE_SEED = 1000
#: Shares of alpha that are tried with more features than those that it was chosen with.
SHARES = (1.0, 0.3, 0.1, 0.03)


@dataclass(frozen=True)
class Split:
    """Rows and labels, 1 or -1, to train on, to choose on and to test on."""

    X: np.ndarray
    y: np.ndarray
    X_validation: np.ndarray
    y_validation: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@dataclass(frozen=True)
class Plan:
    """Budgets in bits per row, the seeds at each, and what a method may cost."""

    budgets: tuple[int, ...]
    n_seeds: tuple[int, ...]
    lengthscales: tuple[float, ...]
    #: The criterion of the choice: "accuracy" or "mse".
    criterion: str
    fewest: int = 25
    #: Features up to which lengthscales are chosen, and up to which normal equations are solved.
    most_chosen: int = 2048
    most_primal: int = 8192


@dataclass(frozen=True)
class Choice:
    """A lengthscale and an alpha, the latter at the scale of the kernel."""

    lengthscale: float
    alpha: float


def table(split: Split, plan: Plan) -> list[dict[str, Any]]:
    """Return a row of results for every method and every budget that it can afford."""
    rows = []
    for name, method in METHODS.items():
        choice = None
        for budget, n_seeds in zip(plan.budgets, plan.n_seeds, strict=True):
            nominal = budget // method.bits
            if not plan.fewest <= nominal <= method.most:
                continue
            if choice is None or nominal <= plan.most_chosen:
                choice = chosen(method, min(budget, plan.most_chosen * method.bits), split, plan)
            m = components(method, budget, split, choice.lengthscale)
            runs = []
            for seed in range(n_seeds):
                shares = SHARES if seed == 0 and m > plan.most_chosen else SHARES[:1]
                runs.append(measured(method, m, split, choice, seed, plan, shares))
                choice = replace(choice, alpha=runs[-1]["alpha"])
            rows.append({"method": name, "budget": budget, "m": m, **summary(runs, choice)})
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def components(method: Method, budget: int, split: Split, lengthscale: float) -> int:
    """Return how many features a budget pays for; those of the even type, 0 and 1, cost a bit."""
    one = fitted(method, 1, split, lengthscale, CHOICE_SEED).transform(split.X[:1])
    return budget // bits_per_row(one, method)


def chosen(method: Method, budget: int, split: Split, plan: Plan) -> Choice:
    """Return the lengthscale that predicts the validation rows best, and its alpha."""
    found = []
    for lengthscale in plan.lengthscales:
        m = components(method, budget, split, lengthscale)
        features = fitted(method, m, split, lengthscale, CHOICE_SEED)
        model = FeatureRidge().fit(features.transform(split.X), split.y)
        predicted = model.predict(features.transform(split.X_validation))
        errors = scores(predicted, split.y_validation)
        alpha = float(model.alpha_) / (m if method.integers else 1)
        found.append((loss_of(errors, plan), Choice(lengthscale, alpha)))
    return min(found, key=lambda pair: pair[0])[1]


def measured(
    method: Method,
    m: int,
    split: Split,
    choice: Choice,
    seed: int,
    plan: Plan,
    shares: tuple[float, ...],
) -> dict[str, float]:
    """Return errors on the test rows, bits per row, alpha, and seconds of features and solution.

    Smaller shares of alpha are tried as long as validation rows are predicted better.
    """
    start = time.perf_counter()
    features = fitted(method, m, split, choice.lengthscale, seed)
    Z = features.transform(split.X)
    made = time.perf_counter()
    Z_validation = features.transform(split.X_validation)
    scale = m if method.integers else 1
    alphas = [choice.alpha * scale * share for share in shares]
    again = time.perf_counter()
    found: list[tuple[float, float, np.ndarray, float]] = []
    for alpha, (coef, intercept) in (dual if m > plan.most_primal else primal)(Z, split.y, alphas):
        errors = scores(Z_validation @ coef + intercept, split.y_validation)
        found.append((loss_of(errors, plan), alpha, coef, intercept))
        if found[-1][0] > min(one[0] for one in found):
            break
    seconds = (time.perf_counter() - again) / len(found)
    _, alpha, coef, intercept = min(found, key=lambda one: one[0])
    predicted = features.transform(split.X_test) @ coef + intercept
    return {
        **scores(predicted, split.y_test),
        "bits": bits_per_row(Z, method),
        "alpha": alpha / scale,
        "features s": made - start,
        "solution s": seconds,
    }


def fitted(method: Method, m: int, split: Split, lengthscale: float, seed: int) -> Any:
    """Return a fitted feature map."""
    with warnings.catch_warnings():
        # Rows of unit length before they are centred differ in norm a little more after it.
        warnings.simplefilter("ignore", UserWarning)
        return method.make(Gaussian(lengthscale), m, seed).fit(split.X)


def primal(
    Z: PackedFeatures | np.ndarray, y: np.ndarray, alphas: list[float]
) -> Iterator[tuple[float, tuple[np.ndarray, float]]]:
    """Yield every alpha with coefficients and intercept, from the normal equations."""
    for alpha in alphas:
        model = FeatureRidge(alpha=alpha).fit(Z, y)
        yield alpha, (model.coef_, float(model.intercept_))


def dual(
    Z: Any, y: np.ndarray, alphas: list[float]
) -> Iterator[tuple[float, tuple[np.ndarray, float]]]:
    """Yield every alpha with coefficients and intercept, from inner products of rows, in float32.

    For many more features than the normal equations can take: a Cholesky decomposition each.
    """
    packed = isinstance(Z, PackedFeatures)
    K = (Z.gram() if packed else Z @ Z.T).astype(np.float32)
    means = K.mean(axis=0, dtype=float)
    K -= (means - means.mean() / 2)[:, None].astype(np.float32)
    K -= (means - means.mean() / 2).astype(np.float32)
    labels, sums = (y - y.mean()).astype(np.float32), column_sums(Z) if packed else Z.sum(axis=0)
    for alpha in alphas:
        A = K.copy()
        A[np.diag_indices_from(A)] += np.float32(alpha)
        factor = linalg.cho_factor(A.T, lower=False, overwrite_a=True, check_finite=False)
        weights = linalg.cho_solve(factor, labels, check_finite=False).astype(float)
        weights -= weights.mean()
        coef = weights @ Z
        yield alpha, (coef, float(y.mean() - sums @ coef / len(Z)))


def loss_of(errors: dict[str, float], plan: Plan) -> float:
    """Return what is to be small."""
    return errors["mse"] if plan.criterion == "mse" else -errors["accuracy"]


def scores(predicted: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return the share of right signs, and the mean squared error."""
    predicted = np.ravel(predicted)
    right = np.where(predicted > 0, 1, -1) == y
    return {"accuracy": float(right.mean()), "mse": float(np.mean((predicted - y) ** 2))}


def summary(runs: list[dict[str, float]], choice: Choice) -> dict[str, Any]:
    """Return means and standard deviations over seeds."""

    def values(key: str) -> np.ndarray:
        return np.asarray([run[key] for run in runs])

    def deviation(key: str) -> float | None:
        return float(values(key).std(ddof=1)) if len(runs) > 1 else None

    return {
        "bits per row": int(runs[0]["bits"]),
        "lengthscale": choice.lengthscale,
        "alpha": float(np.median(values("alpha"))),
        "accuracy %": round(100 * float(values("accuracy").mean()), 2),
        "± %": None if len(runs) == 1 else 100 * deviation("accuracy"),
        "mse": round(float(values("mse").mean()), 4),
        "± mse": deviation("mse"),
        "seeds": len(runs),
        "features s": float(np.median(values("features s"))),
        "solution s": float(np.median(values("solution s"))),
    }
