"""The kernel that a map approximates, and its features, whoever wrote the map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.metrics.pairwise import pairwise_kernels, polynomial_kernel

from .._array import is_foreign, is_sparse, to_numpy
from .._sklearn import check_is_fitted
from ..kernels import FunctionKernel, Gaussian, Kernel
from .base import FeatureMap
from .packed import PackedFeatures


def kernel_of(transformer: Any, kernel: Kernel | Callable[..., Any] | None = None) -> Kernel:
    """Return the kernel that a fitted map approximates.

    Parameters
    ----------
    transformer : fitted transformer
        A feature map, or scikit-learn's ``RBFSampler``, ``Nystroem`` or
        ``PolynomialCountSketch``; of others the kernel has to be given.
    kernel : Kernel or callable, default=None
        What is known of it: a kernel, or ``function(X, Y)`` that returns its matrix.

    Examples
    --------
    >>> from sklearn.kernel_approximation import RBFSampler
    >>> kernel_of(RBFSampler(gamma=0.5).fit(np.eye(2)))
    Gaussian()
    """
    check_is_fitted(transformer)
    if isinstance(kernel, Kernel):
        return kernel
    if kernel is not None:
        return FunctionKernel(kernel)
    if isinstance(transformer, FeatureMap):
        return transformer.kernel_
    if isinstance(transformer, RBFSampler) and not isinstance(transformer.gamma, str):
        return Gaussian(float((2 * transformer.gamma) ** -0.5))
    if isinstance(transformer, Nystroem):
        return FunctionKernel(_of_nystroem(transformer))
    if isinstance(transformer, PolynomialCountSketch):
        own = {key: getattr(transformer, key) for key in ("degree", "gamma", "coef0")}
        return FunctionKernel(lambda X, Y: polynomial_kernel(X, Y, **own))
    raise TypeError(
        f"Nothing says which kernel {transformer!r} approximates; give it as kernel=, a mercer "
        "kernel or a function of two blocks of rows."
    )


def _of_nystroem(transformer: Nystroem) -> Callable[[Any, Any], Any]:
    """Return the kernel function of scikit-learn's landmarks."""
    own = dict(transformer.kernel_params or {})
    if not callable(transformer.kernel):
        for key in ("gamma", "coef0", "degree"):
            if getattr(transformer, key) is not None:
                own[key] = getattr(transformer, key)
    filtered = not callable(transformer.kernel)

    def function(X: Any, Y: Any) -> Any:
        return pairwise_kernels(X, Y, metric=transformer.kernel, filter_params=filtered, **own)

    return function


def features_of(transformer: Any, X: Any) -> np.ndarray:
    """Return the features of checked rows as a dense float64 array on the host.

    Packed features, and the integers of ternary ones, are brought to the scale of their kernel.

    Examples
    --------
    >>> from sklearn.kernel_approximation import RBFSampler
    >>> features_of(RBFSampler(n_components=4).fit(np.eye(2)), np.eye(2)).shape
    (2, 4)
    """
    if isinstance(transformer, FeatureMap):
        return to_numpy(transformer.transform_checked(X, as_floats=True)).astype(float)
    Z = transformer.transform(X)
    if isinstance(Z, PackedFeatures):
        return Z.unpack(np.float64)
    if not is_sparse(Z) and not is_foreign(Z) and hasattr(Z, "to_numpy"):
        Z = Z.to_numpy()
    return to_numpy(Z).astype(float)
