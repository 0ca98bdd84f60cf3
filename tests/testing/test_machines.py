"""The contract of machines holds for a stranger's machine, and each check can fail."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer import FeatureRidge, KernelClassifier
from mercer._array import is_numpy, to_numpy
from mercer.testing import MACHINE_CHECKS, MachineOptions, MachineTrial, check_machine

CHECKS = {check.__name__: check for check in MACHINE_CHECKS}


class LeastSquares(RegressorMixin, BaseEstimator):
    """Ridge regression on the columns, from sums: a machine as a stranger would write it."""

    def __init__(self, alpha=0.01):
        self.alpha = alpha

    def fit(self, X, y, sample_weight=None):
        X, y, weights = self._checked(X, y, sample_weight)
        if not weights.any():
            raise ValueError("sample_weight is zero for every row.")
        self.sums_ = self._sums(X, y, weights)
        self.n_features_in_ = X.shape[1]
        return self

    def partial_fit(self, X, y, sample_weight=None):
        X, y, weights = self._checked(X, y, sample_weight)
        known = getattr(self, "sums_", np.zeros((X.shape[1] + 2,) * 2))
        if known.shape[0] != X.shape[1] + 2:
            raise ValueError(f"X has {X.shape[1]} columns, not {known.shape[0] - 2}.")
        self.sums_ = known + self._sums(X, y, weights)
        self.n_features_in_ = X.shape[1]
        return self

    def merge(self, other):
        if not isinstance(other, LeastSquares) or not hasattr(other, "sums_"):
            raise ValueError("Only fitted machines of one class merge.")
        if other.sums_.shape != self.sums_.shape:
            raise ValueError("The machines know different numbers of columns.")
        self.sums_ = self.sums_ + other.sums_
        return self

    def predict(self, X):
        check_is_fitted(self, "sums_")
        X = self._rows(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} columns, but {self.n_features_in_} are known.")
        coef = self._solved()
        return X @ coef[:-1] + coef[-1]

    def _solved(self):
        gram, cross = self.sums_[:-1, :-1], self.sums_[:-1, -1]
        return np.linalg.solve(gram + self.alpha * np.eye(len(gram)), cross)

    def _sums(self, X, y, weights):
        rows = np.column_stack([X, np.ones(len(X)), y])[weights > 0]
        return rows.T @ (rows * weights[weights > 0, None])

    def _rows(self, X):
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must be two-dimensional, not a {X.ndim}D array (dim {X.ndim}).")
        if min(X.shape) < 1:
            raise ValueError(f"X has 0 samples or 0 features: its shape is {X.shape}.")
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X must hold numbers only, not {X.dtype} (Complex data included).")
        bad = np.argwhere(~np.isfinite(X))
        if len(bad):
            raise ValueError(f"X contains NaN or infinity at row {bad[0][0]}, column {bad[0][1]}.")
        return X.astype(float)

    def _checked(self, X, y, sample_weight):
        X = self._rows(X)
        y = np.asarray(y, dtype=float)
        if y.shape != (len(X),) or not np.isfinite(y).all():
            bad = np.argwhere(~np.isfinite(y)).ravel()[:1]
            raise ValueError(f"y must be {len(X)} numbers, got {y.shape}, not finite: {bad}.")
        weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight)
        if weights.shape != (len(X),) or not (weights >= 0).all():
            raise ValueError("sample_weight must hold one number that is not negative for a row.")
        return X, y, weights


class DependsOnTheBatch(LeastSquares):
    def predict(self, X):
        values = super().predict(X)
        return values + values.mean()


class ForgetsWeights(LeastSquares):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        return super().fit(X, y)


class RoundsWeights(LeastSquares):
    def _sums(self, X, y, weights):
        return super()._sums(X, y, np.minimum(weights, 2))


class CountsEveryRow(LeastSquares):
    def _sums(self, X, y, weights):
        return super()._sums(X, y, np.maximum(weights, 1e-9))


class MergesBeforeRefusing(LeastSquares):
    def merge(self, other):
        if getattr(other, "sums_", None) is None:
            self.sums_ = 2 * self.sums_
        return super().merge(other)


class TakesFromTheOther(LeastSquares):
    def merge(self, other):
        super().merge(other)
        other.sums_ = self.sums_
        return self


class ForgetsBlocks(LeastSquares):
    def partial_fit(self, X, y, sample_weight=None):
        return self.fit(X, y, sample_weight)


class RemembersEarlierFits(LeastSquares):
    def fit(self, X, y, sample_weight=None):
        before = getattr(self, "sums_", 0.0)
        super().fit(X, y, sample_weight)
        if np.shape(before) == self.sums_.shape:
            self.sums_ = self.sums_ + before
        return self


class SpoilsTheFitBeforeItRefuses(LeastSquares):
    def fit(self, X, y, sample_weight=None):
        self.sums_ = np.eye(5)
        return super().fit(X, y, sample_weight)


class CentresItsInput(LeastSquares):
    def _rows(self, X):
        if isinstance(X, np.ndarray) and X.dtype == float and X.flags.writeable:
            X += 1e-3
        return super()._rows(X)


class DrawsAnew(LeastSquares):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.sums_ = self.sums_ * (1 + np.random.default_rng().random())
        return self


class ChangesItsParameter(LeastSquares):
    def fit(self, X, y, sample_weight=None):
        self.alpha = self.alpha / 2
        return super().fit(X, y, sample_weight)


class LosesItsState(LeastSquares):
    def __getstate__(self):
        return {**super().__getstate__(), "sums_": np.eye(5)}


class TakesNaN(LeastSquares):
    def _rows(self, X):
        return np.nan_to_num(X) if np.ndim(X) == 2 else super()._rows(X)


class LearnsNothing(LeastSquares):
    def predict(self, X):
        return 0 * super().predict(X)


class FailsInFloat32(LeastSquares):
    def _rows(self, X):
        single = np.asarray(X).dtype == np.float32
        return super()._rows(X) * (1.1 if single else 1.0)


#: Broken machines, with the check that must find each.
BROKEN = {
    DependsOnTheBatch: "check_rows_are_independent",
    ForgetsWeights: "check_equal_weights",
    RoundsWeights: "check_weights_repeat_rows",
    CountsEveryRow: "check_rows_without_weight",
    MergesBeforeRefusing: "check_refused_merge",
    TakesFromTheOther: "check_merge",
    ForgetsBlocks: "check_partial_fit",
    RemembersEarlierFits: "check_refit",
    SpoilsTheFitBeforeItRefuses: "check_interruption",
    CentresItsInput: "check_input_is_not_modified",
    DrawsAnew: "check_clone",
    ChangesItsParameter: "check_parameters",
    LosesItsState: "check_pickle",
    TakesNaN: "check_bad_rows",
    LearnsNothing: "check_it_learns",
    FailsInFloat32: "check_dtypes",
}


def test_a_stranger_s_machine_keeps_the_contract():
    check_machine(LeastSquares())


@pytest.mark.parametrize(
    ("kind", "name"), BROKEN.items(), ids=lambda part: getattr(part, "__name__", part)
)
def test_a_broken_machine_is_caught(kind, name):
    with pytest.raises(AssertionError):
        CHECKS[name](MachineTrial(kind()))
    with pytest.raises(AssertionError):
        check_machine(kind())


def test_a_refused_fit_that_spoils_the_earlier_one_is_caught():
    trial = MachineTrial(SpoilsTheFitBeforeItRefuses())
    for name in ("check_bad_targets", "check_bad_weights", "check_bad_rows"):
        with pytest.raises(AssertionError, match="after"):
            CHECKS[name](trial)


def test_a_bad_parameter_that_is_taken_is_caught():
    class Trusting(FeatureRidge):
        def fit(self, X, y=None, sample_weight=None):
            return FeatureRidge().fit(X, y, sample_weight)

    with pytest.raises(AssertionError, match="no ValueError"):
        CHECKS["check_bad_parameters"](MachineTrial(Trusting()))


def test_a_stream_that_differs_from_rows_is_caught():
    class StretchesBlocks(FeatureRidge):
        def fit(self, X, y=None, sample_weight=None):
            if isinstance(X, list):
                X = [(rows, 1.1 * targets) for rows, targets in X]
            return super().fit(X, y, sample_weight)

    with pytest.raises(AssertionError, match="a list of blocks"):
        CHECKS["check_streams"](MachineTrial(StretchesBlocks()))


def test_a_machine_that_brings_rows_to_the_host_is_caught():
    class AnswersWithNumPy(FeatureRidge):
        def predict(self, X, return_std=False):
            found = super().predict(X, return_std)
            return tuple(map(to_numpy, found)) if return_std else to_numpy(found)

    class RoundsOtherLibraries(FeatureRidge):
        def predict(self, X, return_std=False):
            found = super().predict(X, return_std)
            return found if return_std or is_numpy(X) else 1.01 * found

    options = MachineOptions(on_device=True)
    with pytest.raises(AssertionError, match="answers with NumPy"):
        CHECKS["check_answers_where_rows_are"](MachineTrial(AnswersWithNumPy(), options))
    with pytest.raises(AssertionError, match="rows of"):
        CHECKS["check_array_libraries"](MachineTrial(RoundsOtherLibraries(), options))
    # No machine is held to what it does not promise.
    for kind in (AnswersWithNumPy, RoundsOtherLibraries):
        CHECKS["check_answers_where_rows_are"](MachineTrial(kind()))
        CHECKS["check_array_libraries"](MachineTrial(kind()))


def test_a_check_can_be_declared_not_to_hold():
    reasons = {
        "check_it_learns": "it predicts zero, as a baseline should",
        "check_equal_weights": "a constant takes no notice of weights",
    }
    check_machine(LearnsNothing(), MachineOptions(exceptions=reasons))


def test_an_exception_that_names_no_check_is_refused():
    options = MachineOptions(exceptions={"check_weigths_repeat_rows": "a slip"})
    with pytest.raises(ValueError, match="did you mean 'check_weights_repeat_rows'"):
        check_machine(LeastSquares(), options)


def test_every_check_has_a_name_of_its_own_and_a_sentence():
    assert len(CHECKS) == len(MACHINE_CHECKS)
    assert all(check.__doc__ and check.__doc__.strip() for check in MACHINE_CHECKS)


def test_labels_of_a_trial_are_in_every_block():
    trial = MachineTrial(KernelClassifier())
    for _, labels in trial.blocks():
        assert len(np.unique(labels)) == trial.options.n_classes


class Stopped(TransformerMixin, BaseEstimator):
    """The columns as they are, until there are forty rows: then the user loses patience."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        if len(X) == 40:
            raise KeyboardInterrupt
        return X


def test_an_interruption_inside_a_feature_map_leaves_the_earlier_fit():
    trial = MachineTrial(FeatureRidge(Stopped()))
    machine = trial.fitted()
    expected = machine.predict(trial.new_rows)
    with pytest.raises(KeyboardInterrupt):
        machine.fit(trial.X[:40], trial.y[:40])
    assert np.array_equal(machine.predict(trial.new_rows), expected)
