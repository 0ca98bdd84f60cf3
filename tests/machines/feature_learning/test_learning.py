"""Machines that learn features: steps, loops, streams, and what they find."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import (
    Gaussian,
    IRKMClassifier,
    IRKMRegressor,
    Laplace,
    Matern,
    OnColumns,
    PoweredExponential,
    ProductLaplace,
    RFMClassifier,
    RFMRegressor,
)
from mercer.datasets import HierarchicalTask, make_epistasis
from mercer.engine.moments import ColumnMoments
from mercer.engine.sample import RowSample
from mercer.machines.feature_learning.data import Scales, Standardized, scales_of
from mercer.machines.feature_learning.rows import Rows
from mercer.machines.feature_learning.steps import ExactStep, FourierStep, NystromStep
from mercer.machines.feature_learning.weights import ColumnWeights, Metric, Rule

KINDS = [ColumnWeights, Metric]


REASON = "a row of weight two is left out whole, two equal rows are left out one by one"
LEFT_OUT = {
    "check_sample_weight_equivalence_on_dense_data": REASON,
    "check_sample_weight_equivalence_on_sparse_data": REASON,
}


@parametrize_with_checks(
    [
        IRKMRegressor(n_iterations=2, random_state=0),
        IRKMClassifier(n_iterations=2, random_state=0),
        RFMRegressor(n_iterations=2, random_state=0),
        RFMClassifier(n_iterations=2, random_state=0),
    ],
    expected_failed_checks=lambda _: LEFT_OUT,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def some_data(n=80, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = (np.sin(X[:, 0]) + X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(n))[:, None]
    return Standardized(lambda: iter([Rows(X, Y)]), plain_scales(d), n, float(n))


def plain_scales(d):
    columns, targets = ColumnMoments(), ColumnMoments()
    columns.add(np.stack([np.ones(d), -np.ones(d)]))
    targets.add(np.asarray([[1.0], [-1.0]]))
    return Scales(columns, targets, False)


def weights_of(kind, d=4):
    value = np.linspace(0.4, 1.6, d)
    if kind is ColumnWeights:
        return kind(value)
    A = np.diag(value) + 0.1
    return kind(A * d / np.trace(A))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", [Laplace(2.0), Gaussian(2.0), Matern(2.0, nu=2.5)], ids=repr)
def test_all_landmarks_give_the_exact_step(kind, kernel):
    data, weights = some_data(), weights_of(kind)
    exact = ExactStep(kernel, [1e-2]).run(data, weights)
    nystrom = NystromStep(kernel, [1e-2], data.whole()[0]).run(data, weights)
    for name in ("E", "D"):
        expected = getattr(exact, name)
        assert abs(getattr(nystrom, name) - expected).max() < 1e-8 * abs(expected).max()
    rows = weights.reweighted(np.random.default_rng(1).standard_normal((9, 4)))
    assert nystrom.function(rows) == pytest.approx(exact.function(rows), abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_random_features_come_closer_at_the_monte_carlo_rate(kind):
    data, weights, kernel = some_data(), weights_of(kind), Gaussian(2.0)
    exact = ExactStep(kernel, [0.5]).run(data, weights)
    errors = []
    for size in (100, 1600):
        found = [FourierStep(kernel, [0.5], 4, size, seed).run(data, weights) for seed in range(4)]
        errors.append(
            [
                np.median([abs(getattr(f, name) - getattr(exact, name)).max() for f in found])
                / abs(getattr(exact, name)).max()
                for name in ("E", "D")
            ]
        )
    small, large = np.asarray(errors)
    # Sixteen times the features: a quarter of the error.
    assert (large < 0.5 * small).all()
    assert (large < 0.15).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_derivative_of_features_is_that_of_their_own_objective(kind):
    data, weights, kernel = some_data(), weights_of(kind), Gaussian(2.0)
    fit = FourierStep(kernel, [0.5], 4, 64, 0)
    X, Y, *_ = data.whole()

    def objective(value):
        Z = fit._features.transform(kind(value).reweighted(X))
        K = Z @ Z.T + 0.5 * np.eye(len(X))
        ones = np.ones(len(X))
        inverse = np.linalg.inv(K)
        b = (ones @ inverse @ Y) / (ones @ inverse @ ones)
        return float(((Y - b).T @ inverse @ (Y - b))[0, 0])

    found = fit.run(data, weights).D * len(X)
    step = 1e-5
    if kind is ColumnWeights:
        units = np.eye(4)
        slopes = [
            (objective(weights.value + step * u) - objective(weights.value - step * u)) / step / 2
            for u in units
        ]
        assert found == pytest.approx(-weights.value * slopes, rel=1e-5, abs=1e-6)
        return
    # Of few features the root of M matters, not M alone: a direction that commutes with it.
    direction = weights.value @ weights.value
    slope = objective(weights.value + step * direction) - objective(
        weights.value - step * direction
    )
    root = weights._root
    inner = np.linalg.inv(root) @ ((found + found.T) / 2) @ np.linalg.inv(root)
    assert -np.sum(inner * direction) == pytest.approx(slope / step / 2, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("negative", ["clip", "shift"])
def test_new_weights_are_positive_and_have_the_right_sum(kind, negative):
    weights = weights_of(kind)
    rng = np.random.default_rng(0)
    if kind is ColumnWeights:
        E, D = rng.uniform(0, 1, 4), rng.standard_normal(4)
    else:
        A = rng.standard_normal((4, 4))
        # The derivative of features comes without its mirror image.
        E, D = A @ A.T, A
    for mixing in (0.0, 0.5, 1.0):
        new = weights.updated(E, D, Rule(mixing, 1e-3, negative)).value
        values = new if kind is ColumnWeights else np.linalg.eigvalsh(new)
        assert (values > 0).all()
        assert values.sum() == pytest.approx(4.0)
    worst = -np.ones(4) if kind is ColumnWeights else -np.eye(4)
    new = weights.updated(0 * E, worst, Rule(0.5, 1e-3, "clip")).value
    assert new == pytest.approx(np.ones(4) if kind is ColumnWeights else np.eye(4))


def test_interactions_without_main_effects_are_found():
    errors, found = [], 0
    for seed in range(6):
        task = HierarchicalTask(100, noise=0.1)
        X, y = task.sample(1000, 10_000 + seed)
        model = IRKMRegressor(
            Laplace(10.0),
            fresh=True,
            batch_size=100,
            alpha=1e-6,
            patience=None,
            standardize=False,
            random_state=seed,
        ).fit(task)
        errors.append(np.mean((model.predict(X) - y) ** 2))
        found += set(np.argsort(model.column_weights_)[-4:]) == {0, 1, 2, 3}
    assert np.median(errors) <= 0.05
    assert found >= 5
    plain = IRKMRegressor(Laplace(10.0), mixing=0.0, fresh=True, batch_size=100, alpha=1e-6)
    plain.set_params(standardize=False, patience=None, random_state=0)
    assert np.mean((plain.fit(task).predict(X) - y) ** 2) > 10 * np.median(errors)


def test_directions_are_found():
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 40)))
    task = HierarchicalTask(40, noise=0.1)

    def draw(n, random_state):
        X, y = task.sample(n, random_state)
        return X @ Q, y

    X, y = draw(1000, 99)
    model = RFMRegressor(Laplace(40**0.5), fresh=True, batch_size=150, alpha=1e-6, n_iterations=15)
    model.set_params(standardize=False, patience=None, random_state=0)
    assert np.mean((model.fit(draw).predict(X) - y) ** 2) < 0.1
    # The four true directions are the first rows of Q, and have most of the trace.
    assert np.trace(Q[:4] @ model.metric_ @ Q[:4].T) > 0.7 * 40
    assert np.linalg.norm(Q[:4] @ model.components_[0]) > 0.95
    assert np.trace(model.metric_) == pytest.approx(40)


def test_epistasis_is_found():
    X, y, loci = make_epistasis(600, 20, heritability=0.3, random_state=3, return_loci=True)
    model = IRKMClassifier(n_iterations=5, random_state=0).fit(X, y)
    assert set(np.argsort(model.feature_importances_)[-2:]) == set(loci)
    assert model.score(X, y) > 0.6


def test_the_best_iteration_is_kept_and_said():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 6))
    y = 3.0 + 5 * X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(150)
    model = IRKMRegressor(random_state=0).fit(X, y)
    errors = [entry["error"] for entry in model.history_]
    assert model.best_iteration_ == int(np.argmin(errors))
    assert model.left_out_error_ == min(errors)
    assert model.column_weights_ == pytest.approx(
        6 * model.history_[model.best_iteration_]["importances"]
    )
    assert len(errors) <= model.best_iteration_ + 1 + 5
    assert model.n_iter_ == len(errors) - 1
    assert (model.solver_, "150 rows" in model.solver_reason_) == ("exact", True)
    # The left-out error is an error of new rows.
    X_new = rng.standard_normal((400, 6))
    truth = 3.0 + 5 * X_new[:, 0] * X_new[:, 1]
    found = np.mean((model.predict(X_new) - truth) ** 2) / y.var()
    assert 0.3 < (found + 1e-3) / (model.left_out_error_ + 1e-3) < 3
    Z = model.transform(X)
    assert model.kernel_(Z, Z[:2]).shape == (150, 2)


@pytest.mark.parametrize("solver", ["features", "nystrom"])
def test_blocks_give_what_rows_give(solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 5))
    y = np.column_stack([X[:, 0] * X[:, 1], X[:, 2]])
    model = IRKMRegressor(
        Gaussian(2.0), solver=solver, n_components=64, n_iterations=2, random_state=0
    )
    whole = model.fit(X, y).predict(X)
    blocks = [(X[k : k + 150], y[k : k + 150]) for k in range(0, 600, 150)]
    assert mercer.IRKMRegressor(**model.get_params(deep=False)).fit(blocks).predict(
        X
    ) == pytest.approx(whole, abs=1e-6)
    assert whole.shape == (600, 2)
    with pytest.raises(ValueError, match="TableStream"):
        model.fit(iter(blocks))


def test_many_rows_choose_a_solver_that_scales():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 3)).astype("float32")
    y = np.sin(2 * X[:, 0])
    options = {"n_components": 50, "n_iterations": 1, "random_state": 0}
    assert IRKMRegressor(Gaussian(2.0), **options).fit(X, y).solver_ == "iterative"
    with mercer.config(memory="50MB"):
        assert IRKMRegressor(Gaussian(2.0), **options).fit(X, y).solver_ == "features"
        model = IRKMRegressor(**options).fit(X, y)
        assert model.solver_ == "nystrom"
        assert "6,000 rows" in model.solver_reason_
        assert model.score(X, y) > 0.9


def test_sparse_rows_weights_and_several_targets():
    rng = np.random.default_rng(0)
    X = rng.choice([0.0, 1.0], (120, 6))
    y = np.column_stack([X[:, 0] + X[:, 1] * X[:, 2], X[:, 3]])
    model = IRKMRegressor(n_iterations=2, random_state=0)
    expected = model.fit(X, y).predict(X)
    assert model.fit(scipy.sparse.csr_array(X), y).predict(X) == pytest.approx(expected, abs=1e-9)
    doubled = model.set_params(alpha=1e-2, n_iterations=0).fit(X, y, np.full(120, 2.0))
    assert doubled.predict(X) == pytest.approx(
        model.set_params(alpha=5e-3).fit(X, y).predict(X), abs=1e-9
    )


def test_class_weights_and_many_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = np.asarray(["a", "b", "c"])[(X[:, 0] > 0.8).astype(int) + (X[:, 0] * X[:, 1] > 1.2)]
    model = RFMClassifier(n_iterations=2, random_state=0).fit(X, y)
    assert model.decision_function(X).shape == (300, 3)
    assert model.score(X, y) > 0.9
    rare = np.where(rng.random(300) < 0.1, 1, 0)
    options = {"n_iterations": 0, "alpha": 1.0, "random_state": 0}
    plain = IRKMClassifier(**options).fit(X, rare).predict(X).sum()
    balanced = IRKMClassifier(class_weight="balanced", **options).fit(X, rare).predict(X).sum()
    assert balanced > plain


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("solver", ["exact", "features"])
def test_model_files(tmp_path, compact, solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    for machine in (
        IRKMRegressor(Gaussian(2.0), solver=solver, n_components=32, n_iterations=1),
        RFMClassifier(Gaussian(2.0), solver=solver, n_components=32, n_iterations=1),
    ):
        machine.set_params(random_state=0).fit(X, (X[:, 0] > 0).astype(int))
        path = tmp_path / f"{type(machine).__name__}.mercer"
        mercer.save(machine, path, compact=compact)
        assert np.array_equal(mercer.load(path).predict(X), machine.predict(X))


@pytest.mark.parametrize("solver", ["exact", "nystrom"])
@pytest.mark.parametrize(
    "kernel",
    [
        ProductLaplace(20.0),
        PoweredExponential(20.0, 0.8, "manhattan"),
        PoweredExponential(4.0, 0.8),
        OnColumns(Laplace(3.0), [0, 1, 2, 3, 4]) + OnColumns(ProductLaplace(8.0), [5, 6, 7, 8, 9]),
    ],
    ids=repr,
)
def test_kernels_that_suit_tables_learn_weights_of_columns(kernel, solver, tmp_path):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((400, 5)), rng.integers(0, 2, (400, 5))])
    y = np.abs(X[:, 1]) + X[:, 7] + 0.05 * rng.standard_normal(400)
    machine = IRKMRegressor(kernel, solver=solver, n_components=150, random_state=0)
    machine.fit(X[:300], y[:300])
    assert set(np.argsort(machine.column_weights_)[-2:]) == {1, 7}
    assert machine.history_[-1]["error"] < machine.history_[0]["error"]
    plain = IRKMRegressor(kernel, solver=solver, n_components=150, n_iterations=0, random_state=0)
    plain.fit(X[:300], y[:300])
    assert 1 - machine.score(X[300:], y[300:]) < 0.7 * (1 - plain.score(X[300:], y[300:]))
    mercer.save(machine, tmp_path / "machine.mercer")
    loaded = mercer.load(tmp_path / "machine.mercer")
    assert np.array_equal(loaded.predict(X), machine.predict(X))


def test_bad_input_is_refused():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y = X[:, 0]
    for model, word in (
        (IRKMRegressor(Gaussian() * Gaussian()), "no known derivatives"),
        (RFMRegressor(ProductLaplace()), "ProductLaplace.*axes.*use IRKM"),
        (IRKMRegressor(Gaussian("median")), "give a number"),
        (IRKMRegressor(solver="features"), "solver='nystrom'"),
        (IRKMRegressor(mixing=2.0), "mixing"),
    ):
        with pytest.raises(ValueError, match=word):
            model.fit(X, y)
    with pytest.raises(ValueError, match="batch_size"):
        IRKMRegressor(fresh=True).fit(HierarchicalTask(10))
    with pytest.raises(ValueError, match="fewer blocks"):
        IRKMRegressor(fresh=True, n_iterations=5).fit([(X, y), (X, y)])
    with pytest.raises(ValueError, match="one class"):
        IRKMClassifier().fit(X, np.zeros(30, dtype=int))
    # A constant target and constant columns are not an error.
    model = IRKMRegressor(n_iterations=2).fit(np.ones((10, 2)), np.full(10, 7.0))
    assert model.predict(np.ones((2, 2))) == pytest.approx([7.0, 7.0])


def test_spreads_of_blocks_are_spreads_of_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)) * [1, 10, 0] + 5, rng.standard_normal((50, 1))
    blocks = [Rows(X[:20], y[:20]), Rows(X[20:], y[20:])]
    sample = RowSample(100)
    scales, n_rows, _ = scales_of(blocks, True, sample)
    assert np.array_equal(sample.columns[0], X)
    assert n_rows == 50
    assert scales.center == pytest.approx(X.mean(axis=0))
    assert scales.scale == pytest.approx([X[:, 0].std(), X[:, 1].std(), 1.0])
