"""Sketches of the polynomial kernel, and of any kernel of the inner product."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse

from .._array import all_finite, is_sparse
from .._random import Stream
from .._registry import storable
from .._sklearn import RANDOM_STATE, Interval, StrOptions, checked
from ..kernels import Exponential, Kernel, Polynomial, PowerSeries
from ..sketches import PolyTree, ProductSketch, SeriesSketch, TensorSketch
from .base import FeatureMap
from .growth import COMPONENTS, TOLERANCE
from .rules import Situation, chosen_method
from .traits import MapTraits


@storable
class PolynomialSketch(FeatureMap):
    r"""A sketch of the polynomial kernel :math:`(\gamma \langle x, y \rangle + c)^p`.

    The rows, times :math:`\sqrt\gamma` and with a column :math:`\sqrt c`, are raised to the
    p-th tensor power, and that is sketched without being formed [1]_.

    Parameters
    ----------
    degree : int, default=3
        The power p.
    gamma : float, default=1.0
        The factor of the inner product.
    coef0 : float, default=1.0
        The constant c.
    n_components : int or "auto", default=512
        The number of features; odd numbers are fine. ``"auto"``: as many as
        ``tolerance`` asks for.
    method : {"auto", "tensor", "tree", "product"}, default="auto"
        ``"tensor"``: one convolution of CountSketches, best up to degree 5; ``"tree"``:
        convolutions of two factors in a balanced tree [2]_, best for higher degrees;
        ``"product"``: products of random projections, for comparison.
    tolerance : float, default=0.05
        For ``n_components="auto"``: the relative error of the kernel matrix of some of the rows
        at which the map stops growing.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sketch.

    Attributes
    ----------
    kernel_ : Polynomial
        The exact kernel that the map approximates.
    method_, method_reason_ : str
        Which method ``"auto"`` chose, and why.
    seed_ : int
        The seed of everything that was drawn.

    References
    ----------
    .. [1] N. Pham and R. Pagh, "Fast and scalable polynomial kernels via explicit feature
       maps", KDD 2013.
    .. [2] T. Ahle et al., "Oblivious sketching of high-degree polynomial kernels", SODA 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PolynomialSketch
    >>> X = np.random.default_rng(0).standard_normal((50, 10)) / 10**0.5
    >>> features = PolynomialSketch(degree=2, n_components=2000, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> K = features.kernel_(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.15 * np.linalg.norm(K))
    True
    """

    method_: str
    sketch_: Any

    _parameter_constraints: dict[str, Any] = {
        "degree": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, 0, None, closed="left")],
        "n_components": COMPONENTS,
        "method": [StrOptions({"auto", "tensor", "tree", "product"})],
        "tolerance": TOLERANCE,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        degree: int = 3,
        *,
        gamma: float = 1.0,
        coef0: float = 1.0,
        n_components: Any = 512,
        method: str = "auto",
        tolerance: float = 0.05,
        random_state: Any = None,
    ) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_components = n_components
        self.method = method
        self.tolerance = tolerance
        self.random_state = random_state

    def _kernel(self) -> Polynomial:
        return Polynomial(degree=self.degree, gamma=self.gamma, coef0=self.coef0)

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        asked = self.method if self.degree > 1 else "tensor"
        situation = Situation(n_features_in, self.n_components, self.degree)
        method, reason = chosen_method("PolynomialSketch", asked, situation)
        width = n_features_in + (self.coef0 > 0)
        shape = (width, self.n_components, self.degree)
        sketch: TensorSketch | PolyTree | ProductSketch
        if method == "tensor":
            sketch = TensorSketch(stream, [width] * self.degree, self.n_components)
        elif method == "tree":
            sketch = PolyTree(stream, *shape)
        else:
            sketch = ProductSketch(stream, *shape)
        traits = MapTraits(scratch=4 * self.n_components + n_features_in + 1)
        facts = {"method_": method, "method_reason_": reason}
        return {**facts, "sketch_": sketch, "traits_": traits}

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        rows = with_constant(X, self.gamma**0.5, self.coef0**0.5, xp)
        if self.method_ == "tensor":
            return finite(self.sketch_.sketch([rows] * self.degree, xp, out))
        return finite(self.sketch_.sketch(rows, xp))


def finite(Z: Any) -> Any:
    """Return features, or say that powers of the rows overflow."""
    if not all_finite(Z):
        raise ValueError(
            "Powers of the rows overflow; scale X down first, for example with StandardScaler."
        )
    return Z


def with_constant(X: Any, scale: float, constant: float, xp: Any) -> Any:
    """Return the rows times ``scale``, with a last column ``constant`` if it is not 0."""
    if is_sparse(X):
        data = X.data * np.asarray(scale, dtype=X.dtype) if scale != 1 else X.data
        indices, indptr, width = X.indices, X.indptr, X.shape[1]
        if constant:
            # A last entry for every row; building it here is much faster than stacking blocks.
            data = np.insert(data, indptr[1:], np.asarray(constant, dtype=X.dtype))
            indices = np.insert(indices, indptr[1:], width)
            indptr = indptr + np.arange(len(indptr), dtype=indptr.dtype)
            width += 1
        return scipy.sparse.csr_array((data, indices, indptr), shape=(X.shape[0], width))
    rows = X * scale if scale != 1 else X
    if constant:
        rows = xp.concat([rows, xp.full_like(rows[:, :1], constant)], axis=1)
    return rows


@storable
class DotProductSketch(FeatureMap):
    r"""A sketch of a kernel :math:`f(\langle x, y \rangle) = \sum_j c_j \langle x, y \rangle^j`.

    Constant and linear terms are exact where they fit; all higher degrees share the other
    columns, each with random signs of its own.

    Parameters
    ----------
    kernel : Kernel, default=None
        :class:`~mercer.Exponential`, :class:`~mercer.Polynomial`,
        :class:`~mercer.PowerSeries` or another kernel with a method ``taylor``; ``None``
        means ``Exponential()``. For a zonal kernel there is
        :meth:`PowerSeries.near <mercer.PowerSeries.near>`.
    n_components : int or "auto", default=512
        The number of features. ``"auto"``: as many as
        ``tolerance`` asks for.
    degree : int, default=8
        Where an infinite series is truncated. The terms beyond are missing from the features:
        keep the norms of the rows at about one.
    tolerance : float, default=0.05
        For ``n_components="auto"``: the relative error of the kernel matrix of some of the rows
        at which the map stops growing.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sketch.

    Attributes
    ----------
    kernel_ : Kernel
        The exact kernel that the map approximates.
    mean_kernel_ : PowerSeries
        The series up to ``degree``: what the features give on average.
    seed_ : int
        The seed of everything that was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import DotProductSketch, Exponential
    >>> X = np.random.default_rng(0).standard_normal((50, 10)) / 10**0.5
    >>> features = DotProductSketch(Exponential(), n_components=1000, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> K = features.kernel_(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.1 * np.linalg.norm(K))
    True
    """

    mean_kernel_: PowerSeries
    sketch_: SeriesSketch

    _parameter_constraints: dict[str, Any] = {
        "kernel": [Kernel, None],
        "n_components": COMPONENTS,
        "degree": [Interval(Integral, 1, None, closed="left")],
        "tolerance": TOLERANCE,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: Any = 512,
        degree: int = 8,
        tolerance: float = 0.05,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.degree = degree
        self.tolerance = tolerance
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        kernel: Kernel = checked(Exponential() if self.kernel is None else self.kernel)
        if not hasattr(kernel, "taylor"):
            raise ValueError(
                f"kernel={kernel!r} is not a power series of the inner product; use Exponential, "
                "Polynomial or PowerSeries here (of a zonal kernel, PowerSeries.near)."
            )
        return kernel

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        kernel: Any = self.kernel_
        coefficients = kernel.taylor(self.degree)
        if not np.any(coefficients):
            raise ValueError(
                f"The series of {kernel!r} has no term up to degree={self.degree}; use a larger "
                "degree."
            )
        sketch = SeriesSketch(stream, n_features_in, self.n_components, coefficients)
        return {
            "mean_kernel_": PowerSeries(tuple(float(c) for c in coefficients), self._by_angle()),
            "sketch_": sketch,
            "traits_": MapTraits(scratch=sketch.scratch),
        }

    def _by_angle(self) -> bool:
        """Return whether the series is one of the cosine."""
        return bool(getattr(self.kernel_, "normalized", False))

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        of_rows = self.sketch_.sketch_by_angle if self._by_angle() else self.sketch_.sketch
        return finite(of_rows(X, xp))
