"""Tests of the derivatives of kernels that depend on the choice of axes, and of their sums."""

import numpy as np
import pytest
import scipy.sparse

from mercer import (
    NTK,
    Gaussian,
    Laplace,
    OnColumns,
    Polynomial,
    PoweredExponential,
    ProductLaplace,
    config,
)
from mercer._array import to_numpy
from mercer.kernels.derivatives import (
    derivative_norm,
    gradient_and_norm,
    has_slopes,
    input_gradients,
    mean_squared_gradients,
)
from mercer.kernels.falls import falls
from mercer.testing import array_libraries, peak_bytes

MANHATTAN = [
    ProductLaplace(1.4),
    PoweredExponential(2.0, 0.7, "manhattan"),
    PoweredExponential(2.0, 0.4, "manhattan"),
    0.5 * ProductLaplace(2.0) + PoweredExponential(2.0, 0.7, "manhattan"),
]
GROUPS = [
    OnColumns(Laplace(1.4), [3, 0]),
    OnColumns(ProductLaplace(1.4), [1, 2]),
    OnColumns(Gaussian(1.5), [0, 1]) + OnColumns(ProductLaplace(2.0), [2, 3]),
    2.0 * (OnColumns(NTK(2), [0, 1]) + 0.5 * OnColumns(PoweredExponential(1.5, 0.6), [1, 3])),
    Gaussian(2.0) + 3.0 * ProductLaplace(3.0) + Polynomial(2, 0.1),
    OnColumns(OnColumns(ProductLaplace(), [1]) + Gaussian(), [3, 2]) + OnColumns(NTK(1), [0]),
]
KERNELS = MANHATTAN + GROUPS
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
#: Weights of columns, as a machine has learnt them.
WEIGHTS = np.array([0.5, 2.0, 1.2, 0.3])


def problem(n_targets=2):
    """Return rows without ties in any column, other rows, and coefficients for both."""
    generator = np.random.default_rng(0)
    # Steps of central differences must not change the sign of a difference.
    values = np.stack([generator.permutation(14) for _ in range(4)], axis=1) / 3.5 - 1.9
    left, right = (generator.standard_normal((n, n_targets)) for n in (8, 6))
    return values[:8], values[8:], left, right


def central(function, at):
    """Return a derivative by five points, whose error is below 1e-9 where the kernels bend."""
    h = 2e-3
    near, far = function(at + h) - function(at - h), function(at + 2 * h) - function(at - 2 * h)
    return (8 * near - far) / (12 * h)


def assert_equal(actual, expected, tolerance=1e-11):
    actual = to_numpy(actual)
    assert actual.shape == expected.shape
    assert np.max(abs(actual - expected)) <= tolerance * max(np.max(abs(expected)), 1e-3)


@every_kernel
def test_gradients_equal_central_differences(kernel):
    X, Y, _, C = problem()
    gradients = input_gradients(kernel, X, Y, C)
    for j in range(4):
        unit = np.eye(4)[j]
        expected = central(lambda step, unit=unit: kernel(X + step * unit, Y) @ C, 0.0)
        assert_equal(gradients[:, j], expected, 1e-8)
    assert_equal(input_gradients(kernel, X, Y, C[:, 1]), gradients[:, :, 1])


@every_kernel
def test_derivative_by_weights_equals_central_differences(kernel):
    X, Y, left, right = problem()

    def form(w):
        return np.sum(left * (kernel(X * np.sqrt(w), Y * np.sqrt(w)) @ right))

    rows = X * np.sqrt(WEIGHTS), Y * np.sqrt(WEIGHTS)
    actual = derivative_norm(kernel, *rows, left, right)
    for j in range(4):
        unit = np.eye(4)[j]
        expected = WEIGHTS[j] * central(lambda step, unit=unit: form(WEIGHTS + step * unit), 0.0)
        assert actual[j] == pytest.approx(expected, abs=1e-8 * max(1.0, abs(actual).max()))


@every_kernel
def test_all_functions_agree(kernel):
    X, Y, left, right = problem()
    w = np.linspace(0.2, 2.0, len(X))
    gradients = input_gradients(kernel, X, Y, right)
    found = mean_squared_gradients(kernel, X, Y, right, sample_weight=w)
    assert_equal(found, np.einsum("ijt,i->j", gradients**2, w) / w.sum())
    expected = (
        mean_squared_gradients(kernel, X, None, left),
        derivative_norm(kernel, X, None, left, left),
    )
    for K in (None, kernel(X)):
        for actual, wanted in zip(gradient_and_norm(kernel, X, K, left), expected, strict=True):
            assert_equal(actual, wanted)
    moments, _ = gradient_and_norm(kernel, X, None, left, sample_weight=w)
    assert_equal(moments, mean_squared_gradients(kernel, X, None, left, sample_weight=w))


@every_kernel
def test_columns_without_weight_have_no_derivatives(kernel):
    X, Y, left, right = problem()
    roots = np.array([1.0, 0.0, 1.5, 0.0])
    rows = X * roots, Y * roots
    moments = roots**2 * mean_squared_gradients(kernel, *rows, right)
    D = derivative_norm(kernel, *rows, left, right)
    both = gradient_and_norm(kernel, rows[0], kernel(rows[0]), left)
    for values in (moments, D, both[1]):
        assert np.isfinite(values).all()
        assert not values[[1, 3]].any()
    if kernel in MANHATTAN:
        # All entries of such a column are equal.
        assert not input_gradients(kernel, *rows, right)[:, [1, 3]].any()
        kept = [0, 2]
        rows = X[:, kept] * roots[kept], Y[:, kept] * roots[kept]
        assert_equal(D[kept], derivative_norm(kernel, *rows, left, right))


@pytest.mark.parametrize("kernel", MANHATTAN, ids=repr)
def test_equal_rows_and_ties(kernel):
    X, Y, left, right = problem()
    # A tie in one column has no part in the derivative by it, as the mean over both sides.
    Y[:, 2] = X[0, 2]
    assert not input_gradients(kernel, X[:1], Y, right)[0, 2].any()
    above, below = X[:1].copy(), X[:1].copy()
    above[0, 2] += 1e-9
    below[0, 2] -= 1e-9
    sides = input_gradients(kernel, above, Y, right) + input_gradients(kernel, below, Y, right)
    assert_equal(input_gradients(kernel, X[:1], Y, right), sides / 2, 1e-7)
    # Equal rows, and rows that are equal up to rounding, have no part in any.
    twins = np.vstack([X[:1], X[:1] * (1 + 2e-16), X[:1] + 1e-9])
    assert not input_gradients(kernel, X[:1], twins, np.ones(3)).any()
    assert not falls(kernel, X[:1], twins, np).any()
    for K in (None, kernel(twins)):
        E, D = gradient_and_norm(kernel, twins, K, np.ones(3))
        assert not E.any()
        assert not D.any()
    # A row that stands there twice counts twice.
    double = derivative_norm(kernel, np.vstack([X, X]), Y, np.vstack([left, left]), right)
    assert_equal(double, 2 * derivative_norm(kernel, X, Y, left, right))


@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_falls_are_taken_from_the_matrix_at_hand(factor):
    X, _, C, _ = problem()
    kernel = factor * ProductLaplace(3.0)
    K = kernel(X)
    E, D = gradient_and_norm(kernel, X, K, C)
    halved = gradient_and_norm(kernel, X, K / 2, C)
    # The diagonal seems apart then, but has no differences.
    assert_equal(halved[0], E / 4)
    assert_equal(halved[1], D / 2)


@every_kernel
def test_blocks_and_threads_change_nothing(kernel):
    X, Y, left, right = problem()
    for call in (
        lambda: input_gradients(kernel, X, Y, right),
        lambda: mean_squared_gradients(kernel, X, Y, right),
        lambda: derivative_norm(kernel, X, Y, left, right),
        lambda: gradient_and_norm(kernel, X, kernel(X), left)[1],
    ):
        expected = call()
        for rows in (1, 3, 7):
            with config(block_rows=rows, n_jobs=3):
                actual = call()
                assert_equal(actual, expected)
                assert np.array_equal(actual, call())


@pytest.mark.parametrize("kernel", [*MANHATTAN, GROUPS[2]], ids=repr)
def test_large_offsets_do_not_matter(kernel):
    X, Y, left, right = problem()
    X, Y = np.round(X, 3), np.round(Y, 3)
    shifted = X + 2e6, Y + 2e6
    expected = mean_squared_gradients(kernel, X, Y, right)
    assert_equal(mean_squared_gradients(kernel, *shifted, right), expected, 1e-7)
    expected = derivative_norm(kernel, X, Y, left, right)
    assert_equal(derivative_norm(kernel, *shifted, left, right), expected, 1e-7)
    expected = gradient_and_norm(kernel, X, None, left)[1]
    assert_equal(gradient_and_norm(kernel, shifted[0], None, left)[1], expected, 1e-7)


@every_kernel
def test_libraries_sparse_rows_and_single_precision(kernel):
    X, Y, left, right = problem()
    X[np.abs(X) < 1] = 0.0
    gradients = input_gradients(kernel, X, Y, right)
    D = derivative_norm(kernel, X, Y, left, right)
    both = gradient_and_norm(kernel, X, None, left)
    sparse = scipy.sparse.csr_array(X)
    assert_equal(input_gradients(kernel, sparse, Y, right), gradients)
    assert_equal(derivative_norm(kernel, sparse, scipy.sparse.csr_array(Y), left, right), D)
    for make in array_libraries().values():
        rows, others, before, after, K = (make(part) for part in (X, Y, left, right, kernel(X)))
        actual = input_gradients(kernel, rows, others, after)
        assert type(actual) is type(rows)
        assert_equal(actual, gradients)
        assert_equal(derivative_norm(kernel, rows, others, before, after), D)
        for found, wanted in zip(gradient_and_norm(kernel, rows, K, before), both, strict=True):
            assert_equal(found, wanted)
    X, Y = np.round(8 * X) / 8, np.round(8 * Y) / 8
    single = input_gradients(kernel, X.astype("f4"), Y.astype("f4"), right)
    assert single.dtype == np.float32
    assert_equal(single, input_gradients(kernel, X, Y, right), 1e-6)


@pytest.mark.parametrize("kernel", [ProductLaplace(3.0), GROUPS[2], GROUPS[4]], ids=repr)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_neither_pairs_nor_their_differences_are_held(kernel, n_jobs):
    generator = np.random.default_rng(0)
    X, C = generator.standard_normal((500, 12)), generator.standard_normal((500, 2))
    calls = [
        lambda: input_gradients(kernel, X, X, C),
        lambda: mean_squared_gradients(kernel, X, X, C),
        lambda: derivative_norm(kernel, X, X, C, C),
        lambda: gradient_and_norm(kernel, X, None, C),
    ]
    for call in calls:
        # What is compiled and imported at the first call stays.
        call()
    # A matrix of all pairs has 2 MB, and one with their differences 24 MB.
    with config(memory=1_000_000, n_jobs=n_jobs):
        for call in calls:
            result, peak = peak_bytes(call)
            size = sum(part.nbytes for part in (result if isinstance(result, tuple) else [result]))
            assert peak - size <= 1_000_000


@every_kernel
def test_a_matrix_is_refused(kernel):
    X, Y, left, right = problem()
    assert has_slopes(kernel)
    assert not has_slopes(kernel, matrix=True)
    for call in (
        lambda: mean_squared_gradients(kernel, X, Y, right, matrix=True),
        lambda: derivative_norm(kernel, X, Y, left, right, matrix=True),
        lambda: gradient_and_norm(kernel, X, None, left, matrix=True),
    ):
        with pytest.raises(ValueError, match=r"(?s)matrix=True.*weight for each column"):
            call()


def test_lengthscales_of_groups_come_from_their_columns():
    X, Y, left, right = problem()
    kernel = OnColumns(ProductLaplace("median"), [0, 2]) + OnColumns(Laplace("median"), [1])
    expected = derivative_norm(kernel.fitted_to(Y), X, Y, left, right)
    assert np.array_equal(derivative_norm(kernel, X, Y, left, right), expected)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="columns must be numbers from 0 to 2"):
        input_gradients(OnColumns(ProductLaplace(), [3]), np.eye(3), None, np.ones(3))
