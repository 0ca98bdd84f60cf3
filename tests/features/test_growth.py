"""Tests of maps that find their number of features by growing."""

import numpy as np
import pytest

import mercer
from mercer import (
    ArcCosineFeatures,
    Gaussian,
    NNGPFeatures,
    NTKFeatures,
    PolynomialSketch,
    RandomFourier,
)
from mercer.features.growth import GrowthPath, Parts, grown_parts


def rows(n=300, d=4):
    return np.random.default_rng(0).standard_normal((n, d))


def relative_error(features, X):
    Z, K = features.transform(X), features.kernel_(X)
    return np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)


@pytest.mark.parametrize(
    "features",
    [
        RandomFourier(Gaussian("median"), n_components="auto", tolerance=0.03, random_state=0),
        ArcCosineFeatures(order=0, n_components="auto", tolerance=0.02, random_state=0),
        NTKFeatures(depth=2, n_components="auto", tolerance=0.02, random_state=0),
        NNGPFeatures(depth=2, n_components="auto", tolerance=0.02, random_state=0),
        PolynomialSketch(degree=2, n_components="auto", tolerance=0.15, random_state=0),
    ],
)
def test_maps_grow_until_the_kernel_error_is_small(features):
    X = rows()
    features.fit(X)
    assert features.growth_.values[-1] <= features.tolerance
    assert all(value > features.tolerance for value in features.growth_.values[:-1])
    assert features.n_features_out_ == features.growth_.sizes[-1] == features.transform(X).shape[1]
    # All rows were measured: the error is that of the features.
    assert np.isclose(relative_error(features, X), features.growth_.values[-1])


def test_parts_are_unbiased_and_errors_fall_as_they_grow():
    X = rows(40)
    K = Gaussian(2.0)(X)
    sums = np.zeros_like(K)
    squares = np.zeros_like(K)
    for seed in range(60):
        maps = [
            RandomFourier(Gaussian(2.0), n_components=m, random_state=seed * 9 + m).fit(X)
            for m in (8, 16, 40)
        ]
        Z = Parts(maps).features(X, np)
        sums += Z @ Z.T
        squares += (Z @ Z.T) ** 2
    mean = sums / 60
    errors = np.sqrt(np.maximum(squares / 60 - mean**2, 0) / 59)
    off = ~np.eye(40, dtype=bool)
    assert np.abs(mean - K)[off].max() <= 5 * errors[off].max()
    # The mean of independent maps, by their sizes, has the error of one map of all features.
    assert np.abs(np.diag(mean) - 1).max() < 1e-12


def test_the_first_part_is_the_plain_map_and_seeds_repeat():
    X = rows()
    grown = RandomFourier(n_components="auto", tolerance=0.05, random_state=3).fit(X)
    again = RandomFourier(n_components="auto", tolerance=0.05, random_state=3).fit(X)
    assert np.array_equal(grown.transform(X), again.transform(X))
    size = grown.parts_.maps[0].n_features_out_
    plain = RandomFourier(n_components=size, random_state=3).fit(X)
    assert np.array_equal(plain.transform(X), grown.parts_.maps[0].transform(X))


def test_more_features_that_do_not_help_end_the_growth():
    X, sizes = rows(50), []

    def error(Z):
        sizes.append(Z.shape[1])
        return 0.5

    features = RandomFourier(n_components="auto", random_state=0)
    with pytest.warns(
        UserWarning, match="the missing share is 0.5, not 0.01: more features do not"
    ):
        parts, path = grown_parts(
            features, Gaussian(), 0, X, tolerance=0.01, error=error, name="missing share"
        )
    assert path.stopped == "more features do not help"
    assert list(path.sizes) == sizes == [256, 512, 1024]
    assert parts.size == 1024


def test_the_memory_budget_ends_the_growth():
    features = RandomFourier(n_components="auto", tolerance=1e-4, random_state=0)
    with mercer.config(memory="8MB"), pytest.warns(UserWarning, match="memory budget"):
        features.fit(rows())
    assert features.n_features_out_ < 4000


def test_dtype_blocks_and_files(tmp_path):
    X = rows(500)
    features = RandomFourier(n_components="auto", random_state=0).fit(X)
    assert features.transform(X.astype(np.float32)).dtype == np.float32
    with mercer.config(block_rows=7):
        assert np.allclose(features.transform(X), features.transform(X[::-1])[::-1], atol=1e-12)
    mercer.save(features, tmp_path / "map.mercer")
    loaded = mercer.load(tmp_path / "map.mercer")
    assert np.array_equal(loaded.transform(X), features.transform(X))
    assert loaded.growth_ == features.growth_


def test_a_number_forgets_the_growth():
    X = rows()
    features = RandomFourier(n_components="auto", random_state=0).fit(X)
    features.set_params(n_components=10).fit(X)
    assert features.parts_ is None
    assert features.transform(X).shape == (300, 10)
    assert not hasattr(features, "growth_")


def test_path_reads_as_a_sentence():
    path = GrowthPath((2, 4), (0.5, 0.25), "kernel error", "at most 0.3")
    assert repr(path) == "kernel error 0.5 with 2, 0.25 with 4 features; stopped: at most 0.3"


def test_a_map_that_grows_says_which_method_it_has_chosen():
    X = np.random.default_rng(0).standard_normal((60, 5))
    given = NTKFeatures(random_state=0, tolerance=0.3).set_params(n_components="auto")
    features = given.fit(X)
    assert {part.method_ for part in features.parts_.maps} == set(features.method_.split("; "))
    assert features.method_reason_
