"""Tests of the derivatives of kernels against central differences and 50-digit arithmetic."""

import mpmath
import numpy as np
import pytest
import scipy.sparse

import oracles
from mercer import (
    NNGP,
    NTK,
    ArcCosine,
    Exponential,
    Gaussian,
    Laplace,
    Matern,
    OnColumns,
    Polynomial,
    PoweredExponential,
    PowerSeries,
    config,
)
from mercer._array import to_numpy
from mercer.kernels.derivatives import (
    derivative_norm,
    gradient_and_norm,
    has_slopes,
    input_gradients,
    mean_squared_gradients,
    slopes,
)
from mercer.testing import array_libraries, peak_bytes

RADIAL = [
    Gaussian(1.3),
    Laplace(1.4),
    Matern(1.4, nu=0.5),
    Matern(0.9, nu=1.5),
    Matern(0.8, nu=2.5),
    PoweredExponential(1.5, 0.6),
    PoweredExponential(1.5, 1.4),
    PoweredExponential(1.5, 2.0),
    2.0 * Gaussian(0.8) + Laplace(2.0),
]
INNER = [
    Exponential(2.0),
    Polynomial(1, 0.5, 0.0),
    Polynomial(3, 0.3, 1.5),
    PowerSeries((0.5,)),
    PowerSeries((0.5, 1.0, 0.0, 0.25)),
]
ANGULAR = [
    PowerSeries((0.3, 1.0, 0.5, 0.2), normalized=True),
    ArcCosine(1),
    NNGP(1),
    NNGP(3),
    NTK(1),
    NTK(2),
    NTK(4),
]
MIXED = [Gaussian(1.5) + 0.5 * NTK(2), 3.0 * (Polynomial(2) + Matern(nu=2.5))]
KERNELS = RADIAL + INNER + ANGULAR + MIXED
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
some_kernels = pytest.mark.parametrize(
    "kernel", [Laplace(1.4), Polynomial(3), NTK(2), MIXED[0]], ids=repr
)

#: Step of central differences, and the error that rounding and curvature leave them.
STEP, EXACT = 1e-5, 1e-7


def problem(n_targets=2):
    """Return rows with twins, multiples and opposites, other rows, coefficients and √M."""
    generator = np.random.default_rng(0)
    X, Y = generator.standard_normal((8, 4)), generator.standard_normal((6, 4))
    X[1], X[2], X[3], X[4] = X[0], 2.5 * X[0], -X[0], -0.5 * Y[1]
    Y[0], Y[2], X[7], Y[5] = X[0], -2 * X[5], 0.0, 0.0
    left, right = (
        generator.standard_normal((8, n_targets)),
        generator.standard_normal((6, n_targets)),
    )
    factor = generator.standard_normal((4, 4)) / 3
    return X, Y, left, right, root(np.eye(4) + factor @ factor.T)


def root(M):
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.sqrt(values)) @ vectors.T


def numerical_gradients(function, X):
    """Return the gradients of a function of rows with several values, by central differences."""
    columns = []
    for j in range(X.shape[1]):
        step = STEP * np.eye(X.shape[1])[j]
        columns.append((function(X + step) - function(X - step)) / (2 * STEP))
    return np.stack(columns, axis=1)


def numerical_derivative(function, M):
    """Return the derivative of a function of a symmetric matrix, by central differences."""
    d = len(M)
    D = np.empty((d, d))
    for j in range(d):
        for k in range(d):
            step = np.zeros((d, d))
            step[j, k] += STEP / 2
            step[k, j] += STEP / 2
            D[j, k] = (function(M + step) - function(M - step)) / (2 * STEP)
    return D


def assert_equal(actual, expected, tolerance=1e-11):
    actual = to_numpy(actual)
    assert actual.shape == expected.shape
    assert np.max(abs(actual - expected)) <= tolerance * max(np.max(abs(expected)), 1e-3)


@every_kernel
def test_gradients_equal_central_differences(kernel):
    X, Y, _, C, root_M = problem()
    if kernel in ANGULAR + MIXED[:1]:
        # Homogeneous kernels have a cone at zero, where the slopes are zero by convention.
        X = X[:7]
    weighted = X @ root_M, Y @ root_M
    expected = numerical_gradients(lambda rows: kernel(rows @ root_M, weighted[1]) @ C, X)
    gradients = input_gradients(kernel, *weighted, C)
    actual = np.einsum("ijt,jk->ikt", gradients, root_M)
    assert_equal(actual, expected, EXACT)
    for i in range(len(X)):
        assert_equal(actual[i], expected[i], 10 * EXACT)
    assert_equal(input_gradients(kernel, *weighted, C[:, 0]), gradients[:, :, 0])


@pytest.mark.parametrize("kernel", ANGULAR, ids=repr)
def test_a_zero_row_has_gradient_zero_and_no_part_in_others(kernel):
    X, Y, _, C, _ = problem(1)
    assert not input_gradients(kernel, X, Y, C)[7].any()
    without = input_gradients(kernel, X, Y[:5], C[:5])
    assert_equal(input_gradients(kernel, X, Y, C), without, 1e-15)


@every_kernel
def test_derivative_by_weights_equals_central_differences(kernel):
    X, Y, left, right, root_M = problem()

    def form(M):
        return np.sum(left * (kernel(X @ root(M), Y @ root(M)) @ right))

    expected = root_M @ numerical_derivative(form, root_M @ root_M) @ root_M
    rows = X @ root_M, Y @ root_M
    actual = derivative_norm(kernel, *rows, left, right, matrix=True)
    assert_equal(actual, expected, EXACT)
    assert np.array_equal(actual, actual.T)
    assert_equal(derivative_norm(kernel, *rows, left, right), np.diag(actual))


@every_kernel
def test_derivative_of_a_square_matrix_equals_central_differences(kernel):
    X, _, beta, _, _ = problem()

    def form(M):
        return np.sum(beta * (kernel(X @ root(M)) @ beta))

    expected = numerical_derivative(form, np.eye(4))
    assert_equal(derivative_norm(kernel, X, None, beta, beta, matrix=True), expected, EXACT)
    assert_equal(derivative_norm(kernel, X, X, beta, beta), np.diag(expected), EXACT)


def test_derivative_by_weights_of_columns():
    X, Y, left, right, _ = problem(1)
    w = np.array([0.5, 2.0, 1.0, 0.3])
    expected = np.empty(4)
    for j in range(4):
        forms = []
        for sign in (1, -1):
            scales = np.sqrt(w + sign * STEP * np.eye(4)[j])
            forms.append((left.T @ Laplace()(X * scales, Y * scales) @ right).item())
        expected[j] = w[j] * (forms[0] - forms[1]) / (2 * STEP)
    actual = derivative_norm(Laplace(), X * np.sqrt(w), Y * np.sqrt(w), left[:, 0], right[:, 0])
    assert_equal(actual, expected, EXACT)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplace(2.0), NTK(1)], ids=repr)
def test_it_is_the_derivative_of_the_ridge_objective(kernel):
    generator = np.random.default_rng(1)
    X, y = generator.standard_normal((12, 3)), generator.standard_normal(12)
    Y, lam = X[:5] + 0.1, 0.1

    def exact(M):
        K = kernel(X @ root(M))
        return y @ np.linalg.solve(K + lam * np.eye(12), y)

    beta = np.linalg.solve(kernel(X) + lam * np.eye(12), y)
    expected = -numerical_derivative(exact, np.eye(3))
    assert_equal(derivative_norm(kernel, X, X, beta, beta, matrix=True), expected, 1e-6)

    def nystroem(M):
        rows, landmarks = X @ root(M), Y @ root(M)
        K, square = kernel(rows, landmarks), kernel(landmarks)
        return y @ np.linalg.solve(K @ np.linalg.solve(square, K.T) + lam * np.eye(12), y)

    K = kernel(X, Y)
    a = np.linalg.solve(K.T @ K + lam * kernel(Y), K.T @ y)
    beta = (y - K @ a) / lam
    mixed = derivative_norm(kernel, X, Y, beta, a, matrix=True)
    actual = 2 * mixed - derivative_norm(kernel, Y, Y, a, a, matrix=True)
    assert_equal(actual, -numerical_derivative(nystroem, np.eye(3)), 1e-6)


@pytest.mark.parametrize("kernel", [NNGP(1), NNGP(3), NTK(1), NTK(3)], ids=repr)
def test_slopes_keep_their_digits_at_small_angles_and_supplements(kernel):
    quantity = 1 if isinstance(kernel, NNGP) else 2
    for theta in (1e-5, 1e-3, 1.0, 2.0, np.pi - 1e-3, np.pi - 1e-5):
        x, z = np.array([[3.0, 0.0, 0.0]]), 0.5 * np.array([[np.cos(theta), np.sin(theta), 0.0]])
        exact_angle = oracles.angle(x[0], z[0])
        with mpmath.workdps(50):
            slope = -mpmath.diff(lambda t: kappa(t, kernel.depth)[quantity], exact_angle)
            slope /= mpmath.sin(exact_angle)
            rest = kappa(exact_angle, kernel.depth)[quantity] - mpmath.cos(exact_angle) * slope
            slope, rest = float(slope), float(rest)
        own, cross, other = slopes(kernel, x, z, np)
        assert cross[0, 0] == pytest.approx(slope, rel=1e-9)
        assert own[0, 0] == pytest.approx(rest / 6, rel=1e-9)
        assert other[0, 0] == pytest.approx(rest * 6, rel=1e-9)


def kappa(theta, depth):
    """Return (κ₀, NNGP, NTK) of unit rows at an angle, in the precision of mpmath."""
    s = tangent = mpmath.cos(theta)
    for _ in range(depth):
        step = 1 - mpmath.acos(s) / mpmath.pi
        s = (mpmath.sqrt(1 - s**2) + s * (mpmath.pi - mpmath.acos(s))) / mpmath.pi
        tangent = tangent * step + s
    return step, s, tangent


@pytest.mark.parametrize("kernel", [Laplace(1.4), Matern(nu=0.5), NTK(1), NTK(3)], ids=repr)
def test_rows_that_differ_by_rounding_are_equal(kernel):
    x = np.random.default_rng(0).standard_normal((1, 5))
    for sign in (1, -1):
        exact = input_gradients(kernel, x, sign * x, np.ones(1))
        nearly = input_gradients(kernel, x, sign * x * (1 + 2e-16), np.ones(1))
        moved = sign * x + 1e-9 * np.eye(5)[0]
        assert np.max(abs(nearly - exact)) <= 1e-8
        assert np.max(abs(input_gradients(kernel, x, moved, np.ones(1)) - exact)) <= 1e-8
    apart = input_gradients(kernel, x, x + 1e-4 * np.eye(5)[0], np.ones(1))
    assert np.max(abs(apart - input_gradients(kernel, x, x, np.ones(1)))) > 0.01


@every_kernel
def test_moments_are_those_of_the_gradients(kernel):
    X, Y, _, C, _ = problem()
    gradients = input_gradients(kernel, X, Y, C)
    expected = np.einsum("ijt,ikt->jk", gradients, gradients) / len(X)
    assert_equal(mean_squared_gradients(kernel, X, Y, C, matrix=True), expected)
    assert_equal(mean_squared_gradients(kernel, X, Y, C), np.diag(expected))
    w = np.linspace(0.2, 2.0, len(X))
    expected = np.einsum("ijt,ikt,i->jk", gradients, gradients, w) / w.sum()
    found = mean_squared_gradients(kernel, X, Y, C, matrix=True, sample_weight=w)
    assert_equal(found, expected)
    assert_equal(mean_squared_gradients(kernel, X, Y, C, sample_weight=w), np.diag(expected))


@every_kernel
def test_both_at_once_are_the_same_as_one_by_one(kernel):
    X, _, C, _, _ = problem()
    weights = np.linspace(0.2, 2.0, len(X))
    for coefficients, w in ((C, None), (C[:, 0], weights)):
        for matrix in (False, True):
            expected = (
                mean_squared_gradients(kernel, X, None, coefficients, matrix, w),
                derivative_norm(kernel, X, None, coefficients, coefficients, matrix),
            )
            for K in (None, kernel(X)):
                found = gradient_and_norm(kernel, X, K, coefficients, matrix, w)
                for actual, wanted in zip(found, expected, strict=True):
                    assert_equal(actual, wanted)


@pytest.mark.parametrize("kernel", [Gaussian(1.3), Exponential(2.0), 3.0 * Gaussian()], ids=repr)
def test_slopes_are_taken_from_the_matrix_at_hand(kernel):
    X, _, C, _, _ = problem()
    E, D = gradient_and_norm(kernel, X, kernel(X), C)
    doubled = gradient_and_norm(kernel, X, 2 * kernel(X), C)
    assert_equal(doubled[0], 4 * E)
    assert_equal(doubled[1], 2 * D)


@some_kernels
def test_blocks_and_threads_change_nothing(kernel):
    X, Y, left, right, _ = problem()
    calls = [
        lambda: input_gradients(kernel, X, Y, right),
        lambda: mean_squared_gradients(kernel, X, Y, right, matrix=True),
        lambda: derivative_norm(kernel, X, Y, left, right, matrix=True),
        lambda: gradient_and_norm(kernel, X, kernel(X), left)[1],
    ]
    for call in calls:
        expected = call()
        for rows in (1, 3, 7):
            for n_jobs in (1, 3):
                with config(block_rows=rows, n_jobs=n_jobs):
                    actual = call()
                    assert_equal(actual, expected)
                    assert np.array_equal(actual, call())


@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_large_offsets_do_not_matter_to_kernels_of_the_distance(kernel):
    X, Y, left, right, _ = problem()
    X, Y = np.round(X, 3), np.round(Y, 3)
    for matrix in (False, True):
        expected = mean_squared_gradients(kernel, X, Y, right, matrix)
        assert_equal(
            mean_squared_gradients(kernel, X + 2e6, Y + 2e6, right, matrix), expected, 1e-7
        )
        expected = derivative_norm(kernel, X, Y, left, right, matrix)
        assert_equal(derivative_norm(kernel, X + 2e6, Y + 2e6, left, right, matrix), expected, 1e-7)
    _, D = gradient_and_norm(kernel, X, None, left)
    assert_equal(gradient_and_norm(kernel, X + 2e6, None, left)[1], D, 1e-7)


@some_kernels
def test_array_libraries_agree(kernel):
    X, Y, left, right, _ = problem()
    gradients = input_gradients(kernel, X, Y, right)
    E = mean_squared_gradients(kernel, X, Y, right, matrix=True)
    D = derivative_norm(kernel, X, Y, left, right)
    both = gradient_and_norm(kernel, X, None, left, matrix=True)
    for make in array_libraries().values():
        rows, others, before, after, K = (make(part) for part in (X, Y, left, right, kernel(X)))
        actual = input_gradients(kernel, rows, others, after)
        assert type(actual) is type(rows)
        assert_equal(actual, gradients)
        assert_equal(mean_squared_gradients(kernel, rows, others, after, matrix=True), E)
        assert_equal(derivative_norm(kernel, rows, others, before, after), D)
        for found, wanted in zip(
            gradient_and_norm(kernel, rows, K, before, matrix=True), both, strict=True
        ):
            assert_equal(found, wanted)


@some_kernels
def test_sparse_rows_and_single_precision(kernel):
    X, Y, left, right, _ = problem()
    X[:, 1] = 0.0
    expected = input_gradients(kernel, X, Y, right), derivative_norm(kernel, X, Y, left, right)
    sparse = scipy.sparse.csr_array(X)
    assert_equal(input_gradients(kernel, sparse, Y, right), expected[0])
    assert_equal(
        derivative_norm(kernel, sparse, scipy.sparse.csr_array(Y), left, right), expected[1]
    )
    X, Y = np.round(8 * X) / 8, np.round(8 * Y) / 8
    single = input_gradients(kernel, X.astype("f4"), Y.astype("f4"), right)
    assert single.dtype == np.float32
    assert_equal(single, input_gradients(kernel, X, Y, right), 1e-6)
    D = derivative_norm(kernel, X.astype("f4"), Y.astype("f4"), left, right)
    assert D.dtype == np.float64
    assert_equal(D, derivative_norm(kernel, X, Y, left, right))


@pytest.mark.parametrize("kernel", [Gaussian(), Matern(nu=2.5), NTK(3), *MIXED], ids=repr)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_neither_pairs_nor_their_gradients_are_held(kernel, n_jobs):
    generator = np.random.default_rng(0)
    X, C = generator.standard_normal((500, 12)), generator.standard_normal((500, 2))
    calls = [
        lambda: input_gradients(kernel, X, X, C),
        lambda: mean_squared_gradients(kernel, X, X, C, matrix=True),
        lambda: derivative_norm(kernel, X, X, C, C, matrix=True),
        lambda: gradient_and_norm(kernel, X, None, C, matrix=True),
    ]
    # What is imported at the first call stays.
    input_gradients(kernel, X[:9], None, C[:9])
    # A matrix of all pairs has 2 MB, and one with their gradients 24 MB.
    with config(memory=1_000_000, n_jobs=n_jobs):
        for call in calls:
            result, peak = peak_bytes(call)
            size = result.nbytes if isinstance(result, np.ndarray) else 0
            assert peak - size <= 1_000_000


def test_lengthscales_from_data():
    X, Y, left, right, _ = problem()
    fitted = Gaussian("median").fitted_to(Y)
    assert_equal(
        derivative_norm(Gaussian("median"), X, Y, left, right),
        derivative_norm(fitted, X, Y, left, right),
    )


@pytest.mark.parametrize(
    ("kernel", "named"),
    [
        (ArcCosine(order=0), "ArcCosine.order=0."),
        (NTK() + ArcCosine(order=0), "ArcCosine.order=0."),
        (Gaussian() * Polynomial(), "Product"),
        (OnColumns(ArcCosine(order=0), [0]), "ArcCosine.order=0."),
    ],
    ids=repr,
)
def test_kernels_without_derivatives_are_refused(kernel, named):
    assert not has_slopes(kernel)
    with pytest.raises(TypeError, match=named):
        input_gradients(kernel, np.eye(3), None, np.ones(3))
    with pytest.raises(TypeError, match=named):
        slopes(kernel, np.eye(3), np.eye(3), np)


def test_those_with_derivatives_say_so():
    assert all(has_slopes(kernel) for kernel in KERNELS)


@pytest.mark.parametrize("weights", [np.ones((5, 2)), -np.ones(5), np.zeros(5)])
def test_bad_weights_are_refused(weights):
    X = np.random.default_rng(0).standard_normal((5, 2))
    with pytest.raises(ValueError, match="one number for each row"):
        gradient_and_norm(Gaussian(), X, None, X[:, 0], sample_weight=weights)


def test_bad_arguments_are_refused():
    X, ones = np.eye(3), np.ones(3)
    for wrong in (np.ones(4), np.ones((3, 1, 1))):
        with pytest.raises(ValueError, match=r"coefficients.*3 rows"):
            input_gradients(NTK(), X, None, wrong)
        with pytest.raises(ValueError, match=r"left.*3 rows"):
            derivative_norm(NTK(), X, None, wrong, ones)
    for wrong in ([1.0, np.nan, 0.0], [1j, 0, 0]):
        with pytest.raises(ValueError, match="right must hold"):
            derivative_norm(NTK(), X, None, ones, wrong)
    with pytest.raises(ValueError, match=r"left and right.*got 1 and 2"):
        derivative_norm(NTK(), X, None, ones, np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"K must be.*\(3, 2\)"):
        gradient_and_norm(Gaussian(), X, np.ones((3, 2)), ones)
    with pytest.raises(ValueError, match="lengthscale"):
        input_gradients(Gaussian(-1.0), X, None, ones)
    with pytest.raises(ValueError, match="Y contains NaN at row 1"):
        input_gradients(Gaussian(), X, np.where(np.eye(3) == 0, X, [[1], [np.nan], [1]]), ones)
    import array_api_strict

    with pytest.raises(TypeError, match="coefficients must come from the library"):
        input_gradients(NTK(), array_api_strict.asarray(X), None, ones)


@pytest.mark.parametrize(
    ("kernel", "X"),
    [(Exponential(), np.full((2, 2), 40.0)), (Gaussian(1e-200), np.eye(2))],
    ids=["Exponential", "Gaussian"],
)
def test_overflow_names_the_way_out(kernel, X):
    ones = np.ones(2)
    for call in (
        lambda: input_gradients(kernel, X, X, ones),
        lambda: mean_squared_gradients(kernel, X, X, ones, matrix=True),
        lambda: derivative_norm(kernel, X, X, ones, ones),
        lambda: gradient_and_norm(kernel, X, None, ones),
    ):
        with pytest.raises(ValueError, match=r"overflow float64.*scale X down"):
            call()


def test_input_is_left_alone():
    X, Y, left, right, _ = problem()
    kept = [part.copy() for part in (X, Y, left, right)]
    K = Gaussian()(X)
    matrix = K.copy()
    derivative_norm(NTK(2), X, Y, left, right, matrix=True)
    gradient_and_norm(Gaussian(), X, K, left)
    assert all(np.array_equal(a, b) for a, b in zip((X, Y, left, right), kept, strict=True))
    assert np.array_equal(K, matrix)
