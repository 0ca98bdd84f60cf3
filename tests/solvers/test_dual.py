"""Ridge regression with a kernel matrix: coefficients, constants and leave-one-out."""

import numpy as np
import pytest

from mercer.solvers import GivenSystem, Moments, PrimalSystem, Problem, solve, solve_kernel
from mercer.solvers.dual import kernel_coefficients


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    K = np.exp(-np.linalg.norm(X[:, None] - X, axis=2))
    return K, rng.standard_normal((12, 2)) + 3.0, rng.uniform(0.5, 2.0, 12)


def by_hand(K, Y, alpha, weights):
    """Solve for coefficients and constants at once."""
    n = len(K)
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = K + np.diag(alpha / weights)
    A[:n, n] = A[n, :n] = 1.0
    found = np.linalg.solve(A, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return found[:n], found[n]


@pytest.mark.parametrize("weighted", [False, True])
def test_coefficients_constants_and_left_out_errors(case, weighted):
    K, Y, weights = case
    weights = weights if weighted else np.ones(12)
    solution = solve_kernel(K, Y, Problem(0.1), weights if weighted else None)
    coef, intercept = by_hand(K, Y, 0.1, weights)
    assert solution.coef == pytest.approx(coef, abs=1e-10)
    assert solution.intercept == pytest.approx(intercept, abs=1e-10)
    for i in range(12):
        # A row is left out whole, whatever its weight.
        rest = np.arange(12) != i
        coef, intercept = by_hand(K[np.ix_(rest, rest)], Y[rest], 0.1, weights[rest])
        expected = Y[i] - K[i, rest] @ coef - intercept
        assert solution.left_out[i] == pytest.approx(expected, abs=1e-9)


def test_the_best_candidate_is_taken(case):
    K, Y, weights = case
    alphas = np.asarray([1e-3, 0.1, 10.0])
    solution = solve_kernel(K, Y, Problem(alphas, leave_one_out=True), weights)
    one = [solve_kernel(K, Y, Problem(a, leave_one_out=True), weights) for a in alphas]
    assert solution.scores == pytest.approx(np.asarray([found.expected for found in one]))
    assert solution.alpha[0] in alphas


def test_a_singular_matrix_is_raised_a_little():
    K = np.ones((6, 6))
    solution = solve_kernel(K, np.arange(6.0)[:, None], Problem(1e-300))
    assert np.isfinite(solution.coef).all()


def test_one_parameter_gives_the_same_by_cholesky_and_by_eigenvalues():
    rng = np.random.default_rng(1)
    moments = Moments(40, 2)
    Z = rng.standard_normal((200, 40))
    moments.add(Z, Z[:, :2] + 0.1 * rng.standard_normal((200, 2)))
    problem = Problem(alpha=0.3)
    centred = moments.centred(intercept=True)
    given = solve(GivenSystem(*centred, 0.3), moments, problem)
    path = solve(PrimalSystem(*moments.centred(intercept=True)), moments, problem)
    for name in ("coef", "intercept", "residual", "noise", "degrees_of_freedom"):
        assert getattr(given, name) == pytest.approx(getattr(path, name), rel=1e-9), name
    assert given.trusted
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        GivenSystem(-np.eye(3), np.ones((3, 1)), np.ones(1), 0.5)


def test_a_constant_target_has_no_say_in_alpha():
    generator = np.random.default_rng(0)
    x = generator.uniform(size=(150, 1))
    K = np.exp(-np.abs(x - x.T))
    y = np.sin(6 * x) + 0.3 * generator.standard_normal((150, 1))
    candidates = Problem(np.asarray([1e-2, 0.1, 1.0, 10.0, 100.0]), leave_one_out=True)
    alone = solve_kernel(K, y, candidates)
    both = solve_kernel(K, np.column_stack([y, np.full(150, 0.1)]), candidates)
    assert both.alpha[0] == alone.alpha[0] < 100.0


@pytest.mark.parametrize("weighted", [False, True])
def test_coefficients_alone_are_those_of_the_whole_solution(weighted):
    generator = np.random.default_rng(0)
    x = generator.uniform(size=(60, 2))
    K = np.exp(-np.abs(x[:, None] - x[None]).sum(axis=2))
    weights = generator.uniform(0.5, 2.0, 60) if weighted else None
    for alpha, (coef, constant) in zip(
        (0.01, 1.0), kernel_coefficients(K, x, [0.01, 1.0], weights), strict=True
    ):
        whole = solve_kernel(K, x, Problem(alpha), weights)
        np.testing.assert_allclose(coef, whole.coef, atol=1e-9)
        np.testing.assert_allclose(constant, whole.intercept, atol=1e-9)
