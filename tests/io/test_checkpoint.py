"""Tests of passes that are interrupted and go on: the same model, bit by bit."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mercer
from mercer import FeatureRidge, FeatureRidgeClassifier, Gaussian, KernelRegressor, RandomFourier
from mercer.io import ModelFileError, fit_resumable

X = np.random.default_rng(0).standard_normal((600, 3))
Y = np.sin(X[:, 0])
FEATURES = RandomFourier(Gaussian(1.5), n_components=40, random_state=0)


class Interrupted(Exception):
    """Stands for anything that ends a process."""


class Blocks:
    """Blocks that end in an error after some."""

    def __init__(self, left=10**9, targets=Y):
        self.left, self.targets = left, targets

    def __iter__(self):
        for rows in np.split(np.arange(600), 12):
            if self.left == 0:
                raise Interrupted
            self.left -= 1
            yield X[rows], self.targets[rows]


MACHINES = [
    (lambda: FeatureRidge(FEATURES), Y, 7),
    (lambda: FeatureRidge(FEATURES, selection=4), Y, 7),
    (lambda: FeatureRidgeClassifier(FEATURES), np.where(Y > 0, "a", "b"), 7),
    # It sees the blocks three times, and the first of them once more at the start.
    (lambda: KernelRegressor("gaussian", n_components=50), Y, 1 + 24 + 7),
    (lambda: KernelRegressor("gaussian", n_components=50), Y, 1 + 24),
]


@pytest.mark.parametrize(("machine", "targets", "left"), MACHINES)
def test_an_interrupted_pass_goes_on_to_the_same_model(machine, targets, left, tmp_path):
    whole = machine().fit(Blocks(targets=targets))
    path = tmp_path / "pass.checkpoint"
    model = machine()
    with pytest.raises(Interrupted):
        fit_resumable(model, Blocks(left, targets), path, every=0.0)
    assert path.exists()
    assert not hasattr(model, "solution_")
    with pytest.warns(UserWarning, match="Resumed from .* after block"):
        fit_resumable(model, Blocks(targets=targets), path)
    assert np.array_equal(model.predict(X), whole.predict(X))
    if hasattr(model, "predict_proba"):
        assert np.array_equal(model.predict_proba(X), whole.predict_proba(X))
    assert not path.exists()


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    path = tmp_path / "pass.checkpoint"
    with pytest.raises(Interrupted):
        fit_resumable(FeatureRidge(FEATURES), Blocks(7), path, every=0.0)
    kept = path.read_bytes()
    for machine, blocks in (
        (FeatureRidge(FEATURES, alpha=3.0), Blocks()),
        (FeatureRidge(FEATURES), Blocks(targets=Y + 1)),
        (FeatureRidge(FEATURES), [(X[:50] + 1, Y[:50]), (X[50:], Y[50:])]),
    ):
        with pytest.raises(ModelFileError, match="another fit"):
            fit_resumable(machine, blocks, path)
    path.write_bytes(kept[:-5])
    with pytest.raises(ModelFileError, match="damaged"):
        fit_resumable(FeatureRidge(FEATURES), Blocks(), path)


def test_an_iterator_is_refused(tmp_path):
    with pytest.raises(ValueError, match="read again"):
        fit_resumable(FeatureRidge(), iter(Blocks()), tmp_path / "pass.checkpoint")


def test_what_was_learnt_before_is_forgotten(tmp_path):
    features = RandomFourier(Gaussian(1.5), n_components=200, random_state=0)
    model = FeatureRidge(features).fit(X[:100], Y[:100])
    fit_resumable(model, Blocks(), tmp_path / "pass.checkpoint")
    fresh = FeatureRidge(features).fit(Blocks())
    for found, wanted in zip(
        model.predict(X[:5], return_std=True), fresh.predict(X[:5], return_std=True), strict=True
    ):
        assert np.array_equal(found, wanted)


def test_classes_can_be_named(tmp_path):
    labels = np.repeat(["a", "b", "c"], 200)
    blocks = Blocks(targets=labels)
    with pytest.raises(ValueError, match="one class only"):
        fit_resumable(FeatureRidgeClassifier(FEATURES), blocks, tmp_path / "c")
    model = FeatureRidgeClassifier(FEATURES)
    fit_resumable(model, blocks, tmp_path / "c", classes=["a", "b", "c"])
    assert list(model.classes_) == ["a", "b", "c"]
    with pytest.raises(TypeError, match="cannot be resumed"):
        fit_resumable(FEATURES, blocks, tmp_path / "c")


SCRIPT = """
import sys, time
import numpy as np
import mercer
from mercer import FeatureRidge, Gaussian, RandomFourier
from mercer.io import fit_resumable

class Slow:
    def __iter__(self):
        for k in range(40):
            X = np.random.default_rng(k).standard_normal((200, 3))
            time.sleep(float(sys.argv[3]))
            yield X, np.sin(X[:, 0])

features = RandomFourier(Gaussian(1.5), n_components=60, random_state=0)
model = fit_resumable(FeatureRidge(features), Slow(), sys.argv[1], every=0.0)
mercer.save(model, sys.argv[2])
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9 of POSIX")
def test_a_killed_process_goes_on_to_the_same_coefficients(tmp_path):
    checkpoint = tmp_path / "pass.checkpoint"

    def command(name, pause):
        path = checkpoint if name == "killed" else tmp_path / "other.checkpoint"
        return [sys.executable, "-W", "ignore", "-c", SCRIPT, path, tmp_path / name, pause]

    process = subprocess.Popen(command("killed", "0.05"))
    while not checkpoint.exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.3)
    assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert checkpoint.exists()
    assert not (tmp_path / "killed").exists()
    subprocess.run(command("killed", "0"), check=True)
    subprocess.run(command("whole", "0"), check=True)
    killed, whole = (mercer.load(tmp_path / name) for name in ("killed", "whole"))
    assert np.array_equal(killed.coef_, whole.coef_)
    assert not checkpoint.exists()
