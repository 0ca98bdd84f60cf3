"""The contract of machines, for every public machine and every way that it solves."""

from dataclasses import replace
from functools import cache

import pytest
from sklearn.base import ClassifierMixin, RegressorMixin

from mercer import (
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    IRKMClassifier,
    IRKMRegressor,
    KernelClassifier,
    KernelRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    Laplace,
    RandomFourier,
    RFMClassifier,
    RFMRegressor,
    machines,
)
from mercer.testing import MACHINE_CHECKS, MachineOptions, MachineTrial

FEW, MANY = (RandomFourier(Gaussian(), n_components=n, random_state=0) for n in (20, 100))
STEPS = {"n_iterations": 2, "random_state": 0}


def excepted(**exceptions):
    """Return options with the checks that do not hold, and why."""
    return MachineOptions(exceptions={f"check_{name}": why for name, why in exceptions.items()})


ALL = MachineOptions()
HELD_OUT = excepted(
    weights_repeat_rows="choices are made by held-out errors, and a row is held out with all its "
    "weight"
)
FOLDS = excepted(
    partial_fit="the fold of a row depends on its position",
    merge="the fold of a row depends on its position",
    blocks_without_weight="the fold of a row depends on its position",
    weights_repeat_rows="copies of a row fall into different folds",
)
TABLE = excepted(
    weights_repeat_rows="columns are scaled and kernels compared by rows, not by weights",
    sparse_fit="columns of CSR rows are not centred, so that they stay sparse",
)
#: Error bars of feature-learning machines count rows, however much each of them weighs.
LEARNER = MachineOptions(counted_weights=False)


def learners(regressor, classifier):
    """Return a feature-learning machine with each solver, and what it is held to."""
    given = {**STEPS, "alpha": 0.1, "validation_fraction": None}
    features = {"solver": "features", "n_components": 16}
    return {
        "exact": (regressor(**STEPS), HELD_OUT),
        "exact, alpha given": (regressor(Laplace(2.0), **given), LEARNER),
        "classifier": (classifier(**STEPS), HELD_OUT),
        "classifier, alpha given": (classifier(Laplace(2.0), **given), LEARNER),
        "features": (regressor(Gaussian(1.5), **features, **given), LEARNER),
        "nystrom": (regressor(solver="nystrom", n_components=16, **STEPS), HELD_OUT),
    }


WIDE = Gaussian(2.0)
#: Machines by what tests call them, and what each is held to.
MACHINES = {
    "FeatureRidge": (FeatureRidge(FEW), ALL),
    "FeatureRidge, no map": (FeatureRidge(), ALL),
    "FeatureRidge, few rows": (FeatureRidge(MANY, alpha=0.1), ALL),
    "FeatureRidge, folds": (FeatureRidge(FEW, selection=3), FOLDS),
    "FeatureRidge, per target": (FeatureRidge(FEW, per_target=True, fit_intercept=False), ALL),
    "FeatureRidgeClassifier": (FeatureRidgeClassifier(FEW), ALL),
    "FeatureRidgeClassifier, few rows": (FeatureRidgeClassifier(MANY, alpha=0.1), ALL),
    "KernelRidge": (KernelRidge(Gaussian()), HELD_OUT),
    "KernelRidge, alpha given": (KernelRidge(Laplace(), alpha=0.1), ALL),
    "KernelRidgeClassifier": (KernelRidgeClassifier(Gaussian()), HELD_OUT),
    "KernelRidgeClassifier, alpha given": (KernelRidgeClassifier(Laplace(), alpha=0.1), ALL),
    "KernelRidgeClassifier, logistic": (
        KernelRidgeClassifier(Laplace(), loss="logistic", alpha=0.1),
        MachineOptions(n_classes=2),
    ),
    "KernelRidgeClassifier, better loss": (
        KernelRidgeClassifier(Gaussian(), loss="auto"),
        replace(HELD_OUT, n_classes=2),
    ),
    "KernelRegressor, exact": (KernelRegressor(WIDE, alpha=0.1), TABLE),
    "KernelRegressor, features": (KernelRegressor(WIDE, n_components=64), TABLE),
    "KernelClassifier, exact": (KernelClassifier(WIDE, alpha=0.1), TABLE),
    "KernelClassifier, features": (KernelClassifier(WIDE, n_components=64), TABLE),
    **{f"IRKM, {how}": case for how, case in learners(IRKMRegressor, IRKMClassifier).items()},
    **{f"RFM, {how}": case for how, case in learners(RFMRegressor, RFMClassifier).items()},
}


#: How the names of machines begin that learn and answer where their rows are.
ON_DEVICE = ("Feature",)


@cache
def trial_of(name):
    machine, options = MACHINES[name]
    return MachineTrial(machine, replace(options, on_device=name.startswith(ON_DEVICE)))


@pytest.mark.parametrize("check", MACHINE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MACHINES)
def test_machine_keeps_the_contract(name, check):
    trial = trial_of(name)
    reason = trial.options.exceptions.get(check.__name__)
    if reason is not None:
        pytest.skip(reason)
    check(trial)


def test_every_public_machine_is_tried():
    kinds = (getattr(machines, name) for name in machines.__all__)
    public = {
        kind.__name__ for kind in kinds if issubclass(kind, (ClassifierMixin, RegressorMixin))
    }
    assert public <= {type(machine).__name__ for machine, _ in MACHINES.values()}
