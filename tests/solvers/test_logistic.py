"""Newton steps of the logistic loss, against a plain dense Newton method on all unknowns."""

import numpy as np
import pytest
from scipy.special import expit

from mercer.features.nystrom.pivoted_cholesky import LowRank, pivoted_cholesky
from mercer.kernels import Laplace
from mercer.solvers.conjugate_gradients import Iteration
from mercer.solvers.logistic import (
    Decisions,
    DenseRidge,
    LogisticLoss,
    NewtonOptions,
    best_logistic,
    newton_steps,
)
from mercer.solvers.row_regression import RowRegression, leading

N = 120
ZERO = Decisions(np.zeros(N), 0.0, np.zeros(N))


class Dense:
    """A matrix with a product; raises an interruption at one of them."""

    def __init__(self, K, interrupted_at=None):
        self.K, self.left = K, interrupted_at

    def product(self, V):
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self.K @ V


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (N, 2))
    likely = expit(2 * np.sin(2 * X[:, 0]) + X[:, 1])
    signs = np.where(rng.uniform(size=N) < likely, 1.0, -1.0)
    return Laplace(1.0)(X), signs, rng.uniform(0.2, 3.0, N)


def minimiser(K, signs, weights, alpha, intercept=True):
    """Newton's method for coefficients and constant together, on the loss as it is defined."""
    n = len(K)
    A = np.column_stack([K, np.ones(n)])
    penalty = np.zeros((n + 1, n + 1))
    penalty[:n, :n] = alpha * K
    used = slice(None) if intercept else slice(n)
    theta = np.zeros(n + 1)
    for _ in range(60):
        p = expit(A @ theta)
        slope = A.T @ (weights * (p - (1 + signs) / 2)) + penalty @ theta
        H = A.T @ ((weights * p * (1 - p))[:, None] * A) + penalty
        theta[used] -= np.linalg.solve(H[used, used], slope[used])
    return A @ theta


def rows_of(K, intercept=True, n_held=0, most=500, interrupted_at=None):
    rank = pivoted_cholesky(lambda at: K[:, at], np.diag(K), 20, np.random.default_rng(0))
    step = Iteration(1e-3, most)
    return RowRegression(Dense(K, interrupted_at), rank, K, n_held, intercept, step)


@pytest.mark.parametrize("alpha", [1e-2, 0.3, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("make", [DenseRidge, rows_of])
def test_converged_steps_are_the_minimiser(alpha, weighted, intercept, make):
    K, signs, weights = data()
    weights = weights if weighted else np.ones(N)
    loss = LogisticLoss(signs, weights)
    *_, last = newton_steps(make(K, intercept), loss, alpha, ZERO)
    expected = minimiser(K, signs, weights, alpha, intercept)
    assert last.values == pytest.approx(expected, abs=1e-7)
    assert last.values == pytest.approx(K @ last.coef + last.constant, abs=1e-10)
    assert (last.constant != 0) == intercept


def test_every_step_lowers_the_penalised_loss_from_anywhere():
    K, signs, weights = data()
    loss = LogisticLoss(signs, weights)
    rng = np.random.default_rng(1)
    for scale in (0.0, 1.0, 30.0):
        coef = scale * rng.standard_normal(N)
        start = Decisions(coef, scale, K @ coef + scale)
        for system in (DenseRidge(K), rows_of(K, most=3)):
            steps = [start, *newton_steps(system, loss, 0.1, start, most=8)]
            values = [loss.penalised(now, 0.1) for now in steps]
            assert len(values) > 2
            assert np.all(np.diff(values) <= 1e-9 * values[0])


def test_penalty_is_the_squared_norm():
    K, signs, weights = data()
    coef = np.random.default_rng(2).standard_normal(N)
    now = Decisions(coef, 0.7, K @ coef + 0.7)
    found = LogisticLoss(signs, weights).penalised(now, 0.3)
    plain = sum(
        w * np.log(1 + np.exp(-y * f)) for w, y, f in zip(weights, signs, now.values, strict=True)
    )
    assert found == pytest.approx(plain + 0.15 * coef @ K @ coef)


def test_held_out_rows_are_not_learnt_from():
    K, signs, weights = data()
    part = np.where(np.arange(N) < 30, 0.0, weights)
    *_, last = newton_steps(rows_of(K, n_held=30), LogisticLoss(signs, part), 0.1, ZERO)
    assert not last.coef[:30].any()
    rest = minimiser(K[30:, 30:], signs[30:], weights[30:], 0.1)
    assert last.values[30:] == pytest.approx(rest, abs=1e-7)
    assert last.values[:30] == pytest.approx(K[:30] @ last.coef + last.constant, abs=1e-10)


def test_leave_one_out_is_near_that_of_refits():
    K, signs, weights = data()
    loss, system = LogisticLoss(signs, weights), DenseRidge(K)
    for alpha, allowed in ((0.1, 0.03), (1.0, 0.01)):
        *_, last = newton_steps(system, loss, alpha, ZERO)
        found = system.held_out(last, *loss.regression(last.values), alpha)
        refits = np.empty(N)
        for i in range(N):
            part = np.where(np.arange(N) == i, 0.0, weights)
            rest = part > 0
            fit = newton_steps(
                DenseRidge(K[np.ix_(rest, rest)]),
                LogisticLoss(signs[rest], part[rest]),
                alpha,
                Decisions(np.zeros(N - 1), 0.0, np.zeros(N - 1)),
            )
            *_, one = fit
            refits[i] = K[i, rest] @ one.coef + one.constant
        losses = [np.average(np.logaddexp(0, -signs * v), weights=weights) for v in (found, refits)]
        assert losses[0] == pytest.approx(losses[1], rel=allowed)


def chosen(system, loss, alphas, options=None):
    truth = loss.signs[:30]
    return best_logistic(
        system,
        loss,
        alphas,
        ZERO,
        np.zeros(30),
        lambda held: float(np.logaddexp(0, -truth * held).mean()),
        options,
    )


def test_the_best_of_ridge_parameters_and_steps_is_found():
    K, signs, weights = data()
    loss = LogisticLoss(signs, np.where(np.arange(N) < 30, 0.0, weights))
    alphas = [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]
    found = chosen(rows_of(K, n_held=30), loss, alphas, NewtonOptions(tolerance=1e-6))
    errors = {}
    for alpha in alphas:
        *_, last = newton_steps(rows_of(K, n_held=30), loss, alpha, ZERO)
        errors[alpha] = float(np.logaddexp(0, -signs[:30] * last.values[:30]).mean())
    best = min(errors, key=errors.get)
    assert found.alpha == best
    assert found.loss == pytest.approx(errors[best], rel=1e-4)
    # Those below the first that is worse are not tried.
    assert min(found.alphas) > 0.05 * best
    every = chosen(rows_of(K, n_held=30), loss, alphas, NewtonOptions(4, 1e-6, True))
    assert every.loss <= min(every.losses)


@pytest.mark.parametrize("product", [1, 2, 6])
def test_an_interruption_keeps_the_best_so_far(product):
    K, signs, weights = data()
    loss = LogisticLoss(signs, np.where(np.arange(N) < 30, 0.0, weights))
    found = chosen(rows_of(K, n_held=30, interrupted_at=product), loss, [0.1, 1.0])
    assert found.stopped == "interrupted"
    assert np.isfinite(found.loss)
    assert loss.penalised(found.decisions, 1.0) <= loss.penalised(ZERO, 1.0)


def test_without_time_little_is_tried():
    K, signs, weights = data()
    loss = LogisticLoss(signs, np.where(np.arange(N) < 30, 0.0, weights))
    found = chosen(rows_of(K, n_held=30), loss, [0.1, 1.0], NewtonOptions(deadline=-np.inf))
    assert (found.stopped, found.n_steps, found.alphas) == ("time", 1, [1.0])


def test_leading_columns_miss_more_of_the_diagonal():
    K, _, _ = data()
    rank = pivoted_cholesky(lambda at: K[:, at], np.diag(K), 20, np.random.default_rng(0))
    some = leading(rank, 7)
    assert some.factor.shape == (N, 7)
    assert isinstance(some, LowRank)
    missing = np.diag(K - some.factor @ some.factor.T)
    assert some.missing == pytest.approx(missing, abs=1e-10)
