"""Linear algebra of torch tensors, and copies from the host that overlap with work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from .._deferred import collected
from .._settings import settings
from .sums import ROUNDED_ROWS, ROWS_OF_A_SUM

#: Columns of ZᵀZ that are computed, and added to the sums, at once.
PANEL = 1024
#: Numbers of products of some rows each that are held before they are added up.
HELD = 2**25
#: What torch calls the precisions whose factors it rounds itself.
_NAMES = {"float32": "highest", "tf32": "high"}


class TorchAlgebra:
    """Linear algebra of torch tensors."""

    def product(
        self,
        A: torch.Tensor,
        B: torch.Tensor,
        out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return ``A @ B``, into ``out`` if given."""
        precision = settings().precision
        if precision == "bfloat16" and A.dtype == torch.float32:
            found = _bfloat16_product(A, B)
            return found if out is None else out.copy_(found)
        with _float32_products(precision):
            return torch.matmul(A, B, out=out)

    def sum_of_products(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        """Return AᵀB in float64."""
        each, exact = ROWS_OF_A_SUM, settings().precision == "float32"
        if A.dtype != torch.float32:
            each = max(1, A.shape[0])
        elif not exact:
            each = ROUNDED_ROWS
        whole = A.shape[0] - A.shape[0] % each
        total = self.product(A[whole:].T, B[whole:]).to(torch.float64)
        at_once = each * (max(1, HELD // (A.shape[1] * B.shape[1])) if exact else 1)
        for start in range(0, whole, at_once):
            rows = slice(start, min(start + at_once, whole))
            left, right = (part[rows].unflatten(0, (-1, each)) for part in (A, B))
            if left.shape[0] == 1:
                total += self.product(left[0].T, right[0])
            else:
                total += self.product(left.mT, right).sum(dim=0, dtype=torch.float64)
        return total

    def add_gram(self, total: torch.Tensor, Z: torch.Tensor) -> None:
        """Add ZᵀZ to the upper triangle of ``total``."""
        for start in range(0, Z.shape[1], PANEL):
            stop = min(start + PANEL, Z.shape[1])
            total[:stop, start:stop] += self.sum_of_products(Z[:, :stop], Z[:, start:stop])

    def mirrored(self, upper: torch.Tensor) -> torch.Tensor:
        """Return a symmetric matrix from its upper triangle."""
        found = torch.triu(upper)
        return found + torch.triu(upper, 1).T

    def cholesky(self, S: torch.Tensor) -> torch.Tensor:
        """Return the lower Cholesky factor."""
        factor, failed = torch.linalg.cholesky_ex(S)
        if bool(failed.any()):
            raise np.linalg.LinAlgError("The matrix is not positive definite.")
        return factor

    def solve_triangular(
        self, L: torch.Tensor, B: torch.Tensor, transposed: bool = False
    ) -> torch.Tensor:
        """Return the inverse of a lower triangular matrix, or of its transpose, times B."""
        return torch.linalg.solve_triangular(L.mT if transposed else L, B, upper=transposed)

    def cholesky_solve(self, L: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        """Return the inverse of ``L @ L.T`` times B."""
        return torch.cholesky_solve(B, L)

    def eigh(self, S: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return eigenvalues, ascending, and eigenvectors."""
        values, vectors = torch.linalg.eigh(S)
        return values, vectors

    def synchronize(self, X: torch.Tensor) -> None:
        """Wait until everything that was begun on the device of ``X`` is done."""
        if X.device.type == "cuda":
            torch.cuda.synchronize(X.device)


class Recorded:
    """A function of blocks of rows whose steps are recorded once, and replayed.

    To launch a step takes longer than a small step itself. The first block is computed as it is,
    which loads and prepares everything; the second one is recorded; blocks of another shape, and
    functions that ask questions about their numbers, are never replayed.

    Parameters
    ----------
    function : callable
        ``function(block, out=None)``: the same steps for every block of a shape.
    """

    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        self._function = function
        self._seen: tuple[int, ...] | None = None
        self._graph: torch.cuda.CUDAGraph | None = None
        self._block = self._out = torch.empty(0)

    def __call__(self, block: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """Return the function of a block, in ``out``."""
        shape = tuple(block.shape)
        if self._graph is None and shape == self._seen:
            self._record(block, out)
        if self._graph is None or shape != tuple(self._block.shape):
            self._seen = shape
            return self._function(block, out=out)
        self._block.copy_(block)
        self._graph.replay()
        return self._out

    def _record(self, block: torch.Tensor, out: torch.Tensor) -> None:
        place, target = block.clone(), torch.empty(out.shape, dtype=out.dtype, device=out.device)
        graph, current = torch.cuda.CUDAGraph(), torch.cuda.current_stream(block.device)
        beside = torch.cuda.Stream(block.device)
        beside.wait_stream(current)
        # Not ``torch.cuda.graph``, which waits for all work and gives back all unused memory first.
        with collected() as questions, torch.cuda.stream(beside):
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                result = self._function(place, out=target)
            finally:
                graph.capture_end()
        current.wait_stream(beside)
        if not questions:
            self._graph, self._block, self._out = graph, place, result


@contextmanager
def _float32_products(precision: str) -> Iterator[None]:
    """Hold the rounding of float32 products to one precision, whatever the process has set."""
    before, wanted = torch.get_float32_matmul_precision(), _NAMES.get(precision, "highest")
    if before == wanted:
        yield
        return
    torch.set_float32_matmul_precision(wanted)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _bfloat16_product(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    """Return the float32 product of factors that are rounded to bfloat16."""
    left, right = A.to(torch.bfloat16), B.to(torch.bfloat16)
    if A.device.type == "cuda" and A.ndim == B.ndim == 2:
        return torch.mm(left, right, out_dtype=torch.float32)
    # Products of numbers of 8 bits are exact in float32: only where they are computed differs.
    with _float32_products("float32"):
        return left.to(torch.float32) @ right.to(torch.float32)


def in_bfloat16(X: torch.Tensor) -> torch.Tensor:
    """Return a float32 tensor in bfloat16, and others as they are."""
    return X.to(torch.bfloat16) if X.dtype == torch.float32 else X


def sent_ahead(blocks: Iterable[Any], device: str) -> Iterator[Any]:
    """Yield tuples of host arrays as tensors on a device, each copied while the last is used."""
    target = torch.device(device)
    if target.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={device!r}, but torch finds no CUDA device on this machine; use "
            "mercer.config(device=None), or a build of torch with CUDA."
        )
    if target.type != "cuda":
        for block in blocks:
            yield tuple(None if part is None else torch.asarray(part).to(target) for part in block)
        return
    copies = torch.cuda.Stream(target)
    waiting: tuple[Any, Any] | None = None
    for block in blocks:
        following = _sent(block, target, copies)
        if waiting is not None:
            yield _received(*waiting)
        waiting = following
    if waiting is not None:
        yield _received(*waiting)


def _sent(block: Any, target: torch.device, copies: torch.cuda.Stream) -> tuple[Any, Any]:
    """Begin to copy a block, through memory that the device can read by itself."""
    with torch.cuda.stream(copies):
        # Torch keeps pinned memory of earlier blocks, once their copies are done, for later ones.
        parts = tuple(
            None
            if part is None
            else torch.asarray(part).pin_memory(target).to(target, non_blocking=True)
            for part in block
        )
        return parts, copies.record_event()


def _received(parts: Any, sent: torch.cuda.Event) -> Any:
    """Let the work that follows wait for a copy, and the memory live until it is done."""
    for part in parts:
        if part is not None:
            stream = torch.cuda.current_stream(part.device)
            stream.wait_event(sent)
            part.record_stream(stream)
    return parts
