"""Tests of the measured approximation error."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
)
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

import mercer
from mercer.features.some_rows import drawn, inclusion_probabilities, relative_norm


def test_error_is_measured_on_the_rows_it_says():
    X = np.random.default_rng(0).standard_normal((50, 4))
    features = mercer.RandomFourier(n_components=64, random_state=0).fit(X)
    error = mercer.approximation_error(features, X)
    Z, K = features.transform(X), features.kernel_(X)
    assert error.relative == pytest.approx(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
    assert error.largest == pytest.approx(abs(Z @ Z.T - K).max())
    assert error.n_rows == 50
    assert str(error) == f"relative error {error.relative:.3g}, largest difference " + (
        f"{error.largest:.3g} (50 rows)"
    )


def test_a_sample_of_rows_is_enough_and_reproducible():
    X = np.random.default_rng(0).standard_normal((2000, 4))
    features = mercer.RandomFourier(n_components=64, random_state=0).fit(X)
    error = mercer.approximation_error(features, X, n_rows=100)
    assert error.n_rows == 100
    assert error == mercer.approximation_error(features, X, n_rows=100)
    assert error != mercer.approximation_error(features, X, n_rows=100, random_state=1)
    sparse = mercer.approximation_error(features, scipy.sparse.csr_array(X), n_rows=100)
    assert sparse.relative == pytest.approx(error.relative)


def test_an_unfitted_map_is_refused():
    with pytest.raises(NotFittedError):
        mercer.approximation_error(mercer.RandomFourier(), np.zeros((3, 2)))


def test_data_frames_go_in_and_frames_as_output_do_not_matter():
    import pandas

    X = np.random.default_rng(0).standard_normal((50, 3))
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    features = mercer.RandomFourier(n_components=16, random_state=0).set_output(transform="pandas")
    expected = mercer.approximation_error(
        mercer.RandomFourier(n_components=16, random_state=0).fit(X), X
    )
    found = mercer.approximation_error(features.fit(frame), frame)
    # A frame is laid out by columns: products may differ in the last digit.
    assert found.relative == pytest.approx(expected.relative, rel=1e-12)
    assert found.n_rows == expected.n_rows
    assert mercer.approximation_error(features, frame, n_rows=20, random_state=None).n_rows == 20


def test_bad_arguments_and_zero_rows():
    X = np.zeros((5, 3))
    features = mercer.ArcCosineFeatures(n_components=16).fit(X)
    assert mercer.approximation_error(features, X).relative == 0.0
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="n_rows"):
            mercer.approximation_error(features, X, n_rows=wrong)


@pytest.mark.parametrize(
    "features",
    [
        mercer.RandomFourier(mercer.Gaussian(2.0), n_components=40),
        mercer.NystromFeatures(mercer.Laplace(2.0), n_components=20),
        mercer.NTKFeatures(depth=1, n_components=40, method="random", n_step=20),
        mercer.PolynomialSketch(degree=3, n_components=25),
    ],
    ids=lambda features: type(features).__name__,
)
def test_intervals_cover_the_error_of_all_rows(features):
    generator = np.random.default_rng(2)
    X = generator.standard_normal((1000, 4))
    features.set_params(random_state=0).fit(X)
    K = features.kernel_(X)
    Z = features.transform(X)
    true = np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)
    covered, ratios = 0, []
    for seed in range(100):
        found = mercer.approximation_error(features, X, n_rows=250, random_state=seed)
        covered += found.low <= true <= found.high
        ratios.append(found.relative / true)
    # Of 100 intervals of 95 % fewer than 88 cover once in some hundred times.
    assert covered >= 88
    assert np.mean(ratios) == pytest.approx(1, abs=0.02)


def test_rows_are_drawn_as_often_as_their_probabilities_say():
    sizes = np.array([1.0, 2.0, 3.0, 4.0, 100.0])
    inclusion = inclusion_probabilities(sizes, 3)
    assert inclusion == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    generator, counts = np.random.default_rng(0), np.zeros(5)
    for _ in range(2000):
        chosen = drawn(inclusion, generator)
        assert len(np.unique(chosen)) == 3
        counts[chosen] += 1
    error = np.sqrt(inclusion * (1 - inclusion) / 2000)
    assert (abs(counts / 2000 - inclusion) <= 4 * error).all()


def test_what_is_returned_does_not_matter_to_the_error():
    X = np.random.default_rng(0).standard_normal((200, 60))
    for features in (
        mercer.TernaryFeatures(n_components=500, sparsity=0.5, random_state=0),
        mercer.QuantizedFourier(mercer.Gaussian(8.0), n_components=500, bits=2, random_state=0),
    ):
        errors = {
            output: mercer.approximation_error(features.set_params(output=output).fit(X), X)
            for output in ("float", "packed")
        }
        assert errors["packed"].relative == pytest.approx(errors["float"].relative, rel=1e-6)
        assert errors["packed"].relative < 0.5


def test_maps_of_scikit_learn_say_their_kernel():
    X = np.random.default_rng(0).standard_normal((200, 5))
    for features, kernel in (
        (RBFSampler(gamma=0.1, n_components=2000, random_state=0), lambda A: rbf_kernel(A, A, 0.1)),
        (
            Nystroem(kernel="polynomial", degree=2, n_components=100, random_state=0),
            lambda A: polynomial_kernel(A, A, degree=2),
        ),
        (
            PolynomialCountSketch(degree=2, coef0=1, n_components=3000, random_state=0),
            lambda A: polynomial_kernel(A, A, 2, 1.0, 1),
        ),
    ):
        Z, K = features.fit(X).transform(X), kernel(X)
        expected = np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)
        found = mercer.approximation_error(features, X)
        assert found.relative == pytest.approx(expected, rel=1e-6)
        assert found.low is None
    with pytest.raises(TypeError, match="give it as kernel="):
        mercer.approximation_error(AdditiveChi2Sampler().fit(abs(X)), abs(X))
    chi = mercer.approximation_error(
        AdditiveChi2Sampler().fit(abs(X)), abs(X), kernel=lambda A, B: rbf_kernel(A, B)
    )
    assert chi.relative > 0


def test_an_interval_needs_rows():
    with pytest.raises(ValueError, match="at least 3"):
        relative_norm(np.eye(2), np.eye(2), np.full(2, 0.1))
    assert relative_norm(np.zeros((4, 4)), np.eye(4), np.full(4, 0.1)) == (0.0, 0.0, 0.0)
    # Where every row was certain nothing is left to chance.
    squares = np.random.default_rng(0).random((6, 6))
    value, low, high = relative_norm(squares + squares.T, np.ones((6, 6)), np.ones(6))
    assert value == low == high == pytest.approx(((squares + squares.T).mean()) ** 0.5)
