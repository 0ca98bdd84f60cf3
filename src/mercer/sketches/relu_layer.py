"""One hidden layer of a ReLU network: features of its two arc-cosine kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import is_numpy
from .._random import Stream
from .._registry import storable
from ..ops import arccosine
from ..ops.norms import row_norms, unit_rows
from ..ops.products import dense
from .isotropic import isotropic_projection


@storable
class ReluLayer:
    """Features of the arc-cosine kernels of order 1 and 0 of the same rows.

    Parameters
    ----------
    stream : Stream
        Where the directions come from.
    n_features : int
        Columns of the rows.
    n_relu, n_step : int
        Columns of the features of order 1 and of order 0; 0 for none of the latter.
    improved : bool
        Exact parts where they fit, antithetic directions elsewhere; or the plain maps.
    sampling : {"orthogonal", "gaussian", "leverage", "gibbs"}
        How directions are drawn.
    share : bool
        Use the same directions for both.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches.relu_layer import ReluLayer
    >>> layer = ReluLayer(Stream(0), 3, 16, 8, improved=True, sampling="orthogonal", share=False)
    >>> [part.shape for part in layer.features(np.eye(3), np)]
    [(3, 16), (3, 8)]
    """

    def __init__(
        self,
        stream: Stream,
        n_features: int,
        n_relu: int,
        n_step: int,
        *,
        improved: bool,
        sampling: str,
        share: bool,
    ) -> None:
        self._n_relu, self._n_step, self._improved = n_relu, n_step, improved
        exact = n_features + 1
        self._relu_deflated = improved and n_relu >= 1.25 * exact
        self._step_deflated = improved and n_step >= 1.25 * exact
        if self._relu_deflated:
            self._relu_size = n_relu - exact
        else:
            self._relu_size = -(-n_relu // 2) if improved else n_relu
        if self._step_deflated:
            self._step_size = n_step - exact
        else:
            self._step_size = n_step - 1 if improved and n_step > 1 else n_step
        self._mean = arccosine.mean_projection(None if sampling == "gaussian" else n_features)
        shared = max(self._relu_size, self._step_size)
        sizes = (shared, 0) if share else (self._relu_size, self._step_size)
        self._relu, self._step = (
            isotropic_projection(stream.child(name), n_features, size, sampling) if size else None
            for name, size in zip(("relu", "step"), sizes, strict=True)
        )

    def features(self, X: Any, xp: Any, out: Any = None) -> tuple[Any, Any]:
        """Return the features of order 1 and of order 0 (``None`` if there are none).

        Those of order 1 are written to ``out`` if it is given.
        """
        assert self._relu is not None
        P = self._relu.project(X, xp)
        Q = None
        if self._n_step:
            Q = P if self._step is None else self._step.project(X, xp)
            Q = self._of_order_zero(X, Q[:, : self._step_size], xp)
        if out is None and is_numpy(X):
            out = np.empty((X.shape[0], self._n_relu), dtype=P.dtype)
        return self._of_order_one(X, P[:, : self._relu_size], xp, out), Q

    def _of_order_one(self, X: Any, P: Any, xp: Any, out: Any) -> Any:
        if self._relu_deflated:
            if is_numpy(out):
                target = out[:, out.shape[1] - P.shape[1] :]
                target[...] = P
                P = target
            return arccosine.deflated_relu(dense(X), row_norms(X, xp), P, self._mean, xp, out)
        if self._improved:
            return arccosine.antithetic(P, 1, self._n_relu, xp, out)
        if is_numpy(out):
            out[...] = P
        return arccosine.plain(P, 1, xp, out)

    def _of_order_zero(self, X: Any, P: Any, xp: Any) -> Any:
        if self._step_deflated:
            unit, norms = unit_rows(X, xp)
            safe = xp.where(norms > 0, norms, xp.ones_like(norms))
            return arccosine.deflated_step(dense(unit), norms, P / safe[:, None], self._mean, xp)
        if self._improved and self._n_step > 1:
            place = np.empty((X.shape[0], self._n_step), dtype=P.dtype) if is_numpy(X) else None
            return arccosine.constant_and_sign(P, xp, place)
        return arccosine.plain(P, 0, xp)
