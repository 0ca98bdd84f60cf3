"""Exact kernel machines where their rows are: the answers of NumPy, and no matrix on the host."""

import array_api_compat
import array_api_strict as xp
import numpy as np
import pytest

import mercer
from mercer import KernelRidge, KernelRidgeClassifier, Laplace, io
from mercer._array import is_numpy, to_numpy
from mercer.features.nystrom.pivoted_cholesky import BLOCK
from mercer.testing import array_libraries

LIBRARIES = array_libraries() | {
    "device1": lambda values: xp.asarray(values, device=xp.Device("device1"))
}
N = 150


@pytest.fixture(params=LIBRARIES)
def make(request):
    return LIBRARIES[request.param]


def data():
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((N, 3)), rng.standard_normal((20, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(N)
    return X, y, rng.uniform(0.5, 2, N) * (np.arange(N) != 3), new


@pytest.mark.arrays
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [None, 0.1, [0.01, 0.1]], ids=str)
def test_decompositions_give_the_answers_of_numpy(make, alpha, weighted):
    X, y, weights, new = data()
    weights = weights if weighted else None
    expected = KernelRidge(Laplace(2.0), alpha=alpha).fit(X, y, weights)
    Y = np.column_stack([y, -2 * y])
    found = KernelRidge(Laplace(2.0), alpha=alpha).fit(make(X), make(Y), weights)
    values = [to_numpy(part) for part in found.predict(make(new), return_std=True)]
    for one, wanted in zip(values, expected.predict(new, return_std=True), strict=True):
        assert one[:, 0] == pytest.approx(wanted, abs=1e-9)
    assert values[0][:, 1] == pytest.approx(-2 * values[0][:, 0], abs=1e-9)
    score = expected.score(X, y, weights)
    assert found.score(make(X), make(Y), weights) == pytest.approx(score, abs=1e-9)


@pytest.mark.arrays
@pytest.mark.parametrize(
    ("options", "tolerance"),
    [({"tol": 1e-10}, 1e-8), ({}, 1e-4), ({"n_centres": 60}, 1e-4)],
    ids=str,
)
def test_conjugate_gradients_give_the_answers_of_numpy(make, options, tolerance):
    X, y, _, new = data()
    model = KernelRidge(Laplace(2.0), alpha=[0.01, 0.1], solver="iterative", **options)
    expected = model.fit(X, y).predict(new, return_std=True)
    found = model.fit(make(X), make(y)).predict(make(new), return_std=True)
    for one, wanted in zip(found, expected, strict=True):
        assert to_numpy(one) == pytest.approx(wanted, abs=tolerance)


@pytest.mark.arrays
@pytest.mark.parametrize("solver", ["direct", "iterative"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_labels_and_probabilities(make, loss, solver):
    X, y, _, new = data()
    labels = np.where(y > 0.3, "up", "down")
    model = KernelRidgeClassifier(Laplace(2.0), loss=loss, alpha=0.1, solver=solver)
    expected = model.fit(X, labels).predict_proba(new)
    model.fit(make(X), labels)
    assert to_numpy(model.predict_proba(make(new))) == pytest.approx(expected, abs=1e-4)
    assert set(model.predict(make(new))) == {"up", "down"}
    codes = model.fit(make(X), make((y > 0.3).astype(int))).predict(make(new))
    assert set(to_numpy(codes).tolist()) == {0, 1}
    assert is_numpy(codes) == is_numpy(make(new))


@pytest.mark.parametrize("solver", ["direct", "iterative"])
def test_nothing_as_large_as_the_matrix_is_copied_to_the_host(monkeypatch, solver):
    n_rows, rng = 400, np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, 2)), rng.standard_normal(n_rows)
    make, sizes, copy = LIBRARIES["device1"], [], array_api_compat.to_device

    def counted(array, device, **options):
        sizes.append(int(np.prod(array.shape)))
        return copy(array, device, **options)

    monkeypatch.setattr(array_api_compat, "to_device", counted)
    model = KernelRidge(Laplace(2.0), solver=solver, alpha=[0.1, 1.0]).fit(make(X), make(y))
    model.predict(make(X[:20]), return_std=True)
    # Rows, targets and, of the preconditioner, the products of the proposals for its landmarks.
    largest = 2 * n_rows if solver == "direct" else BLOCK**2
    assert 0 < max(sizes) <= largest < n_rows**2


def test_a_file_from_a_device_is_read_on_the_host(tmp_path):
    X, y, _, new = data()
    make = LIBRARIES["device1"]
    model = KernelRidge(Laplace(2.0)).fit(make(X), make(y))
    expected = to_numpy(model.predict(make(new)))
    io.save(model, tmp_path / "model.mercer")
    read = io.load(tmp_path / "model.mercer")
    assert read.predict(new) == pytest.approx(expected, abs=1e-12)
    assert to_numpy(read.predict(make(new))) == pytest.approx(expected, abs=1e-12)


def test_a_stream_of_blocks_on_a_device():
    X, y, weights, new = data()
    make = LIBRARIES["device1"]
    expected = KernelRidge(Laplace(2.0)).fit(X, y, weights).predict(new)
    blocks = [(make(X[s]), make(y[s]), weights[s]) for s in (slice(0, 70), slice(70, N))]
    found = KernelRidge(Laplace(2.0)).fit(blocks).predict(make(new))
    assert to_numpy(found) == pytest.approx(expected, abs=1e-9)


def test_rows_of_the_host_are_learnt_on_the_device_of_the_settings():
    pytest.importorskip("torch")
    X, y, _, new = data()
    expected = KernelRidge(Laplace(2.0)).fit(X, y).predict(new, return_std=True)
    with mercer.config(device="cpu"):
        found = KernelRidge(Laplace(2.0)).fit(X, y).predict(new, return_std=True)
    for one, wanted in zip(found, expected, strict=True):
        assert is_numpy(one)
        assert one == pytest.approx(wanted, abs=1e-9)
