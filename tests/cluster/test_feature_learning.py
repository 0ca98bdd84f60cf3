"""Feature-learning machines and rows on a cluster."""

import pickle

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from mercer import (
    FeatureRidge,
    Gaussian,
    IRKMClassifier,
    IRKMRegressor,
    RandomFourier,
    RFMRegressor,
)
from mercer.engine.cluster import Partitions
from mercer.engine.cluster.tasks import merged
from mercer.engine.moments import ColumnMoments
from mercer.machines import calibration
from mercer.machines.feature_learning import choices, cluster_rows
from mercer.machines.feature_learning.data import Scales, Standardized, added, standardized
from mercer.machines.feature_learning.rows import Rows, known
from mercer.machines.feature_learning.steps import FourierStep, NystromStep
from mercer.machines.feature_learning.weights import ColumnWeights

pytestmark = pytest.mark.usefixtures("sync")


@pytest.fixture
def pairs():
    """Two columns of eight matter."""
    X = np.random.default_rng(0).choice([-1.0, 1.0], (300, 8))
    return X, X[:, 1] * X[:, 4]


def test_few_rows_are_brought_together(pairs):
    X, y = pairs
    dX, dy = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    machine = IRKMRegressor(n_iterations=3, random_state=0)
    expected = machine.fit(X, y).column_weights_
    found = IRKMRegressor(n_iterations=3, random_state=0).fit(dX, dy)
    assert np.array_equal(found.column_weights_, expected)
    assert np.allclose(found.predict(dX).compute(), found.predict(X))
    assert found.score(dX, dy) == pytest.approx(found.score(X, y))


def test_transforms_are_lazy_and_learnt_from(pairs):
    X, y = pairs
    dX, dy = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    learner = IRKMRegressor(n_iterations=3, random_state=0).fit(dX[:150].compute(), y[:150])
    features = RandomFourier(Gaussian(3.0), n_components=60, random_state=0)
    reweighted = learner.transform(dX)
    assert np.allclose(reweighted.compute(), learner.transform(X))
    found = FeatureRidge(features, alpha=0.1).fit(reweighted, dy)
    expected = FeatureRidge(features, alpha=0.1).fit(learner.transform(X), y)
    assert np.allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)


def test_what_needs_all_rows_on_one_machine_says_so(pairs, monkeypatch):
    monkeypatch.setattr(cluster_rows, "ITERATIVE_ROWS", 200)
    X, y = pairs
    dX, dy = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    for solver in ("exact", "iterative"):
        with pytest.raises(ValueError, match=rf"'{solver}' needs.*up to 200 .*are 300.*'nystrom'"):
            IRKMRegressor(solver=solver, random_state=0).fit(dX, dy)
    # What is chosen may need them, too.
    with pytest.raises(ValueError, match=r"'exact' needs.*up to 200 .*are 300.*X.compute"):
        IRKMRegressor(random_state=0).fit(dX, dy)
    with pytest.raises(ValueError, match="fresh=True takes a sampler"):
        IRKMRegressor(fresh=True, random_state=0).fit(dX, dy)


def cut(lengths, *columns):
    """Return delayed blocks of some lengths, and the same as a stream without empty ones."""
    stops = np.cumsum(lengths)[:-1]
    blocks = list(zip(*(np.split(column, stops) for column in columns), strict=True))
    return [dask.delayed(block) for block in blocks], [block for block in blocks if len(block[0])]


def made(kind, solver, **parameters):
    kernel = Gaussian(2.0) if solver == "features" else None
    settings = {"n_components": 40, "n_iterations": 2, "random_state": 0, **parameters}
    return kind(kernel, solver=solver, **settings)


def value_of(machine):
    """Return the weights of the columns, or the matrix."""
    matrix = isinstance(machine, RFMRegressor)
    return machine.metric_ if matrix else machine.column_weights_


def assert_same(found, expected, X):
    """Two fits differ by rounding alone."""
    weights = value_of(expected)
    assert abs(value_of(found) - weights).max() <= 1e-10 * abs(weights).max()
    assert found.alpha_ == expected.alpha_
    assert found.best_iteration_ == expected.best_iteration_
    for mine, theirs in zip(found.history_, expected.history_, strict=True):
        assert mine["error"] == pytest.approx(theirs["error"], rel=1e-9)
    assert found.report_.score == pytest.approx(expected.report_.score, abs=1e-9)
    assert found.report_.n_rows == expected.report_.n_rows
    assert np.allclose(found.raw_predict(X)[0], expected.raw_predict(X)[0], rtol=0, atol=1e-8)


@pytest.mark.parametrize("solver", ["features", "nystrom"])
@pytest.mark.parametrize("kind", [IRKMRegressor, RFMRegressor])
@pytest.mark.parametrize("weighted", [False, True])
def test_passes_over_blocks_are_those_of_one_machine(solver, kind, weighted, rows, unequal):
    X, y = rows
    columns = (X, y, np.random.default_rng(1).integers(3, size=len(y)) / 2)[: 3 if weighted else 2]
    # Several targets, and held-out rows: the same ones, as each is drawn by its position.
    share = 0.3 if weighted else None
    blocks, stream = cut(unequal, X, np.column_stack([y, X[:, 2] ** 2]), *columns[2:])
    expected = made(kind, solver, validation_fraction=share).fit(stream)
    found = made(kind, solver, validation_fraction=share).fit(blocks)
    assert_same(found, expected, X)
    # Of weights and share something is learnt.
    assert not np.allclose(value_of(found), value_of(found).flat[0])


def test_every_cut_holds_the_same_rows_out(rows, scheduler):
    X, y = rows
    expected = made(IRKMRegressor, "features", validation_fraction=0.2).fit(X, y)
    for length in (400, 1500):
        dX, dy = da.from_array(X, chunks=(length, 2)), da.from_array(y, chunks=length)
        found = made(IRKMRegressor, "features", validation_fraction=0.2).fit(dX, dy)
        assert_same(found, expected, X)
    again = made(IRKMRegressor, "features", validation_fraction=0.2).fit(dX, dy)
    assert np.array_equal(again.column_weights_, found.column_weights_)
    assert again.history_[-1]["error"] == found.history_[-1]["error"]


@pytest.mark.parametrize("solver", ["features", "nystrom"])
def test_a_balanced_classifier_is_that_of_one_machine(solver, rows, unequal, monkeypatch):
    # A sample of the rows tells the score: the same rows in both.
    monkeypatch.setattr(calibration, "SAMPLE_ROWS", 200)
    X, y = rows
    labels = np.where(y > 0.6, "high", np.where(y < -0.8, "low", "middle"))
    weights = np.random.default_rng(1).integers(3, size=len(y)) / 2
    blocks, _ = cut(unequal, X, labels, weights)
    machine = made(IRKMClassifier, solver, class_weight="balanced", validation_fraction=0.25)
    found = clone(machine).fit(blocks)
    expected = clone(machine).fit(X, labels, weights)
    assert found.classes_.tolist() == ["high", "low", "middle"]
    assert_same(found, expected, X)
    assert found.probability_scale_ == pytest.approx(expected.probability_scale_, rel=1e-6)


def test_many_rows_are_learnt_where_they_are(rows, unequal, monkeypatch):
    monkeypatch.setattr(cluster_rows, "ITERATIVE_ROWS", 1000)
    monkeypatch.setattr(choices, "EXACT_ROWS", 500)
    monkeypatch.setattr(choices, "ITERATIVE_ROWS", 1000)
    monkeypatch.setattr(Partitions, "whole", None)
    X, y = rows
    blocks, stream = cut(unequal, X.astype("float32"), y)
    expected = made(RFMRegressor, "auto").fit(stream)
    found = made(RFMRegressor, "auto").fit(blocks)
    assert found.solver_ == "nystrom"
    assert found.validation_fraction_ == 0.2
    # Scales that differ by rounding of float64 may round another way to float32.
    assert np.allclose(found.metric_, expected.metric_, rtol=0, atol=1e-6)
    assert found.left_out_error_ == pytest.approx(expected.left_out_error_, rel=1e-6)


def test_sparse_blocks_are_learnt_from():
    S = scipy.sparse.random(900, 12, density=0.3, random_state=0, format="csr")
    y = S.toarray()[:, 0] - S.toarray()[:, 3]
    cuts = [slice(0, 300), slice(300, 900)]
    blocks = [(dask.delayed(S[part]), dask.delayed(y[part])) for part in cuts]
    expected = made(RFMRegressor, "nystrom").fit(S, y)
    assert_same(made(RFMRegressor, "nystrom").fit(blocks), expected, S)


def test_a_data_frame_has_names_and_a_warm_start_goes_on(rows):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = rows
    table = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame = dd.from_pandas(table, npartitions=3)
    machine = made(IRKMRegressor, "features", warm_start=True, n_iterations=1)
    machine.fit(frame[["a", "b", "c", "d"]], frame["y"])
    assert list(machine.feature_names_in_) == list("abcd")
    first = machine.column_weights_
    machine.fit(frame[["a", "b", "c", "d"]], frame["y"])
    assert np.array_equal(machine.history_[0]["importances"], first / first.sum())
    expected = made(IRKMRegressor, "features", warm_start=True, n_iterations=1)
    for _ in range(2):
        expected.fit(table[["a", "b", "c", "d"]], table["y"])
    assert_same(machine, expected, table[["a", "b", "c", "d"]])


@pytest.mark.parametrize("solver", ["features", "nystrom"])
def test_passes_change_nothing_and_can_be_repeated(solver, rows):
    X, y = rows
    columns, targets = ColumnMoments.of(X), ColumnMoments.of(y[:, None])
    scales, weights = Scales(columns, targets, True), ColumnWeights.equal(4)
    steps = {
        "features": FourierStep(Gaussian(2.0), [1e-2], 4, 30, 0),
        "nystrom": NystromStep(Gaussian(2.0), [1e-2], X[:30]),
    }
    step, seen = steps[solver], []

    class Watched(Standardized):
        def total(self, work):
            before = pickle.dumps(work)
            sums = [
                added(work, standardized([Rows(X[part], y[part, None])], scales, 9), part.start)
                for part in (slice(0, 700), slice(700, 1100), slice(1100, 1500))
            ]
            kept = [pickle.dumps(part) for part in sums]
            found = [merged(sums), merged([merged(sums[:2]), sums[2]])]
            assert [pickle.dumps(part) for part in sums] == kept
            assert pickle.dumps(work) == before
            seen.append(pickle.dumps(found[0]) == pickle.dumps(found[1]))
            return found[0]

    rows_of = known(Rows(X, y[:, None]))
    whole = Standardized(rows_of, scales, len(X), float(len(X)))
    expected = step.run(whole, weights)
    found = step.run(Watched(rows_of, scales, len(X), float(len(X))), weights)
    assert np.allclose(found.E, expected.E, rtol=1e-11)
    assert len(seen) == 2
    assert all(seen)
    assert np.allclose(found.D, expected.D, rtol=0, atol=1e-11 * abs(expected.D).max())
    mine, theirs = found.held_out(), expected.held_out()
    for name in ("predicted", "targets", "weights", "counts"):
        assert np.allclose(getattr(mine, name), getattr(theirs, name), rtol=0, atol=1e-9)


def test_what_is_wrong_with_a_block_names_the_row(rows):
    X, y = rows
    wrong = X.copy()
    wrong[1203, 1] = np.nan
    with pytest.raises(ValueError, match="row 1203"):
        made(IRKMRegressor, "features").fit(
            da.from_array(wrong, chunks=(500, -1)), da.from_array(y, chunks=500)
        )
    none = da.zeros(1500, chunks=500)
    dX, dy = da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500)
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        made(IRKMRegressor, "features").fit(dX, dy, none)
    blocks, _ = cut([0, 0], X[:0], y[:0])
    with pytest.raises(ValueError, match="at least one row is needed"):
        made(IRKMRegressor, "features").fit(blocks)
