"""How well features stand in for a kernel in ridge regression: spectral approximation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from .._array import to_numpy
from ..features.kernel_of import features_of, kernel_of
from ..features.some_rows import some_rows
from ..kernels import Kernel
from .dimension import positive_alpha

#: Rows up to which all eigenvalues are computed.
DENSE_ROWS = 1000
#: Vectors that Lanczos iterations keep.
VECTORS = 60


@dataclass(frozen=True)
class SpectralApproximation:
    r"""The extreme eigenvalues of Z Zᵀ + α relative to K + α.

    .. math:: a\,(K + \alpha I) \preceq Z Z^\top + \alpha I \preceq b\,(K + \alpha I)

    Attributes
    ----------
    smallest, largest : float
        The numbers a and b.
    alpha : float
        The ridge parameter for the rows that were compared.
    n_rows : int
        Rows that were compared.
    n_total : int
        Rows of the data.

    Examples
    --------
    >>> found = SpectralApproximation(0.8, 1.1, alpha=1.0, n_rows=500, n_total=500)
    >>> round(found.epsilon, 3), round(found.inverse_epsilon, 3), round(found.condition, 3)
    (0.2, 0.25, 1.375)
    """

    smallest: float
    largest: float
    alpha: float
    n_rows: int
    n_total: int

    @property
    def epsilon(self) -> float:
        """The smallest ε of (1 - ε)(K + α) ≼ Z Zᵀ + α ≼ (1 + ε)(K + α)."""
        return max(1 - self.smallest, self.largest - 1)

    @property
    def inverse_epsilon(self) -> float:
        """The smallest ε of (K + α)/(1 + ε) ≼ Z Zᵀ + α ≼ (K + α)/(1 - ε)."""
        return max(1 / self.smallest - 1, 1 - 1 / self.largest)

    @property
    def condition(self) -> float:
        """The ratio b/a: the condition number of K + α after division by Z Zᵀ + α."""
        return self.largest / self.smallest

    def __str__(self) -> str:
        rows = f"{self.n_rows:,} rows"
        if self.n_rows < self.n_total:
            rows = f"{self.n_rows:,} of {self.n_total:,} rows"
        return (
            f"between {self.smallest:.3g} and {self.largest:.3g} times the kernel at "
            f"alpha = {self.alpha:.3g}: epsilon {self.epsilon:.3g} ({rows})"
        )


def spectral_approximation(
    feature_map: Any,
    X: Any,
    alpha: float,
    *,
    kernel: Kernel | Callable[..., Any] | None = None,
    n_rows: int = 4000,
    method: str = "auto",
    random_state: Any = 0,
) -> SpectralApproximation:
    r"""Return between which multiples of K + α the matrix Z Zᵀ + α lies.

    With :math:`\epsilon < 1` the training predictions of ridge regression on the features, and
    their risk, are within such factors of those with the kernel. It is the strictest of the
    measures: of all directions, the worst one counts.

    Parameters
    ----------
    feature_map : fitted transformer
        A feature map, or one of scikit-learn's kernel approximations.
    X : array of shape (n_samples, n_features)
        The rows.
    alpha : float
        The ridge parameter, at the scale of the kernel and for all rows. Of a part of the rows it
        is taken in proportion, as the eigenvalues of a kernel matrix grow with the rows.
    kernel : Kernel or callable, default=None
        The kernel, where the map does not say which it approximates.
    n_rows : int, default=4000
        Rows to compare, drawn at random if there are more.
    method : {"auto", "dense", "lanczos"}, default="auto"
        All eigenvalues, or Lanczos iterations for the extreme ones (above 1,000 rows).
    random_state : int, RandomState, Generator or None, default=0
        Which rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, RandomFourier
    >>> from mercer.diagnostics import spectral_approximation
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> features = RandomFourier(Gaussian(2.0), n_components=2000, random_state=0).fit(X)
    >>> found = spectral_approximation(features, X, alpha=1.0)
    >>> bool(found.epsilon < 0.2)
    True
    """
    alpha, known = positive_alpha(alpha), kernel_of(feature_map, kernel)
    if method not in ("auto", "dense", "lanczos"):
        raise ValueError(f"method must be 'auto', 'dense' or 'lanczos', got {method!r}.")
    rows = some_rows(feature_map, X, n_rows, random_state)
    K = to_numpy(known(rows.chosen)).astype(float)
    Z = features_of(feature_map, rows.chosen)
    alpha = alpha * len(K) / rows.n_total
    smallest, largest = extreme_eigenvalues(Z, K, alpha, method)
    return SpectralApproximation(smallest, largest, alpha, len(K), rows.n_total)


def extreme_eigenvalues(
    Z: np.ndarray, K: np.ndarray, alpha: float, method: str = "auto"
) -> tuple[float, float]:
    """Return the extreme eigenvalues of Z Zᵀ + α relative to K + α.

    Parameters
    ----------
    Z : array of shape (n, n_components)
        Features.
    K : array of shape (n, n)
        The kernel matrix.
    alpha : float
        The ridge parameter.
    method : {"auto", "dense", "lanczos"}, default="auto"
        How.

    Examples
    --------
    >>> low, high = extreme_eigenvalues(np.eye(2), 3 * np.eye(2), 1.0)
    >>> round(low, 12), round(high, 12)
    (0.5, 0.5)
    """
    n = len(K)
    A = K + alpha * np.eye(n)
    try:
        root = scipy.linalg.cholesky(A, lower=True, overwrite_a=True)
    except scipy.linalg.LinAlgError:
        raise ValueError(
            f"K + alpha is not positive definite at alpha = {alpha:.3g}: rounding hides smaller "
            "eigenvalues; give a larger alpha."
        ) from None
    if method == "dense" or (method == "auto" and n <= DENSE_ROWS):
        half = scipy.linalg.solve_triangular(root, Z, lower=True)
        inverse = scipy.linalg.solve_triangular(root, np.eye(n), lower=True)
        values = scipy.linalg.eigvalsh(half @ half.T + alpha * (inverse @ inverse.T))
        return float(values[0]), float(values[-1])

    def product(v: np.ndarray) -> np.ndarray:
        inner = scipy.linalg.solve_triangular(root, v.ravel(), lower=True, trans="T")
        outer = Z @ (Z.T @ inner) + alpha * inner
        return np.asarray(scipy.linalg.solve_triangular(root, outer, lower=True))

    operator = LinearOperator((n, n), matvec=product, dtype=float)
    start = np.random.default_rng(0).standard_normal(n)
    smallest, largest = (
        float(
            eigsh(
                operator,
                1,
                which=which,
                v0=start,
                ncv=min(n, VECTORS),
                tol=1e-10,
                return_eigenvectors=False,
            )[0]
        )
        for which in ("SA", "LA")
    )
    return smallest, largest
