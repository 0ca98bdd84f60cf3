"""Linear algebra of CuPy arrays, and copies from the host that overlap with work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import cupy
import cupyx.scipy.linalg
import numpy as np

from .._settings import settings
from .sums import ROWS_OF_A_SUM

#: Columns of ZᵀZ that are computed, and added to the sums, at once.
PANEL = 1024


class CupyAlgebra:
    """Linear algebra of CuPy arrays."""

    def product(self, A: Any, B: Any, out: Any = None) -> Any:
        """Return ``A @ B``, into ``out`` if given."""
        precision = settings().precision
        if precision != "float32" and A.dtype == cupy.float32:
            raise ValueError(
                f"precision={precision!r} is for torch tensors; CuPy multiplies in float32: use "
                "mercer.config(precision='float32'), or torch.from_dlpack(X)."
            )
        return cupy.matmul(A, B, out=out)

    def sum_of_products(self, A: Any, B: Any) -> Any:
        """Return AᵀB in float64."""
        each = ROWS_OF_A_SUM if A.dtype == cupy.float32 else max(1, A.shape[0])
        total = cupy.zeros((A.shape[1], B.shape[1]))
        for start in range(0, A.shape[0], each):
            total += self.product(A[start : start + each].T, B[start : start + each])
        return total

    def add_gram(self, total: Any, Z: Any) -> None:
        """Add ZᵀZ to the upper triangle of ``total``."""
        for start in range(0, Z.shape[1], PANEL):
            stop = min(start + PANEL, Z.shape[1])
            total[:stop, start:stop] += self.sum_of_products(Z[:, :stop], Z[:, start:stop])

    def mirrored(self, upper: Any) -> Any:
        """Return a symmetric matrix from its upper triangle."""
        return cupy.triu(upper) + cupy.triu(upper, 1).T

    def cholesky(self, S: Any) -> Any:
        """Return the lower Cholesky factor."""
        with np.errstate(all="ignore"):
            factor = cupy.linalg.cholesky(S)
        # CuPy does not look at what the decomposition reports, unless it is told to.
        diagonal = cupy.diagonal(factor)
        if not bool((cupy.isfinite(diagonal) & (diagonal > 0)).all()):
            raise np.linalg.LinAlgError("The matrix is not positive definite.")
        return factor

    def solve_triangular(self, L: Any, B: Any, transposed: bool = False) -> Any:
        """Return the inverse of a lower triangular matrix, or of its transpose, times B."""
        return cupyx.scipy.linalg.solve_triangular(
            L, B, lower=True, trans="T" if transposed else "N"
        )

    def cholesky_solve(self, L: Any, B: Any) -> Any:
        """Return the inverse of ``L @ L.T`` times B."""
        return self.solve_triangular(L, self.solve_triangular(L, B), transposed=True)

    def eigh(self, S: Any) -> tuple[Any, Any]:
        """Return eigenvalues, ascending, and eigenvectors."""
        values, vectors = cupy.linalg.eigh(S)
        return values, vectors

    def synchronize(self, X: Any) -> None:
        """Wait until everything that was begun on the device of ``X`` is done."""
        with X.device:
            cupy.cuda.get_current_stream().synchronize()


def sent_ahead(blocks: Iterable[Any], device: str) -> Iterator[Any]:
    """Yield tuples of host arrays as CuPy arrays, each copied while the last is used."""
    number = int(device.partition(":")[2] or 0)
    with cupy.cuda.Device(number):
        copies = cupy.cuda.Stream(non_blocking=True)
    waiting: tuple[Any, ...] | None = None
    for block in blocks:
        with cupy.cuda.Device(number), copies:
            following = _sent(block), copies.record()
        if waiting is not None:
            yield _received(*waiting)
        waiting = following
    if waiting is not None:
        yield _received(*waiting)


def _sent(block: Any) -> Any:
    """Begin to copy a block, through memory that the device can read by itself."""
    return tuple(None if part is None else _pinned_copy(np.asarray(part)) for part in block)


def _pinned_copy(part: np.ndarray) -> Any:
    memory = cupy.cuda.alloc_pinned_memory(part.nbytes)
    host = np.frombuffer(memory, part.dtype, part.size).reshape(part.shape)
    host[...] = part
    found = cupy.empty(part.shape, part.dtype)
    found.set(host)
    return found


def _received(parts: Any, sent: Any) -> Any:
    """Let the work that follows wait for a copy."""
    cupy.cuda.get_current_stream().wait_event(sent)
    return parts
