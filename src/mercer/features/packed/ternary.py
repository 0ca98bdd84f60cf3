"""Ternary features: two bits for each, or one, with the behaviour of another kernel."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from ..._array import floating_name, frozen, is_numpy, namespace
from ..._random import Stream
from ..._registry import storable
from ..._sklearn import RANDOM_STATE, Interval, Options, StrOptions, checked
from ...engine.moments import ColumnMoments
from ...kernels import ArcCosine, Gaussian, Kernel, Ternary, kernel_moments
from ...kernels.lengthscale import RowSummary
from ...ops.gaussian_moments import GaussianMoments, gaussian_moments
from ...ops.ternary_thresholds import TernaryActivation, matched_activation
from ...ops.thresholds import Thresholds
from ...sketches import TernaryProjection
from ..base import FeatureMap
from ..rows_seen import LearnsFromRows
from ..traits import MapTraits
from .projected import packed_thresholds, threshold_codes
from .sparsity import share_of_zeros, warn_of_few_terms

#: Kernels that have a name.
TARGETS: dict[str, Callable[[], Kernel]] = {
    "gaussian": lambda: Gaussian("median"),
    "relu": lambda: ArcCosine(order=1),
}
#: Variation of the squared norms of rows from which on common thresholds do not suit them.
UNEVEN = 0.5


@storable
class CenteredRows(RowSummary):
    """A summary of rows that knows the mean and the variance of every column, too."""

    def __init__(self) -> None:
        super().__init__()
        self.columns: ColumnMoments = ColumnMoments()

    def update(self, block: Any) -> None:
        """Add a block of rows."""
        super().update(block)
        self.columns.add(block)

    def merge(self, other: RowSummary) -> None:
        """Add the rows that another summary has seen."""
        super().merge(other)
        if isinstance(other, CenteredRows):
            self.columns.merge(other.columns)


@storable
class TernaryFeatures(LearnsFromRows, FeatureMap):
    r"""Features in {-1, 0, 1} of random projections in {-1, 0, 1}: 16 times less memory.

    A projection of a row is compared with two thresholds,

    .. math:: z_j(x) = 1[w_j^\top (x - \mu) > s_+] - 1[w_j^\top (x - \mu) < s_-],

    which are chosen so that in high dimensions the centred kernel matrix of the features has
    the same spectrum and eigenvectors as that of another kernel, up to a multiple of the
    identity [1]_ (the published equations are corrected, and have a solution for every kernel).
    What is exact in any dimension is ``kernel_``.

    It needs many columns: a sum of a few signs is not normal. And rows of about the same norm,
    as thresholds are common to all. Gaussian, Laplace and Matérn kernels have features of as few
    bits, :class:`WaveFeatures`, that need neither.

    Parameters
    ----------
    target : {"gaussian", "relu"}, Kernel, TernaryActivation or callable, default="gaussian"
        The kernel whose behaviour is wanted: ``Gaussian("median")``, ``ArcCosine(order=1)``, any
        other one of norms and inner products; or an activation, a function of an array, of whose
        random features it is. Of a ``TernaryActivation`` the thresholds are taken as they are.
    n_components : int, default=4096
        The number of features.
    sparsity : float or "auto", default="auto"
        The share of zeros in the projection. ``"auto"``: 0.9, or less where fewer than 25 entries
        of a column would be left.
    bits : {1, 2}, default=2
        What a feature takes. One bit is a sign, with a larger ``ridge_correction_``.
    spread : float or None, default=None
        Half the distance of the thresholds, in standard deviations of a projection: more makes
        features sparser. ``None``: what adds the least to the identity.
    center : bool, default=True
        Subtract the mean of the rows.
    output : {"int8", "packed", "float"}, default="int8"
        What ``transform`` returns: int8; bits, as :class:`PackedFeatures`; or floats, scaled so
        that their inner products approximate ``kernel_``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the projection.

    Attributes
    ----------
    kernel_ : Ternary
        The exact kernel of the features, for normal directions.
    target_kernel_ : Kernel or None
        The kernel whose behaviour was asked for.
    activation_ : TernaryActivation
        Thresholds for projections of variance ``tau_``, and the scale c of the kernel: the inner
        products of integer features approximate ``kernel_`` times m / c².
    tau_ : float
        The mean squared norm of the centred rows.
    center_ : array of shape (n_features,) or None
        The mean of the rows.
    target_moments_ : GaussianMoments
        The moments of the target, of which the features have d1 and d2.
    ridge_correction_ : float
        How much more the features add to the identity than the target does; negative where they
        add more. See :meth:`ridge_parameter`.
    projection_ : TernaryProjection
        The directions.
    seed_ : int
        The seed of everything that was drawn.

    References
    ----------
    .. [1] H. T. Ali, Z. Liao and R. Couillet, "Random matrices in service of ML footprint:
       ternary random features with no performance loss", ICLR 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import TernaryFeatures
    >>> X = np.random.default_rng(0).standard_normal((100, 300)) / 300**0.5
    >>> features = TernaryFeatures("relu", n_components=1000, random_state=0).fit(X)
    >>> Z = features.transform(X)
    >>> Z.dtype, np.unique(Z).tolist(), round(features.activation_.upper, 2)
    (dtype('int8'), [-1, 0, 1], 1.45)
    >>> features.set_params(output="packed").transform(X)
    PackedFeatures(100 x 1,000, 2 bits an entry, 0.0256 MB)
    """

    target_kernel_: Kernel | None
    target_moments_: GaussianMoments
    activation_: TernaryActivation
    tau_: float
    projection_: TernaryProjection
    thresholds_: Thresholds

    _parameter_constraints: dict[str, Any] = {
        "target": [StrOptions(set(TARGETS)), Kernel, TernaryActivation, callable],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "sparsity": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "bits": [Options(Integral, {1, 2})],
        "spread": [Interval(Real, 0, None, closed="neither"), None],
        "center": ["boolean"],
        "output": [StrOptions({"int8", "packed", "float"})],
        "random_state": RANDOM_STATE,
    }
    learned: ClassVar[tuple[str, ...]] = (
        "tau_",
        "activation_",
        "target_kernel_",
        "target_moments_",
    )

    def __init__(
        self,
        target: str | Kernel | TernaryActivation | Callable[..., Any] = "gaussian",
        *,
        n_components: int = 4096,
        sparsity: float | str = "auto",
        bits: int = 2,
        spread: float | None = None,
        center: bool = True,
        output: str = "int8",
        random_state: Any = None,
    ) -> None:
        self.target = target
        self.n_components = n_components
        self.sparsity = sparsity
        self.bits = bits
        self.spread = spread
        self.center = center
        self.output = output
        self.random_state = random_state

    @property
    def center_(self) -> np.ndarray | None:
        """The mean of the rows, or ``None``."""
        center: np.ndarray | None = self.kernel_.center  # type: ignore[attr-defined]
        return center

    @property
    def ridge_correction_(self) -> float:
        """What the target adds to the identity, less what the features add."""
        return self.target_moments_.d0 - self.activation_.moments(self.tau_).d0

    def ridge_parameter(self, alpha: float) -> float:
        """Return the ridge parameter for these features that acts as ``alpha`` does for the target.

        The features add a multiple of the identity to the kernel matrix, as a ridge parameter
        does: it is taken off again, where something is left, and brought to the scale of what
        ``transform`` returns.

        Parameters
        ----------
        alpha : float
            The ridge parameter for the target kernel.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import TernaryFeatures
        >>> X = np.random.default_rng(0).standard_normal((100, 64)) / 8
        >>> features = TernaryFeatures("relu", output="float", random_state=0).fit(X)
        >>> round(1.0 - features.ridge_parameter(1.0), 2)
        0.12
        """
        left = alpha + self.ridge_correction_
        own = left if left > 0 else alpha
        return own if self.output == "float" else own / self._factor**2

    @property
    def _factor(self) -> float:
        """Return what integers are multiplied with."""
        return self.activation_.scale / math.sqrt(self.n_components)

    def _kernel(self) -> Kernel:
        if isinstance(self.target, str):
            return checked(TARGETS[self.target]())
        # Of an activation nothing is known before rows are: any kernel that needs none will do.
        return checked(self.target if isinstance(self.target, Kernel) else Ternary())

    def new_summary(self, seed: int) -> RowSummary:
        """Return an empty summary that knows columns one by one."""
        return CenteredRows()

    def learn_from(self, summary: RowSummary) -> dict[str, Any]:
        """Return thresholds for the variance of projections, and what they were matched to."""
        assert isinstance(summary, CenteredRows)
        mean, deviation = summary.columns.mean, summary.columns.deviation()
        tau = float(np.sum(deviation**2))
        if not self.center:
            tau += float(np.sum(mean**2))
        if not (tau > 0 and math.isfinite(tau)):
            raise ValueError(
                f"TernaryFeatures needs rows that differ, but their mean squared norm"
                f"{' about their mean' * self.center} is {tau:g}; check X "
                f"(n_samples = {summary.n_rows}), or scale it."
            )
        if not 0 < tau * tau < math.inf:
            raise ValueError(
                f"The mean squared norm of the rows is {tau:g}, of which the square overflows or "
                "vanishes; scale X."
            )
        _warn_of_norms(summary, mean if self.center else 0.0)
        sparsity = share_of_zeros(self.sparsity, summary.n_features)
        warn_of_few_terms(sparsity, summary.n_features, "RandomFourier")
        target: Kernel | None = None
        if isinstance(self.target, TernaryActivation):
            found, moments = self.target, self.target.moments(tau)
        else:
            if isinstance(self.target, (str, Kernel)):
                target = self.kernel_
                moments = kernel_moments(target, tau)
            else:
                moments = gaussian_moments(self.target, tau)
            found = matched_activation(
                moments.d1, moments.d2, tau, bits=int(self.bits), spread=self.spread
            )
        center = frozen(np.asarray(mean, dtype=float)) if self.center else None
        return {
            "kernel_": Ternary(found.lower, found.upper, found.scale, found.even, center=center),
            "target_kernel_": target,
            "target_moments_": moments,
            "activation_": found,
            "tau_": tau,
        }

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        sparsity = share_of_zeros(self.sparsity, n_features_in)
        drawn = stream.child("projection")
        projection = TernaryProjection(drawn, n_features_in, int(self.n_components), sparsity)
        return {
            "projection_": projection,
            "thresholds_": _thresholds(self.activation_, projection, self.center_),
            "traits_": MapTraits(unbiased=False, scratch=int(self.n_components)),
        }

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        name = floating_name(X)
        if is_numpy(X):
            codes = np.empty((X.shape[0], self.projection_.size), dtype=np.int8)
            self.projection_.codes(X, self.thresholds_, codes)
            return np.multiply(codes, np.asarray(self._factor, dtype=name), out=out)
        codes = self.thresholds_.of(self.projection_.project(X, xp))
        return xp.astype(codes, getattr(namespace(X), name)) * self._factor

    def _all_rows(self, block_map: Callable[..., Any], X: Any) -> Any:
        if self.output == "float":
            return super()._all_rows(block_map, X)
        whole = packed_thresholds if self.output == "packed" else threshold_codes
        return whole(X, self.projection_, self.thresholds_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.output != "float":
            tags.transformer_tags.preserves_dtype = []
        return tags


def _thresholds(
    activation: TernaryActivation, projection: TernaryProjection, center: np.ndarray | None
) -> Thresholds:
    """Return the thresholds of every column: for entries of variance below one, and a center."""
    root = math.sqrt(1 - projection.sparsity)
    shift = 0.0
    if center is not None:
        shift = projection.project(center[None, :], np)[0]
    lower, upper = activation.lower * root + shift, activation.upper * root + shift
    if activation.even:
        return Thresholds("even", upper=upper, lower=lower)
    if activation.lower == activation.upper:
        return Thresholds("sign", upper=upper)
    return Thresholds("odd", upper=upper, lower=lower)


def _warn_of_norms(summary: CenteredRows, center: Any) -> None:
    """Warn of rows whose norms differ much: thresholds are the same for all."""
    rows = summary.sample
    dense = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=float)
    squares = np.sum((dense - center) ** 2, axis=1)
    variation = float(squares.std() / squares.mean())
    if variation > UNEVEN:
        warnings.warn(
            f"The squared norms of the rows vary by {variation:.0%} of their mean: thresholds that "
            "all rows have in common suit those of the mean norm only; scale the rows to one "
            "norm, for example with sklearn.preprocessing.Normalizer.",
            UserWarning,
            stacklevel=2,
        )
