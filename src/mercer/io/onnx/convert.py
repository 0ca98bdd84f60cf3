"""The converters of mercer's models for skl2onnx, and the way to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from ..._array import as_floating, dtype_name
from ..._deferred import collected
from ..._optional import require
from ..._skl2onnx import parsed
from ..._sklearn import check_columns
from ...features import FeatureMap, QuantizedFourier
from ...preprocessing import SphericalCoordinates, TableEncoder
from .array import Recorded
from .models import CLASSIFIERS, REGRESSORS, answers, features_of, step_before
from .namespace import concat
from .tape import NotRecordable, Tape

#: What skl2onnx calls a machine whose features another converter has made.
ON_FEATURES = "MercerOnFeatures"
#: What makes other numbers of numbers, beside feature maps.
ENCODERS = (SphericalCoordinates, TableEncoder)


class OnFeatures:
    """What skl2onnx knows a converter of a part of a machine by."""


def to_onnx(model: Any, X: Any, *, target_opset: int | None = None) -> Any:
    """Return a fitted model as an ONNX graph.

    Feature maps, machines that predict and front doors are written, alone or as steps of a
    scikit-learn pipeline whose other steps skl2onnx knows. The graph computes in the
    dtype of ``X``, float32 or float64; kernels and sums of many features always in float64.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted model.
    X : array of shape (n_samples, n_features)
        Rows of the columns that the model was fitted on. Their numbers do not matter, their dtype
        does: that of the graph is float64 for float64, and float32 for all else. A data frame of
        numbers becomes one input of all its columns, in their order.
    target_opset : int, default=None
        The version of the operators, at least 18; ``None``: the newest that skl2onnx knows.

    Returns
    -------
    graph : onnx.ModelProto
        With an input ``X``. A regressor has the output ``variable`` of shape (n_samples,
        n_targets), a classifier ``label`` and ``probabilities``, a feature map ``variable``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FeatureRidge, RandomFourier, to_onnx
    >>> X = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    >>> model = FeatureRidge(RandomFourier(n_components=20, random_state=0)).fit(X, X[:, 0])
    >>> graph = to_onnx(model, X)  # doctest: +SKIP
    >>> open("model.onnx", "wb").write(graph.SerializeToString())  # doctest: +SKIP
    """
    skl2onnx = require("skl2onnx", "onnx", "to_onnx")
    register()
    if hasattr(model, "n_features_in_"):
        # A graph knows no names, and skl2onnx compares no widths.
        check_columns(X[:1], owner=model)
    rows = np.asarray(X[:1])
    if rows.dtype not in (np.float32, np.float64):
        rows = _as_numbers(rows)
    try:
        return skl2onnx.to_onnx(
            model, rows, target_opset=target_opset, options=_without_dictionaries(model)
        )
    except skl2onnx.common.exceptions.MissingShapeCalculator as error:
        raise _refusal(model, "skl2onnx does not know one of its steps.") from error


def register() -> None:
    """Tell skl2onnx of mercer's models, so that its own ``to_onnx`` and pipelines know them.

    :func:`to_onnx` does so by itself. Feature maps of your own are included, if their classes
    are defined by then and their ``_map`` keeps to the Array API.

    Examples
    --------
    >>> from mercer.io.onnx import register
    >>> register()  # doctest: +SKIP
    """
    skl2onnx = require("skl2onnx", "onnx", "register")
    for model in (*_subclasses(FeatureMap), *ENCODERS):
        _add(skl2onnx, model, _shape_of_features, _converter(_record_features))
    for model in (*REGRESSORS, *CLASSIFIERS):
        _add(skl2onnx, model, _shape_of_answers, _converter(_record_answers), _machine_parsed)
    skl2onnx.update_registered_converter(
        OnFeatures, ON_FEATURES, _shape_of_answers, _converter(_record_from_features)
    )


def convertible() -> list[str]:
    """Return the names of the models that have a converter.

    Examples
    --------
    >>> from mercer.io.onnx import convertible
    >>> "RandomFourier" in convertible()
    True
    """
    maps = [model for model in _subclasses(FeatureMap) if model is not QuantizedFourier]
    known = [*maps, *ENCODERS, *REGRESSORS, *CLASSIFIERS]
    own = (model for model in known if model.__module__.startswith("mercer."))
    return sorted(model.__name__ for model in own if not model.__name__.startswith("_"))


def _subclasses(kind: type) -> Iterator[type]:
    """Yield all classes below another one."""
    found: type
    for found in kind.__subclasses__():
        yield found
        yield from _subclasses(found)


def _add(skl2onnx: Any, model: type, shape: Any, converter: Any, parser: Any = None) -> None:
    alias = f"Mercer{model.__module__}.{model.__qualname__}"
    skl2onnx.update_registered_converter(model, alias, shape, converter, parser=parser)


def _as_numbers(rows: np.ndarray) -> np.ndarray:
    try:
        return rows.astype(np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "X must hold numbers only to be the input of an ONNX graph; encode categories in a "
            "step before the model, for example with scikit-learn's OrdinalEncoder."
        ) from error


def _without_dictionaries(model: Any) -> dict[Any, Any] | None:
    """Return the option by which classifiers of scikit-learn answer with arrays, as ours do."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    other = is_classifier(last) and not isinstance(last, CLASSIFIERS)
    return {id(last): {"zipmap": False}} if other else None


def _machine_parsed(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Return the outputs of a machine, its features and encoder parsed as models of their own."""
    from skl2onnx import get_model_alias

    alias, before = get_model_alias(type(model)), step_before(model)
    if before is not None:
        inputs, alias = parsed(scope, before, inputs, custom_parsers), ON_FEATURES
    operator = scope.declare_local_operator(alias, model)
    operator.inputs = list(inputs)
    floats = type(_float_type(inputs))
    if isinstance(model, CLASSIFIERS):
        named = [("label", _label_type(model)), ("probabilities", floats())]
    else:
        named = [("variable", floats())]
    for word, kind in named:
        operator.outputs.append(scope.declare_local_variable(word, kind))
    return operator.outputs


def _float_type(inputs: Any) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    double = any(isinstance(variable.type, DoubleTensorType) for variable in inputs)
    return DoubleTensorType([None, None]) if double else FloatTensorType([None, None])


def _label_type(model: Any) -> Any:
    from skl2onnx.common import data_types

    kinds = {"b": "Boolean", "i": "Int64", "u": "Int64", "f": "Double"}
    kind = kinds.get(model.classes_.dtype.kind, "String")
    return getattr(data_types, f"{kind}TensorType")([None])


def _shape_of_features(operator: Any) -> None:
    kind, model = _float_type(operator.inputs), operator.raw_operator
    width = len(model.get_feature_names_out())
    operator.outputs[0].type = type(kind)([operator.inputs[0].type.shape[0], width])


def _shape_of_answers(operator: Any) -> None:
    kind, model = _float_type(operator.inputs), operator.raw_operator
    rows = operator.inputs[0].type.shape[0]
    if isinstance(model, CLASSIFIERS):
        operator.outputs[0].type = type(_label_type(model))([rows])
        operator.outputs[1].type = type(kind)([rows, len(model.classes_)])
    else:
        width = int(model.targets_.n_columns)
        operator.outputs[0].type = type(kind)([rows, width])


def _record_features(model: Any, X: Recorded) -> list[Recorded]:
    return [as_floating(features_of(model, X), dtype_name(X))]


def _record_answers(model: Any, X: Recorded) -> list[Recorded]:
    return answers(model, X)


def _record_from_features(model: Any, X: Recorded) -> list[Recorded]:
    return answers(model, X, from_features=True)


def _refusal(model: Any, reason: Any) -> NotRecordable:
    """Return the error of a model without a converter, with those that have one."""
    return NotRecordable(
        f"{type(model).__name__} cannot be written as ONNX: {reason} These models can: "
        f"{', '.join(convertible())}."
    )


def _converter(record: Callable[[Any, Recorded], list[Recorded]]) -> Callable[..., None]:
    """Return the converter of skl2onnx that records what a function makes of rows."""

    def convert(scope: Any, operator: Any, container: Any) -> None:
        model = operator.raw_operator
        tape = Tape(container.target_opset, lambda word: scope.get_unique_variable_name(word))
        rows = [_row_variable(tape, variable) for variable in operator.inputs]
        X = rows[0] if len(rows) == 1 else concat(rows, axis=1)
        try:
            with collected():
                found = record(model, X)
        except (NotRecordable, TypeError) as error:
            raise _refusal(model, error) from error
        _write(model, tape, found, operator, container)

    return convert


def _row_variable(tape: Tape, variable: Any) -> Recorded:
    """Return an input of the graph as recorded rows of floats."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    kinds = {FloatTensorType: np.float32, DoubleTensorType: np.float64}
    if type(variable.type) not in kinds:
        raise TypeError(f"The input {variable.raw_name!r} of an ONNX graph must hold floats.")
    width = variable.type.shape[1]
    return Recorded.rows(tape, variable.full_name, int(width), kinds[type(variable.type)])


def _write(model: Any, tape: Tape, found: list[Recorded], operator: Any, container: Any) -> None:
    """Add what was recorded to the graph of skl2onnx, under the names that it has for outputs."""
    from onnx import numpy_helper

    if isinstance(model, CLASSIFIERS):
        found[0] = _labels(model, tape, found[0])
    for variable, array in zip(operator.outputs, found, strict=True):
        tape.nodes.append(_renamed(array.on(tape), variable.full_name))
    nodes, numbers = tape.needed([variable.full_name for variable in operator.outputs])
    for name, value in numbers.items():
        container.initializers.append(numpy_helper.from_array(value, name))
    container.nodes.extend(nodes)
    container.node_domain_version_pair_sets.add(("", tape.opset))


def _labels(model: Any, tape: Tape, codes: Recorded) -> Recorded:
    """Return the labels that codes stand for."""
    classes = model.classes_
    classes = classes.astype(
        {"i": np.int64, "u": np.int64, "b": bool, "f": np.float64}.get(classes.dtype.kind, object)
    )
    if classes.dtype == object:
        classes = np.asarray([str(label) for label in classes], dtype=object)
    name = tape.emit("Gather", [tape.constant(classes), codes.on(tape)], axis=0)
    return Recorded(codes.shape, np.int64, tape, name)


def _renamed(name: str, other: str) -> Any:
    from onnx import helper

    return helper.make_node("Identity", [name], [other], name=f"{other}_out")
