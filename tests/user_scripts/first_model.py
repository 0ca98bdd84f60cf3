"""A first model: fit, what was chosen, probabilities, a file."""

import tempfile
from pathlib import Path
from typing import assert_type

import numpy as np

import mercer
from mercer import KernelClassifier

rng = np.random.default_rng(0)
X = rng.standard_normal((120, 3))
y = np.where(X[:, 0] * X[:, 1] > 0, "same", "opposite")

model = assert_type(KernelClassifier("gaussian").fit(X, y), KernelClassifier)
score: float = model.score(X, y)
labels: np.ndarray = model.classes_
probabilities = np.asarray(model.predict_proba(X))
report: str = str(model.report_)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.mercer"
    mercer.save(model, path, compact=True)
    loaded: KernelClassifier = mercer.load(path)
    assert (loaded.predict(X) == model.predict(X)).all()
assert score > 0.8
assert probabilities.shape == (120, len(labels))
assert "kernel" in report
