"""Tests of the ridge solvers against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from mercer.solvers import (
    FewRows,
    OrthogonalSystem,
    Problem,
    RidgeStatistics,
    reduced_rows,
    solve,
    solve_ridge,
)
from mercer.solvers.path import Path

ALPHAS = np.logspace(-4, 3, 8)


def data(n=50, m=6, t=2, seed=0):
    generator = np.random.default_rng(seed)
    Z = generator.standard_normal((n, m)) + 2
    Y = Z @ generator.standard_normal((m, t)) + generator.standard_normal((n, t)) + 5
    return Z, Y


def gathered(Z, Y, n_folds=0, weights=None):
    statistics = RidgeStatistics(Z.shape[1], Y.shape[1], n_folds)
    statistics.add(Z, Y, weights)
    return statistics


@given(st.integers(1, 30), st.floats(1e-6, 1e6), st.integers(0, 100))
def test_the_path_solves_its_system(m, alpha, seed):
    generator = np.random.default_rng(seed)
    Z = generator.standard_normal((m + 3, m))
    S, B = Z.T @ Z, generator.standard_normal((m, 2))
    expected = np.linalg.solve(S + alpha * np.eye(m), B)
    path = Path(S.copy(), B)
    assert path.solve(alpha) == pytest.approx(expected, rel=1e-7, abs=1e-9 * abs(expected).max())
    fitted, norm = path.products(alpha)
    assert fitted == pytest.approx((expected * B).sum(axis=0), rel=1e-7)
    assert norm == pytest.approx((expected**2).sum(axis=0), rel=1e-7)
    assert path.eigenvalues == pytest.approx(np.linalg.eigvalsh(S), abs=1e-10 * np.trace(S))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_given_alpha_equals_scikit_learn(intercept, weighted):
    Z, Y = data()
    weights = np.random.default_rng(1).uniform(0.1, 3, len(Z)) if weighted else None
    expected = Ridge(alpha=2.0, fit_intercept=intercept).fit(Z, Y, sample_weight=weights)
    solution = solve_ridge(gathered(Z, Y, weights=weights), Problem(2.0, intercept))
    assert solution.coef == pytest.approx(expected.coef_.T, rel=1e-10)
    assert solution.intercept == pytest.approx(expected.intercept_, rel=1e-10, abs=1e-12)
    assert (solution.criterion, solution.method) == ("given", "primal")


@pytest.mark.parametrize("intercept", [True, False])
def test_generalised_cross_validation_equals_its_definition(intercept):
    Z, Y = data()
    solution = solve_ridge(gathered(Z, Y), Problem(ALPHAS, intercept))
    n = len(Z)
    centre = np.eye(n) - 1 / n if intercept else np.eye(n)
    A = centre @ Z
    for alpha, scores in zip(ALPHAS, solution.scores, strict=True):
        hat = A @ np.linalg.solve(A.T @ A + alpha * np.eye(A.shape[1]), A.T)
        residual = (np.eye(n) - hat) @ centre @ Y
        freedom = np.trace(hat) + intercept
        expected = n * (residual**2).sum(axis=0) / (n - freedom) ** 2
        assert scores == pytest.approx(expected, rel=1e-9)
    best = solution.alpha[0]
    hat = A @ np.linalg.solve(A.T @ A + best * np.eye(A.shape[1]), A.T)
    assert solution.degrees_of_freedom == pytest.approx(np.trace(hat))
    spectrum = np.linalg.eigvalsh(A.T @ A)
    assert solution.condition == pytest.approx((spectrum[-1] + best) / (spectrum[0] + best))
    residual = ((np.eye(n) - hat) @ centre @ Y) ** 2
    assert solution.residual == pytest.approx(residual.mean(axis=0))
    assert solution.noise == pytest.approx(residual.sum(axis=0) / (n - np.trace(hat) - intercept))


@pytest.mark.parametrize("intercept", [True, False])
def test_cross_validation_equals_refits(intercept):
    Z, Y = data(80)
    statistics = gathered(Z, Y, n_folds=4)
    solution = solve_ridge(statistics, Problem(ALPHAS, intercept))
    fold_of = RidgeStatistics(6, 2, 4)._generator.integers(4, size=80)
    for alpha, scores in zip(ALPHAS, solution.scores, strict=True):
        squares = np.zeros(2)
        for fold in range(4):
            training, held = fold_of != fold, fold_of == fold
            model = Ridge(alpha=alpha, fit_intercept=intercept).fit(Z[training], Y[training])
            squares += ((model.predict(Z[held]) - Y[held]) ** 2).sum(axis=0)
        assert scores == pytest.approx(squares / 80, rel=1e-9)
    assert solution.criterion == "cv"
    assert set(solution.alpha) <= set(ALPHAS)


def test_every_target_may_have_its_own_alpha():
    generator = np.random.default_rng(0)
    Z = generator.standard_normal((60, 20))
    Y = np.stack([Z @ np.ones(20), generator.standard_normal(60)], axis=1)
    shared = solve_ridge(gathered(Z, Y), Problem())
    own = solve_ridge(gathered(Z, Y), Problem(per_target=True))
    assert shared.alpha[0] == shared.alpha[1]
    assert own.alpha[0] < own.alpha[1]
    for t in range(2):
        alone = solve_ridge(gathered(Z, Y[:, t : t + 1]), Problem())
        assert own.alpha[t] == pytest.approx(alone.alpha[0])
        assert own.coef[:, t] == pytest.approx(alone.coef[:, 0])


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_dual_primal_and_qr_agree(shape):
    Z, Y = data(*shape)
    statistics = gathered(Z, Y)
    totals = statistics.total()
    problem = Problem(ALPHAS)
    expected = solve_ridge(statistics, problem)
    centred_z, centred_y = Z - Z.mean(axis=0), Y - Y.mean(axis=0)
    solutions = {
        "dual": solve_ridge(FewRows(Z, Y), problem),
        "qr": solve(OrthogonalSystem(reduced_rows(centred_z, centred_y)), totals, problem),
    }
    for method, solution in solutions.items():
        assert solution.method == method
        assert solution.coef == pytest.approx(expected.coef, rel=1e-7, abs=1e-9)
        assert solution.intercept == pytest.approx(expected.intercept, rel=1e-7)
        # With fewer rows than features a small λ interpolates, and the residual sum of squares
        # of the primal cancels; that is why the dual is used there.
        tolerance = 1e-7 if shape[0] > shape[1] else 1e-4
        assert solution.scores == pytest.approx(expected.scores, rel=tolerance)
        assert solution.residual == pytest.approx(expected.residual, rel=1e-7)


def test_qr_keeps_coefficients_that_the_normal_equations_lose():
    generator = np.random.default_rng(0)
    U = np.linalg.qr(generator.standard_normal((200, 8)))[0]
    V = np.linalg.qr(generator.standard_normal((8, 8)))[0]
    Z = U * np.logspace(0, -7, 8) @ V.T
    coef = generator.standard_normal((8, 1))
    Y = Z @ coef
    alpha = 1e-15
    exact = V @ np.diag(np.logspace(0, -14, 8) / (np.logspace(0, -14, 8) + alpha)) @ V.T @ coef
    problem = Problem(alpha, intercept=False)
    statistics = gathered(Z, Y)
    solution = solve(OrthogonalSystem(reduced_rows(Z, Y)), statistics.total(), problem)
    assert np.linalg.norm(solution.coef - exact) <= 1e-6 * np.linalg.norm(exact)
    assert solution.trusted
    primal = solve_ridge(statistics, problem)
    assert not primal.trusted
    assert np.linalg.norm(primal.coef - exact) > 1e-3 * np.linalg.norm(exact)
