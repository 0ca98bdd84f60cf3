"""K-means and components on blocks of Dask: as on one machine, however the rows are cut."""

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.cluster import KMeans

from mercer import Gaussian, KernelKMeans, KernelPCA, RandomFourier
from mercer.engine.sample import RowSample
from mercer.machines import k_means_on_cluster

pytestmark = pytest.mark.usefixtures("sync")


@pytest.fixture
def groups():
    """Rows about four places that overlap a little."""
    generator = np.random.default_rng(0)
    places = np.asarray([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]])
    return places[generator.integers(4, size=1500)] + 0.8 * generator.standard_normal((1500, 2))


def fourier(m=40):
    return RandomFourier(Gaussian("median"), n_components=m, random_state=0)


@pytest.mark.parametrize("invertible", [False, True])
def test_components_are_those_of_one_machine(invertible, groups, unequal):
    machine = {"n_components": 3, "fit_inverse_transform": invertible}
    expected = KernelPCA(fourier(), **machine).fit(groups)
    dX = da.from_array(groups, chunks=(unequal, 1))
    found = KernelPCA(fourier(), **machine).fit(dX)
    assert np.allclose(found.components_, expected.components_, rtol=0, atol=1e-10)
    assert np.allclose(found.explained_variance_ratio_, expected.explained_variance_ratio_)
    assert found.n_samples_seen_ == 1500
    scores = found.transform(dX)
    assert scores.shape == (1500, 3)
    assert np.allclose(scores.compute(), expected.transform(groups), rtol=0, atol=1e-9)
    if invertible:
        back = found.inverse_transform(scores.compute())
        assert np.allclose(back, expected.inverse_transform(expected.transform(groups)))


def test_components_refuse_weights_and_empty_clusters(groups):
    with pytest.raises(ValueError, match="sample weights other than 1"):
        KernelPCA(fourier()).fit([dask.delayed((groups, None, np.full(1500, 2.0)))])
    with pytest.raises(ValueError, match="All blocks of X are empty"):
        KernelPCA(fourier()).fit([dask.delayed((groups[:0],))])


@pytest.mark.parametrize("weighted", [False, True])
def test_few_rows_are_clustered_as_on_one_machine(weighted, groups, unequal):
    weights = np.random.default_rng(1).integers(1, 4, 1500).astype(float) if weighted else None
    expected = KernelKMeans(fourier(), n_clusters=4).fit(groups, sample_weight=weights)
    dX = da.from_array(groups, chunks=(unequal, -1))
    own = None if weights is None else da.from_array(weights, chunks=500)
    found = KernelKMeans(fourier(), n_clusters=4).fit(dX, sample_weight=own)
    assert np.allclose(found.cluster_centers_, expected.cluster_centers_, rtol=0, atol=1e-10)
    assert found.inertia_ == pytest.approx(expected.inertia_, rel=1e-10)
    assert found.labels_ is None
    assert np.array_equal(found.predict(dX).compute(), expected.predict(groups))
    distances = found.transform(dX)
    assert distances.shape == (1500, 4)
    assert np.allclose(distances.compute(), expected.transform(groups), atol=1e-9)
    if not weighted:
        # The kernel matrix of all rows: once is enough.
        assert found.objective_.mean == pytest.approx(expected.objective_.mean, rel=1e-9)
    assert found.score(dX, sample_weight=own) == pytest.approx(-found.inertia_, rel=1e-10)


def lloyd(Z, centers, tolerance, weights):
    """Return centers after iterations over all rows, the slow and obvious way."""
    while True:
        closest = np.argmin([np.sum((Z - c) ** 2, axis=1) for c in centers], axis=0)
        fresh = np.asarray(
            [np.average(Z[closest == k], axis=0, weights=weights[closest == k]) for k in range(4)]
        )
        moved = np.sum((fresh - centers) ** 2)
        centers = fresh
        if moved <= tolerance:
            return centers


@pytest.mark.parametrize("weighted", [False, True])
def test_iterations_are_those_of_lloyd_from_the_centers_of_a_sample(
    weighted, groups, unequal, monkeypatch
):
    monkeypatch.setattr(k_means_on_cluster, "START_ROWS", 60)
    weights = np.random.default_rng(1).integers(1, 4, 1500).astype(float) if weighted else None
    features = RandomFourier(Gaussian(2.0), n_components=20, random_state=0)
    machine = KernelKMeans(features, n_clusters=4, tol=1e-3)
    own = None if weights is None else da.from_array(weights, chunks=300)
    found = machine.fit(da.from_array(groups, chunks=(unequal, -1)), sample_weight=own)
    assert found.n_iter_ > 2

    counts = np.ones(1500) if weights is None else weights
    sample = RowSample(60, k_means_on_cluster.Stream(0).child("starts"))
    sample.add(groups, counts)
    Z = found.features_.transform(sample.columns[0])
    start = KMeans(4, n_init=5, max_iter=300, tol=1e-3, random_state=0)
    start.fit(Z, sample_weight=sample.columns[1])
    tolerance = 1e-3 * np.mean(np.var(Z, axis=0))
    all_rows = found.features_.transform(groups)
    centers = lloyd(all_rows, start.cluster_centers_, tolerance, counts)
    assert np.allclose(found.cluster_centers_, centers, rtol=0, atol=1e-10)
    inertia = counts @ np.min([np.sum((all_rows - c) ** 2, axis=1) for c in centers], axis=0)
    assert found.inertia_ == pytest.approx(inertia, rel=1e-9)
    for lengths in (400,):
        own = None if weights is None else da.from_array(weights, chunks=lengths)
        again = machine.fit(da.from_array(groups, chunks=(lengths, -1)), sample_weight=own)
        assert np.allclose(again.cluster_centers_, centers, rtol=0, atol=1e-10)


def test_more_clusters_than_rows_are_refused(groups):
    few = da.from_array(groups[:3], chunks=(2, -1))
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
        KernelKMeans(fourier(), n_clusters=4).fit(few)
