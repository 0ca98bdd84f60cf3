"""Tests of Nyström features against dense formulas, and of the ways to choose landmarks."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

import mercer
from mercer import (
    NTK,
    FeatureRidge,
    FunctionKernel,
    Gaussian,
    KernelRidge,
    Laplace,
    NystromFeatures,
    Polynomial,
    ProductLaplace,
    Zonal,
    approximation_error,
)
from mercer.features.nystrom.candidates import KernelOfRows
from mercer.features.nystrom.choice import CHOICES, seeded_landmarks
from mercer.features.nystrom.leverage import leverage_scores
from mercer.features.nystrom.root import LandmarkRoot

WAYS = sorted(CHOICES)


def rows(n=200, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def clustered():
    """Return 970 rows in a heap, and 30 far from it and from each other."""
    rng = np.random.default_rng(0)
    heap, far = 0.1 * rng.standard_normal((970, 3)), 10 * rng.standard_normal((30, 3))
    return np.concatenate([heap, far])


def missing(features, X):
    Z = features.transform(X)
    return float(features.kernel_.diag(X).sum() - (Z * Z).sum())


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.5),
        Laplace(2.0),
        ProductLaplace(3.0),
        NTK(depth=2),
        Gaussian(1.0) + 0.5 * Polynomial(degree=2),
        Zonal(lambda t: 1 / (2 - t)),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
@pytest.mark.parametrize("way", WAYS)
def test_inner_products_are_the_projection_onto_the_landmarks(kernel, way):
    X = rows()
    features = NystromFeatures(kernel, n_components=30, landmarks=way, random_state=0).fit(X)
    Z, Y = features.transform(X), features.landmarks_
    cross = kernel(X, Y)
    expected = cross @ np.linalg.solve(kernel(Y), cross.T)
    assert np.abs(Z @ Z.T - expected).max() < 1e-7 * np.abs(expected).max()
    at = features.transform(Y)
    assert np.abs(at @ at.T - kernel(Y)).max() < 1e-9 * np.abs(kernel(Y)).max()


def test_all_rows_as_landmarks_give_the_exact_kernel_and_its_machine():
    X, new = rows(80), rows(20, seed=1)
    y = np.sin(X[:, 0]) + X[:, 1]
    kernel = Laplace(3.0)
    features = NystromFeatures(kernel, n_components=80).fit(X)
    Z = features.transform(X)
    assert np.abs(Z @ Z.T - kernel(X)).max() < 1e-10
    seen = FeatureRidge(features, alpha=1e-2).fit(X, y)
    exact = KernelRidge(kernel, alpha=1e-2, solver="direct").fit(X, y)
    assert seen.predict(new) == pytest.approx(exact.predict(new), abs=1e-8)


def lost_by(way, seed, X):
    features = NystromFeatures(Gaussian(), n_components=40, landmarks=way, random_state=seed)
    return missing(features.fit(X), X)


def test_pivots_find_rare_rows_that_uniform_landmarks_miss():
    X = clustered()
    lost = {way: np.mean([lost_by(way, seed, X) for seed in range(5)]) for way in WAYS}
    assert lost["uniform"] > 20
    assert lost["leverage"] < 0.6 * lost["uniform"]
    assert lost["rpcholesky"] < 0.1
    assert lost["kmeans++"] < 0.5 * lost["uniform"]


def test_leverage_scores_from_all_rows_are_the_exact_ones():
    X = rows(60)
    K = KernelOfRows(Gaussian(2.0), X)
    everything = np.arange(60)
    scores = leverage_scores(K, everything, everything, np.ones(60), 10)
    dense = Gaussian(2.0)(X)
    ridge = np.sort(np.linalg.eigvalsh(dense))[:-10].sum() / 10
    expected = np.diag(np.linalg.solve(dense + ridge * np.eye(60), dense))
    assert scores == pytest.approx(expected, rel=1e-8)


def test_seeds_of_landmarks_are_drawn_by_their_squared_distances():
    # Three rows at 0, 1 and 3 of the linear kernel: from 0, the others are drawn 1 to 9.
    K = KernelOfRows(Polynomial(degree=1, gamma=1.0, coef0=0.0), np.asarray([[0.0], [1.0], [3.0]]))
    second = []
    for seed in range(3000):
        places = seeded_landmarks(K, 2, np.random.default_rng(seed))
        if places[0] == 0:
            second.append(places[1])
    share, n = np.mean(np.asarray(second) == 2), len(second)
    assert abs(share - 0.9) < 5 * (0.09 / n) ** 0.5


@pytest.mark.parametrize("way", WAYS)
def test_a_kernel_of_low_rank_has_no_more_features(way):
    X = rows(100, d=3)
    features = NystromFeatures(
        Polynomial(degree=1), n_components=50, landmarks=way, random_state=0
    ).fit(X)
    assert features.n_features_out_ == 4
    assert missing(features, X) == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("way", WAYS)
def test_copies_of_rows_are_dropped(way):
    X = np.repeat(rows(10), 30, axis=0)
    features = NystromFeatures(n_components=40, landmarks=way, random_state=0).fit(X)
    assert features.n_features_out_ <= 10
    if way != "uniform":
        assert missing(features, X) < 1e-8


def test_landmarks_are_given_as_rows_as_numbers_or_sparse():
    X = rows()
    numbers = np.asarray([5, 190, 3])
    by_number = NystromFeatures(landmarks=numbers).fit(X)
    by_rows = NystromFeatures(landmarks=X[numbers]).fit(X)
    sparse = NystromFeatures(landmarks=scipy.sparse.csr_array(X[numbers])).fit(X)
    assert not by_rows.needs_data()
    assert by_number.needs_data()
    expected = by_rows.transform(X)
    assert np.array_equal(by_number.transform(X), expected)
    assert np.array_equal(sparse.transform(X), expected)


@pytest.mark.parametrize(
    ("landmarks", "words"),
    [
        (np.asarray([0, 500]), "not the number of a row: X has 200 rows"),
        (np.asarray([-1]), "not the number of a row"),
        (np.asarray([0.5, 1.0]), "whole numbers"),
        (np.zeros((0,), dtype=int), "whole numbers"),
        (rows(5, d=3), "must have the 4 columns of X, got 3"),
        ("random", "landmarks"),
    ],
)
def test_landmarks_that_cannot_be_are_refused(landmarks, words):
    with pytest.raises(ValueError, match=words):
        NystromFeatures(landmarks=landmarks).fit(rows())


def test_a_precomputed_kernel_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="has no rows to take landmarks from"):
        NystromFeatures("precomputed").fit(np.eye(5))


def test_a_kernel_of_zero_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="nothing to make features of"):
        NystromFeatures(Polynomial(degree=1, coef0=0.0)).fit(np.zeros((20, 3)))


def test_a_function_of_two_blocks_is_a_kernel():
    X = rows(50)
    function = NystromFeatures(rbf_kernel, n_components=20, random_state=0).fit(X)
    kernel = NystromFeatures(Gaussian(2**0.5), n_components=20, random_state=0)
    assert isinstance(function.kernel_, FunctionKernel)
    # rbf_kernel has gamma = 1 / 4 for four columns.
    assert np.abs(function.transform(X) - kernel.fit(X).transform(X)).max() < 1e-6
    assert FunctionKernel(polynomial_kernel).diag(X) == pytest.approx(
        np.diag(polynomial_kernel(X)), rel=1e-12
    )
    with pytest.raises(ValueError, match=r"matrix of shape \(50, 50\)"):
        FunctionKernel(lambda X, Y: X)(X)


def test_float32_rows_of_an_ill_conditioned_kernel_keep_their_digits():
    X = rows(500, d=2)
    features = NystromFeatures(Gaussian(8.0), n_components=60, random_state=0).fit(X)
    assert not features.single_
    single = features.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    K = Gaussian(8.0)(X)
    assert np.abs(single @ single.T - K).max() < 1e-5
    rough = NystromFeatures(Laplace(2.0), n_components=60, random_state=0).fit(X)
    assert rough.single_
    assert np.abs(rough.transform(X.astype(np.float32)) - rough.transform(X)).max() < 1e-4


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**6))
def test_the_root_reproduces_semidefinite_matrices(size, rank, seed):
    F = np.random.default_rng(seed).standard_normal((size, rank))
    K = F @ F.T
    root = LandmarkRoot(K)
    assert len(root.kept) <= min(size, rank)
    Z = root.features(K)
    assert np.abs(Z @ Z.T - K).max() < 1e-6 * np.abs(K).max()
    theta = np.random.default_rng(seed).standard_normal((len(root.kept), 2))
    assert Z @ theta == pytest.approx(K @ root.coefficients(theta), rel=1e-6, abs=1e-6)


def test_a_stream_is_sampled_and_gives_the_map_of_all_rows():
    X = rows(3000)
    whole = NystromFeatures(n_components=40, n_candidates=500, random_state=0).fit(X)
    streamed = NystromFeatures(n_components=40, n_candidates=500, random_state=0)
    for block in np.array_split(X, 7):
        streamed.partial_fit(block)
    assert np.array_equal(streamed.landmarks_, whole.landmarks_)
    later = sum(bool((X[1500:] == row).all(axis=1).any()) for row in whole.landmarks_)
    assert 8 <= later <= 32


def test_sparse_rows_are_landmarks_that_stay_sparse_where_they_are_wide():
    X = scipy.sparse.random_array((300, 200_000), density=1e-3, format="csr", random_state=0)
    features = NystromFeatures(Gaussian(20.0), n_components=100, random_state=0).fit(X)
    assert scipy.sparse.issparse(features.landmarks_)
    Z, Y = features.transform(X), features.landmarks_
    cross = Gaussian(20.0)(X, Y)
    expected = cross @ np.linalg.solve(Gaussian(20.0)(Y), cross.T)
    assert np.abs(Z @ Z.T - expected).max() < 1e-7


@pytest.mark.parametrize("sparse", [False, True])
def test_a_saved_map_gives_the_same_features(tmp_path, sparse):
    X = rows()
    if sparse:
        X = scipy.sparse.random_array((200, 100_000), density=1e-4, format="csr", random_state=0)
    features = NystromFeatures(Gaussian(9.0), n_components=120, random_state=0)
    machine = FeatureRidge(features, alpha=1.0).fit(X, rows()[:, 0])
    assert scipy.sparse.issparse(machine.features_.landmarks_) == sparse
    mercer.save(machine, tmp_path / "machine.mercer")
    loaded = mercer.load(tmp_path / "machine.mercer")
    assert np.array_equal(loaded.predict(X), machine.predict(X))


def test_landmarks_of_a_smooth_kernel_are_found_beyond_the_digits_of_float32():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 3)) @ rng.standard_normal((3, 8))
    kernel = Gaussian("median").fitted_to(X)
    features = NystromFeatures(kernel, n_components=400, random_state=0).fit(X[:600])
    # float32 columns end with half as many.
    assert features.n_features_out_ > 180
    assert approximation_error(features, X[600:]).relative < 1e-4


def test_a_function_with_a_negative_diagonal_is_refused_in_a_sentence():
    X = np.random.default_rng(0).standard_normal((40, 2))
    with pytest.raises(ValueError, match="zero or negative"):
        NystromFeatures(lambda X, Y: -rbf_kernel(X, Y), n_components=5).fit(X)
