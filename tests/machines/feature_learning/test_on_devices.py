"""Feature learners where their rows are: in every array library, and on a device of its own."""

import array_api_strict
import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import Gaussian, IRKMClassifier, IRKMRegressor, Laplace, RFMClassifier, RFMRegressor
from mercer._array import device_of, to_numpy
from mercer.io import load, save
from mercer.machines.feature_learning import choices
from mercer.machines.feature_learning.choices import choose_solver
from mercer.machines.feature_learning.weights import ColumnWeights, Metric
from mercer.testing import array_libraries

LIBRARIES = array_libraries()
#: Numbers of rows, for each of which another solver is the best one.
ROWS = (1000, 8000, 50_000, 200_000)
#: Every solver, and how near the NumPy path it must come: the iterative one has float32 tiles.
SOLVERS = [
    (IRKMRegressor(), 1e-8),
    (RFMRegressor(alpha=0.01), 1e-8),
    (IRKMRegressor(fresh=True), 1e-8),
    (RFMRegressor(solver="iterative"), 1e-4),
    (IRKMRegressor(Gaussian(3.0), solver="features", n_components=40), 1e-8),
    (RFMRegressor(Gaussian(3.0), solver="features", n_components=40), 1e-8),
    (IRKMRegressor(solver="nystrom", n_components=30), 1e-8),
    (RFMRegressor(solver="nystrom", n_components=30), 1e-8),
]


def short(machine):
    return clone(machine).set_params(n_iterations=2, random_state=0)


def data(n=120):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    weights = rng.uniform(0.5, 1.5, n)
    weights[:5] = 0.0
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2], weights


def on_device(values):
    return array_api_strict.asarray(values, device=array_api_strict.Device("device1"))


def near(found, expected, allowed):
    assert np.abs(to_numpy(found) - expected).max() < allowed


@pytest.fixture(params=["device", *LIBRARIES])
def make(request):
    return LIBRARIES.get(request.param, on_device)


@pytest.mark.arrays
@pytest.mark.parametrize(("machine", "allowed"), SOLVERS, ids=lambda one: str(one)[:60])
def test_every_solver_learns_and_answers_where_the_rows_are(make, machine, allowed):
    X, y, weights = data()
    expected = short(machine).fit(X, y, weights)
    found = short(machine).fit(make(X), make(y), make(weights))
    assert found.alpha_ == expected.alpha_
    assert found.best_iteration_ == expected.best_iteration_
    near(found.feature_importances_, expected.feature_importances_, allowed)
    assert [one["error"] for one in found.history_] == pytest.approx(
        [one["error"] for one in expected.history_], abs=allowed
    )
    answer, spread = found.predict(make(X), return_std=True)
    wanted = expected.predict(X, return_std=True)
    assert device_of(answer) == device_of(spread) == device_of(make(X))
    near(answer, wanted[0], allowed)
    near(spread, wanted[1], 100 * allowed)
    near(found.transform(make(X)), expected.transform(X), allowed)
    # What was learnt on a device answers for rows on the host.
    near(found.predict(X), wanted[0], allowed)
    score = found.score(make(X), make(y), make(weights))
    assert score == pytest.approx(expected.score(X, y, weights), abs=allowed)


@pytest.mark.arrays
@pytest.mark.parametrize("machine", [RFMClassifier(class_weight="balanced"), IRKMClassifier()])
@pytest.mark.parametrize("strings", [True, False])
def test_labels_may_be_strings_on_the_host(make, machine, strings):
    X, y, _ = data()
    names = np.asarray(["no", "yes", "perhaps"]) if strings else np.asarray([5, 3, 8])
    labels = names[np.digitize(y, [-0.5, 0.5])]
    expected = short(machine).fit(X, labels)
    found = short(machine).fit(make(X), labels if strings else make(labels))
    probabilities = found.predict_proba(make(X))
    assert device_of(probabilities) == device_of(make(X))
    near(probabilities, expected.predict_proba(X), 1e-8)
    assert np.array_equal(to_numpy(found.predict(make(X))), expected.predict(X))
    assert found.report_.score == pytest.approx(expected.report_.score)


@pytest.mark.arrays
@pytest.mark.parametrize(("machine", "allowed"), SOLVERS[::2], ids=lambda one: str(one)[:60])
def test_a_model_file_carries_what_a_device_has_learnt(make, machine, allowed, tmp_path):
    X, y, _ = data()
    found = short(machine).fit(make(X), make(y))
    save(found, tmp_path / "model.mercer")
    again = load(tmp_path / "model.mercer")
    expected = to_numpy(found.predict(make(X)))
    near(again.predict(X), expected, 1e-10)
    near(again.predict(make(X)), expected, 1e-10)


@pytest.mark.arrays
@pytest.mark.parametrize(("machine", "allowed"), SOLVERS[:4], ids=lambda one: str(one)[:60])
def test_rows_on_the_host_are_learnt_on_the_device_of_the_settings(machine, allowed, monkeypatch):
    torch = pytest.importorskip("torch")
    X, y, weights = data()
    expected = short(machine).fit(X, y, weights).predict(X)
    places = set()
    for kind in (ColumnWeights, Metric):
        plain = kind.reweighted

        def recorded(self, rows, plain=plain):
            places.add(device_of(rows))
            return plain(self, rows)

        monkeypatch.setattr(kind, "reweighted", recorded)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with mercer.config(device=device):
        found = short(machine).fit(X, y, weights)
        answer = found.predict(X)
    assert places == {device_of(torch.empty(0, device=device))}
    assert isinstance(answer, np.ndarray)
    near(answer, expected, allowed)


def test_an_accelerator_takes_more_rows_as_they_are(monkeypatch):
    rows = np.zeros((1, 2))
    on_host = [choose_solver("auto", 500, n, Laplace(), lambda: rows)[0] for n in ROWS]
    monkeypatch.setattr(choices, "free_device_memory", lambda X: None if X is None else 10**11)
    monkeypatch.setattr(choices, "matrix_memory", lambda X: 10**11)
    on_card = [choose_solver("auto", 500, n, Laplace(), lambda: rows)[0] for n in ROWS]
    assert on_host == ["exact", "iterative", "nystrom", "nystrom"]
    assert on_card == ["exact", "exact", "iterative", "nystrom"]
