"""From rows to small integers in one pass: projections, thresholds, and bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._array import floating_name, is_numpy, namespace, to_numpy
from ...engine.blocks import cut, plan_rows, row_width, take
from ...engine.memory import allocate
from ...engine.threads import run_tasks
from ...ops.packed import n_words, unpack_rows
from ...ops.thresholds import Thresholds
from ...ops.waves import Waves
from ...sketches import Projection, TernaryProjection
from .code import EVEN, QUARTERS, SIGN, TERNARY
from .features import PackedFeatures

#: The code of each kind of thresholds.
CODES = {"odd": TERNARY, "even": EVEN, "sign": SIGN}
#: The code of a number of values of rounded cosines.
WAVE_CODES = {2: SIGN, 3: TERNARY, 4: QUARTERS}
#: Rows whose projections are in memory at a time, and stay in a core's cache.
FEW_ROWS = 32


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


def packed_waves(X: Any, projection: Projection, waves: Waves, name: str = "X") -> PackedFeatures:
    """Return rounded cosines and sines of phases of rows, in packed form.

    With a :class:`TernaryProjection` of rows of NumPy or CSR the projections of a few rows only
    are in memory; otherwise those of a block.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Rows of any library, or CSR.
    projection : Projection
        The projection.
    waves : Waves
        What becomes of a value.
    name : str, default="X"
        What to call the rows in errors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features.packed import packed_waves
    >>> from mercer.ops.waves import RoundedCosine, Waves
    >>> from mercer.sketches import DenseProjection
    >>> waves = Waves(RoundedCosine(4), np.ones(1), np.zeros(1), 2)
    >>> packed_waves(np.asarray([[0.1]]), DenseProjection(np.eye(1)), waves).unpack()
    array([[3, 1]], dtype=int8)
    """
    code = WAVE_CODES[waves.cosine.levels]
    shape = (code.n_planes, X.shape[0], n_words(waves.size))
    planes = allocate(np.empty(0), shape, "uint64")

    def work(block: Any, start: int) -> None:
        fill_wave_planes(block, projection, waves, planes, start)

    run_row_blocks(work, X, _wave_scratch(X, projection), name)
    return PackedFeatures(planes, waves.size, code)


def wave_codes(X: Any, projection: Projection, waves: Waves, name: str = "X") -> Any:
    """Return rounded cosines and sines of phases of rows as an int8 array of their library.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Rows of any library, or CSR.
    projection : Projection
        The projection.
    waves : Waves
        What becomes of a value.
    name : str, default="X"
        What to call the rows in errors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features.packed import wave_codes
    >>> from mercer.ops.waves import RoundedCosine, Waves
    >>> from mercer.sketches import DenseProjection
    >>> waves = Waves(RoundedCosine(2), np.ones(1), np.zeros(1), 2)
    >>> wave_codes(np.asarray([[0.1], [0.3]]), DenseProjection(np.eye(1)), waves)
    array([[ 1,  1],
           [-1,  1]], dtype=int8)
    """
    out = allocate(X, (X.shape[0], waves.size), "int8")

    def work(block: Any, start: int) -> None:
        target = slice(start, start + block.shape[0])
        if is_numpy(block):
            block_wave_codes(block, projection, waves, out[target])
        else:
            out[target, :] = waves.of(projection.project(block, namespace(block)))

    # Bits beside the projections, of which there are half as many.
    run_row_blocks(work, X, _wave_scratch(X, projection) + waves.size // 8, name)
    return out


def block_wave_codes(
    block: Any, projection: Projection, waves: Waves, out: np.ndarray
) -> np.ndarray:
    """Write rounded cosines and sines of phases of a block of NumPy or CSR to ``out``.

    Parameters
    ----------
    block : array of shape (n_rows, n_features)
        Rows in floating dtype.
    projection : Projection
        The projection.
    waves : Waves
        What becomes of a value.
    out : array of shape (n_rows, waves.size)
        Where the values go, in its dtype.
    """
    code = WAVE_CODES[waves.cosine.levels]
    shape = (code.n_planes, block.shape[0], n_words(waves.size))
    planes = np.empty(shape, dtype=np.uint64)
    fill_wave_planes(block, projection, waves, planes, 0)
    unpack_rows(planes, code.weights, code.offset, out)
    return out


def fill_wave_planes(
    block: Any, projection: Projection, waves: Waves, planes: np.ndarray, first: int
) -> None:
    """Write the bits of rounded cosines and sines of phases of a block to rows of ``planes``.

    Parameters
    ----------
    block : array of shape (n_rows, n_features)
        Rows in floating dtype, of any library, or CSR.
    projection : Projection
        The projection.
    waves : Waves
        What becomes of a value.
    planes : uint64 array of shape (n_planes, n, n_words)
        Where the bits go.
    first : int
        The row of ``planes`` that the first row of the block is.
    """
    step = FEW_ROWS if _additions(block, projection) is not None else max(1, block.shape[0])
    for start, stop in cut(block.shape[0], step):
        few = block[start:stop, :]
        values = to_numpy(projection.project(few, namespace(few)))
        waves.planes(values, planes, first + start)


def _wave_scratch(X: Any, projection: Projection) -> int:
    if _additions(X, projection) is not None:
        return 0
    return projection.size + projection.scratch


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
