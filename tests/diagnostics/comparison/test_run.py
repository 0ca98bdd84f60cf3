"""Tests of comparisons: what is measured, skipped, and kept when it is interrupted."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge

import mercer
from mercer import Gaussian, RandomFourier
from mercer.diagnostics.comparison.run import spectrum_of


class Raises(RegressorMixin, BaseEstimator):
    """Fails to learn."""

    def __init__(self, error=ValueError):
        self.error = error

    def fit(self, X, y):
        # The unmeasured fit on few rows succeeds.
        if len(X) > 256:
            raise self.error("it is broken")
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_errors_are_those_of_the_test_rows(regression):
    assert len(regression.truth) == regression.n_test == 80
    for trial in regression.trials:
        losses = (trial.predicted - regression.truth) ** 2
        assert trial.error == pytest.approx(np.sqrt(losses.mean()), rel=1e-12)
        assert trial.low < trial.error < trial.high
    assert regression.deviation == pytest.approx(np.std(regression.truth))


def test_trials_run_the_small_ones_first(regression):
    sizes = [trial.n_components for trial in regression.trials]
    assert sizes == [None, None, None, 16, 16, 16, 64, 64, 64]
    assert [trial.n_train for trial in regression.trials[:4]] == [320, 150, 320, 320]


def test_the_kernel_error_falls_and_is_known_for_features_only(regression):
    known = {trial.label: trial.kernel_error for trial in regression.trials}
    assert known["linear"] is known["exact, Gaussian"] is known["IRKM"] is None
    for method in ("Fourier, Gaussian", "Nystroem (sklearn)"):
        small, large = (known[f"{method}, {size} features"] for size in (16, 64))
        assert 0 < large < small


def test_costs_are_measured(regression):
    for trial in regression.trials:
        assert trial.fit_seconds > 0
        assert trial.predict_seconds > 0
        assert trial.model_bytes > 100
        assert trial.memory >= 0
    ours, theirs = (
        regression.best_of(method) for method in ("Fourier, Gaussian", "Nystroem (sklearn)")
    )
    # A seed stands for the frequencies; landmarks have to be kept.
    assert ours.model_bytes < theirs.model_bytes
    assert regression.memory_counts in ("resident memory", "traced allocations")


def test_the_smooth_function_is_learnt_and_the_line_is_not(regression):
    assert regression.best.method != "linear"
    assert not regression.is_tied(regression.best_of("linear"))
    assert regression.is_tied(regression.best)
    assert regression.best_of("nothing") is None


def test_spectra_are_those_of_each_kernel_once(regression):
    names = [(spectrum.method, spectrum.kernel[:8]) for spectrum in regression.spectra]
    assert names == [("exact, Gaussian", "Gaussian"), ("NTK", "NTK()")]
    X = np.random.default_rng(0).standard_normal((30, 3))
    expected = np.linalg.eigvalsh(Gaussian(1.0)(X))[::-1] / 30
    np.testing.assert_allclose(spectrum_of(Gaussian(1.0), X), expected, atol=1e-12)


def test_weights_are_those_of_the_columns(regression):
    weights = regression.weights[0]
    assert weights.method == "IRKM"
    assert weights.names == ("x0", "x1", "x2")
    assert weights.values.argmax() == 0


def test_labels_are_compared_by_the_share_of_wrong_ones(classification):
    assert classification.task == "classification"
    for trial in classification.trials:
        assert trial.error == np.mean(trial.predicted != classification.truth)
    assert classification.deviation is None
    assert [trial.label for trial in classification.trials] == ["<i>line</i>", "rbf, 32 features"]


def test_rows_make_a_frame(regression):
    frame = pd.DataFrame(regression.rows())
    assert len(frame) == 9
    assert frame.error.min() == regression.best.error
    assert frame.tied_with_best.any()


def test_the_same_seed_gives_the_same_errors(rows):
    found = [
        mercer.compare(*rows, maps=RandomFourier(Gaussian(2.0)), dims=16, random_state=seed)
        for seed in (3, 3, 4)
    ]
    assert found[0].best.error == found[1].best.error != found[2].best.error


def test_what_fails_is_told_and_costs_nothing(rows):
    maps = {"broken": Raises(), "line": Ridge(), "landmarks": Nystroem(kernel="nothing")}
    found = mercer.compare(*rows, maps=maps, dims=8)
    assert [trial.method for trial in found.trials] == ["line"]
    assert str(found.skipped[0]) == "broken: ValueError: it is broken"
    assert "landmarks, 8 features: KeyError: " in str(found.skipped[1])
    with pytest.raises(ValueError, match=r"measured\. broken: ValueError: it is broken"):
        mercer.compare(*rows, maps={"broken": Raises()})


def test_an_interruption_keeps_what_was_measured(rows):
    maps = {"line": Ridge(), "stopped": Raises(KeyboardInterrupt), "other": Ridge(2.0)}
    found = mercer.compare(*rows, maps=maps)
    assert [trial.method for trial in found.trials] == ["line"]
    assert found.interrupted
    assert found.facts()[-1][0] == "note"
    with pytest.raises(KeyboardInterrupt):
        mercer.compare(*rows, maps=Raises(KeyboardInterrupt))


def test_a_time_limit_skips_what_would_take_longer(rows):
    found = mercer.compare(*rows, maps=["linear", "gaussian"], dims=[8, 10**6], time_limit=20)
    assert [trial.n_components for trial in found.trials] == [None, 8]
    assert "would take about" in found.skipped[0].reason
    with pytest.raises(ValueError, match="the time limit was reached"):
        mercer.compare(*rows, maps="linear", time_limit=1e-9)


def test_warnings_become_notes(rows):
    X, y = rows
    found = mercer.compare(X, y, maps=Nystroem(gamma=1.0), dims=500)
    assert "n_components > n_samples" in found.best.notes[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dims": []}, "dims is empty"),
        ({"dims": [0]}, "dims must hold integers of at least 2, got 0"),
        ({"dims": "many"}, "dims must hold integers"),
        ({"time_limit": -1}, "time_limit must be a positive number"),
        ({"exact_rows": 0}, "exact_rows must hold integers of at least 1"),
    ],
)
def test_bad_options_are_refused(rows, options, message):
    with pytest.raises(ValueError, match=message):
        mercer.compare(*rows, maps=["linear"], **options)
