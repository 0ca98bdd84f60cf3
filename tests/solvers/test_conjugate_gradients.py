"""Conjugate gradients against a dense solve of the same system."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.features.nystrom.pivoted_cholesky import pivoted_cholesky
from mercer.kernels import Gaussian, Laplace, Matern, PoweredExponential, ProductLaplace
from mercer.kernels.single_precision import float32_matrix
from mercer.solvers import Problem
from mercer.solvers.conjugate_gradients import Iteration
from mercer.solvers.iterative import solve_kernel_rows
from mercer.solvers.kernel_system import KernelSystem
from mercer.solvers.row_systems import IterativeOptions


class Dense:
    """A matrix as it is."""

    def __init__(self, K, interrupt_at=None):
        self.K, self.calls, self.interrupt_at = K, 0, interrupt_at

    def product(self, V):
        self.calls += 1
        if self.calls == self.interrupt_at:
            raise KeyboardInterrupt
        return self.K @ V


class Single(Dense):
    """A matrix rounded to float32."""

    def product(self, V):
        self.calls += 1
        return (self.K.astype(np.float32) @ V.astype(np.float32)).astype(float)


def dense_solution(K, Y, weights, alpha):
    """Return coefficients and constants from the bordered system, row by row."""
    known = np.flatnonzero(weights > 0)
    n = len(known)
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = K[np.ix_(known, known)] + alpha * np.diag(1 / weights[known])
    A[:n, n] = A[n, :n] = 1.0
    found = np.linalg.solve(A, np.vstack([Y[known], np.zeros((1, Y.shape[1]))]))
    coef = np.zeros_like(Y)
    coef[known] = found[:n]
    return coef, found[n]


@pytest.fixture
def problem():
    generator = np.random.default_rng(3)
    X = generator.standard_normal((300, 3))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]]) + 5.0
    K = np.asarray(Matern(nu=1.5, lengthscale=2.0)(X))
    low_rank = pivoted_cholesky(lambda at: K[:, at], np.diag(K), 40, generator)
    return X, Y, K, low_rank


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_solution_equals_the_dense_one(problem, alpha, weighted):
    _, Y, K, low_rank = problem
    weights = np.random.default_rng(0).uniform(0.2, 3.0, 300) if weighted else np.ones(300)
    system = KernelSystem(Dense(K), low_rank, Y, weights, n_held=20)
    weights = weights.copy()
    weights[:20] = 0.0
    settings = Iteration(tolerance=1e-13, most=400)
    # Settling on held-out rows is another stop than the residual: here only the latter is wanted.
    found = KernelSystem(Dense(K[20:, 20:]), _rows(low_rank, 20), Y[20:], weights[20:]).solve(
        [alpha], settings
    )[0]
    coef, constant = dense_solution(K, Y, weights, alpha)
    np.testing.assert_allclose(found.intercept, constant, rtol=1e-9)
    np.testing.assert_allclose(K[:, 20:] @ found.coef, K @ coef, atol=1e-9)
    held = system.solve([alpha], settings)[0]
    expected = K[:20] @ held.coef + held.intercept
    np.testing.assert_allclose(held.held_out, expected, atol=1e-8)
    assert np.all(held.coef[:20] == 0)


def _rows(low_rank, start):
    return low_rank._replace(factor=low_rank.factor[start:], missing=low_rank.missing[start:])


def test_several_alphas_share_products(problem):
    _, Y, K, low_rank = problem
    matrix = Dense(K)
    alphas = [1e-2, 1e-1, 1.0]
    together = KernelSystem(matrix, low_rank, Y).solve(alphas, Iteration(1e-12, 300))
    apart = [
        KernelSystem(Dense(K), low_rank, Y).solve([a], Iteration(1e-12, 300))[0] for a in alphas
    ]
    for one, other in zip(together, apart, strict=True):
        np.testing.assert_allclose(one.coef, other.coef, atol=1e-7)
    assert matrix.calls <= max(one.n_iterations for one in together) + 20


def test_an_exact_matrix_refines_what_float32_cannot(problem):
    _, Y, K, low_rank = problem
    coef, constant = dense_solution(K, Y, np.ones(300), 1e-2)
    rough = KernelSystem(Single(K), low_rank, Y).solve([1e-2], Iteration(1e-11, 60))[0]
    fine = KernelSystem(Single(K), low_rank, Y).solve(
        [1e-2], Iteration(1e-11, 200), exact=Dense(K)
    )[0]
    assert fine.residual <= 1e-10
    assert rough.residual > fine.residual
    np.testing.assert_allclose(K @ fine.coef + fine.intercept, K @ coef + constant, atol=1e-8)


def test_start_at_the_solution_needs_no_iteration(problem):
    _, Y, K, low_rank = problem
    system = KernelSystem(Dense(K), low_rank, Y)
    found = system.solve([0.1], Iteration(1e-12, 300))[0]
    again = system.solve([0.1], Iteration(1e-6, 300), start=found)[0]
    assert again.n_iterations < found.n_iterations


def test_interruption_keeps_the_iterate(problem):
    _, Y, K, low_rank = problem
    found = KernelSystem(Dense(K, interrupt_at=4), low_rank, Y, n_held=30).solve([1e-2])[0]
    assert found.stopped == "interrupted"
    assert found.n_iterations == 3
    assert np.isfinite(found.coef).all()
    assert found.errors[-1] < Y.var()


def test_deadline_stops(problem):
    _, Y, K, low_rank = problem
    found = KernelSystem(Dense(K), low_rank, Y).solve([1e-2], Iteration(deadline=0.0))[0]
    assert (found.stopped, found.n_iterations) == ("time", 0)
    np.testing.assert_allclose(found.intercept, Y.mean(axis=0))


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_pivoted_cholesky_never_exceeds_the_matrix(seed, n, d):
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((n, d))
    A[generator.random(n) < 0.2] = A[0]
    K = A @ A.T
    found = pivoted_cholesky(lambda at: K[:, at], np.diag(K), n, generator)
    rest = K - found.factor @ found.factor.T
    scale = max(np.trace(K), 1e-300)
    assert np.linalg.eigvalsh(rest).min() >= -1e-9 * scale
    assert np.trace(rest) <= 1e-8 * scale
    # Columns beyond the rank hold what rounding has left, and no more.
    assert (np.square(found.factor).sum(axis=0) > 1e-9 * scale).sum() <= min(n, d)
    assert len(set(found.pivots.tolist())) == len(found.pivots)
    # Landmarks' own rows of the factor are a triangle.
    np.testing.assert_allclose(np.triu(found.factor[found.pivots], 1), 0.0, atol=1e-6 * scale**0.5)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.5),
        Laplace(2.0),
        ProductLaplace(3.0),
        Matern(nu=1.5, lengthscale=2.0),
        Matern(nu=2.5, lengthscale=2.0),
        PoweredExponential(2.0, power=0.7),
        PoweredExponential(2.0, power=0.5, norm="manhattan"),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
@pytest.mark.parametrize("d", [1, 4, 7])
def test_float32_tiles_equal_the_kernel(kernel, d):
    generator = np.random.default_rng(d)
    X = generator.standard_normal((530, d)) + 20.0
    X[1] = X[0]
    expected = np.asarray(kernel(X))
    # A power below one is infinitely steep at 0, and magnifies the rounding of close rows.
    tolerance = 3e-5 if isinstance(kernel, PoweredExponential) else 4e-6
    np.testing.assert_allclose(float32_matrix(kernel, X), expected, atol=tolerance)
    np.testing.assert_allclose(float32_matrix(kernel, X[:9], X), expected[:9], atol=tolerance)


@pytest.mark.parametrize(("tolerance", "allowed"), [(None, 5e-2), (1e-6, 1e-5), (1e-11, 1e-9)])
def test_rows_are_solved_as_by_a_dense_machine(tolerance, allowed):
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, (900, 2))
    y = np.sin(4 * X[:, :1]) + 0.1 * generator.standard_normal((900, 1))
    kernel = Laplace(1.0)
    options = IterativeOptions(tolerance=tolerance)
    fit = solve_kernel_rows(kernel, X, y, Problem(np.asarray([0.1])), options=options)
    coef, constant = dense_solution(np.asarray(kernel(X)), y, np.ones(900), 0.1)
    exact = np.asarray(kernel(X)) @ coef + constant
    found = np.asarray(kernel(X)) @ fit.solution.coef + fit.solution.intercept
    assert np.sqrt(((found - exact) ** 2).mean()) < allowed * y.std()
    held = np.abs(fit.held_out - y[fit.places])
    assert 0.005 < float((held**2).mean()) < 0.03
    assert fit.kept_share == 1.0
