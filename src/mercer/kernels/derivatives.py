r"""Derivatives of what a kernel has learnt: by its input, and by the weights of its columns.

A kernel with weights is :math:`K_M(x, z) = k(M^{1/2} x, M^{1/2} z)`, for a matrix M or a
diagonal one. All functions here take rows that the caller has reweighted,
:math:`\tilde x = M^{1/2} x`, and know nothing of M:

* a gradient by the original row is :math:`\tilde g\, M^{1/2}`, so that the mean of its
  products is :math:`M^{1/2} \tilde E M^{1/2}`, or :math:`w \circ \tilde E` for weights
  :math:`w` of columns;
* the derivative D by M comes out as :math:`M^{1/2} D M^{1/2}`, and that by weights of columns
  as :math:`w \circ D`: nothing is divided by a weight that may be zero.

Slopes are computed for tiles of pairs of rows, and each tile is multiplied with rows at once:
neither a matrix of all pairs nor a gradient for each pair is ever held. A sum of kernels of
different kinds or columns is differentiated part by part (:mod:`mercer.kernels.parts`).

Kernels of the sum of absolute differences, and kernels of some columns, depend on the choice of
axes: they have derivatives by weights of columns, and none by a matrix.
"""

from __future__ import annotations

from typing import Any

from .._array import as_floating, common_floating_name, namespace
from ..engine.memory import allocate
from ..engine.sums import OrderedSum
from ..engine.tiles import refuse_overflow
from .base import Kernel
from .pairs import Pairs
from .part_pairs import Span, coefficients_of, summed
from .parts import has_slopes, refuse_unknown
from .slopes import slopes
from .vectors import as_columns, in_library_of

__all__ = [
    "derivative_norm",
    "gradient_and_norm",
    "has_slopes",
    "input_gradients",
    "mean_squared_gradients",
    "slopes",
]


def input_gradients(kernel: Kernel, X: Any, Y: Any, coefficients: Any) -> Any:
    r"""Return the gradients of :math:`f(x) = \sum_i c_i\, k(x, y_i)` at the rows of ``X``.

    Two matrix products a block and target, :math:`Q\,(c \circ Y) + (P c) \circ X` with the
    tiles of :func:`slopes`; for kernels of the sum of absolute differences the sums of
    :math:`\varphi'\, c \operatorname{sign}(x - y)`, where equal entries have sign 0. Where a
    kernel has a cone, or a row is zero, the conventions of :func:`slopes` hold. For rows
    :math:`X M^{1/2}` the gradients by the original rows are the result times
    :math:`M^{1/2}`.

    Parameters
    ----------
    kernel : Kernel
        A kernel for which :func:`has_slopes` holds.
    X : array of shape (n_samples_X, n_features)
        Where to take the gradients; sparse rows are made dense block by block.
    Y : array of shape (n_samples_Y, n_features) or None
        The rows of the kernel functions; ``None`` means ``X``.
    coefficients : array of shape (n_samples_Y,) or (n_samples_Y, n_targets)
        The numbers c, in the library of ``X``.

    Returns
    -------
    gradients : array of shape (n_samples_X, n_features) or (n_samples_X, n_features, n_targets)
        In the library, on the device and in the floating dtype of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Polynomial
    >>> X = np.asarray([[1.0, 0.0], [0.0, 2.0]])
    >>> input_gradients(Polynomial(degree=2), X, X, np.asarray([1.0, 0.5]))
    array([[ 4.,  2.],
           [ 2., 10.]])
    """
    X, Y, kernel = _prepared(kernel, X, Y)
    columns, many = as_columns(coefficients, Y.shape[0], X, "coefficients")
    pairs = Pairs(kernel, X, Y, columns.shape[1])
    dtype = common_floating_name(X, Y)
    shape = (X.shape[0], X.shape[1], columns.shape[1])
    out = allocate(X, shape if many else shape[:2], dtype)

    def work(task: tuple[int, Span]) -> None:
        start, stop = task[1]
        for k, gradient in enumerate(pairs.gradients(task[1], columns)):
            result = as_floating(gradient, dtype)
            refuse_overflow(result, dtype)
            if many:
                out[start:stop, :, k] = result
            else:
                out[start:stop, :] = result

    pairs.run(work)
    return out


def mean_squared_gradients(
    kernel: Kernel,
    X: Any,
    Y: Any,
    coefficients: Any,
    matrix: bool = False,
    sample_weight: Any = None,
) -> Any:
    r"""Return the mean over the rows of ``X`` of squared or multiplied gradients of f.

    The vector :math:`E_j = \frac1n \sum_i (\partial_j f(x_i))^2`, or the matrix
    :math:`E = \frac1n \sum_i \nabla f(x_i)\, \nabla f(x_i)^\top` (the average gradient outer
    product), summed over targets. No more gradients are held than those of a block. For rows
    :math:`X M^{1/2}` the matrix by the original rows is :math:`M^{1/2} E M^{1/2}`, and with
    weights w of columns the vector is :math:`w \circ E`.

    Parameters
    ----------
    kernel, X, Y, coefficients
        As in :func:`input_gradients`.
    matrix : bool, default=False
        Whether the matrix is wanted; not for kernels that depend on the choice of axes.
    sample_weight : array of shape (n_samples_X,), default=None
        Weights of the rows of ``X`` in the mean.

    Returns
    -------
    moments : float64 array of shape (n_features,) or (n_features, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Polynomial
    >>> X, c = np.asarray([[1.0, 0.0], [0.0, 2.0]]), np.asarray([1.0, 0.5])
    >>> mean_squared_gradients(Polynomial(degree=2), X, X, c)
    array([10., 52.])
    >>> mean_squared_gradients(Polynomial(degree=2), X, X, c, matrix=True)
    array([[10., 14.],
           [14., 52.]])
    """
    X, Y, kernel = _prepared(kernel, X, Y, matrix)
    columns, _ = as_columns(coefficients, Y.shape[0], X, "coefficients")
    weights, weight = _row_weights(sample_weight, X)
    pairs = Pairs(kernel, X, Y, columns.shape[1], held=_size(X, matrix))
    total = OrderedSum()

    def work(task: tuple[int, Span]) -> None:
        number, span = task
        found = pairs.gradients(span, columns)
        weighted = found
        if weights is not None:
            weighted = [coefficients_of(weights, span) * gradient for gradient in found]
        sums = [summed(a, b, matrix, pairs.xp) for a, b in zip(weighted, found, strict=True)]
        total.add(number, sum(sums))

    pairs.run(work)
    return _finite(total.values[0] / weight)


def derivative_norm(
    kernel: Kernel, X: Any, Y: Any, left: Any, right: Any, matrix: bool = False
) -> Any:
    r"""Return the bilinear form of the derivative of a kernel matrix by its weights.

    :math:`\sum_t l_t^\top \big(\partial K_M(X, Y)/\partial M\big) r_t` at :math:`M = I`, a
    symmetric matrix, or its diagonal, which is the derivative by weights of columns:

    .. math:: X^\top \operatorname{diag}(W^P 1)\, X / 2
              + Y^\top \operatorname{diag}(1^\top W^R)\, Y / 2
              + \operatorname{sym}(X^\top W^Q Y),

    with :math:`W^P = (\sum_t l_t r_t^\top) \circ P` and so on for the tiles of
    :func:`slopes`; for kernels :math:`\varphi(\|x - y\|_1)` the diagonal
    :math:`\sum_{ij} W_{ij} |x_i - y_j| / 2` with
    :math:`W = (\sum_t l_t r_t^\top) \circ \varphi'`. With the dual coefficients
    :math:`\beta` of ridge regression on both sides and ``Y = X`` it is the derivative norm
    :math:`\beta^\top (\partial K) \beta`. The cost hardly depends on the number of targets,
    and the diagonal needs no d × d matrix. For rows :math:`X M^{1/2}` the result D
    stands for :math:`M^{1/2} D(M) M^{1/2}`, and for weights w of columns it is
    :math:`w \circ D(w)`.

    Parameters
    ----------
    kernel, X, Y
        As in :func:`input_gradients`.
    left : array of shape (n_samples_X,) or (n_samples_X, n_targets)
        The vectors l.
    right : array of shape (n_samples_Y,) or (n_samples_Y, n_targets)
        The vectors r.
    matrix : bool, default=False
        Whether the matrix is wanted; not for kernels that depend on the choice of axes.

    Returns
    -------
    derivative : float64 array of shape (n_features,) or (n_features, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Polynomial
    >>> X, c = np.asarray([[1.0, 0.0], [0.0, 2.0]]), np.asarray([1.0, 0.5])
    >>> derivative_norm(Polynomial(degree=2), X, X, c, c)
    array([ 4., 10.])
    >>> derivative_norm(Gaussian(), X, X, c, c, matrix=True).round(4)
    array([[-0.041 ,  0.0821],
           [ 0.0821, -0.1642]])
    """
    X, Y, kernel = _prepared(kernel, X, Y, matrix)
    left, _ = as_columns(left, X.shape[0], X, "left")
    right, _ = as_columns(right, Y.shape[0], X, "right")
    if left.shape[1] != right.shape[1]:
        raise ValueError(
            f"left and right must have the same number of columns, got {left.shape[1]} and "
            f"{right.shape[1]}."
        )
    pairs = Pairs(kernel, X, Y, left.shape[1], held=_size(X, matrix) + 2 * Y.shape[0])
    total: Any = None
    for part in pairs.parts:
        value = part.norm(left, right, matrix)
        total = pairs.added(total, value if matrix else value[None, :], part)
    return _finite(total if matrix else total[0, :])


def gradient_and_norm(
    kernel: Kernel,
    X: Any,
    K: Any,
    coefficients: Any,
    matrix: bool = False,
    sample_weight: Any = None,
) -> tuple[Any, Any]:
    r"""Return the mean squared gradients and the derivative norm at one cost.

    The same as :func:`mean_squared_gradients` and :func:`derivative_norm` with ``Y = X`` and
    the coefficients on both sides. Since
    :math:`\beta^\top (\partial K) \beta = \operatorname{sym} \sum_i \beta_i\, x_i \nabla
    f(x_i)^\top`, the gradients give both: one product n × n × d a target.

    Parameters
    ----------
    kernel : Kernel
        A kernel for which :func:`has_slopes` holds.
    X : array of shape (n_samples, n_features)
        The reweighted rows.
    K : array of shape (n_samples, n_samples) or None
        The kernel matrix of the rows, with nothing added to its diagonal, if it is at hand.
        The Gaussian and the exponential kernel take their slopes from it; the others compute
        them tile by tile.
    coefficients : array of shape (n_samples,) or (n_samples, n_targets)
        The coefficients of f, in the library of ``X``.
    matrix : bool, default=False
        Whether matrices are wanted instead of their diagonals.
    sample_weight : array of shape (n_samples,), default=None
        Weights of the rows in the mean of the gradients.

    Returns
    -------
    moments, derivative : float64 arrays of shape (n_features,) or (n_features, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X, beta = np.asarray([[1.0, 0.0], [0.0, 2.0]]), np.asarray([1.0, 0.5])
    >>> E, D = gradient_and_norm(Gaussian(), X, Gaussian()(X), beta)
    >>> E.round(4), D.round(4)
    (array([0.0042, 0.0168]), array([-0.041 , -0.1642]))
    """
    X, Y, kernel = _prepared(kernel, X, None, matrix)
    columns, _ = as_columns(coefficients, X.shape[0], X, "coefficients")
    if K is not None:
        K = in_library_of(X, K, "K")
        if tuple(K.shape) != (X.shape[0], X.shape[0]):
            raise ValueError(
                f"K must be the kernel matrix of the {X.shape[0]} rows of X, got shape "
                f"{tuple(K.shape)}; pass K=None to compute what is needed of it."
            )
    given, weight = _row_weights(sample_weight, X)
    pairs = Pairs(kernel, X, Y, columns.shape[1], held=2 * _size(X, matrix), values=K)
    xp, total = pairs.xp, OrderedSum()

    def work(task: tuple[int, Span]) -> None:
        number, span = task
        weights = coefficients_of(columns, span)
        derivative: Any = None
        gradients: list[Any] = [None] * columns.shape[1]
        for part, rows, found in pairs.by_part(span, columns):
            value: Any = 0.0
            for k, gradient in enumerate(found):
                value = value + summed(weights[:, k : k + 1] * rows, gradient, matrix, xp)
                gradients[k] = pairs.added(gradients[k], gradient, part)
            derivative = pairs.added(derivative, value if matrix else value[None, :], part)
        moments = 0.0
        for gradient in gradients:
            own = gradient if given is None else coefficients_of(given, span) * gradient
            moments = moments + summed(own, gradient, matrix, xp)
        total.add(number, moments, derivative if matrix else derivative[0, :])

    pairs.run(work)
    moments, derivative = total.values
    if matrix:
        derivative = (derivative + derivative.T) / 2
    return _finite(moments / weight), _finite(derivative)


def _prepared(kernel: Kernel, X: Any, Y: Any, matrix: bool = False) -> tuple[Any, Any, Kernel]:
    """Return checked rows and a checked kernel whose derivatives are known."""
    refuse_unknown(kernel, matrix)
    X, Y, kernel = kernel.prepared(X, Y)
    return X, (X if Y is None else Y), kernel


def _row_weights(sample_weight: Any, X: Any) -> tuple[Any, float]:
    """Return weights of rows as a column, if there are any, and their sum."""
    if sample_weight is None:
        return None, float(X.shape[0])
    column, many = as_columns(sample_weight, X.shape[0], X, "sample_weight")
    xp = namespace(column)
    total = float(xp.sum(column))
    if many or float(xp.min(column)) < 0 or total == 0:
        raise ValueError(
            "sample_weight must hold one number for each row, none negative and some positive."
        )
    return column, total


def _size(X: Any, matrix: bool) -> int:
    """Return how many numbers a result has."""
    return int(X.shape[1]) ** 2 if matrix else int(X.shape[1])


def _finite(value: Any) -> Any:
    refuse_overflow(value, "float64")
    return value
