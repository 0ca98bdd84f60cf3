"""Gegenbauer features of kernels of norms and angles."""

from __future__ import annotations

import warnings
from numbers import Integral, Real

import numpy as np

from ..._sklearn import RANDOM_STATE, Interval, Options, StrOptions, checked
from ...kernels import Gaussian, GeneralizedZonal, Kernel
from ...kernels.radial import (
    AngularSeries,
    angular_coefficients,
    is_angular,
    on_sphere,
    radial_series,
    truncated,
)
from ...ops.norms import row_norms
from ..base import FeatureMap
from ..polynomial import finite
from .columns import DIRECTIONS, ZonalColumns
from .plan import HARMONIC, LARGEST_HARMONIC, Plan, harmonic_degree, n_columns, plan_columns
from .region import Region, find_region

#: Share of the kernel that may be missing without a word.
MUCH_MISSING = 0.1


class GegenbauerFeatures(FeatureMap):
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
        product are kernels of the angle and much fewer features will do. ``"auto"``: on a
        sphere if the norms of all rows seen in ``fit`` agree. A ``Region`` that another map
        has found (``region_``) fixes center and degree before the first row comes.
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
        The share of k(x, x) beyond ``degree_``, the mean over rows.
    exact_degrees_ : tuple of int
        Degrees that are exact, at least in part.
    n_directions_ : int
        Random directions; 0 if nothing is random.
    domain_ : {"any", "ball", "sphere"}
        What ``"auto"`` found; ``"any"`` for kernels of the angle.
    center_ : array of shape (n_features,) or None
        What is taken from rows first, for a Gaussian kernel in a ball: the mean, as only
        differences matter and the degree grows with the norms.
    norms_ : array
        Quantiles of the norms of the rows (less the center) that ``fit`` has seen, where the
        kernel is not one of the angle.
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

    _parameter_constraints = {
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
    _from_rows = ("region_",)

    def __init__(
        self,
        kernel=None,
        *,
        n_components=512,
        degree="auto",
        signs="alternating",
        exact="auto",
        fold=True,
        directions="orthogonal",
        domain="auto",
        tolerance=1e-6,
        random_state=None,
    ):
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

    def _kernel(self):
        kernel = checked(Gaussian() if self.kernel is None else self.kernel)
        known = is_angular(kernel) or isinstance(kernel, GeneralizedZonal)
        if not known and not on_sphere(kernel):
            raise ValueError(
                f"kernel={kernel!r} is not a kernel of norms and angles that is known here; use "
                "Gaussian, Exponential, Polynomial, DotProduct, NTK, NNGP, ArcCosine or Zonal."
            )
        return kernel

    def _looks_at_rows(self, kernel):
        return not is_angular(kernel) and not isinstance(self.domain, Region)

    def _learn(self, summary):
        self.region_ = find_region(self.kernel_, self.domain, summary)

    @property
    def domain_(self):
        """Where rows lie."""
        return self.region_.domain

    @property
    def center_(self):
        """What is taken from rows first."""
        return self.region_.center

    @property
    def norms_(self):
        """Quantiles of the norms of rows."""
        return self.region_.norms

    def _draw(self, stream, n_features_in):
        if is_angular(self.kernel_):
            self.region_ = Region("any", None, np.ones(1))
        elif isinstance(self.domain, Region):
            self.region_ = self.domain
        series, plan = self._planned(n_features_in)
        options = {"signs": self.signs, "fold": self.fold, "directions": self.directions}
        stream = stream.child("directions")
        columns = ZonalColumns(stream, series, n_features_in, plan, options, self.region_)
        return {
            "columns_": columns,
            "mean_kernel_": truncated(series, self.center_),
            "degree_": series.degree,
            "order_": series.order,
            "exact_degrees_": tuple(sorted({l for l, _ in plan.exact})),
            "n_directions_": plan.n_directions,
            "truncation_error_": self._truncation_error(series),
        }

    def _series(self, n_features_in, degree):
        if self.domain_ == "sphere":
            about = (n_features_in, degree, self.tolerance, self.region_.radius)
            return AngularSeries(angular_coefficients(self.kernel_, *about), 0)
        about = (n_features_in, degree, self.tolerance, self.norms_, self.n_components)
        return radial_series(self.kernel_, *about)

    def _planned(self, n_features_in):
        """Return the radial functions, and which columns are exact."""
        asked = None if self.degree == "auto" else self.degree
        series = self._series(n_features_in, asked)
        if n_features_in == 1 or (n_features_in <= HARMONIC and self.exact == "auto"):
            planned = self._harmonics(series, n_features_in, asked)
            if planned is not None:
                return planned
        masses = finite(np.square(series.table(self.norms_, np))).mean(axis=0)
        choice = {"exact": self.exact, "fold": self.fold, "tolerance": self.tolerance}
        return series, plan_columns(series, masses, n_features_in, self.n_components, **choice)

    def _harmonics(self, series, n_features_in, asked):
        """Return radial functions and a plan without random columns, or ``None``."""
        fixed = asked is not None or isinstance(self.kernel_, GeneralizedZonal)
        if not fixed:
            pairs = _pairs_up_to(series.order > 1, n_features_in)
            fitting = harmonic_degree(n_features_in, self.n_components, pairs)
            longest = self._series(n_features_in, fitting)
            missing = self._missing(longest)
            if self._missing(series) <= self.tolerance and series.degree <= fitting:
                longest = series
            elif series.order > 1 and missing > min(MUCH_MISSING, self.n_components**-0.5):
                # In a ball: random columns miss less.
                return None
            series = longest
        if n_columns(series.pairs, n_features_in) > self.n_components:
            if n_features_in == 1 and isinstance(self.kernel_, GeneralizedZonal):
                raise ValueError(
                    f"{self.kernel_!r} takes {n_columns(series.pairs, 1)} features where "
                    f"n_features=1, but n_components={self.n_components}; use more."
                )
            return None
        return series, Plan(tuple(series.pairs), 0)

    def _missing(self, series):
        """Return which share of k(x, x) the series lacks, the mean over norms."""
        norms = self.norms_[self.norms_ > 0]
        norms = norms if norms.size else np.ones(1)
        exact = self.kernel_.diag(_rows_of_norm(norms, self.n_features_in_))
        if isinstance(self.kernel_, GeneralizedZonal):
            return 0.0
        found = np.square(series.table(norms, np)).sum(axis=1)
        return float(np.mean(np.clip(1 - found / exact, 0.0, 1.0)))

    def _truncation_error(self, series):
        missing = self._missing(series)
        if missing > MUCH_MISSING and not is_angular(self.kernel_):
            warnings.warn(
                f"Degrees up to {series.degree} hold {1 - missing:.0%} of {self.kernel_!r} for "
                f"rows of norms up to {self.norms_[-1]:.3g}; use RandomFourier, a larger "
                "lengthscale or more degrees.",
                UserWarning,
                stacklevel=2,
            )
        return missing

    def _is_random(self):
        return self.n_directions_ > 0

    def _probe(self, row):
        if self.domain_ == "sphere":
            norm = float(row_norms(row[None, :], np)[0])
            row = row / norm if norm > 0 else np.eye(1, len(row))[0]
            row = row * self.region_.radius
        return super()._probe(row)

    def _scratch(self):
        return self.columns_.scratch

    def _map(self, X, xp, out=None):
        Z = self.columns_.features(X, xp, out)
        return finite(Z) if self.columns_.may_overflow else Z


def _pairs_up_to(radial, n_features):
    """Return a function from a degree to the pairs of a series, of many values or of one."""
    highest = 1 if n_features == 1 else LARGEST_HARMONIC

    def pairs(degree):
        if not radial:
            return [(l, 0) for l in range(min(degree, highest) + 1)]
        every = [(j - 2 * i, i) for j in range(degree + 1) for i in range(j // 2 + 1)]
        return [pair for pair in every if pair[0] <= highest]

    return pairs


def _rows_of_norm(norms, n_features):
    rows = np.zeros((len(norms), n_features))
    rows[:, 0] = norms
    return rows
