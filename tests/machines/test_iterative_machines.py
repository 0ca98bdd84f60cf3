"""Exact kernel machines that are solved by conjugate gradients."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import mercer
from mercer import Gaussian, KernelRidge, KernelRidgeClassifier, Laplace
from mercer._array import to_numpy
from mercer.machines import exact_machine
from mercer.solvers.row_systems import AllRows
from mercer.testing import array_libraries, peak_bytes

KERNEL = Laplace(1.0)
CENTRES = pytest.mark.parametrize("n_centres", [None, 60])


class Interruption:
    """A progress callback that stands for a user: the keys are pressed at one of the products."""

    def __init__(self, product):
        self.left = product

    def __call__(self, done, total, label):
        if label == "kernel product" and done == total:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt


def data(n=400, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + noise * rng.standard_normal(n)


def labels(y):
    return np.where(y > 1.2, "high", np.where(y > 0.3, "middle", "low"))


def iterative(alpha=0.1, **parameters):
    return KernelRidge(KERNEL, alpha=alpha, solver="iterative", **parameters)


@pytest.mark.parametrize(("tol", "allowed"), [(1e-6, 1e-4), (1e-11, 1e-8)])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", [KERNEL, Gaussian("median")], ids=["laplace", "gaussian"])
def test_predictions_are_those_of_the_direct_solver(tol, allowed, intercept, kernel):
    X, y = data(200)
    new, weights = data(50, seed=1)[0], np.random.default_rng(2).uniform(0.2, 3.0, 200)
    model = KernelRidge(kernel, alpha=0.1, fit_intercept=intercept, solver="iterative", tol=tol)
    Y = np.column_stack([y, -2 * X[:, 0], np.abs(X[:, 1])])
    for targets in (y, Y):
        for own in (None, weights):
            direct = clone(model).set_params(solver="direct", tol=None).fit(X, targets, own)
            found = model.fit(X, targets, own)
            assert found.alpha_ == direct.alpha_ == 0.1
            assert found.coef_.shape == direct.coef_.shape
            assert found.predict(new) == pytest.approx(direct.predict(new), abs=allowed)
            assert found.intercept_ == pytest.approx(direct.intercept_, abs=allowed)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_are_those_of_the_direct_solver(class_weight, n_classes):
    X, y = data()
    new = data(50, seed=1)[0]
    names = labels(y) if n_classes == 3 else np.where(y > 1.2, "high", "low")
    model = KernelRidgeClassifier(
        KERNEL, alpha=0.1, class_weight=class_weight, solver="iterative", tol=1e-11
    ).fit(X, names)
    direct = clone(model).set_params(solver="direct").fit(X, names)
    assert model.decision_function(new) == pytest.approx(direct.decision_function(new), abs=1e-8)
    assert np.array_equal(model.predict(new), direct.predict(new))
    # Scales of probabilities come from other rows.
    found, expected = model.predict_proba(new), direct.predict_proba(new)
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert np.abs(found - expected).max() < 0.2


@pytest.mark.parametrize("n_centres", [None, 300])
def test_held_out_error_stops_near_the_best_predictions(n_centres):
    X, y = data(600)
    new, truth = data(500, noise=0.0, seed=1)
    model = iterative(None, n_centres=n_centres).fit(X, y)
    direct = KernelRidge(KERNEL).fit(X, y)
    error, best = (np.mean((one.predict(new) - truth) ** 2) for one in (model, direct))
    assert error < best + 0.1 * 0.3**2
    expectation = model.expectation()
    assert expectation.reason == "60 held-out rows"
    assert expectation.n_rows == 600
    assert 0.7 < expectation.score < 0.97


@CENTRES
def test_intervals_cover_new_observations(n_centres):
    covered = []
    for seed in range(8):
        X, y = data(1200, seed=seed)
        model = iterative(None, n_centres=n_centres, random_state=seed).fit(X[:600], y[:600])
        mean, std = model.predict(X[600:], return_std=True)
        covered.append(np.mean(np.abs(mean - y[600:]) < 1.96 * std))
    assert 0.90 < np.mean(covered) < 0.98


@CENTRES
@pytest.mark.parametrize("compact", [False, True])
def test_saved_machines_predict_the_same(n_centres, compact, tmp_path):
    X, y = data(200)
    new = data(50, seed=1)[0]
    for machine, targets in (
        (KernelRidge, np.column_stack([y, -y])),
        (KernelRidgeClassifier, labels(y)),
    ):
        model = machine(KERNEL, solver="iterative", n_centres=n_centres).fit(X, targets)
        mercer.save(model, tmp_path / "model.mercer", compact=compact)
        loaded = mercer.load(tmp_path / "model.mercer")
        assert loaded.solver_report_ == model.solver_report_
        assert loaded.get_params()["n_centres"] == n_centres
        if machine is KernelRidge:
            ours, theirs = (one.predict(new, return_std=True) for one in (loaded, model))
            assert np.array_equal(ours[0], theirs[0])
            assert np.array_equal(ours[1], theirs[1])
        else:
            assert np.array_equal(loaded.predict_proba(new), model.predict_proba(new))
        if compact:
            with pytest.raises(ValueError, match="compact=False"):
                loaded.expectation()
        else:
            assert loaded.expectation() == model.expectation()


def test_rows_are_the_centres_among_rows_with_weight():
    X, y = data(200)
    weights = np.where(np.arange(200) % 4 == 0, 0.0, 1.0)
    model = iterative(n_centres=40).fit(X, y, weights)
    assert model.rows_.shape == (40, 2)
    known = {tuple(row) for row in X[weights > 0]}
    assert len({tuple(row) for row in model.rows_} & known) == 40
    assert model.coef_.shape == (40,)
    values = KERNEL(X, model.rows_) @ model.coef_ + model.intercept_
    assert model.predict(X) == pytest.approx(values, abs=1e-12)
    far = np.where(weights[:, None] > 0, X, 1e6)
    assert np.array_equal(iterative(n_centres=40).fit(far, y, weights).predict(X), model.predict(X))
    assert np.array_equal(iterative().fit(X, y, weights).rows_, X[weights > 0])


@pytest.mark.parametrize("machine", [KernelRidge, KernelRidgeClassifier])
@pytest.mark.parametrize("parameters", [{"solver": "iterative"}, {"n_centres": 5}])
def test_too_few_rows_are_refused_with_a_way_out(machine, parameters):
    X, y = data(12)
    names = np.where(np.arange(12) % 2, "a", "b") if machine is KernelRidgeClassifier else y
    model = machine(KERNEL, **parameters)
    with pytest.raises(ValueError, match=r"needs 10 at least.*n_samples=9.*solver='direct'"):
        model.fit(X[:9], names[:9])
    # Rows of weight 0 are no rows.
    with pytest.raises(ValueError, match="n_samples=9"):
        model.fit(X, names, np.arange(12) >= 3)
    assert np.isfinite(model.fit(X[:10], names[:10])._state.solution.coef).all()


@pytest.mark.parametrize("machine", [KernelRidge, KernelRidgeClassifier])
def test_parameters_that_do_not_go_together_are_refused(machine):
    X, y = data(40)
    names = np.where(y > 1, 1, 0)
    with pytest.raises(ValueError, match=r"n_centres.*solver='auto'"):
        machine(KERNEL, solver="direct", n_centres=10).fit(X, names)
    for parameters in ({"solver": "iterative"}, {"n_centres": 10}):
        with pytest.raises(ValueError, match="per_target=False"):
            machine(KERNEL, per_target=True, **parameters).fit(X, names)


@pytest.mark.parametrize(
    "parameters",
    [{"tol": 0.0}, {"tol": 1.0}, {"time_limit": 0.0}, {"n_centres": 1}, {"solver": "lsqr"}],
)
def test_values_without_a_meaning_are_refused(parameters):
    X, y = data(40)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        KernelRidge(KERNEL, **parameters).fit(X, y)


def test_report_tells_what_the_solver_did():
    X, y = data(200)
    report = iterative(tol=1e-5).fit(X, y).solver_report_
    assert "conjugate gradients" in report
    assert "stopped by residual" in report
    assert "100% of the kernel matrix kept" in report
    report = KernelRidge(KERNEL, n_centres=30).fit(X, y).solver_report_
    assert "conjugate gradients" in report
    assert "100% of the kernel with the centres kept" in report
    assert KernelRidge(KERNEL).fit(X, y).solver_report_ == ""


def test_memory_budget_is_obeyed_by_computing_tiles_again():
    X, y = data(300)
    new = data(50, seed=1)[0]
    found, peaks = [], []
    for memory in ("1GB", "10KB"):
        with mercer.config(memory=memory, n_jobs=1):
            # The first fit loads compiled code, which would count.
            iterative(tol=1e-6).fit(X, y)
            model, peak = peak_bytes(lambda: iterative(tol=1e-6).fit(X, y))
        found.append(model.predict(new))
        peaks.append(peak)
        share = "100%" if memory == "1GB" else "0%"
        assert f", {share} of the kernel matrix kept" in model.solver_report_
    # The tiles on and above the diagonal in float32.
    assert peaks[1] < peaks[0] - 4 * 300**2 / 2
    assert found[1] == pytest.approx(found[0], abs=1e-5)


@CENTRES
def test_memory_budget_does_not_change_predictions(n_centres):
    X, y = data(700)
    shares, found = [], []
    for memory in ("1GB", "10KB"):
        with mercer.config(memory=memory):
            model = iterative(n_centres=n_centres, tol=1e-9).fit(X, y)
            found.append(model.predict(X[:50]))
        shares.append(model.solver_report_)
    assert ", 100% of" in shares[0]
    assert ", 0% of" in shares[1]
    assert found[0] == pytest.approx(found[1], abs=1e-6)


@CENTRES
@pytest.mark.parametrize("n_rare", [1, 2, 5])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_class_of_few_rows_does_no_harm(n_centres, n_rare, class_weight):
    X, _ = data(150)
    names = np.where(np.arange(150) < n_rare, "rare", "usual")
    X[:n_rare] += 9.0
    for seed in range(3):
        model = KernelRidgeClassifier(
            KERNEL,
            solver="iterative",
            n_centres=n_centres,
            class_weight=class_weight,
            random_state=seed,
        ).fit(X, names)
        probabilities = model.predict_proba(X)
        assert np.isfinite(probabilities).all()
        assert model.predict(X[n_rare:]).tolist() == ["usual"] * (150 - n_rare)
        assert 0.0 <= model.expectation().score <= 1.0


@CENTRES
def test_interruption_warns_and_leaves_a_usable_machine(n_centres):
    X, y = data(300)
    new, truth = data(200, noise=0.0, seed=1)
    # With centres the first product is that of the right-hand side.
    product = 3 if n_centres is None else 4
    with (
        mercer.config(progress=Interruption(product)),
        pytest.warns(UserWarning, match="Interrupted; the best iterate is kept: conjugate grad"),
    ):
        model = iterative(0.01, n_centres=n_centres).fit(X, y)
    assert "interrupted" in model.solver_report_
    mean, std = model.predict(new, return_std=True)
    assert np.isfinite(std).all()
    assert np.mean((mean - truth) ** 2) < 0.5 * truth.var()
    assert np.mean(np.abs(mean - truth) < 3 * std) > 0.8
    assert 0.0 < model.expectation().score < 1.0


@CENTRES
@pytest.mark.parametrize("tol", [None, 1e-9])
def test_a_time_limit_of_nothing_leaves_a_usable_machine(n_centres, tol):
    X, y = data(200)
    with pytest.warns(UserWarning, match="more time"):
        model = iterative(n_centres=n_centres, tol=tol, time_limit=1e-9).fit(X, y)
    assert "stopped by time" in model.solver_report_
    mean, std = model.predict(X, return_std=True)
    assert mean == pytest.approx(y.mean())
    assert np.isfinite(std).all()


def test_a_stream_and_sparse_rows_are_learnt_as_an_array():
    X, y = data(120)
    expected = iterative(tol=1e-9).fit(X, y).predict(X)
    blocks = [(X[:50], y[:50]), (X[50:], y[50:])]
    assert np.array_equal(iterative(tol=1e-9).fit(iter(blocks)).predict(X), expected)
    sparse = scipy.sparse.csr_array(X)
    assert iterative(tol=1e-9).fit(sparse, y).predict(sparse) == pytest.approx(expected, abs=1e-9)


@CENTRES
def test_same_seed_gives_the_same_machine_on_any_number_of_threads(n_centres):
    X, y = data(600)
    found = []
    for n_jobs in (1, 2, 3):
        with mercer.config(n_jobs=n_jobs):
            model = iterative(n_centres=n_centres, random_state=3).fit(X, y)
            found.append(model.predict(X[:50]))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    other = iterative(n_centres=n_centres, random_state=4).fit(X, y)
    assert not np.array_equal(other.predict(X[:50]), found[0])


@pytest.mark.arrays
@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@CENTRES
def test_array_libraries_are_learnt_as_numpy(library, n_centres):
    pytest.importorskip(library)
    make = array_libraries()[library]
    X, y = data(120)
    expected = iterative(n_centres=n_centres).fit(X, y).predict(X)
    model = iterative(n_centres=n_centres).fit(make(X), make(y))
    # Elsewhere float32 tiles are products: their last digits are others.
    assert to_numpy(model.predict(make(X))) == pytest.approx(expected, abs=1e-5)


def tiny_alpha(n=600):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n)


def test_a_residual_that_stays_is_warned_of():
    X, y = tiny_alpha()
    model = KernelRidge(Gaussian(5.0), alpha=1e-12, solver="iterative")
    with pytest.warns(UserWarning, match="Give a larger alpha"):
        model.fit(X, y)


def test_what_conjugate_gradients_cannot_solve_is_decomposed(monkeypatch):
    X, y = tiny_alpha()
    monkeypatch.setattr(exact_machine, "DIRECT_ROWS", 100)
    model = KernelRidge(Gaussian(5.0), alpha=1e-12).fit(X[:500], y[:500])
    direct = KernelRidge(Gaussian(5.0), alpha=1e-12, solver="direct").fit(X[:500], y[:500])
    assert model.solver_report_.startswith("decomposition")
    np.testing.assert_array_equal(model.predict(X), direct.predict(X))
    np.testing.assert_array_equal(
        model.predict(X, return_std=True)[1], direct.predict(X, return_std=True)[1]
    )
    with mercer.config(memory="2MB"), pytest.warns(UserWarning, match="larger alpha"):
        KernelRidge(Gaussian(5.0), alpha=1e-12).fit(X[:500], y[:500])


@pytest.mark.parametrize("factor", [2.0**200, 2.0**-200])
def test_targets_of_any_size_are_solved(factor):
    X, y = tiny_alpha()
    one, other = (
        KernelRidge(Gaussian(1.0), solver="iterative").fit(X, y * unit) for unit in (1.0, factor)
    )
    for a, b in zip(
        one.predict(X, return_std=True), other.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_allclose(a, b / factor, rtol=1e-3, atol=1e-4)


def test_copies_of_one_row_have_modest_error_bars():
    rng = np.random.default_rng(0)
    X, y = np.ones((300, 2)), rng.standard_normal(300)
    far = np.full((1, 2), 50.0)
    bars = [
        KernelRidge(Gaussian(1.0), solver=solver).fit(X, y).predict(far, return_std=True)[1][0]
        for solver in ("iterative", "direct")
    ]
    assert bars[0] < 10 * bars[1]


def test_the_tiles_of_a_system_that_rounding_spoils_are_freed(monkeypatch):
    freed, forget = [], AllRows.forget
    monkeypatch.setattr(AllRows, "forget", lambda self: (freed.append(self), forget(self))[1])
    X, y = tiny_alpha()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        KernelRidge(Gaussian(5.0), alpha=1e-12, solver="iterative").fit(X, y)
    assert len(freed) == 1
