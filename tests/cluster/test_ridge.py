"""Ridge machines on blocks of Dask: what one machine learns, however the rows are cut."""

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    KernelRidge,
    NystromFeatures,
    RandomFourier,
    TernaryFeatures,
)
from mercer.solvers import draws_below

#: Relative to the largest coefficient: rounding, where the rows are added up in another order.
SAME = 1e-10
#: Candidates that leave the systems well conditioned, so that rounding stays rounding.
ALPHAS = np.geomspace(0.1, 100, 7)
pytestmark = pytest.mark.usefixtures("sync")


def assert_same(found, expected):
    scale = abs(expected.coef_).max()
    assert abs(found.coef_ - expected.coef_).max() <= SAME * scale
    assert np.allclose(found.intercept_, expected.intercept_, rtol=0, atol=SAME * scale)
    assert np.allclose(found.alpha_, expected.alpha_, rtol=1e-9)


def blocks(X, lengths):
    return np.split(X, np.cumsum(lengths)[:-1])


def as_array(X, y, lengths):
    return da.from_array(X, chunks=(lengths, 3)), da.from_array(y, chunks=400)


def as_unknown(X, y, lengths):
    X = da.from_array(np.column_stack([X, y]), chunks=(lengths, -1))
    known = X[X[:, 0] > -np.inf]
    assert np.isnan(known.shape[0])
    return known[:, :-1], known[:, -1]


def as_frame(X, y, lengths):
    import dask.dataframe as dd

    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    whole = dd.from_pandas(frame, npartitions=3)
    return whole[list("abcd")], whole["y"]


def as_delayed(X, y, lengths):
    parts = zip(blocks(X, lengths), blocks(y, lengths), strict=True)
    return [dask.delayed((one, other)) for one, other in parts], None


def as_pairs(X, y, lengths):
    parts = zip(blocks(X, lengths), blocks(y, lengths), strict=True)
    return [(dask.delayed(one), dask.delayed(other)) for one, other in parts], None


KINDS = [as_array, as_unknown, as_frame, as_delayed, as_pairs]


@pytest.mark.parametrize("cut", KINDS)
@pytest.mark.parametrize("selection", ["gcv", 5])
def test_every_kind_of_blocks_gives_the_coefficients_of_one_machine(
    cut, selection, rows, unequal, features
):
    X, y = rows
    expected = FeatureRidge(features, alpha=ALPHAS, selection=selection).fit(X, y)
    found = FeatureRidge(features, alpha=ALPHAS, selection=selection).fit(*cut(X, y, unequal))
    assert_same(found, expected)
    assert found.solution_.criterion == expected.solution_.criterion
    # The sample that its lengthscale comes from is of the same rows.
    assert np.array_equal(found.features_.frequencies_, expected.features_.frequencies_)


def test_schedulers_of_this_machine_agree(scheduler, rows, unequal, features):
    X, y = rows
    found = FeatureRidge(features).fit(*as_array(X, y, unequal))
    with dask.config.set(scheduler="synchronous"):
        again = FeatureRidge(features).fit(*as_array(X, y, unequal))
    assert np.array_equal(found.coef_, again.coef_)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 2.0}])
def test_a_classifier_is_that_of_one_machine(class_weight, rows, unequal, features):
    X, y = rows
    labels = np.digitize(y, [-0.4, 0.9])
    labels = np.array(["a", "b", "c"])[labels]
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    machine = FeatureRidgeClassifier(features, alpha=ALPHAS, class_weight=class_weight)
    expected = mercer_fit(machine, X, labels, weights)
    dX, dy = as_array(X, labels, unequal)
    found = mercer_fit(machine, dX, dy, da.from_array(weights, chunks=700))
    assert_same(found, expected)
    assert np.array_equal(found.classes_, expected.classes_)
    # The sample that calibrates is of the same rows.
    assert found.probability_scale_ == pytest.approx(expected.probability_scale_, rel=1e-8)
    predicted = found.predict_proba(dX)
    assert predicted.shape == (len(X), 3)
    assert np.allclose(predicted.compute(), expected.predict_proba(X), atol=1e-9)
    assert np.array_equal(found.predict(dX).compute(), expected.predict(X))
    assert found.score(dX, dy) == pytest.approx(expected.score(X, labels))


def mercer_fit(machine, X, y, weights):
    from sklearn.base import clone

    return clone(machine).fit(X, y, sample_weight=weights)


def test_predictions_are_lazy_and_have_error_bars(rows, unequal, features):
    X, y = rows
    dX, dy = as_array(X, y, unequal)
    seen = []
    watched = dX.map_blocks(lambda block: seen.append(len(block)) or block, dtype=float)
    model = FeatureRidge(features).fit(dX, dy)
    seen.clear()
    mean, std = model.predict(watched, return_std=True)
    assert not seen
    assert mean.chunks[0] == std.chunks[0] == dX.chunks[0]
    expected = model.predict(X, return_std=True)
    for found, known in zip(dask.compute(mean, std), expected, strict=True):
        assert np.allclose(found, known, rtol=1e-10)
    assert seen
    assert model.score(dX, dy) == pytest.approx(model.score(X, y), rel=1e-10)


def test_several_targets_and_weights(rows, unequal, features):
    X, y = rows
    Y = np.column_stack([y, X[:, 0] ** 2 + y])
    weights = np.random.default_rng(2).integers(0, 4, len(y)).astype(float)
    expected = FeatureRidge(features, alpha=ALPHAS, per_target=True).fit(X, Y, weights)
    dX, dy = as_array(X, Y, unequal)
    found = FeatureRidge(features, alpha=ALPHAS, per_target=True).fit(
        dX, dy, da.from_array(weights, chunks=100)
    )
    assert_same(found, expected)
    assert found.predict(dX).shape == (len(X), 2)
    own = da.from_array(weights, chunks=unequal)
    assert found.score(dX, dy, own) == pytest.approx(expected.score(X, Y, weights), rel=1e-10)


def test_fewer_rows_than_features_are_solved_on_one_machine(rows, features):
    X, y = (part[:40] for part in rows)
    expected = FeatureRidge(features).fit(X, y)
    for cut in (as_array, as_delayed):
        found = FeatureRidge(features).fit(*cut(X, y, (15, 0, 25)))
        assert np.array_equal(found.coef_, expected.coef_)


def test_an_alpha_below_rounding_takes_a_second_look(rows, unequal):
    X, y = rows
    # Two columns that are nearly one: normal equations would lose them.
    X = np.column_stack([X, X[:, 0] + 1e-7 * X[:, 1]]) + 100.0
    expected = FeatureRidge(alpha=1e-12).fit(X, y)
    found = FeatureRidge(alpha=1e-12).fit(
        da.from_array(X, chunks=(unequal, -1)), as_array(X, y, unequal)[1]
    )
    assert expected.solution_.method == found.solution_.method == "qr"
    assert np.allclose(found.predict(X), expected.predict(X), atol=1e-6)


def test_more_rows_can_follow_and_draw_further_folds(rows, unequal, features):
    X, y = rows
    fixed = RandomFourier(Gaussian(2.0), n_components=40, random_state=0)
    expected = (
        FeatureRidge(fixed, alpha=ALPHAS, selection=3).fit(X, y).partial_fit(X[:200] + 1, y[:200])
    )
    found = FeatureRidge(fixed, alpha=ALPHAS, selection=3).fit(*as_array(X, y, unequal))
    assert_same(found.partial_fit(X[:200] + 1, y[:200]), expected)


@pytest.mark.parametrize(
    "features",
    [
        None,
        NystromFeatures(Gaussian("median"), n_components=30, random_state=0),
        NystromFeatures(Gaussian(2.0), landmarks=[1100, 3, 700]),
        RandomFourier(Gaussian("scale"), n_components=30, random_state=3),
    ],
)
def test_maps_learn_from_the_rows_that_one_machine_would_see(features, rows, unequal):
    X, y = rows
    expected = FeatureRidge(features, alpha=0.1).fit(X, y)
    found = FeatureRidge(features, alpha=0.1).fit(*as_array(X, y, unequal))
    assert_same(found, expected)
    assert found.n_features_in_ == 4


def test_packed_features_and_sparse_blocks(rows, unequal):
    X = np.random.default_rng(0).standard_normal((1500, 40))
    y = rows[1]
    bits = TernaryFeatures(n_components=64, output="packed", random_state=0)
    expected = FeatureRidge(bits).fit(X, y)
    dX = da.from_array(X, chunks=(unequal, -1))
    dy = da.from_array(y, chunks=(unequal,))
    assert_same(FeatureRidge(bits).fit(dX, dy), expected)
    thin = np.where(abs(X) > 1, X, 0.0)
    fourier = RandomFourier(Gaussian(5.0), n_components=50, random_state=0)
    expected = FeatureRidge(fourier).fit(scipy.sparse.csr_array(thin), y)
    sparse = [scipy.sparse.csr_array(part) for part in blocks(thin, unequal)]
    pairs = zip(sparse, blocks(y, unequal), strict=True)
    assert_same(FeatureRidge(fourier).fit([dask.delayed(pair) for pair in pairs]), expected)


def test_a_frozen_transformer_is_taken_as_it_is(rows, unequal, features):
    X, y = rows
    frozen = FrozenEstimator(make_pipeline(StandardScaler(), features).fit(X[:500]))
    expected = FeatureRidge(frozen, alpha=ALPHAS).fit(X, y)
    assert_same(FeatureRidge(frozen, alpha=ALPHAS).fit(*as_array(X, y, unequal)), expected)
    with pytest.raises(TypeError, match=r"StandardScaler.*cannot be fitted on a cluster"):
        FeatureRidge(make_pipeline(StandardScaler(), features)).fit(*as_array(X, y, unequal))


def test_folds_are_drawn_as_in_one_go():
    lengths = [5, 0, 7, 1000, 1]
    whole = draws_below([], 3)[0].integers(3, size=sum(lengths))
    generators = draws_below(lengths, 3)
    parts = [
        generator.integers(3, size=length)
        for generator, length in zip(generators, lengths, strict=False)
    ]
    assert np.array_equal(np.concatenate(parts), whole)


def test_what_is_wrong_is_said_in_a_sentence(rows, unequal, features):
    X, y = rows
    dX, dy = as_array(X, y, unequal)
    machine = FeatureRidge(features)
    with pytest.raises(ValueError, match="X has 1500 rows, y has 1400"):
        machine.fit(dX, dy[:1400])
    with pytest.raises(TypeError, match="y must be one too, but got a ndarray"):
        machine.fit(dX, y)
    with pytest.raises(ValueError, match="y to be passed"):
        machine.fit(dX)
    with pytest.raises(ValueError, match="on a cluster use 'gcv'"):
        FeatureRidge(features, selection="loo").fit(dX, dy)
    uncut = da.from_array(y, chunks=(unequal[::-1],))
    with pytest.raises(ValueError, match="X and y have different blocks"):
        machine.fit(as_unknown(X, y, unequal)[0], uncut[uncut > -np.inf])
    with pytest.raises(ValueError, match="X has 6 blocks, but y has 4"):
        machine.fit(as_unknown(X, y, unequal)[0], dy[dy > -np.inf])
    with pytest.raises(TypeError, match="for all else bring the rows"):
        KernelRidge().fit(dX, dy)
    with pytest.raises(ValueError, match="All blocks of X are empty"):
        machine.fit([dask.delayed((X[:0], y[:0]))])


def test_the_row_of_an_infinite_entry_is_that_of_all_rows(rows, unequal):
    X, y = rows
    X = X.copy()
    X[1203, 2] = np.nan
    fixed = RandomFourier(Gaussian(2.0), n_components=40, random_state=0)
    dX, dy = as_array(X, y, unequal)
    with pytest.raises(ValueError, match="NaN at row 1203, column 2"):
        FeatureRidge(fixed).fit(dX, dy)
    model = FeatureRidge(fixed).fit(rows[0], y)
    with pytest.raises(ValueError, match="NaN at row 1203, column 2"):
        model.predict(dX).compute()


def test_progress_counts_partitions(rows, unequal, features):
    told = []
    X, y = rows
    with mercer.config(progress=lambda *news: told.append(news)):
        FeatureRidge(features).fit(*as_array(X, y, unequal))
    done = [news[0] for news in told if news[2].startswith("ridge sums")]
    assert done[-1] == len(unequal) == told[-1][1]
    assert done == sorted(done)


def test_a_fit_that_fails_changes_nothing(rows, unequal, features):
    X, y = rows
    model = FeatureRidge(features).fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(*as_array(np.where(X > 2, np.nan, X), y, unequal))
    assert np.array_equal(model.coef_, before)


def test_data_frames_are_refused_as_output(rows, unequal):
    X, y = rows
    features = RandomFourier(Gaussian(2.0), n_components=10, random_state=0).fit(X)
    with pytest.raises(TypeError, match="use set_output"):
        features.set_output(transform="pandas").transform(as_array(X, y, unequal)[0])


def test_without_dask_the_pip_line_is_said(monkeypatch, rows, unequal):
    X, y = rows
    collections = as_array(X, y, unequal)
    monkeypatch.setitem(__import__("sys").modules, "dask", None)
    with pytest.raises(ImportError, match=r"pip install 'mercer\[dask\]'"):
        FeatureRidge().fit(*collections)
