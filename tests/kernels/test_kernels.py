"""Tests of the kernels against double loops and 50-digit arithmetic."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import oracles
from mercer import (
    NNGP,
    NTK,
    ArcCosine,
    Exponential,
    Gaussian,
    Laplace,
    Matern,
    Polynomial,
    ProductLaplace,
    RandomFourier,
    config,
)
from mercer.kernels.derivatives import slopes
from mercer.testing import peak_bytes


def rows():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((9, 4))
    X[1] = X[0]
    X[2] = 3 * X[0]
    X[3] = X[0] * (1 + 1e-6 * generator.standard_normal(4))
    X[4] = -X[0]
    X[5] = -X[0] + 1e-3 * X[6]
    X[7] = 0.0
    return X


@pytest.mark.parametrize(
    ("kernel", "oracle"),
    [
        (Gaussian(0.7), lambda x, y: oracles.gaussian(x, y, 0.7)),
        (Laplace(1.3), lambda x, y: oracles.laplace(x, y, 1.3)),
        (ProductLaplace(1.3), lambda x, y: oracles.product_laplace(x, y, 1.3)),
        (Matern(0.8, nu=0.5), lambda x, y: oracles.matern(x, y, 0.5, 0.8)),
        (Matern(0.8, nu=1.5), lambda x, y: oracles.matern(x, y, 1.5, 0.8)),
        (Matern(0.8, nu=2.5), lambda x, y: oracles.matern(x, y, 2.5, 0.8)),
        (Exponential(2.0), lambda x, y: np.exp(x @ y / 4)),
        (Polynomial(3, 0.5, 2.0), lambda x, y: (0.5 * (x @ y) + 2) ** 3),
        (ArcCosine(1), lambda x, y: oracles.relu_network(x, y, 1)[1]),
        (NNGP(3), lambda x, y: oracles.relu_network(x, y, 3)[1]),
        (NTK(1), lambda x, y: oracles.relu_network(x, y, 1)[2]),
        (NTK(2), lambda x, y: oracles.relu_network(x, y, 2)[2]),
        (NTK(5), lambda x, y: oracles.relu_network(x, y, 5)[2]),
    ],
    ids=lambda value: repr(value).split(" at ")[0],
)
def test_kernel_equals_its_oracle(kernel, oracle):
    X = rows()
    expected = oracles.pairwise(oracle, X, X[::-1])
    assert kernel(X, X[::-1]) == pytest.approx(expected, rel=1e-12, abs=1e-14)
    single = X.astype(np.float32)
    expected = oracles.pairwise(oracle, single.astype(float), single.astype(float))
    assert kernel(single) == pytest.approx(expected, rel=2e-6, abs=1e-6)


def test_order_zero_equals_its_oracle_and_is_zero_for_zero_rows():
    X = rows()
    expected = oracles.pairwise(lambda x, y: oracles.relu_network(x, y, 1)[0], X, X)
    assert ArcCosine(0)(X) == pytest.approx(expected, abs=1e-14)
    assert not ArcCosine(0)(X)[7].any()


@pytest.mark.parametrize("depth", [2, 3])
def test_float32_tangent_kernel_keeps_its_digits_near_duplicates(depth):
    generator = np.random.default_rng(1)
    X = generator.standard_normal((60, 128)).astype(np.float32)
    X[1], X[2], X[4] = X[0], 3 * X[0], -X[0]
    for i, size in enumerate((1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2), start=10):
        X[i] = X[0] * (1 + np.float32(size) * generator.standard_normal(128).astype(np.float32))
        X[i + 10] = -X[i]
    expected = oracles.pairwise(
        lambda x, y: oracles.relu_network(x, y, depth)[2],
        X[:22].astype(float),
        X[:22].astype(float),
    )
    assert np.max(abs(NTK(depth)(X)[:22, :22] / expected - 1)) <= 2e-6
    assert np.max(abs(NTK(depth)(X.astype(float))[:22, :22] / expected - 1)) <= 1e-12
    assert NTK(depth).diag(X) == pytest.approx((depth + 1) * (X.astype(float) ** 2).sum(1), 1e-6)


def test_names_match_scikit_learn():
    X = np.random.default_rng(0).standard_normal((10, 3))
    assert Gaussian(0.5)(X) == pytest.approx(rbf_kernel(X, gamma=2.0))
    assert ProductLaplace(2.0)(X) == pytest.approx(laplacian_kernel(X, gamma=0.5))
    assert Gaussian("scale")(X) == pytest.approx(rbf_kernel(X, gamma=1 / (3 * X.var())))


def test_large_offsets_do_not_matter_to_distances():
    X = np.random.default_rng(0).standard_normal((30, 5))
    shifted = X + 1e6
    expected = Laplace()(shifted - 1e6)
    assert Laplace()(shifted) == pytest.approx(expected, abs=1e-12)


def test_lengthscale_from_data_is_the_median_distance():
    X = np.random.default_rng(0).standard_normal((40, 3))
    distances = [np.linalg.norm(X[i] - X[j]) for i in range(40) for j in range(i)]
    kernel = Gaussian("median").fitted_to(X)
    assert kernel.lengthscale == pytest.approx(np.median(distances))
    assert Gaussian("median")(X[:5], X) == pytest.approx(kernel(X[:5], X))
    sums = [abs(X[i] - X[j]).sum() for i in range(40) for j in range(i)]
    assert ProductLaplace("median").fitted_to(X).lengthscale == pytest.approx(np.median(sums))
    nested = (2.0 * Gaussian("median") + Laplace("scale") * NTK()).fitted_to(X)
    assert nested.left.kernel.lengthscale == kernel.lengthscale
    assert nested.right.left.lengthscale == pytest.approx(np.sqrt(1.5 * X.var()))


def test_lengthscale_that_data_cannot_give_is_an_error():
    with pytest.raises(ValueError, match="lengthscale='median'"):
        Gaussian("median")(np.ones((5, 2)))
    with pytest.raises(ValueError, match="lengthscale='scale'"):
        Gaussian("scale")(np.ones((5, 2)))
    with pytest.raises(ValueError, match="fitted_to"):
        Gaussian("median")(np.ones(2), np.zeros(2))


def test_algebra_adds_and_multiplies():
    X = np.random.default_rng(0).standard_normal((7, 3))
    k, g = NTK(2), Gaussian()
    assert (k + g)(X) == pytest.approx(k(X) + g(X))
    assert (k * g)(X) == pytest.approx(k(X) * g(X))
    assert (2 * k)(X) == pytest.approx(2 * k(X))
    assert (k * 2)(X) == pytest.approx(2 * k(X))
    assert (0.5 * (k + g) * g).diag(X) == pytest.approx(0.5 * (k.diag(X) + 1))
    with pytest.raises(TypeError):
        _ = k + 1
    with pytest.raises(ValueError, match="scale"):
        (-1 * k)(X)
    with pytest.raises(ValueError, match="lengthscale"):
        (k + Gaussian(lengthscale=-1.0))(X)


def test_grid_search_reaches_into_a_kernel():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((60, 2))
    y = (np.hypot(*X.T) > 1).astype(int)
    search = GridSearchCV(
        SVC(kernel=Gaussian()), {"kernel__lengthscale": [1e-3, 1.0], "C": [10.0]}, cv=3
    ).fit(X, y)
    assert search.best_params_["kernel__lengthscale"] == 1.0
    assert SVC(kernel=NTK(depth=2)).fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (Exponential(), np.full((2, 2), 40.0)),
        (Exponential(), np.full((2, 2), 7.0, dtype=np.float32)),
        (Polynomial(degree=200), np.full((2, 2), 40.0)),
        (NTK(), np.full((2, 2), 1e25, dtype=np.float32)),
        (NTK(), np.full((2, 2), 1e200)),
        (NTK() * NTK(), np.full((2, 2), 1e12, dtype=np.float32)),
        (1e300 * NTK(), np.full((2, 2), 1e20)),
    ],
    ids=lambda value: repr(value).split(" at ")[0],
)
def test_overflow_names_the_way_out(kernel, X):
    for call in (kernel, kernel.diag, lambda rows: kernel.matvec(rows, np.ones(2))):
        with pytest.raises(ValueError, match=f"overflow {X.dtype}.*scale X down"):
            call(X)


@pytest.mark.parametrize("kernel", [Gaussian, Laplace, ProductLaplace, Matern])
def test_extreme_lengthscales(kernel):
    X = np.random.default_rng(0).standard_normal((3, 2))
    for value in (1e-300, np.float64(1e-200), 1e-20):
        assert np.array_equal(kernel(lengthscale=value)(X), np.eye(3))
    assert np.array_equal(kernel(lengthscale=1e300)(X), np.ones((3, 3)))


def test_close_pairs_keep_to_the_budget_on_every_path():
    X = 100 + 1e-3 * np.random.default_rng(0).standard_normal((500, 50))
    sparse = scipy.sparse.csr_array(X)
    # The differences of all pairs would take 100 MB.
    with config(memory=30_000_000):
        K, peak = peak_bytes(lambda: NTK(2)(sparse))
    assert peak - K.nbytes <= 30_000_000
    np.testing.assert_allclose(K, NTK(2)(X), rtol=1e-9)


def test_matrices_of_the_old_sparse_kind():
    X = rows()
    for kernel in (Gaussian(), NTK(2)):
        assert kernel(X, scipy.sparse.csr_matrix(X)) == pytest.approx(kernel(X), rel=1e-9)


def test_entries_that_are_stored_twice_are_added():
    twice = scipy.sparse.csr_array(([1.0, 1.0, 2.0], [0, 0, 1], [0, 2, 3]), shape=(2, 3))
    for kernel in (Gaussian("scale"), NTK()):
        assert kernel(twice) == pytest.approx(kernel(twice.toarray()))


def test_bad_vectors_are_refused():
    X = np.eye(3)
    for wrong in ([1.0, np.nan, 2.0], [1j, 0, 0]):
        with pytest.raises(ValueError, match="v must hold"):
            NTK().matvec(X, wrong)
    for wrong in (np.ones(4), np.array([1.0, np.nan, 0.0])):
        with pytest.raises(ValueError, match="X and Y must be vectors"):
            NTK()(np.ones(3), wrong)
    with pytest.raises(ValueError, match="lengthscale"):
        Gaussian(-1.0)(np.ones(3), np.ones(3))


def test_a_list_of_kernels_adds_up():
    X = np.eye(2)
    assert sum([NTK(), Gaussian()])(X) == pytest.approx((NTK() + Gaussian())(X))


def test_two_libraries_at_once_are_refused():
    import array_api_strict

    X = np.eye(3)
    with pytest.raises(TypeError, match="one array library"):
        NTK()(X, array_api_strict.asarray(X))


def test_a_kernel_of_two_vectors_is_a_number():
    value = NTK(depth=1)(np.array([1.0, 0.0]), np.array([0.0, 2.0]))
    assert isinstance(value, float)
    assert value == pytest.approx(2 / np.pi)


@pytest.mark.parametrize("size", [1e-170, 1e-290, 1e170, 1e290])
@pytest.mark.parametrize("kernel", [Gaussian, Laplace, Matern, Exponential, ProductLaplace])
def test_the_unit_of_rows_and_lengthscale_does_not_matter(kernel, size):
    X = np.random.default_rng(0).standard_normal((6, 4))
    X[1] = X[0] + 1e-9
    for rows in (X, scipy.sparse.csr_array(X)):
        scaled = rows * size
        expected, actual = kernel(0.7)(rows, rows[::-1]), kernel(0.7 * size)(scaled, scaled[::-1])
        assert actual == pytest.approx(expected, rel=1e-12)
        assert kernel(0.7 * size)(scaled) == pytest.approx(kernel(0.7)(rows), rel=1e-12)


def test_slopes_of_tiny_rows_are_those_of_ordinary_ones():
    X = np.random.default_rng(0).standard_normal((5, 3))
    ordinary = slopes(Laplace(0.7), X, X, np).cross
    tiny = slopes(Laplace(0.7e-120), 1e-120 * X, 1e-120 * X, np).cross
    assert tiny * 1e-120**2 == pytest.approx(ordinary, rel=1e-12)


def test_the_smoothness_of_a_matern_kernel_has_to_be_named():
    assert Matern(3.0).lengthscale == 3.0
    with pytest.raises(TypeError):
        Matern(1.0, 2.5)


@pytest.mark.parametrize("dtype", ["int16", "uint16"])
def test_integers_of_16_bits_keep_the_digits_of_their_differences(dtype):
    X = (30_000 + np.random.default_rng(0).integers(0, 3, (20, 6))).astype(dtype)
    kernel, wide = Gaussian(1.5), X.astype(float)
    assert np.array_equal(kernel(X), kernel(wide))
    features = RandomFourier(kernel, n_components=64, random_state=0).fit(wide)
    assert np.array_equal(features.transform(X), features.transform(wide))
