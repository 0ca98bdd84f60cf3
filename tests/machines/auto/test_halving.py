"""Tests of ``kernel="auto"``: what each function was made of is found."""

import numpy as np
import pytest

from mercer import Gaussian, KernelClassifier, KernelRegressor, Laplace
from mercer.kernels import NTK, Polynomial
from mercer.machines.auto import halving
from mercer.machines.auto.pilot import Candidate


class Scores:
    """A pilot whose errors are known, and that counts what it is asked for."""

    def __init__(self, error):
        self._error, self.asked = error, []

    @property
    def n_tried(self):
        return len(self.asked)

    def error(self, candidate, n_rows, most, selection):
        self.asked.append((repr(candidate.kernel), n_rows, most, selection))
        return self._error(candidate)


def chosen(error, scalings=("each",)):
    pilot = Scores(error)
    best, reason = halving.chosen_by_halving(
        pilot, list(scalings), lambda kernel, scaling: 2.0, lambda scaling: 3.0, True
    )
    return best, reason, pilot


def test_rounds_halve_the_candidates_and_the_best_survives():
    wanted = halving.candidates("each", lambda k, s: 2.0, lambda s: 3.0, True)[6].kernel
    best, reason, pilot = chosen(lambda c: float(repr(c.kernel) != repr(wanted)))
    assert repr(best.kernel) == repr(wanted)
    counts = {rows: sum(asked[1] == rows for asked in pilot.asked) for rows, _ in halving.ROUNDS}
    assert counts[1024] == 17
    assert counts[2048] == halving.SURVIVORS[0]
    assert {asked[3] for asked in pilot.asked} == {"gcv"}
    assert "17 candidates" in reason


def test_the_last_round_climbs_to_better_scales():
    best, _, _ = chosen(
        lambda c: abs(np.log(c.kernel.lengthscale / 2.8)) if isinstance(c.kernel, Laplace) else 9.0
    )
    assert best.kernel.lengthscale == pytest.approx(2.0 * 2**0.5)


def test_constants_of_zonal_kernels_are_climbed_and_other_encodings_tried():
    def error(candidate):
        if not isinstance(candidate.kernel, NTK):
            return 9.0
        return (
            abs(candidate.constant - 4.24) + (candidate.scaling == "each") + candidate.kernel.depth
        )

    best, _, _ = chosen(error, ("each", "common"))
    assert best == Candidate(best.kernel, "common", pytest.approx(3.0 * 2**0.5))
    assert best.kernel.depth == 1


def data(n=1500, d=4):
    generator = np.random.default_rng(0)
    return generator.standard_normal((n, d)), generator


@pytest.mark.parametrize("name", ["gaussian", "rough", "linear"])
def test_the_front_door_finds_what_suits_the_function(name):
    X, generator = data()
    noise = 0.05 * generator.standard_normal(len(X))
    if name == "gaussian":
        y = np.sin(X[:, 0]) * np.cos(X[:, 1]) + noise
    elif name == "rough":
        y = np.sign(X[:, 0] * X[:, 1]) + noise
    else:
        y = X @ np.arange(1.0, 5.0) + noise
    model = KernelRegressor("auto", n_components=256 if name != "linear" else "auto").fit(X, y)
    if name == "gaussian":
        assert isinstance(model.kernel_, Gaussian)
    elif name == "linear":
        assert isinstance(model.kernel_, Polynomial)
        assert model.report_.method == "linear"
    else:
        assert not isinstance(model.kernel_, Gaussian)
    if name != "linear":
        assert "rounds of halving" in model.report_.kernel_reason


def test_classifiers_choose_and_too_few_rows_take_the_first():
    X, _ = data(300)
    model = KernelClassifier("auto").fit(X, X[:, 0] * X[:, 1] > 0)
    assert model.score(X, X[:, 0] * X[:, 1] > 0) > 0.9
    few = KernelRegressor("auto").fit(X[:8], X[:8, 0] ** 2)
    assert "too few rows" in few.report_.kernel_reason


def test_wrong_names_are_refused_with_all_that_there_are():
    X, _ = data(30)
    with pytest.raises(ValueError, match="did you mean 'auto'"):
        KernelRegressor("aut0").fit(X, X[:, 0])
