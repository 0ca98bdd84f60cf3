"""Tests of the powered exponential kernel against loops and its neighbours."""

import math

import numpy as np
import pytest
import scipy.sparse

import mercer
import oracles
from mercer import Gaussian, KernelRidge, Laplace, PoweredExponential, ProductLaplace
from mercer.features.for_kernel import has_features


def rows():
    X = np.random.default_rng(0).standard_normal((9, 4))
    X[1], X[2], X[7] = X[0], X[0] + 1e-9, 0.0
    return X


@pytest.mark.parametrize("power", [0.1, 0.5, 1.0, 1.5, 2.0])
def test_powers_of_the_euclidean_distance_equal_a_loop(power):
    X = rows()
    expected = oracles.pairwise(lambda x, y: math.exp(-((math.dist(x, y) / 1.3) ** power)), X, X)
    assert PoweredExponential(1.3, power)(X) == pytest.approx(expected, rel=1e-11)
    single = X.astype(np.float32).astype(float)
    expected = oracles.pairwise(
        lambda x, y: math.exp(-((math.dist(x, y) / 1.3) ** power)), single, single
    )
    assert PoweredExponential(1.3, power)(X.astype("f4")) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("power", [0.1, 0.5, 1.0])
def test_powers_of_the_sum_of_differences_equal_a_loop(power):
    X = rows()
    expected = oracles.pairwise(lambda x, y: math.exp(-((abs(x - y).sum() / 1.3) ** power)), X, X)
    kernel = PoweredExponential(1.3, power, "manhattan")
    assert kernel(X) == pytest.approx(expected, rel=1e-11)
    assert kernel(scipy.sparse.csr_array(X)) == pytest.approx(expected, rel=1e-11)


def test_special_powers_are_other_kernels():
    X = rows()
    assert PoweredExponential(0.8)(X) == pytest.approx(Laplace(0.8)(X), rel=1e-13)
    assert PoweredExponential(0.8, 2.0)(X) == pytest.approx(Gaussian(0.8 / 2**0.5)(X), rel=1e-13)
    manhattan = PoweredExponential(0.8, norm="manhattan")
    assert np.array_equal(manhattan(X), ProductLaplace(0.8)(X))


def test_the_median_is_that_of_the_norm():
    X = rows()
    for norm, other in (("euclidean", Laplace), ("manhattan", ProductLaplace)):
        fitted = PoweredExponential("median", 0.5, norm).fitted_to(X)
        assert fitted.lengthscale == other("median").fitted_to(X).lengthscale


@pytest.mark.parametrize("power", [1.001, 1.5, 2.0])
def test_powers_that_are_not_positive_definite_are_refused(power):
    kernel = PoweredExponential(power=power, norm="manhattan")
    for part in (kernel, Gaussian() + kernel):
        with pytest.raises(ValueError, match=r"at most 1 for norm='manhattan'.*positive definite"):
            part(np.eye(3))
    with pytest.raises(ValueError, match="power"):
        PoweredExponential(power=2.1)(np.eye(3))
    # At power 1.5 this matrix indeed has a negative eigenvalue.
    corners = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    X = np.vstack([corners, np.zeros((1, 3))])
    sums = abs(X[:, None] - X[None]).sum(axis=2)
    assert np.linalg.eigvalsh(np.exp(-((0.3 * sums) ** 1.5)))[0] < -1e-3
    assert np.linalg.eigvalsh(PoweredExponential(1 / 0.3, 0.9, "manhattan")(X))[0] > 0


def test_there_are_no_features_of_it():
    assert not has_features(PoweredExponential())
    assert not has_features(PoweredExponential(power=0.5, norm="manhattan"))


def test_a_machine_with_it_can_be_stored(tmp_path):
    X = rows()
    kernel = PoweredExponential("median", 0.7, "manhattan")
    model = KernelRidge(kernel, alpha=0.1).fit(X, X[:, 0])
    mercer.save(model, tmp_path / "model.mercer")
    assert np.array_equal(mercer.load(tmp_path / "model.mercer").predict(X), model.predict(X))


def test_extreme_lengthscales():
    X = np.random.default_rng(0).standard_normal((3, 2))
    for norm in ("euclidean", "manhattan"):
        for value in (1e-300, 1e-200, 1e-20):
            assert np.array_equal(PoweredExponential(value, 0.5, norm)(X), np.eye(3))
        expected = PoweredExponential(0.7, 0.5, norm)(X)
        for size in (1e-170, 1e170):
            actual = PoweredExponential(0.7 * size, 0.5, norm)(X * size)
            assert actual == pytest.approx(expected, rel=1e-12)
