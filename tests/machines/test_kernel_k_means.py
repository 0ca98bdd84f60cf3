"""Tests of kernel k-means: partitions, mini-batches, weights, streams, and the objective."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import Gaussian, KernelKMeans, RandomFourier
from mercer.machines.k_means_state import moved
from mercer.machines.kernel_objective import ClusterTotals, kernel_objective
from mercer.testing import peak_bytes

WEIGHTS = "starts are drawn by the position of a row, so that the same weight as two rows differs"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}


def features(lengthscale=0.4, m=300):
    return RandomFourier(Gaussian(lengthscale), n_components=m, random_state=0)


def rings_and_blob(seed=0):
    """Return two rings, one inside the other, and a blob beside them."""
    X, y = make_circles(600, factor=0.3, noise=0.05, random_state=seed)
    blob = [2.5, 0] + 0.1 * np.random.default_rng(seed).standard_normal((300, 2))
    return np.vstack([X, blob]), np.r_[y, np.full(300, 2)]


def blobs(n=400, seed=0, k=4):
    X, y = make_blobs(n, centers=k, cluster_std=0.4, random_state=seed)
    return X / 4, y


def dense_objective(K, labels, weights=None):
    """Return (tr K - tr C'KC) / n with the normalised indicators C of the clusters."""
    w = np.ones(len(K)) if weights is None else weights
    C = np.stack([(labels == c) * w for c in np.unique(labels)], axis=1)
    C = C / np.sqrt([w[labels == c].sum() for c in np.unique(labels)])
    return (w @ np.diag(K) - np.trace(C.T @ K @ C)) / w.sum()


@pytest.mark.filterwarnings("ignore:The features learn from data")
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@parametrize_with_checks(
    [KernelKMeans(), KernelKMeans(features(1.0, 40), n_clusters=3)],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", [0, 1])
def test_rings_are_separated_in_kernel_space_only(seed):
    X, y = rings_and_blob(seed)
    model = KernelKMeans(features(), n_clusters=3).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    plain = KMeans(3, n_init=5, random_state=0).fit(X)
    assert adjusted_rand_score(y, plain.labels_) < 0.6


def test_it_is_scikit_learn_s_k_means_on_the_features():
    X, _ = blobs()
    model = KernelKMeans(features(), n_clusters=4, random_state=3).fit(X)
    Z = features().fit(X).transform(X)
    expected = KMeans(4, n_init=5, random_state=3).fit(Z)
    assert model.method_ == "k-means"
    assert np.array_equal(model.labels_, expected.labels_)
    assert model.cluster_centers_ == pytest.approx(expected.cluster_centers_, abs=1e-12)
    assert model.inertia_ == pytest.approx(expected.inertia_)
    assert model.n_iter_ == expected.n_iter_
    assert model.transform(X) == pytest.approx(expected.transform(Z), abs=1e-9)
    assert model.score(X[:50]) == pytest.approx(expected.score(Z[:50]))
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(clone(model).fit_predict(X), model.labels_)


def test_small_memory_means_mini_batches_and_says_so():
    X, y = blobs(2000)
    with mercer.config(memory="2MB"):
        model = KernelKMeans(features(), n_clusters=4).fit(X)
    whole = KernelKMeans(features(), n_clusters=4).fit(X)
    assert (model.method_, whole.method_) == ("mini-batches", "k-means")
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert adjusted_rand_score(whole.labels_, model.labels_) > 0.99
    assert model.inertia_ == pytest.approx(whole.inertia_, rel=0.01)
    assert model.inertia_ == pytest.approx(-model.score(X))
    assert 1 < model.n_iter_ < 300


def test_sorted_rows_do_not_mislead_mini_batches():
    X, y = blobs(2000)
    order = np.argsort(y, kind="stable")
    with mercer.config(memory="2MB"):
        model = KernelKMeans(features(), n_clusters=4).fit(X[order])
    assert adjusted_rand_score(y[order], model.labels_) > 0.99


def test_a_missing_value_is_named_by_its_row_in_mini_batches():
    X, _ = blobs(2000)
    X[1234, 1] = np.nan
    model = KernelKMeans(features(), n_clusters=4)
    with mercer.config(memory="2MB"), pytest.raises(ValueError, match="NaN at row 1234, column 1"):
        model.fit(X)
    with pytest.raises(ValueError, match="NaN at row 1234, column 1"):
        model.fit(X)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_step_is_that_of_scikit_learn_s_mini_batches():
    generator = np.random.default_rng(0)
    Z, w = generator.standard_normal((5, 40, 3)), generator.uniform(0.5, 2, (5, 40))
    centers, counts = Z[0, :4].copy(), np.zeros(4)
    expected = MiniBatchKMeans(4, init=centers.copy(), n_init=1, reassignment_ratio=0)
    for block, weights in zip(Z, w, strict=True):
        expected.partial_fit(block, sample_weight=weights)
        squares = ((block[:, None] - centers) ** 2).sum(axis=2)
        labels = squares.argmin(axis=1)
        centers, counts = moved(centers, counts, block, weights, labels, squares.min(axis=1))
        assert centers == pytest.approx(expected.cluster_centers_, abs=1e-12)
    assert counts.sum() == pytest.approx(w.sum())


def test_partial_fit_goes_on_from_what_was_learnt():
    X, y = blobs(1200)
    parts = np.array_split(np.random.default_rng(0).permutation(1200), 6)
    streamed = KernelKMeans(features(), n_clusters=4)
    for rows in parts:
        streamed.partial_fit(X[rows])
    assert streamed.method_ == "mini-batches"
    assert streamed.labels_ is None
    assert streamed.inertia_ is None
    assert adjusted_rand_score(y, streamed.predict(X)) > 0.99
    # After a fit of k-means its clusters weigh as much as their rows.
    model = KernelKMeans(features(), n_clusters=4).fit(X)
    before, sizes = model.cluster_centers_.copy(), np.bincount(model.labels_)
    model.partial_fit(X[:1])
    own = model.predict(X[:1])[0]
    z = model.features_.transform(X[:1])[0]
    expected = (before[own] * sizes[own] + z) / (sizes[own] + 1)
    assert model.cluster_centers_[own] == pytest.approx(expected, abs=1e-12)
    others = np.arange(4) != own
    assert np.array_equal(model.cluster_centers_[others], before[others])


def test_a_block_that_is_refused_changes_nothing():
    X, _ = blobs()
    model = KernelKMeans(features(), n_clusters=4).partial_fit(X)
    before = model.cluster_centers_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((3, 2), np.nan))
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(np.zeros((3, 3)))
    assert np.array_equal(model.cluster_centers_, before)
    assert model.objective_.n_rows == 400


def test_streams_are_read_as_often_as_they_can_be():
    X, y = blobs(1200)
    order = np.random.default_rng(0).permutation(1200)
    blocks = [X[rows] for rows in np.array_split(order, 400)]
    again = KernelKMeans(features(), n_clusters=4).fit(blocks)
    once = KernelKMeans(features(), n_clusters=4).fit(iter(blocks))
    assert again.method_ == once.method_ == "mini-batches"
    assert again.n_iter_ > 1
    assert once.n_iter_ == 1
    assert once.labels_ is None
    assert adjusted_rand_score(y[order], again.labels_) > 0.99
    assert again.inertia_ == pytest.approx(-again.score(X))
    assert adjusted_rand_score(y, once.predict(X)) > 0.99
    weighted = [(part, None, np.full(len(part), 2.0)) for part in blocks]
    doubled = KernelKMeans(features(), n_clusters=4).fit(weighted)
    assert doubled.cluster_centers_ == pytest.approx(again.cluster_centers_, abs=1e-9)
    assert doubled.inertia_ == pytest.approx(2 * again.inertia_)
    with pytest.raises(ValueError, match="sample_weight must be None"):
        clone(again).fit(blocks, sample_weight=np.ones(1200))
    with pytest.raises(ValueError, match="stream of blocks is empty"):
        clone(again).fit(iter([]))


def test_streams_that_name_their_columns_give_names():
    class Table:
        columns = ["a", "b"]

        def __iter__(self):
            yield blobs()

    model = KernelKMeans(features(), n_clusters=4).fit(Table())
    assert list(model.feature_names_in_) == ["a", "b"]


def test_mini_batches_keep_to_the_memory():
    X = np.random.default_rng(0).standard_normal((20_000, 3))
    with mercer.config(memory="4MB"):
        model, peak = peak_bytes(lambda: KernelKMeans(features(), 4, max_iter=2).fit(X))
    assert model.method_ == "mini-batches"
    # The features of all rows would take 48 MB; labels, distances and an order are for each row.
    assert peak < 4e6 + 20_000 * 8 * 8


def test_features_that_learn_from_data_warn_on_streams():
    X, _ = blobs()
    with pytest.warns(UserWarning, match="first block only"):
        KernelKMeans(n_clusters=2).fit(iter([X]))


def test_a_weight_of_two_is_two_rows():
    X, _ = blobs(300)
    weights = np.random.default_rng(0).integers(0, 4, 300)
    weighted = KernelKMeans(features(), n_clusters=4).fit(X, sample_weight=weights)
    repeated = KernelKMeans(features(), n_clusters=4).fit(np.repeat(X, weights, axis=0))
    assert adjusted_rand_score(weighted.predict(X), repeated.predict(X)) == 1.0
    assert weighted.inertia_ == pytest.approx(repeated.inertia_)
    assert weighted.objective_.mean == pytest.approx(repeated.objective_.mean, rel=1e-10)
    assert weighted.objective_.standard_error == repeated.objective_.standard_error == 0


def test_duplicated_rows_leave_clusters_empty_with_a_warning():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0)
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        model = KernelKMeans(features(), n_clusters=5).fit(X)
    assert len(np.unique(model.labels_)) == 2
    assert model.objective_.mean == pytest.approx(0, abs=1e-12)
    # A later block with new rows fills an empty cluster.
    model.partial_fit([[5.0, 5.0], [0.0, 0.0]])
    assert model.transform([[5.0, 5.0]]).min() == pytest.approx(0, abs=1e-6)


def test_an_empty_center_moves_to_the_farthest_row_that_counts():
    centers, counts = np.array([[0.0], [9.0], [9.0]]), np.array([2.0, 0.0, 0.0])
    Z, weights = np.array([[1.0], [4.0], [3.0]]), np.array([1.0, 0.0, 1.0])
    labels = np.zeros(3, dtype=int)
    found, total = moved(centers, counts, Z, weights, labels, Z[:, 0] ** 2)
    assert found.ravel() == pytest.approx([1.0, 3.0, 1.0])
    assert total == pytest.approx([4.0, 1.0, 1.0])
    # Rows that are their centers already move none.
    found, total = moved(centers, counts, np.zeros((3, 1)), weights, labels, np.zeros(3))
    assert found.ravel() == pytest.approx([0.0, 9.0, 9.0])
    assert total == pytest.approx([4.0, 0.0, 0.0])


@pytest.mark.parametrize("weighted", [False, True])
def test_objective_of_all_rows_is_that_of_the_exact_kernel(weighted):
    X, _ = blobs(500)
    weights = np.random.default_rng(0).uniform(0.1, 3, 500) if weighted else None
    model = KernelKMeans(features(), n_clusters=4).fit(X, sample_weight=weights)
    K = Gaussian(0.4)(X)
    expected = dense_objective(K, model.labels_, weights)
    assert model.objective_.mean == pytest.approx(expected, rel=1e-10)
    assert (model.objective_.standard_error, model.objective_.n_rows) == (0, 500)
    found = model.kernel_objective(X[:100], None if weights is None else weights[:100])
    part = dense_objective(
        K[:100, :100], model.labels_[:100], None if not weighted else weights[:100]
    )
    assert found.mean == pytest.approx(part, rel=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("estimated", [False, True])
def test_standard_error_covers_the_exact_objective(weighted, estimated):
    generator = np.random.default_rng(0)
    n, s, n_samples = 2000, 200, 300
    X = generator.standard_normal((n, 2))
    labels = (X[:, 0] > 0.5) + 2 * (X[:, 1] > 1)
    weights = generator.uniform(0.2, 3, n) if weighted else np.ones(n)
    K = Gaussian(0.8)(X)
    exact = dense_objective(K, labels, weights)
    errors, stated = [], []
    for _ in range(n_samples):
        rows = generator.choice(n, s, replace=False)
        totals = ClusterTotals.of(labels, weights, 4)
        if estimated:
            totals = ClusterTotals.of(labels[rows], weights[rows], 4).scaled(n / s)
        K_rows = K[np.ix_(rows, rows)]
        found = kernel_objective(K_rows, labels[rows], totals, weights[rows], estimated=estimated)
        errors.append(found.mean - exact)
        stated.append(found.standard_error)
    # Means over many samples, in standard errors of those means.
    assert abs(np.mean(errors)) <= 4 * np.std(errors) / np.sqrt(n_samples)
    assert np.mean(stated) == pytest.approx(np.std(errors), rel=0.15)
    covered = np.mean(np.abs(errors) <= 1.96 * np.array(stated))
    assert 0.90 <= covered <= 0.985


def test_objective_of_many_rows_is_measured_on_a_sample():
    X, _ = blobs(5000)
    model = KernelKMeans(features(), n_clusters=4).fit(X)
    assert model.objective_.n_rows == 2000
    assert model.objective_.standard_error > 0
    exact = dense_objective(Gaussian(0.4)(X), model.labels_)
    assert abs(model.objective_.mean - exact) <= 4 * model.objective_.standard_error
    stream = KernelKMeans(features(), n_clusters=4).fit(iter([X[:3000], X[3000:]]))
    exact = dense_objective(Gaussian(0.4)(X), stream.predict(X))
    assert abs(stream.objective_.mean - exact) <= 4 * stream.objective_.standard_error


def test_clusters_of_few_sampled_rows():
    K = np.diag([1.0, 3.0, 5.0])
    labels = np.array([0, 0, 1])
    # One row of a cluster of one: it costs nothing.
    alone = kernel_objective(K, labels, ClusterTotals.of(labels, None, 2))
    assert alone.mean == pytest.approx(dense_objective(K, labels))
    # One row of a cluster of four: it is taken to cost what the rows of the other cluster cost.
    of_six = ClusterTotals.of(np.array([0, 0, 1, 1, 1, 1]), None, 2)
    assert kernel_objective(K, labels, of_six).mean == pytest.approx(1.0)
    # Nothing can be measured at all.
    none = ClusterTotals.of(np.array([0, 0, 1, 1, 2, 2]), None, 3)
    assert np.isnan(kernel_objective(K, np.array([0, 1, 2]), none).mean)


def test_features_without_a_kernel_have_no_objective():
    X, y = blobs()
    model = KernelKMeans(Nystroem(gamma=3, n_components=50, random_state=0), n_clusters=4).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert model.objective_ is None
    assert model.kernel_objective(X) is None


def test_inputs_of_all_kinds_agree():
    X, _ = blobs()
    expected = KernelKMeans(features(), n_clusters=4).fit(X)
    frame = pd.DataFrame(X, columns=["a", "b"])
    framed = KernelKMeans(features(), n_clusters=4).fit(frame)
    sparse = KernelKMeans(features(), n_clusters=4).fit(scipy.sparse.csr_array(X))
    single = KernelKMeans(features(), n_clusters=4).fit(X.astype(np.float32))
    for model, rows in ((framed, frame), (sparse, scipy.sparse.csr_array(X)), (single, X)):
        assert np.array_equal(model.predict(rows), expected.labels_)
        assert model.objective_.mean == pytest.approx(expected.objective_.mean, rel=1e-5)
    assert list(framed.feature_names_in_) == ["a", "b"]
    assert single.cluster_centers_.dtype == np.float32
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert list(expected.get_feature_names_out()) == [f"kernelkmeans{k}" for k in range(4)]


def test_rows_that_are_too_few_are_refused():
    X, _ = blobs()
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=8"):
        KernelKMeans(features()).fit(X[:3])
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=8"):
        KernelKMeans(features()).fit(X[:9], sample_weight=[1, 1, *[0] * 7])
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=8"):
        KernelKMeans(features()).fit(iter([X[:1], X[1:3]]))
    model = KernelKMeans(features(), 4).fit(X)
    with pytest.raises(ValueError, match="zero for every row"):
        model.kernel_objective(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="n_clusters=3 differs"):
        KernelKMeans(features(), 4).partial_fit(X).set_params(n_clusters=3).partial_fit(X)


def test_a_fit_that_fails_leaves_what_was_learnt():
    X, _ = blobs()
    model = KernelKMeans(features(), n_clusters=4).fit(X)
    before = model.cluster_centers_
    with pytest.raises(ValueError, match="n_samples=3"):
        model.fit(np.zeros((3, 5)))
    assert model.cluster_centers_ is before
    assert model.n_features_in_ == 2


@pytest.mark.parametrize("compact", [False, True])
def test_model_files_keep_predictions_and_objective(tmp_path, compact):
    X, _ = blobs()
    model = KernelKMeans(features(), 4, random_state=np.random.RandomState(0)).fit(X)
    mercer.save(model, tmp_path / "model.mercer", compact=compact)
    loaded = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(loaded.transform(X), model.transform(X))
    assert loaded.objective_ == model.objective_
    if compact:
        assert loaded.labels_ is None
        with pytest.raises(ValueError, match="saved without"):
            loaded.partial_fit(X)
    else:
        assert np.array_equal(loaded.labels_, model.labels_)
        assert np.array_equal(
            loaded.partial_fit(X).cluster_centers_, model.partial_fit(X).cluster_centers_
        )


def test_pickles_keep_everything():
    X, _ = blobs()
    model = KernelKMeans(features(), n_clusters=4).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = pickle.loads(pickle.dumps(model))
    assert np.array_equal(loaded.predict(X), model.labels_)
    assert loaded.objective_ == model.objective_
