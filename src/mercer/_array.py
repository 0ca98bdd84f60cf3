"""The seam to array libraries: the only module that asks which library an array is from.

Everything else is written against the Array API namespace ``xp`` that :func:`namespace`
returns, or against NumPy where :func:`is_numpy` says so.
"""

from __future__ import annotations

import weakref
from typing import Any

import array_api_compat
import numpy as np
import scipy.sparse

#: Columns from which on sums along them are faster than one sum of everything.
WIDE = 64
#: Dtypes that are computed with in float32, all others in float64. float32 holds integers of 16
#: bits exactly too, but not the products that they are made into: of 30,000² and 30,001² hardly a
#: digit of the difference is left.
ENOUGH_IN_FLOAT32 = ("bool", "int8", "uint8", "float16", "bfloat16", "float32")


def is_sparse(X: Any) -> bool:
    """Return whether ``X`` is a SciPy sparse matrix or array."""
    return bool(scipy.sparse.issparse(X))


def is_numpy(X: Any) -> bool:
    """Return whether blocks of ``X`` are computed by NumPy (sparse rows included)."""
    return isinstance(X, np.ndarray) or is_sparse(X)


def is_foreign(X: Any) -> bool:
    """Return whether ``X`` is an array of a library other than NumPy and SciPy."""
    return not is_numpy(X) and bool(array_api_compat.is_array_api_obj(X))


def has_values(X: Any) -> bool:
    """Return whether the numbers of an array are known; those of a recorded one are not.

    Formulas whose course depends on numbers take the one that is right for all of them.
    """
    return bool(getattr(X, "values_are_known", True))


def is_supported(X: Any) -> bool:
    """Return whether ``X`` is of a library whose arrays can be sliced and written to."""
    return bool(
        is_numpy(X)
        or array_api_compat.is_torch_array(X)
        or array_api_compat.is_cupy_array(X)
        or array_api_compat.is_array_api_strict_namespace(namespace(X))
    )


def namespace(X: Any) -> Any:
    """Return the Array API namespace of ``X``; NumPy's for sparse rows."""
    if is_numpy(X):
        return array_api_compat.array_namespace(np.empty(0))
    return array_api_compat.array_namespace(X)


def dtype_name(X: Any) -> str:
    """Return the dtype of ``X`` as a plain name such as ``"float32"``."""
    # The name of a NumPy dtype leaves out its byte order.
    return X.dtype.name if is_numpy(X) else str(X.dtype).rsplit(".", 1)[-1]


def floating_name(X: Any) -> str:
    """Return the dtype that features of ``X`` are computed in, ``"float32"`` or ``"float64"``."""
    return "float32" if dtype_name(X) in ENOUGH_IN_FLOAT32 else "float64"


def common_floating_name(X: Any, Y: Any) -> str:
    """Return the floating dtype of a result of ``X`` and ``Y``: float64 if either is."""
    return "float64" if "float64" in (floating_name(X), floating_name(Y)) else "float32"


def is_real_number(X: Any) -> bool:
    """Return whether the dtype of ``X`` is boolean, integer or real floating."""
    name = dtype_name(X)
    return name == "bool" or name.startswith(("int", "uint", "float", "bfloat"))


def as_floating(X: Any, name: str) -> Any:
    """Return ``X`` with floating dtype ``name``, without a copy where it has it already."""
    if is_numpy(X):
        return X.astype(np.dtype(name), copy=False)
    xp = namespace(X)
    return xp.astype(X, getattr(xp, name), copy=False)


def empty_like_library(X: Any, shape: tuple[int, ...], name: str) -> Any:
    """Return an uninitialised array in the library and on the device of ``X``."""
    if is_numpy(X):
        return np.empty(shape, dtype=name)
    xp = namespace(X)
    return xp.empty(shape, dtype=getattr(xp, name), device=array_api_compat.device(X))


def zeros_beside(X: Any, shape: tuple[int, ...]) -> Any:
    """Return float64 zeros in the library and on the device of ``X``."""
    if is_numpy(X):
        return np.zeros(shape)
    xp = namespace(X)
    return xp.zeros(shape, dtype=xp.float64, device=array_api_compat.device(X))


def beside(X: Any, values: np.ndarray) -> Any:
    """Return a NumPy array in the library and on the device of ``X``, with its own dtype."""
    if is_numpy(X):
        return values
    return namespace(X).asarray(np.ascontiguousarray(values), device=array_api_compat.device(X))


def device_of(X: Any) -> tuple[str, Any]:
    """Return the library of an array, and its device: equal for arrays that work together."""
    if is_numpy(X):
        return "numpy", None
    return namespace(X).__name__, array_api_compat.device(X)


def moved(values: Any, beside: Any = None) -> Any:
    """Return an array in the library and on the device of another; ``None`` means NumPy."""
    if not is_foreign(beside):
        return to_numpy(values) if is_foreign(values) else values
    if is_foreign(values) and device_of(values) == device_of(beside):
        return values
    if is_foreign(values) and namespace(values) is namespace(beside):
        return array_api_compat.to_device(values, array_api_compat.device(beside))
    host = to_numpy(values)
    # What another library may share must not be read-only.
    host = host if host.flags.writeable else host.copy()
    return namespace(beside).asarray(
        np.ascontiguousarray(host), device=array_api_compat.device(beside)
    )


def take_rows(A: Any, places: Any) -> Any:
    """Return some rows of an array, by their places."""
    if is_numpy(A):
        return A[places]
    return namespace(A).take(A, moved(places, A), axis=0)


def joined_rows(parts: list[Any]) -> Any:
    """Return the rows of several arrays of one library in one.

    Examples
    --------
    >>> joined_rows([np.ones(1), np.zeros(2)])
    array([1., 0., 0.])
    """
    if is_numpy(parts[0]):
        return np.concatenate(parts)
    return namespace(parts[0]).concat(parts, axis=0)


def brought(X: Any, array: Any) -> Any:
    """Return an array of any library in that of ``X`` and on its device.

    NumPy arrays that live long are moved once, see :func:`like`; they get the floating dtype of
    ``X``. What is there already is not copied.
    """
    return like(X, array) if is_numpy(array) else moved(array, X)


def take_columns(A: Any, places: np.ndarray) -> Any:
    """Return some columns of a dense array, by their places."""
    if is_numpy(A):
        return A[:, places]
    return namespace(A).take(A, beside(A, places), axis=1)


def free_device_memory(X: Any) -> int | None:
    """Return the free bytes of the accelerator that holds ``X``; ``None`` for the host's arrays."""
    if is_numpy(X) or not hasattr(X, "device"):
        return None
    if array_api_compat.is_torch_array(X) and X.device.type == "cuda":
        import torch

        return int(torch.cuda.mem_get_info(X.device)[0])
    if array_api_compat.is_cupy_array(X):
        import cupy

        with X.device:
            return int(cupy.cuda.runtime.memGetInfo()[0])
    return None


def starts_there(part: Any, place: Any) -> bool:
    """Return whether an array begins where another does, in memory."""
    if is_numpy(part):
        return bool(np.may_share_memory(part, place))
    return bool(part.data_ptr() == place.data_ptr())


def all_finite(X: Any) -> bool:
    """Return whether an array holds neither NaN nor infinity, as far as its numbers are known."""
    return not has_values(X) or bool(are_finite(X))


def are_finite(X: Any) -> Any:
    """Return the same as :func:`all_finite`, without waiting for the device of the array."""
    # A finite sum has finite terms, and costs one look; an infinite one may only have overflowed.
    if is_numpy(X):
        values = X.data if is_sparse(X) else X
        # Sums along columns need no contiguous rows to be fast, but rows of some width.
        along = 0 if values.ndim == 2 and values.shape[1] >= WIDE else None
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.asarray(values.sum(axis=along))
            return bool(np.isfinite(total).all() or np.isfinite(values).all())
    xp = namespace(X)
    if dtype_name(X) != "float64":
        # Finite float32 numbers do not overflow there, and one look is enough.
        return xp.isfinite(xp.sum(X, dtype=xp.float64))
    # The largest and the smallest number are finite, or the one that is not a number comes out.
    return xp.isfinite(xp.max(X)) & xp.isfinite(xp.min(X))


def ones_for_rows(X: Any) -> Any:
    """Return a float64 one for each row of a block, in its library and on its device."""
    if is_numpy(X):
        return np.ones(X.shape[0])
    xp = namespace(X)
    return xp.ones(X.shape[0], dtype=xp.float64, device=array_api_compat.device(X))


def to_numpy(X: Any) -> np.ndarray:
    """Return ``X`` as a NumPy array, copied to the CPU if it lives elsewhere."""
    if isinstance(X, np.ndarray):
        return X
    if is_sparse(X):
        return np.asarray(X.toarray())
    if hasattr(X, "detach"):
        # What torch keeps for gradients does not go along.
        X = X.detach()
    return np.asarray(array_api_compat.to_device(X, _host(X)))


def _host(X: Any) -> Any:
    """Return the name of the host device in the library of ``X``."""
    xp = namespace(X)
    if array_api_compat.is_array_api_strict_namespace(xp):
        return xp.Device("CPU_DEVICE")
    return "cpu"


_moved: dict[tuple[int, str], tuple[weakref.ref[Any], Any]] = {}


def like(X: Any, parameter: np.ndarray) -> Any:
    """Return ``parameter`` in the library, floating dtype and device of the block ``X``.

    Drawn parameters are float64 NumPy arrays. What a block needs is made once and kept for
    as long as the parameter lives, so that a thousand blocks cost one conversion and one
    transfer. Integer parameters (indices) keep their dtype.
    """
    name = floating_name(X) if parameter.dtype.kind == "f" else str(parameter.dtype)
    if hasattr(X, "values_are_known"):
        # A recorded array is used once: nothing is kept for the next block.
        return namespace(X).asarray(parameter, dtype=name)
    if is_numpy(X):
        if parameter.dtype == np.dtype(name):
            return parameter
        key = (id(parameter), name)
    else:
        xp = namespace(X)
        key = (id(parameter), f"{device_of(X)}:{name}")
    found = _moved.get(key)
    if found is not None and found[0]() is parameter:
        return found[1]
    if is_numpy(X):
        moved = parameter.astype(name)
        moved.flags.writeable = False
    else:
        moved = xp.asarray(
            np.array(parameter, dtype=name), device=array_api_compat.device(X), copy=True
        )
    _moved[key] = (weakref.ref(parameter, lambda _: _moved.pop(key, None)), moved)
    return moved


def frozen(parameter: Any) -> np.ndarray:
    """Return a drawn parameter as an array that refuses to be changed in place."""
    array = np.ascontiguousarray(parameter)
    array.flags.writeable = False
    return array
