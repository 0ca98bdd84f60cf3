"""Tests of features of the neural tangent kernel: errors, methods, baselines, refusals."""

import numpy as np
import pytest

from mercer import (
    NTK,
    DotProductSketch,
    Exponential,
    Gaussian,
    GradientFeatures,
    KernelRegressor,
    NNGPFeatures,
    NTKFeatures,
    PolynomialSketch,
    TensorNTKFeatures,
)


def clustered_rows(n=60, d=20):
    generator = np.random.default_rng(0)
    centres = generator.standard_normal((6, d))
    X = np.repeat(centres, n // 6, axis=0) + 0.5 * generator.standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def relative_error(make, depth, seeds=4):
    X = clustered_rows()
    K = NTK(depth)(X)
    errors = []
    for seed in range(seeds):
        Z = make(depth, seed).fit_transform(X)
        errors.append(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
    return np.mean(errors)


#: Mean errors over twelve seeds may not be above these at 1,024 features.
BOUNDS = {
    "paper": ({"method": "random", "variant": "paper", "n_step": 1024}, (0.12, 0.18, 0.22)),
    "improved": ({"method": "random", "n_step": 1024}, (0.065, 0.12, 0.16)),
    "one-shot": ({"method": "one-shot"}, (0.04, 0.05, 0.06)),
}


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_errors_at_a_thousand_features(name, depth):
    options, bounds = BOUNDS[name]

    def make(depth, seed):
        return NTKFeatures(depth, n_components=1024, random_state=seed, **options)

    assert relative_error(make, depth, seeds=12) <= bounds[depth - 1]


def test_baselines_are_worse_at_equal_dimension():
    def one_shot(depth, seed):
        return NTKFeatures(depth, n_components=1000, random_state=seed)

    def gradient(depth, seed):
        return GradientFeatures(depth, width=47, random_state=seed)

    def tensor(depth, seed):
        return TensorNTKFeatures(depth, n_relu=500, n_step=25, random_state=seed)

    ours = relative_error(one_shot, 1)
    assert 2 * ours < relative_error(gradient, 1)
    assert 2 * ours < relative_error(tensor, 1)


@pytest.mark.parametrize("method", ["one-shot", "random", "sketch"])
def test_features_are_homogeneous_and_zero_at_zero(method):
    X = clustered_rows(12)
    X[3] = 0.0
    features = NTKFeatures(2, n_components=64, method=method, random_state=0).fit(X)
    Z = features.transform(X)
    assert not Z[3].any()
    assert features.transform(5.0 * X) == pytest.approx(5.0 * Z, rel=1e-9, abs=1e-12)


def test_sharing_directions_changes_little():
    def make(share):
        return lambda depth, seed: NTKFeatures(
            depth, n_components=1024, method="random", share=share, random_state=seed
        )

    assert relative_error(make(True), 2) < 1.2 * relative_error(make(False), 2)


@pytest.mark.parametrize("sampling", ["leverage", "gibbs", "gaussian", "orthogonal"])
def test_every_sampling_converges(sampling):
    def make(size):
        return lambda depth, seed: NTKFeatures(
            depth,
            n_components=size,
            method="random",
            variant="paper",
            sampling=sampling,
            random_state=seed,
        )

    assert relative_error(make(2048), 1) < 0.7 * relative_error(make(256), 1)


def test_gradients_are_those_of_the_network():
    """Central differences of the network's output with respect to every weight."""
    X = np.random.default_rng(0).standard_normal((2, 3))
    features = GradientFeatures(depth=2, width=3, random_state=0).fit(X)
    weights = [w.copy() for w in features.network_weights_]

    def output(x):
        for w in weights[:-1]:
            x = np.sqrt(2 / 3) * np.maximum(x @ w, 0)
        return (x @ weights[-1])[:, 0]

    columns = []
    for layer in (2, 1, 0):
        # The features have a column for each output and input of a layer, in this order.
        for j in range(weights[layer].shape[1]):
            for i in range(weights[layer].shape[0]):
                kept = weights[layer][i, j]
                ends = []
                for step in (1e-6, -1e-6):
                    weights[layer][i, j] = kept + step
                    ends.append(output(X))
                weights[layer][i, j] = kept
                columns.append((ends[0] - ends[1]) / 2e-6)
    assert features.transform(X) == pytest.approx(np.stack(columns, axis=1), abs=1e-6)


def test_explosions_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"columns .* use NTKFeatures"):
        TensorNTKFeatures(depth=5, n_step=64).fit(np.eye(4))
    with pytest.raises(ValueError, match="smaller width"):
        GradientFeatures(depth=3, width=2000).fit(np.eye(4))
    with pytest.raises(ValueError, match="smaller n_relu"):
        NTKFeatures(method="random", n_components=10, n_relu=10).fit(np.eye(4))
    with pytest.raises(ValueError, match="power series"):
        DotProductSketch(Gaussian()).fit(np.eye(4))


def test_process_features_come_close():
    X = clustered_rows()
    for method in ("one-shot", "random"):
        features = NNGPFeatures(3, n_components=600, method=method, random_state=0).fit(X)
        Z, K = features.transform(X), features.kernel_(X)
        assert np.linalg.norm(Z @ Z.T - K) < 0.15 * np.linalg.norm(K)


def test_powers_of_the_rows_that_overflow_are_refused():
    X = np.full((2, 3), 1e200)
    for features in (PolynomialSketch(degree=3), DotProductSketch(Exponential(), n_components=8)):
        with pytest.raises(ValueError, match="overflow"):
            features.fit(X).transform(X)


def test_the_front_door_has_features_of_the_tangent_kernel():
    generator = np.random.default_rng(0)
    X = generator.uniform(-2, 2, (2500, 3))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    model = KernelRegressor(NTK(depth=2), n_components=256).fit(X, y)
    assert model.report_.method == "features"
    assert model.report_.score > 0.9
    assert model.encoder_.constant > 0
