"""From rows to small integers in one pass: projections, thresholds, and bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._array import floating_name, is_numpy, namespace, to_numpy
from ...engine.blocks import cut, plan_rows, row_width, take
from ...engine.memory import allocate
from ...engine.threads import run_tasks
from ...ops.packed import n_words
from ...ops.thresholds import Thresholds
from ...sketches import Projection, TernaryProjection
from .code import EVEN, SIGN, TERNARY
from .features import PackedFeatures

#: The code of each kind of thresholds.
CODES = {"odd": TERNARY, "even": EVEN, "sign": SIGN}


def packed_thresholds(
    X: Any, projection: Projection, thresholds: Thresholds, name: str = "X"
) -> PackedFeatures:
    """Return what thresholds make of the projections of rows, in packed form.

    With a :class:`TernaryProjection` of rows of NumPy or CSR no value of a projection is ever
    kept in memory; otherwise those of a block are.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Rows of any library, or CSR.
    projection : Projection
        The projection.
    thresholds : Thresholds
        What becomes of a value.
    name : str, default="X"
        What to call the rows in errors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features.packed import packed_thresholds
    >>> from mercer.ops.thresholds import Thresholds
    >>> from mercer.sketches import TernaryProjection
    >>> projection = TernaryProjection.from_matrix([[1, 0], [1, -1]])
    >>> Z = packed_thresholds(np.asarray([[1.0, 2.0]]), projection, Thresholds("odd", 1.5, -1.5))
    >>> Z.unpack()
    array([[ 1, -1]], dtype=int8)
    """
    n_rows, size = X.shape[0], projection.size
    code = CODES[thresholds.kind]
    shape = (code.n_planes, n_rows, n_words(size))
    planes = allocate(np.empty(0), shape, "uint64")
    ternary = _additions(X, projection)

    def work(block: Any, start: int) -> None:
        if ternary is not None:
            ternary.planes(block, thresholds, planes, start)
        else:
            values = projection.project(block, namespace(block))
            thresholds.planes(to_numpy(values), planes, start)

    run_row_blocks(work, X, 0 if ternary is not None else size + projection.scratch, name)
    return PackedFeatures(planes, size, code)


def threshold_codes(X: Any, projection: Projection, thresholds: Thresholds, name: str = "X") -> Any:
    """Return what thresholds make of the projections of rows as an int8 array of their library.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Rows of any library, or CSR.
    projection : Projection
        The projection.
    thresholds : Thresholds
        What becomes of a value.
    name : str, default="X"
        What to call the rows in errors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features.packed import threshold_codes
    >>> from mercer.ops.thresholds import Thresholds
    >>> from mercer.sketches import DenseProjection
    >>> threshold_codes(np.eye(2), DenseProjection(np.eye(2)), Thresholds("sign", 0.5))
    array([[ 1, -1],
           [-1,  1]], dtype=int8)
    """
    size = projection.size
    out = allocate(X, (X.shape[0], size), "int8")
    ternary = _additions(X, projection)

    def work(block: Any, start: int) -> None:
        stop = start + block.shape[0]
        if ternary is not None:
            ternary.codes(block, thresholds, out[start:stop])
        else:
            out[start:stop, :] = thresholds.of(projection.project(block, namespace(block)))

    run_row_blocks(work, X, 0 if ternary is not None else size + projection.scratch, name)
    return out


def _additions(X: Any, projection: Projection) -> TernaryProjection | None:
    """Return the projection if its products with these rows are made of additions."""
    return projection if is_numpy(X) and isinstance(projection, TernaryProjection) else None


def run_row_blocks(work: Callable[[Any, int], None], X: Any, scratch: int, name: str) -> None:
    """Call ``work`` with blocks of rows in floating dtype, and the place of their first row.

    Parameters
    ----------
    work : callable
        Called as ``work(block, start)``, on several threads.
    X : array of shape (n_rows, n_features)
        Rows of any library, or CSR.
    scratch : int
        Numbers that the work holds for each row, beside the row.
    name : str
        What to call the rows in errors.
    """
    dtype, on_cpu = floating_name(X), is_numpy(X)
    width = row_width(X) + scratch
    plan = plan_rows(X.shape[0], np.dtype(dtype).itemsize * width, on_cpu)

    def one(span: tuple[int, int]) -> None:
        work(take(X, *span, dtype, name), span[0])

    spans = cut(X.shape[0], plan.rows)
    run_tasks(one, spans, lambda span: span[1] - span[0], "features", plan.workers, on_cpu)
