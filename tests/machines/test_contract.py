"""The contract of machines, for every public machine and every way that it solves."""

from functools import cache

import pytest

from mercer import (
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    IRKMClassifier,
    IRKMRegressor,
    KernelClassifier,
    KernelRegressor,
    Laplace,
    RandomFourier,
    RFMClassifier,
    RFMRegressor,
    machines,
)
from mercer.testing import MACHINE_CHECKS, MachineOptions, MachineTrial

FEW, MANY = (RandomFourier(Gaussian(), n_components=n, random_state=0) for n in (20, 100))
STEPS = {"n_iterations": 2, "random_state": 0}

HELD_OUT = {
    "check_weights_repeat_rows": "choices are made by held-out errors, and a row is held out with "
    "all its weight"
}
SCALED = {
    "check_weights_repeat_rows": "columns are scaled and kernels compared by rows, not by weights"
}
FOLDS = {
    "check_partial_fit": "the fold of a row depends on its position",
    "check_merge": "the fold of a row depends on its position",
    "check_weights_repeat_rows": "copies of a row fall into different folds",
    "check_blocks_without_weight": "the fold of a row depends on its position",
}
NEARLY_EQUAL = {"check_dtypes": "one of several nearly equal lengthscales is chosen"}


def with_alpha(machine, value):
    """Return a feature-learning machine whose ridge parameter is given."""
    name = "ridge" if "ridge" in machine.get_params() else "alpha"
    return machine.set_params(**{name: value})


def learners(regressor, classifier):
    """Return a feature-learning machine with each solver, and the checks that do not hold."""
    no_choice = {**STEPS, "validation_fraction": None}
    given = with_alpha(regressor(Laplace(2.0), **no_choice), 0.1)
    fourier = regressor(Gaussian(1.5), solver="features", n_components=16, **no_choice)
    return {
        "exact": (regressor(**STEPS), HELD_OUT),
        "exact, alpha given": (given, {}),
        "classifier": (classifier(**STEPS), HELD_OUT),
        "classifier, alpha given": (
            with_alpha(classifier(Laplace(2.0), **no_choice), 0.1),
            {},
        ),
        "features": (with_alpha(fourier, 0.1), {}),
        "nystrom": (regressor(solver="nystrom", n_components=16, **STEPS), HELD_OUT),
    }


def kernel_ridges():
    """Yield the machines of exact kernels, as far as there are any."""
    for name in ("KernelRidge", "KernelRidgeClassifier"):
        kind = getattr(machines, name, None)
        if kind is not None:
            yield name, (kind(Gaussian()), HELD_OUT)
            yield f"{name}, alpha given", (kind(Laplace(), alpha=0.1), {})


#: Machines by what tests call them, each with the checks that do not hold and why.
MACHINES = {
    "FeatureRidge": (FeatureRidge(FEW), {}),
    "FeatureRidge, no map": (FeatureRidge(), {}),
    "FeatureRidge, few rows": (FeatureRidge(MANY, alpha=0.1), {}),
    "FeatureRidge, folds": (FeatureRidge(FEW, selection=3), FOLDS),
    "FeatureRidge, per target": (FeatureRidge(FEW, per_target=True, fit_intercept=False), {}),
    "FeatureRidgeClassifier": (FeatureRidgeClassifier(FEW), {}),
    "FeatureRidgeClassifier, few rows": (FeatureRidgeClassifier(MANY, alpha=0.1), {}),
    "KernelRegressor, exact": (KernelRegressor(Gaussian(1.5), alpha=0.1), SCALED),
    "KernelRegressor, features": (
        KernelRegressor("gaussian", n_components=32),
        SCALED | NEARLY_EQUAL,
    ),
    "KernelClassifier, exact": (KernelClassifier(Laplace(2.0), alpha=0.1), SCALED),
    "KernelClassifier, features": (
        KernelClassifier("gaussian", n_components=32),
        SCALED | NEARLY_EQUAL,
    ),
    **{f"IRKM, {how}": case for how, case in learners(IRKMRegressor, IRKMClassifier).items()},
    **{f"RFM, {how}": case for how, case in learners(RFMRegressor, RFMClassifier).items()},
    **dict(kernel_ridges()),
}


@cache
def trial_of(name):
    machine, exceptions = MACHINES[name]
    return MachineTrial(machine, MachineOptions(exceptions=exceptions))


@pytest.mark.parametrize("check", MACHINE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MACHINES)
def test_machine_keeps_the_contract(name, check):
    trial = trial_of(name)
    reason = trial.options.exceptions.get(check.__name__)
    if reason is not None:
        pytest.skip(reason)
    check(trial)


def test_every_public_machine_is_tried():
    public = {name for name in machines.__all__ if hasattr(getattr(machines, name), "fit")}
    assert public <= {type(machine).__name__ for machine, _ in MACHINES.values()}
