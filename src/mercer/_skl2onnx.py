"""The seam to skl2onnx: the only module that imports its private names, which parsers need."""

from __future__ import annotations

from typing import Any


def parsed(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> list[Any]:
    """Return the variables that another model makes of some, as part of the same graph.

    Parameters
    ----------
    scope : Scope
        Where the graph is declared.
    model : estimator
        A fitted transformer that skl2onnx knows.
    inputs : list of Variable
        What it gets.
    custom_parsers : dict, default=None
        As skl2onnx passes it to parsers.
    """
    from skl2onnx._parse import parse_sklearn

    found: list[Any] = parse_sklearn(scope, model, inputs, custom_parsers)
    for variable in found:
        variable.init_status(is_leaf=False)
    return found
