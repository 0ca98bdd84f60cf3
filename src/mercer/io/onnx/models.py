"""What a fitted model computes, said with public attributes: each kind of model is one function."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ..._array import as_floating, beside, dtype_name, floating_name, like, namespace
from ...features import (
    FeatureMap,
    NystromFeatures,
    QuantizedFourier,
    TernaryFeatures,
    WaveFeatures,
)
from ...kernels.base import tile_of
from ...machines import (
    FeatureRidge,
    FeatureRidgeClassifier,
    IRKMClassifier,
    IRKMRegressor,
    KernelClassifier,
    KernelRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    RFMClassifier,
    RFMRegressor,
)
from ...machines.auto.learnt import ReweightedEncoder
from ...machines.calibration import every_class
from ...preprocessing import SphericalCoordinates, TableEncoder
from ...preprocessing.columns import NUMBER
from .array import Recorded
from .tape import NotRecordable

#: Machines that predict numbers, and those that predict labels.
REGRESSORS = (FeatureRidge, KernelRidge, KernelRegressor, IRKMRegressor, RFMRegressor)
CLASSIFIERS = (
    FeatureRidgeClassifier,
    KernelRidgeClassifier,
    KernelClassifier,
    IRKMClassifier,
    RFMClassifier,
)
#: Transformers that :func:`features_of` knows.
OWN = (FeatureMap, TableEncoder, ReweightedEncoder, SphericalCoordinates)


@singledispatch
def features_of(model: Any, X: Recorded) -> Recorded:
    """Return what a transformer makes of recorded rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RandomFourier
    >>> from mercer._deferred import collected
    >>> from mercer.io.onnx.array import Recorded
    >>> from mercer.io.onnx.models import features_of
    >>> from mercer.io.onnx.tape import Tape
    >>> features = RandomFourier(n_components=8, random_state=0).fit(np.eye(3))
    >>> with collected():
    ...     features_of(features, Recorded.rows(Tape(18), "X", 3, np.float32)).shape
    (rows, 8)
    """
    raise NotRecordable(f"{type(model).__name__} has no converter.")


@features_of.register
def _of_map(model: FeatureMap, X: Recorded) -> Recorded:
    return model.map_block(X, namespace(X))


@features_of.register
def _of_landmarks(model: NystromFeatures, X: Recorded) -> Recorded:
    # Roots of kernel matrices are badly conditioned: float32 would cost digits.
    return model.map_block(as_floating(X, "float64"), namespace(X))


@features_of.register
def _of_rounded(model: QuantizedFourier, X: Recorded) -> Recorded:
    raise NotRecordable(
        "QuantizedFourier rounds by a hash of the bits of each row, and ONNX cannot see bits."
    )


@features_of.register
def _of_thresholds(model: TernaryFeatures, X: Recorded) -> Recorded:
    return _codes(model, model.thresholds_, X)


@features_of.register
def _of_waves(model: WaveFeatures, X: Recorded) -> Recorded:
    return _codes(model, model.waves_, X)


def _codes(model: Any, activation: Any, X: Recorded) -> Recorded:
    """Return small integers as floats; at the scale of the kernel if the map gives those."""
    if model.output == "float":
        return model.map_block(X, namespace(X))
    found = activation.of(model.projection_.project(X, namespace(X)))
    return as_floating(found, dtype_name(X))


@features_of.register
def _of_table(model: TableEncoder, X: Recorded) -> Recorded:
    other = sorted(set(model.kinds_) - {NUMBER})
    if other:
        raise NotRecordable(
            f"TableEncoder encodes columns of kind {', '.join(map(repr, other))} here, and only "
            "numbers are written."
        )
    return model.transform_checked(X)


@features_of.register
def _of_metric(model: ReweightedEncoder, X: Recorded) -> Recorded:
    return model.weights.reweighted(features_of(model.encoder, X))


@features_of.register
def _of_coordinates(model: SphericalCoordinates, X: Recorded) -> Recorded:
    return model.points(X)


@singledispatch
def values_of(machine: Any, X: Recorded) -> Recorded:
    """Return the predictions of a machine for recorded rows, before they are decoded."""
    raise NotRecordable(f"{type(machine).__name__} has no converter.")


@values_of.register(FeatureRidge)
@values_of.register(FeatureRidgeClassifier)
def _of_ridge(machine: Any, X: Recorded) -> Recorded:
    return linear_values(
        machine, X if machine.features_ is None else features_of(machine.features_, X)
    )


def linear_values(machine: Any, Z: Recorded) -> Recorded:
    """Return the predictions of a ridge machine from its features.

    Sums of many features are taken in float64, as their rounding adds up.
    """
    solution, wide = machine.solution_, as_floating(Z, "float64")
    return wide @ like(wide, solution.coef.astype(float)) + beside(wide, solution.intercept)


@values_of.register(KernelRidge)
@values_of.register(KernelRidgeClassifier)
def _of_kernel(machine: Any, X: Recorded) -> Recorded:
    wide = as_floating(X, "float64")
    K = tile_of(machine.kernel_, wide, like(wide, np.asarray(machine.rows_)), namespace(X))
    solution = machine.solution_
    return K @ like(K, solution.coef) + beside(K, solution.intercept)


@values_of.register(IRKMRegressor)
@values_of.register(IRKMClassifier)
@values_of.register(RFMRegressor)
@values_of.register(RFMClassifier)
def _of_learner(machine: Any, X: Recorded) -> Recorded:
    return machine.block_values(as_floating(X, "float64"))


@values_of.register(KernelRegressor)
@values_of.register(KernelClassifier)
def _of_front_door(machine: Any, X: Recorded) -> Recorded:
    return values_of(machine.machine_, features_of(machine.encoder_, X))


def step_before(machine: Any) -> Any:
    """Return the transformer of another library that a machine holds; ``None`` if it has none.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import FeatureRidge
    >>> step_before(FeatureRidge(StandardScaler()).fit(np.eye(2), [0.0, 1.0]))
    StandardScaler()
    """
    held = None
    if isinstance(machine, (FeatureRidge, FeatureRidgeClassifier)):
        held = machine.features_
    elif isinstance(machine, (KernelRegressor, KernelClassifier)):
        held = machine.encoder_
    return None if held is None or isinstance(held, OWN) else held


def values_after(machine: Any, Z: Recorded) -> Recorded:
    """Return the predictions of a machine from what the transformer that it holds has made."""
    if isinstance(machine, (KernelRegressor, KernelClassifier)):
        return values_of(machine.machine_, Z)
    return linear_values(machine, Z)


def numbers(machine: Any, values: Recorded, name: str) -> list[Recorded]:
    """Return what a regressor answers: a column for each target."""
    return [as_floating(values, name)]


def labels_and_probabilities(machine: Any, values: Recorded, name: str) -> list[Recorded]:
    """Return what a classifier answers: the place of the label, and calibrated probabilities."""
    xp = namespace(values)
    logs = float(machine.probability_scale_) * every_class(values)
    powers = xp.exp(logs - xp.max(logs, axis=1, keepdims=True))
    shares = powers / xp.sum(powers, axis=1, keepdims=True)
    return [machine.targets_.codes(values), as_floating(shares, name)]


def answers(machine: Any, X: Recorded, from_features: bool = False) -> list[Recorded]:
    """Return all outputs of a machine for recorded rows, or for its features.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FeatureRidge
    >>> from mercer.io.onnx.array import Recorded
    >>> from mercer.io.onnx.models import answers
    >>> from mercer.io.onnx.tape import Tape
    >>> machine = FeatureRidge().fit(np.eye(3), np.arange(3.0))
    >>> answers(machine, Recorded.rows(Tape(18), "X", 3, np.float32))[0].shape
    (rows, 1)
    """
    values = values_after(machine, X) if from_features else values_of(machine, X)
    made = labels_and_probabilities if isinstance(machine, CLASSIFIERS) else numbers
    return made(machine, values, floating_name(X))
