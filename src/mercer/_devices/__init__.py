"""The seam to accelerators: what the Array API has no word for, one module for each library."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, Protocol

import array_api_compat
import numpy as np

from .._array import is_numpy
from .._settings import settings

#: Dtypes that every library has; others are sent as floats.
COMMON = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64")


class Algebra(Protocol):
    """Dense linear algebra of one array library, on the device where its arrays are.

    Matrices are full: both triangles of a symmetric one are kept.
    """

    def product(self, A: Any, B: Any, out: Any = None) -> Any:
        """Return ``A @ B``, into ``out`` if given.

        The setting ``precision`` says what the factors of a float32 product on an accelerator may
        be rounded to; they are added up in float32.
        """
        ...

    def sum_of_products(self, A: Any, B: Any) -> Any:
        """Return AᵀB in float64: products of a few float32 rows, added up in float64."""
        ...

    def add_gram(self, total: Any, Z: Any) -> None:
        """Add ZᵀZ, as ``sum_of_products`` computes it, to the upper triangle of float64 sums.

        What is below the diagonal is not kept up.
        """
        ...

    def mirrored(self, upper: Any) -> Any:
        """Return a symmetric matrix from its upper triangle."""
        ...

    def cholesky(self, S: Any) -> Any:
        """Return the lower Cholesky factor, or raise ``numpy.linalg.LinAlgError``."""
        ...

    def solve_triangular(self, L: Any, B: Any, transposed: bool = False) -> Any:
        """Return the inverse of a lower triangular matrix, or of its transpose, times B."""
        ...

    def cholesky_solve(self, L: Any, B: Any) -> Any:
        """Return the inverse of ``L @ L.T`` times B."""
        ...

    def eigh(self, S: Any) -> tuple[Any, Any]:
        """Return eigenvalues, ascending, and eigenvectors of a symmetric matrix."""
        ...

    def synchronize(self, X: Any) -> None:
        """Wait until everything that was begun on the device of ``X`` is done."""
        ...


def algebra_of(X: Any) -> Algebra:
    """Return the linear algebra of the library of an array.

    Examples
    --------
    >>> import numpy as np
    >>> algebra_of(np.eye(2)).cholesky(4.0 * np.eye(2))
    array([[2., 0.],
           [0., 2.]])
    """
    if not is_numpy(X) and array_api_compat.is_torch_array(X):
        from .torch import TorchAlgebra

        return TorchAlgebra()
    if not is_numpy(X) and array_api_compat.is_cupy_array(X):
        from .cupy import CupyAlgebra

        return CupyAlgebra()
    from .standard import StandardAlgebra

    return StandardAlgebra()


@cache
def _triton_runs() -> bool:
    """Return whether Triton is there, which torch for CUDA brings."""
    from .._optional import is_installed

    return is_installed("triton")


def has_fused_kernels(X: Any) -> bool:
    """Return whether the kernels of ``mercer.ops._cuda`` serve an array.

    They serve torch tensors on CUDA devices. Where ``TRITON_INTERPRET=1`` is set they are
    interpreted, for tests, and serve those of the processor.
    """
    if is_numpy(X) or not array_api_compat.is_torch_array(X):
        return False
    if X.device.type != "cuda" and os.environ.get("TRITON_INTERPRET") != "1":
        return False
    return _triton_runs() and X.stride(-1) == 1


def stored(X: Any) -> Any:
    """Return an array in the dtype that large intermediate results are stored in.

    That is bfloat16 for float32 tensors of torch where the setting ``precision`` says so: half
    of the memory to read and to write. All else stays as it is.

    Examples
    --------
    >>> stored(np.eye(1, dtype="float32"))
    array([[1.]], dtype=float32)
    """
    if is_numpy(X) or settings().precision != "bfloat16" or not array_api_compat.is_torch_array(X):
        return X
    from .torch import in_bfloat16

    return in_bfloat16(X)


def has_recordings(X: Any) -> bool:
    """Return whether work on the device of an array can be recorded and replayed."""
    return has_fused_kernels(X) and X.device.type == "cuda"


def recorder(X: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what makes a function of blocks one that is recorded at its second block."""
    from .torch import Recorded

    return Recorded


def placed(rows: Any) -> Any:
    """Return rows where they are to be learnt: on the device of the settings, if one is named.

    Rows that are on a device already stay there, and so does what cannot be sent.

    Examples
    --------
    >>> import mercer, numpy as np
    >>> with mercer.config(device=None):
    ...     placed(np.eye(1))
    array([[1.]])
    """
    device = settings().device
    if device is None or not can_be_sent(rows):
        return rows
    return next(iter(sent_ahead([(rows,)], device)))[0]


def can_be_sent(part: Any) -> bool:
    """Return whether something is a dense array of NumPy that holds numbers or booleans.

    Examples
    --------
    >>> can_be_sent(np.eye(2)), can_be_sent(np.asarray(["a"]))
    (True, False)
    """
    return isinstance(part, np.ndarray) and part.dtype.kind in "biuf" and part.dtype.itemsize <= 8


def sent_ahead(blocks: Iterable[Any], device: str) -> Iterator[Any]:
    """Yield tuples of host arrays as arrays on a device, each copied while the last is used.

    Parameters
    ----------
    blocks : iterable of tuples
        Of NumPy arrays, or ``None`` for what is not there.
    device : str
        The name of a device, such as ``"cuda"`` or ``"cuda:1"``: by torch where it is installed,
        else by CuPy.
    """
    from .._optional import is_installed, require

    name = "torch" if is_installed("torch") or not is_installed("cupy") else "cupy"
    require(name, "torch", f"Learning on device={device!r}")
    send = import_module(f".{name}", __name__).sent_ahead
    return send((tuple(map(_ready, block)) for block in blocks), device)


def _ready(part: Any) -> Any:
    """Return an array as every library takes it: common dtypes, by rows, not read-only."""
    if part is None:
        return None
    part = np.ascontiguousarray(part, part.dtype.name if part.dtype.name in COMMON else "float64")
    return part if part.flags.writeable else part.copy()
