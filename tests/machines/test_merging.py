"""Machines that learnt in processes of their own and come together through files."""

import subprocess
import sys

import numpy as np

import mercer
from mercer import FeatureRidge, Gaussian, RandomFourier

SCRIPT = """
import sys
from pathlib import Path
import numpy as np
import mercer
from mercer import FeatureRidge, Gaussian, RandomFourier

folder, numbers = Path(sys.argv[1]), sys.argv[2:]
for number in numbers:
    X, y = np.load(folder / f"{number}.npz").values()
    features = RandomFourier(Gaussian(1.5), n_components=60, random_state=0)
    machine = FeatureRidge(features, alpha=np.geomspace(0.1, 100, 7), selection="gcv")
    mercer.save(machine.partial_fit(X, y), folder / f"{number}.mercer")
"""


def test_the_recipe_with_processes_and_files_gives_one_machine(tmp_path):
    generator = np.random.default_rng(0)
    X = generator.uniform(-2, 2, (900, 3))
    y = np.sin(X[:, 0]) * X[:, 1] + 0.3 * generator.standard_normal(900)
    lengths = [400, 1, 20, 479]
    for number, rows in enumerate(np.split(np.arange(900), np.cumsum(lengths)[:-1])):
        np.savez(tmp_path / f"{number}.npz", X=X[rows], y=y[rows])
    runs = [
        subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path), *numbers])
        # The second part is learnt twice.
        for numbers in (("0", "1"), ("1", "2", "3"))
    ]
    assert [run.wait(timeout=120) for run in runs] == [0, 0]

    features = RandomFourier(Gaussian(1.5), n_components=60, random_state=0)
    expected = FeatureRidge(features, alpha=np.geomspace(0.1, 100, 7)).fit(X, y)
    for order in ((0, 1, 2, 3), (3, 1, 0, 2)):
        first, *others = (tmp_path / f"{number}.mercer" for number in order)
        model = mercer.load(first)
        for path in others:
            model.merge(mercer.load(path))
        assert abs(model.coef_ - expected.coef_).max() <= 1e-10 * abs(expected.coef_).max()
        assert model.alpha_ == expected.alpha_
        assert model.expectation().n_rows == 900
