"""Gegenbauer features of kernels of norms and angles."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from ..._random import Stream
from ..._registry import storable
from ..._sklearn import RANDOM_STATE, Interval, Options, StrOptions, checked
from ...kernels import Gaussian, GeneralizedZonal, Kernel
from ...kernels.lengthscale import RowSummary
from ...kernels.radial import is_angular, on_sphere
from ..base import FeatureMap
from ..polynomial import finite
from ..rows_seen import LearnsFromRows
from ..traits import MapTraits
from .columns import DIRECTIONS, ColumnOptions, ZonalColumns
from .design import MUCH_MISSING, ZonalDesign, truncation_error
from .plan import LARGEST_HARMONIC
from .region import Region, find_region


@storable
class GegenbauerFeatures(LearnsFromRows, FeatureMap):
    r"""Features of kernels of norms and angles, by Gegenbauer polynomials.

    Such a kernel is :math:`\sum_l \langle h_l(\|x\|), h_l(\|y\|) \rangle P_l(\cos)` [1]_, and
    for directions w uniform on the sphere
    :math:`\sum_l \pm h_l(\|x\|)\, p_l(\langle x, w \rangle / \|x\|)`, with :math:`p_l` the
    polynomial :math:`P_l` scaled to unit variance, is a feature. Low degrees, whose columns
    are few, are exact; in up to three dimensions all degrees are, and nothing is random.

    Parameters
    ----------
    kernel : Kernel, default=None
        :class:`~mercer.Gaussian`, :class:`~mercer.Exponential`, :class:`~mercer.Polynomial`,
        :class:`~mercer.PowerSeries`, :class:`~mercer.DotProduct`, :class:`~mercer.NTK`,
        :class:`~mercer.NNGP`, :class:`~mercer.ArcCosine`, :class:`~mercer.Zonal`,
        :class:`~mercer.GeneralizedZonal`; for rows on a sphere :class:`~mercer.Laplace` and
        :class:`~mercer.Matern` too. ``None`` means ``Gaussian()``.
    n_components : int, default=512
        The number of features, at most: fewer where fewer are exact.
    degree : int or "auto", default="auto"
        The highest degree. ``"auto"``: as ``tolerance`` wants it, up to 40; for kernels of
        networks, whose degrees fall slowly, 8, as random columns of higher ones are noise to a
        regression, or 12 from 64 columns on, and in few columns as many as it takes to have a
        harmonic for every feature; in two and three dimensions, as many as fit.
    signs : {"alternating", "plus"}, default="alternating"
        Signs of the degrees. The mean is the same; with ``"plus"``, as in [1]_, the error is
        several times larger.
    exact : {"auto", 0, 1, 2}, default="auto"
        Up to which degree columns are exact; 0: none. ``"auto"``: what makes the error
        smaller and leaves half of the columns to the directions.
    fold : bool, default=True
        Add the values of a radial function up with signs, instead of giving each a column.
    directions : {"orthogonal", "iid"}, default="orthogonal"
        How directions are drawn.
    domain : {"auto", "ball", "sphere"} or Region, default="auto"
        Where rows lie: in a ball, or on a sphere, where kernels of the distance or the inner
        product are zonal kernels and much fewer features will do. ``"auto"``: on a
        sphere if the norms of all rows seen in ``fit`` agree. A ``Region`` that another map
        has found (``region_``) fixes center and degree before the first row is seen.
    tolerance : float, default=1e-6
        The share of k(x, x) that higher degrees may hold.
    random_state : int, RandomState, Generator or None, default=None
        Seed of directions and signs.

    Attributes
    ----------
    kernel_ : Kernel
        The exact kernel that the map approximates.
    mean_kernel_ : GeneralizedZonal
        What the features give on average: the kernel without higher degrees.
    degree_, order_ : int
        The highest degree, and how many values its radial functions have at most.
    truncation_error_ : float
        The share of k(x, x) beyond ``degree_``: the mean over all rows that ``fit`` has seen,
        far ones included; estimated from a sample of them, and the furthest, beyond a thousand.
    largest_truncation_error_ : float
        The same share for the furthest row.
    exact_degrees_ : tuple of int
        Degrees that are exact, at least in part.
    n_directions_ : int
        Random directions; 0 if nothing is random.
    domain_ : {"any", "ball", "sphere"}
        What ``"auto"`` found; ``"any"`` for zonal kernels.
    center_ : array of shape (n_features,) or None
        What is subtracted from rows first, for a Gaussian kernel in a ball: the mean, as only
        differences matter and the degree grows with the norms.
    norms_ : array
        Quantiles of the norms of the rows (less the center) that ``fit`` has seen, where the
        kernel is not zonal. ``transform`` warns of rows so far beyond them that the map lacks
        more than a tenth of k(x, x).
    seed_ : int
        The seed of everything that was drawn.

    References
    ----------
    .. [1] I. Han, A. Zandieh and H. Avron, "Random Gegenbauer features for scalable kernel
       methods", ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NTK, GegenbauerFeatures
    >>> X = np.random.default_rng(0).standard_normal((60, 8))
    >>> features = GegenbauerFeatures(NTK(depth=2), n_components=512, random_state=0).fit(X)
    >>> Z, K = features.transform(X), features.kernel_(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.06 * np.linalg.norm(K))
    True
    >>> features.degree_, features.exact_degrees_
    (8, (0, 1, 2))
    """

    region_: Region
    columns_: ZonalColumns
    mean_kernel_: GeneralizedZonal
    degree_: int
    order_: int
    exact_degrees_: tuple[int, ...]
    n_directions_: int
    truncation_error_: float
    largest_truncation_error_: float

    _parameter_constraints: dict[str, Any] = {
        "kernel": [Kernel, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "degree": [Interval(Integral, 0, LARGEST_HARMONIC, closed="both"), StrOptions({"auto"})],
        "signs": [StrOptions({"alternating", "plus"})],
        "exact": [Options(Integral, {0, 1, 2}), StrOptions({"auto"})],
        "fold": ["boolean"],
        "directions": [StrOptions(set(DIRECTIONS))],
        "domain": [StrOptions({"auto", "ball", "sphere"}), Region],
        "tolerance": [Interval(Real, 0, 1, closed="neither")],
        "random_state": RANDOM_STATE,
    }
    learned: ClassVar[tuple[str, ...]] = ("region_",)

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 512,
        degree: int | str = "auto",
        signs: str = "alternating",
        exact: int | str = "auto",
        fold: bool = True,
        directions: str = "orthogonal",
        domain: str | Region = "auto",
        tolerance: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.degree = degree
        self.signs = signs
        self.exact = exact
        self.fold = fold
        self.directions = directions
        self.domain = domain
        self.tolerance = tolerance
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        kernel: Kernel = checked(Gaussian() if self.kernel is None else self.kernel)
        known = is_angular(kernel) or isinstance(kernel, GeneralizedZonal)
        if not known and not on_sphere(kernel):
            raise ValueError(
                f"kernel={kernel!r} is not a kernel of norms and angles that is known here; use "
                "Gaussian, Exponential, Polynomial, DotProduct, NTK, NNGP, ArcCosine or Zonal."
            )
        return kernel

    def looks_at_rows(self, kernel: Kernel) -> bool:
        """Return whether norms matter: not for zonal kernels, nor in a region that is given."""
        return not is_angular(kernel) and not isinstance(self.domain, Region)

    def learn_from(self, summary: RowSummary) -> dict[str, Any]:
        """Return where rows lie."""
        return {"region_": find_region(self.kernel_, str(self.domain), summary)}

    @property
    def domain_(self) -> str:
        """Where rows lie."""
        return self.region_.domain

    @property
    def center_(self) -> np.ndarray | None:
        """What is subtracted from rows first."""
        return self.region_.center

    @property
    def norms_(self) -> np.ndarray:
        """Quantiles of the norms of rows."""
        return self.region_.norms

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        region = self._region()
        design = ZonalDesign(
            kernel=self.kernel_,
            region=region,
            n_features=n_features_in,
            n_components=self.n_components,
            degree=None if isinstance(self.degree, str) else self.degree,
            tolerance=self.tolerance,
            exact=self.exact,
            options=ColumnOptions(self.signs, self.fold, self.directions),
        )
        columns = design.columns(stream)
        mean, largest = truncation_error(design)
        self._warn_if_much_is_missing(mean, design)
        return {
            "region_": region,
            "columns_": columns,
            "mean_kernel_": design.mean_kernel(),
            "degree_": design.series.degree,
            "order_": design.series.order,
            "exact_degrees_": tuple(sorted({l for l, _ in design.plan.exact})),
            "n_directions_": design.plan.n_directions,
            "truncation_error_": mean,
            "largest_truncation_error_": largest,
            "traits_": MapTraits(
                random=columns.is_random,
                scratch=columns.scratch,
                device_scratch=columns.device_scratch,
                guard=design.guard(),
            ),
        }

    def _region(self) -> Region:
        """Return where rows lie: given, learnt, or of no matter."""
        if is_angular(self.kernel_):
            return Region.anywhere()
        return self.domain if isinstance(self.domain, Region) else self.region_

    def _warn_if_much_is_missing(self, missing: float, design: ZonalDesign) -> None:
        if missing > MUCH_MISSING and not is_angular(self.kernel_):
            warnings.warn(
                f"Degrees up to {design.series.degree} hold {1 - missing:.0%} of "
                f"{self.kernel_!r} for rows of norms up to {design.region.largest:.3g}; use "
                "RandomFourier, a larger lengthscale or more degrees.",
                UserWarning,
                stacklevel=2,
            )

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        Z = self.columns_.features(X, xp, out)
        return finite(Z) if self.columns_.may_overflow else Z
