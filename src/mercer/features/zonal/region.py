"""Where the rows of a zonal map lie: in a ball or on a sphere, and how far out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..._registry import storable
from ...kernels import Gaussian, Isotropic, Kernel
from ...kernels.lengthscale import RowSummary
from ...kernels.radial import is_angular, on_sphere
from ...ops.norms import row_norms
from ...ops.products import dense

#: Norms of the sample that are kept: quantiles, and the largest ones.
QUANTILES = 64
#: Differences of norms that are rounding, and rows from which on they tell of a sphere.
SAME_NORM, SPHERE_ROWS = 1e-5, 8
#: Numbers of a sample of rows that are looked at.
ENTRIES = 5_000_000


@storable
@dataclass(frozen=True)
class Region:
    """Where rows lie, as far as a zonal map must know.

    Attributes
    ----------
    domain : {"any", "ball", "sphere"}
        The domain; ``"any"`` where it does not matter.
    center : array or None
        What is subtracted from rows first.
    norms : array
        Quantiles of the norms of rows (less the center) that a map is planned for.
    far, far_shares : arrays
        The largest norms themselves, and the share of all rows that each stands for.
    """

    domain: str
    center: np.ndarray | None
    norms: np.ndarray
    far: np.ndarray = field(default_factory=lambda: np.empty(0))
    far_shares: np.ndarray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def anywhere(cls) -> Region:
        """Return the region of a map that does not depend on norms."""
        return cls("any", None, np.ones(1))

    @property
    def radius(self) -> float | None:
        """The norm of all rows, on a sphere only."""
        return float(self.norms[-1]) if self.domain == "sphere" else None

    @property
    def largest(self) -> float:
        """The largest norm that is known of."""
        return float(max(self.norms[-1], self.far.max(initial=0.0)))

    def mean(self, function: Callable[[np.ndarray], np.ndarray]) -> float:
        """Return the mean of a function of the norm over all rows, far ones included."""
        near = self.norms[self.norms <= self.far.min(initial=np.inf)]
        rest = 1.0 - float(self.far_shares.sum()) if near.size else 0.0
        total = rest * float(np.mean(function(near))) if rest > 0 else 0.0
        return total + float(np.sum(self.far_shares * function(self.far)))


def find_region(kernel: Kernel, domain: str, summary: RowSummary) -> Region:
    """Return where rows lie, as far as it matters for a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    domain : {"auto", "ball", "sphere"}
        What the user says.
    summary : RowSummary
        Of the rows.

    Examples
    --------
    >>> from mercer.kernels.lengthscale import RowSummary
    >>> summary = RowSummary()
    >>> summary.update(np.eye(9))
    >>> find_region(Gaussian(), "auto", summary).domain
    'sphere'
    """
    sample = summary.sample
    rows = dense(sample[: max(2, ENTRIES // sample.shape[1])]).astype(float)
    norms, center, found = row_norms(rows, np), None, "any"
    largest = float(summary.norm_range[1])
    if on_sphere(kernel) and not is_angular(kernel):
        found = _domain(kernel, domain, summary)
        if found == "ball" and isinstance(kernel, Gaussian):
            center = rows.mean(axis=0)
            norms = row_norms(rows - center, np)
            # At least so far from the center is the row of the largest norm.
            largest -= float(row_norms(center[None, :], np)[0])
    # Middles of equal shares: a row or two far out do not decide.
    planned = np.quantile(norms, (np.arange(QUANTILES) + 0.5) / QUANTILES)
    if found == "sphere":
        return Region(found, center, planned)
    far = np.sort(norms)[-QUANTILES:]
    shares = np.full(far.size, 1 / len(norms))
    if summary.n_rows > len(norms) and largest > norms.max():
        far, shares = np.append(far, largest), np.append(shares, 1 / summary.n_rows)
    return Region(found, center, planned, far, shares)


def on_one_sphere(summary: RowSummary) -> bool:
    """Return whether all rows have the same norm, and are enough to tell.

    Examples
    --------
    >>> from mercer.kernels.lengthscale import RowSummary
    >>> summary = RowSummary()
    >>> summary.update(np.eye(9))
    >>> on_one_sphere(summary)
    True
    """
    return _same_norm(summary) and summary.n_rows >= SPHERE_ROWS


def _same_norm(summary: RowSummary) -> bool:
    lowest, highest = summary.norm_range
    return bool(highest > 0 and highest - lowest <= SAME_NORM * highest)


def _domain(kernel: Kernel, domain: str, summary: RowSummary) -> str:
    lowest, highest = summary.norm_range
    same = _same_norm(summary)
    if domain == "sphere" and not same:
        raise ValueError(
            f"domain='sphere' needs rows of one norm, but those of X go from {lowest:.6g} to "
            f"{highest:.6g}; divide rows by their norms first, or use domain='ball'."
        )
    if same and domain != "ball" and (domain == "sphere" or on_one_sphere(summary)):
        return "sphere"
    if isinstance(kernel, Isotropic) and not isinstance(kernel, Gaussian):
        raise ValueError(
            f"{kernel!r} is a kernel of norms and angles on a sphere only, but the norms of X go "
            f"from {lowest:.6g} to {highest:.6g}; use RandomFourier, or a Gaussian kernel."
        )
    return "ball"
