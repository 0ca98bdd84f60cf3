"""Exact classifiers of two classes with a logistic loss, and the choice between two losses."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone

import mercer
from mercer import KernelRidgeClassifier, Laplace
from mercer.machines.calibration import HeldOut

KERNEL = Laplace(1.0)
SOLVERS = pytest.mark.parametrize("solver", ["direct", "iterative"])


def data(n=300, seed=0, strength=2.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    p = expit(strength * (np.sin(2 * X[:, 0]) + X[:, 1] / 2))
    return X, np.where(rng.uniform(size=n) < p, "yes", "no"), p


def machine(loss, solver="direct", **parameters):
    return KernelRidgeClassifier(KERNEL, loss=loss, solver=solver, **parameters)


def minimiser(X, signs, weights, alpha, new):
    """Newton's method for coefficients and constant together."""
    n = len(X)
    A = np.column_stack([KERNEL(X), np.ones(n)])
    penalty = np.zeros((n + 1, n + 1))
    penalty[:n, :n] = alpha * A[:, :n]
    theta = np.zeros(n + 1)
    for _ in range(50):
        p = expit(A @ theta)
        slope = A.T @ (weights * (p - (1 + signs) / 2)) + penalty @ theta
        theta -= np.linalg.solve(A.T @ ((weights * p * (1 - p))[:, None] * A) + penalty, slope)
    return KERNEL(new, X) @ theta[:n] + theta[n]


@pytest.mark.parametrize("alpha", [0.03, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("class_weight", [None, {"no": 3.0, "yes": 0.5}])
@SOLVERS
def test_decisions_are_those_of_a_plain_newton_method(alpha, weighted, class_weight, solver):
    X, y, _ = data(200)
    new = data(50, seed=1)[0]
    weights = np.random.default_rng(2).uniform(0.2, 3.0, 200) if weighted else None
    model = machine("logistic", solver, alpha=alpha, class_weight=class_weight)
    model.set_params(tol=None if solver == "direct" else 1e-9).fit(X, y, weights)
    own = np.ones(200) if weights is None else weights
    if class_weight:
        own = own * np.where(y == "no", 3.0, 0.5)
    expected = minimiser(X, np.where(y == "yes", 1.0, -1.0), own, alpha, new)
    assert model.decision_function(new) == pytest.approx(expected, abs=1e-6)
    assert model.predict(new).tolist() == np.where(expected > 0, "yes", "no").tolist()
    assert (model.alpha_, model.loss_) == (alpha, "logistic")
    scaled = expit(2 * model.probability_scale_ * expected)
    assert model.predict_proba(new)[:, 1] == pytest.approx(scaled, abs=1e-6)


@SOLVERS
@pytest.mark.parametrize("strength", [0.3, 2.0])
def test_probabilities_are_calibrated_on_noise(solver, strength):
    X, y, _ = data(1000, strength=strength)
    new, truth, p = data(4000, seed=1, strength=strength)
    found = machine("logistic", solver).fit(X, y).predict_proba(new)[:, 1]
    assert np.mean(np.abs(found - p)) < 0.1
    # Of a hundred held-out rows no scale is known well.
    allowed = 0.07 if solver == "direct" else 0.15
    for low, high in ((0.0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 1.0)):
        inside = (found > low) & (found <= high)
        if inside.sum() > 200:
            share = np.mean(truth[inside] == "yes")
            assert share == pytest.approx(found[inside].mean(), abs=allowed)


@SOLVERS
def test_auto_is_never_worse_than_squares_on_held_out_rows(solver):
    taken = set()
    for seed in range(8):
        for strength in (0.5, 4.0):
            X, y, _ = data(150, seed, strength)
            losses = {}
            for loss in ("squared", "auto", "logistic"):
                model = machine(loss, solver, random_state=seed).fit(X, y)
                losses[loss] = model._state.held_out().log_loss()
                if loss == "auto":
                    taken.add(model.loss_)
                    kept = model.loss_
            assert losses["auto"] <= losses["squared"]
            assert losses["auto"] == pytest.approx(losses[kept], rel=1e-9)
    assert taken == {"squared", "logistic"}


@SOLVERS
def test_report_tells_which_loss_was_taken_and_by_how_much(solver):
    X, y, _ = data()
    model = machine("auto", solver).fit(X, y)
    name = "logistic loss" if model.loss_ == "logistic" else "squared error kept"
    assert f"{name}: log loss 0." in model.solver_report_
    assert "held-out rows" in model.solver_report_
    assert ("log loss" in machine("squared", solver).fit(X, y).solver_report_) is False


@SOLVERS
@pytest.mark.parametrize("compact", [False, True])
def test_saved_machines_predict_the_same(solver, compact, tmp_path):
    X, y, _ = data(200)
    model = machine("logistic", solver).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer", compact=compact)
    loaded = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert (loaded.loss_, loaded.solver_report_) == ("logistic", model.solver_report_)
    assert clone(loaded).get_params()["loss"] == "logistic"
    ours, theirs = (one.raw_predict(X[:20], True)[1] for one in (loaded, model))
    assert np.array_equal(ours, theirs)
    assert np.all(ours > 1)
    if not compact:
        assert loaded.expectation() == model.expectation()


@SOLVERS
def test_expectation_is_near_what_new_rows_show(solver):
    X, y, _ = data(800)
    new, truth, _ = data(3000, seed=1)
    model = machine("logistic", solver).fit(X, y)
    expectation = model.expectation()
    assert expectation.score == pytest.approx(model.score(new, truth), abs=0.08)
    signs = 2 * model.predict_proba(new)[:, 1] - 1
    error = np.mean((signs - np.where(truth == "yes", 1, -1)) ** 2)
    share = error / np.var(np.where(truth == "yes", 1, -1))
    assert expectation.error == pytest.approx(share, abs=0.12)


@SOLVERS
def test_rows_of_weight_two_count_as_two_rows(solver):
    X, y, _ = data(200)
    weights = np.where(np.arange(200) < 80, 2.0, 1.0)
    twice = np.r_[np.arange(200), np.arange(80)]
    parameters = {"alpha": 0.3, "tol": None if solver == "direct" else 1e-9}
    one = machine("logistic", solver, **parameters).fit(X, y, weights)
    other = machine("logistic", solver, **parameters).fit(X[twice], y[twice])
    assert one.decision_function(X) == pytest.approx(other.decision_function(X), abs=1e-6)


def test_rows_of_weight_zero_are_no_rows():
    X, y, _ = data(150)
    weights = (np.arange(150) < 120).astype(float)
    part = machine("logistic").fit(X[:120], y[:120])
    model = machine("logistic").fit(np.where(weights[:, None] > 0, X, 1e6), y, weights)
    assert model.decision_function(X) == pytest.approx(part.decision_function(X), abs=1e-9)


@pytest.mark.parametrize("parameters", [{}, {"n_centres": 40}])
def test_auto_keeps_squares_where_there_is_no_logistic_loss(parameters):
    X, y, _ = data(200)
    names = y if parameters else np.where(X[:, 0] > 1, "maybe", y)
    auto, squared = (
        machine(loss, "auto", **parameters).fit(X, names) for loss in ("auto", "squared")
    )
    assert auto.loss_ == "squared"
    assert np.array_equal(auto.predict_proba(X), squared.predict_proba(X))
    with pytest.raises(ValueError, match=r"loss='logistic' needs two classes.*loss='auto'"):
        machine("logistic", "auto", **parameters).fit(X, names)


@SOLVERS
@pytest.mark.parametrize("n_rare", [1, 2, 5])
@pytest.mark.parametrize("loss", ["auto", "logistic"])
def test_a_class_of_few_rows_does_no_harm(solver, n_rare, loss):
    X, _, _ = data(150)
    y = np.where(np.arange(150) < n_rare, "rare", "usual")
    X[:n_rare] += 9.0
    for seed in range(3):
        model = machine(loss, solver, random_state=seed).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
        assert model.predict(X[n_rare:]).tolist() == ["usual"] * (150 - n_rare)
    # All rows that have weight may be of one class.
    model.fit(X, y, (y == "usual").astype(float))
    assert np.isfinite(model.predict_proba(X)).all()


class Interruption:
    """A progress callback that stands for a user: the keys are pressed at one of the products."""

    def __init__(self, product):
        self.left = product

    def __call__(self, done, total, label):
        if label == "kernel product" and done == total:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt


class Products:
    """A progress callback that counts products."""

    count = 0

    def __call__(self, done, total, label):
        self.count += label == "kernel product" and done == total


def test_an_interruption_of_newton_steps_leaves_a_usable_machine():
    X, y, _ = data()
    counts = []
    for loss in ("squared", "auto"):
        products = Products()
        with mercer.config(progress=products):
            machine(loss, "iterative").fit(X, y)
        counts.append(products.count)
    squared, everything = counts
    assert everything > squared + 10
    for product in range(squared + 1, everything + 1):
        with (
            mercer.config(progress=Interruption(product)),
            pytest.warns(UserWarning, match="Interrupted; the best iterate is kept"),
        ):
            model = machine("auto", "iterative").fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
        assert 0 <= model.expectation().score <= 1


def test_an_interruption_of_factorisations_keeps_squares(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    X, y, _ = data()
    squared = machine("squared").fit(X, y)
    monkeypatch.setattr("mercer.solvers.logistic.kernel_coefficients", interrupted)
    with pytest.warns(UserWarning, match="Interrupted; the best iterate is kept"):
        model = machine("auto").fit(X, y)
    assert model.loss_ == "squared"
    assert np.array_equal(model.predict_proba(X), squared.predict_proba(X))


@pytest.mark.parametrize("loss", ["auto", "logistic"])
def test_a_time_limit_of_nothing_leaves_a_usable_machine(loss):
    X, y, _ = data()
    with pytest.warns(UserWarning, match="more time"):
        model = machine(loss, "iterative", time_limit=1e-9).fit(X, y)
    assert "stopped by time" in model.solver_report_
    assert np.isfinite(model.predict_proba(X)).all()


def test_same_seed_gives_the_same_machine_on_any_number_of_threads():
    X, y, _ = data(600)
    found = []
    for n_jobs in (1, 2):
        with mercer.config(n_jobs=n_jobs):
            found.append(machine("logistic", "iterative").fit(X, y).predict_proba(X[:50]))
    assert np.array_equal(found[0], found[1])


def test_log_loss_is_that_of_calibrated_probabilities():
    decisions = np.asarray([[2.0], [-1.0], [0.5], [-0.5]])
    signs, ones = np.asarray([[1.0], [-1.0], [-1.0], [1.0]]), np.ones(4)
    held = HeldOut(decisions, signs, np.asarray([1.0, 2.0, 1.0, 1.0]), ones)
    p = expit(2 * held.scale() * (signs * decisions)[:, 0])
    assert held.log_loss() == pytest.approx(-np.average(np.log(p), weights=held.weights))
