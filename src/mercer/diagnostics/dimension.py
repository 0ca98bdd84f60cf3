"""How many dimensions a kernel has for a ridge parameter: tr K (K + alpha)⁻¹."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.linalg

from .._array import take_rows, to_numpy
from .._random import Stream, seed_of
from .._sklearn import check_rows
from ..engine.blocks import plan_rows
from ..engine.config import matrix_memory
from ..engine.streams import rows_between
from ..engine.symmetric import SymmetricTiles
from ..features.kernel_of import features_of
from ..features.nystrom.pivoted_cholesky import LowRank, pivoted_cholesky
from ..kernels import FunctionKernel, Kernel
from ..kernels.single_precision import plain_tiles
from ..ops.products import add_gram
from ..solvers.conjugate_gradients import Iteration, conjugate_gradients
from ..solvers.kernel_system import LowRankPreconditioner

#: Rows up to which all eigenvalues are computed.
EXACT_ROWS = 4000
#: Columns of the low-rank factor, at most: preconditioner and control variate.
RANK = 500
#: Relative residual of a solved system: far below what few probes leave to chance.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class StatisticalDimension:
    """The statistical (effective) dimension of a kernel matrix for a ridge parameter.

    Attributes
    ----------
    value : float
        tr K (K + alpha)⁻¹.
    standard_error : float
        Of the value, where it was estimated; 0 where it is exact.
    alpha : float
        The ridge parameter.
    n_rows : int
        Rows of the matrix.
    method : str
        ``"eigenvalues"``, or ``"probes"``.

    Examples
    --------
    >>> print(StatisticalDimension(12.34, 0.0, 0.1, 1000, "eigenvalues"))
    statistical dimension 12.3 for alpha = 0.1 (1,000 rows, eigenvalues)
    """

    value: float
    standard_error: float
    alpha: float
    n_rows: int
    method: str

    def __str__(self) -> str:
        error = f" ± {self.standard_error:.2g}" if self.standard_error else ""
        return (
            f"statistical dimension {self.value:.3g}{error} for alpha = {self.alpha:.3g} "
            f"({self.n_rows:,} rows, {self.method})"
        )


def statistical_dimension(
    kernel: Any,
    X: Any,
    alpha: float,
    *,
    n_probes: int = 30,
    method: str = "auto",
    random_state: Any = 0,
) -> StatisticalDimension:
    r"""Return the statistical dimension :math:`\operatorname{tr} K (K + \alpha I)^{-1}`.

    It is what ridge regression with the kernel has degrees of freedom, and the number on which
    the sufficient number of random features depends. Of features all eigenvalues of the smaller
    product are taken; of a kernel with more than 4,000 rows, random signs and conjugate gradients
    estimate it, about a low-rank factor whose part is known exactly.

    Parameters
    ----------
    kernel : Kernel, callable or fitted transformer
        A kernel; a function of two blocks of rows; or features, of whose inner products it is.
    X : array of shape (n_samples, n_features)
        The rows.
    alpha : float
        The ridge parameter, at the scale of the kernel and for these rows.
    n_probes : int, default=30
        Random vectors, where it is estimated.
    method : {"auto", "eigenvalues", "probes"}, default="auto"
        How.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the probes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian
    >>> from mercer.diagnostics import statistical_dimension
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> print(statistical_dimension(Gaussian(1.0), X, alpha=1.0))
    statistical dimension 21.2 for alpha = 1 (500 rows, eigenvalues)
    """
    alpha = positive_alpha(alpha)
    if isinstance(n_probes, bool) or not isinstance(n_probes, Integral) or n_probes < 2:
        raise ValueError(f"n_probes must be an integer of at least 2, got {n_probes!r}.")
    if method not in ("auto", "eigenvalues", "probes"):
        raise ValueError(f"method must be 'auto', 'eigenvalues' or 'probes', got {method!r}.")
    if not isinstance(kernel, Kernel) and hasattr(kernel, "transform"):
        if method == "probes":
            raise ValueError("Features need no probes; leave method='auto'.")
        rows = check_rows(X, owner=kernel)
        values = feature_eigenvalues(kernel, rows)
        return _exact(values, alpha, int(rows.shape[0]))
    own = kernel if isinstance(kernel, Kernel) else FunctionKernel(kernel)
    rows = check_rows(X)
    own, n = own.fitted_to(rows), int(rows.shape[0])
    if method == "eigenvalues" or (method == "auto" and n <= EXACT_ROWS):
        K = to_numpy(own(rows)).astype(float)
        return _exact(scipy.linalg.eigvalsh(K, overwrite_a=True), alpha, n)
    value, error = estimated_dimension(own, rows, alpha, int(n_probes), seed_of(random_state))
    return StatisticalDimension(value, error, alpha, n, "probes")


def positive_alpha(alpha: Any) -> float:
    """Return a ridge parameter, or say that it is none.

    Examples
    --------
    >>> positive_alpha(1)
    1.0
    """
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < float(alpha) < math.inf:
        raise ValueError(f"alpha must be a positive number, got {alpha!r}.")
    return float(alpha)


def _exact(values: np.ndarray, alpha: float, n: int) -> StatisticalDimension:
    values = np.maximum(values, 0.0)
    return StatisticalDimension(
        float(np.sum(values / (values + alpha))), 0.0, alpha, n, "eigenvalues"
    )


def feature_eigenvalues(features: Any, X: Any) -> np.ndarray:
    """Return the eigenvalues of Z Zᵀ that are not known to be zero, from blocks of rows.

    Parameters
    ----------
    features : fitted transformer
        What makes Z.
    X : array of shape (n_samples, n_features)
        Checked rows.

    Examples
    --------
    >>> from mercer import Gaussian, RandomFourier
    >>> features = RandomFourier(Gaussian(1.0), n_components=4).fit(np.eye(3))
    >>> feature_eigenvalues(features, np.eye(3)).shape
    (3,)
    """
    n = int(X.shape[0])
    first = features_of(features, rows_between(X, 0, 1))
    width = first.shape[1]
    if n <= width:
        Z = features_of(features, X)
        return np.asarray(scipy.linalg.eigvalsh(Z @ Z.T, overwrite_a=True))
    gram = np.zeros((width, width), order="F")
    size = plan_rows(n, 8 * (width + X.shape[1])).rows
    for start in range(0, n, size):
        add_gram(gram, features_of(features, rows_between(X, start, min(start + size, n))))
    return np.asarray(scipy.linalg.eigvalsh(gram, lower=False, overwrite_a=True))


def estimated_dimension(
    kernel: Kernel, X: Any, alpha: float, n_probes: int, seed: int
) -> tuple[float, float]:
    """Return the statistical dimension from random signs, and its standard error.

    tr (K + α)⁻¹ is that of a low-rank factor, exactly, plus what random signs find of the
    difference, which is small, and so is its standard error.

    Parameters
    ----------
    kernel : Kernel
        The kernel, its lengthscale known.
    X : array of shape (n_samples, n_features)
        Checked rows.
    alpha : float
        The ridge parameter.
    n_probes, seed : int
        How many random vectors, and which.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> value, error = estimated_dimension(Gaussian(1.0), X, 1.0, 10, 0)
    >>> round(value, 1), error < 0.1
    (18.5, True)
    """
    n, stream = int(X.shape[0]), Stream(seed).child("probes")
    diagonal = np.asarray(to_numpy(kernel.diag(X)), dtype=float)
    low_rank = pivoted_cholesky(
        lambda at: to_numpy(kernel(X, take_rows(X, at))),
        diagonal,
        min(RANK, n),
        stream.child("landmarks").generator(),
    )
    signs = stream.child("signs").generator().choice([-1.0, 1.0], size=(n, n_probes))
    matrix = SymmetricTiles(plain_tiles(kernel, X), n, matrix_memory(), None, "float64")
    preconditioner = LowRankPreconditioner(low_rank, np.ones(n), [alpha])
    iteration = Iteration(tolerance=TOLERANCE)
    operator = _Plain(matrix.product)
    solved = conjugate_gradients(operator, preconditioner, signs, [alpha], iteration)[0]
    if solved.stopped == "interrupted":
        raise KeyboardInterrupt
    known, of_probes = _inverse_trace(low_rank, signs, alpha)
    found = np.sum(signs * solved.X, axis=0) - of_probes
    inverse = known + float(found.mean())
    error = alpha * float(found.std(ddof=1)) / math.sqrt(n_probes)
    return n - alpha * inverse, error


class _Plain:
    """A matrix without held-out rows."""

    def __init__(self, product: Callable[[Any], Any]) -> None:
        self._product = product

    def product(self, P: Any) -> tuple[Any, Any]:
        """Return the product, and predictions for no rows."""
        return self._product(P), P[:0]


def _inverse_trace(low_rank: LowRank, signs: np.ndarray, alpha: float) -> tuple[float, np.ndarray]:
    """Return tr (F Fᵀ + α)⁻¹, and the quadratic form of that inverse for each vector of signs."""
    F, n = low_rank.factor, len(signs)
    values, vectors = scipy.linalg.eigh(F.T @ F)
    values = np.maximum(values, 0.0)
    trace = (n - len(values)) / alpha + float(np.sum(1 / (values + alpha)))
    inner = vectors.T @ (F.T @ signs)
    forms = (n - np.sum(inner**2 / (values + alpha)[:, None], axis=0)) / alpha
    return trace, forms
