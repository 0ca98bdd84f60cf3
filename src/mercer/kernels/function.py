"""A kernel that is a function of two blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import namespace
from .._registry import storable
from ..engine.blocks import cut
from .base import Kernel

#: Rows whose kernel is computed for the sake of its diagonal.
BLOCK = 64


@storable
class FunctionKernel(Kernel):
    """A kernel that is given as a function, such as those of ``sklearn.metrics.pairwise``.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns the matrix of the kernel of two blocks of rows: symmetric and
        positive semi-definite, and each entry of its two rows alone.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from mercer import FunctionKernel
    >>> FunctionKernel(rbf_kernel)(np.asarray([[0.0], [1.0]])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    _parameter_constraints: dict[str, Any] = {"function": [callable]}

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        found = self.function(X, Y)
        shape = (X.shape[0], Y.shape[0])
        if tuple(getattr(found, "shape", ())) != shape:
            raise ValueError(
                f"The kernel function must return a matrix of shape {shape} for blocks of "
                f"{shape[0]} and {shape[1]} rows, got {getattr(found, 'shape', type(found))}."
            )
        return found

    def _diag(self, X: Any, xp: Any) -> Any:
        parts = []
        for start, stop in cut(X.shape[0], BLOCK):
            block = X[start:stop, :]
            parts.append(namespace(block).linalg.diagonal(self._tile(block, block, xp)))
        return xp.concat(parts) if parts else np.zeros(0)
