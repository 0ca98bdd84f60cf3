"""Where the rows of a zonal map lie: in a ball or on a sphere, and how far out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels import Gaussian, Isotropic
from ...kernels.radial import is_angular, on_sphere
from ...ops.norms import row_norms
from ...ops.products import dense

#: Norms of the sample that are kept.
QUANTILES = 64
#: Differences of norms that are rounding, and rows from which on they tell of a sphere.
SAME_NORM, SPHERE_ROWS = 1e-5, 8
#: Numbers of a sample of rows that are looked at.
ENTRIES = 5_000_000


@dataclass(frozen=True)
class Region:
    """A domain, the center that is taken from rows first, and quantiles of their norms then."""

    domain: str
    center: np.ndarray | None
    norms: np.ndarray

    @property
    def radius(self):
        """The norm of all rows, on a sphere only."""
        return float(self.norms[-1]) if self.domain == "sphere" else None


def find_region(kernel, domain, summary):
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
    if on_sphere(kernel) and not is_angular(kernel):
        found = _domain(kernel, domain, summary)
        if found == "ball" and isinstance(kernel, Gaussian):
            center = rows.mean(axis=0)
            norms = row_norms(rows - center, np)
    # Middles of equal shares: a row or two far out do not decide.
    return Region(found, center, np.quantile(norms, (np.arange(QUANTILES) + 0.5) / QUANTILES))


def _domain(kernel, domain, summary):
    lowest, highest = summary.norm_range
    same = highest > 0 and highest - lowest <= SAME_NORM * highest
    if domain == "sphere" and not same:
        raise ValueError(
            f"domain='sphere' needs rows of one norm, but those of X go from {lowest:.6g} to "
            f"{highest:.6g}; divide rows by their norms first, or use domain='ball'."
        )
    if same and domain != "ball" and (domain == "sphere" or summary.n_rows >= SPHERE_ROWS):
        return "sphere"
    if isinstance(kernel, Isotropic) and not isinstance(kernel, Gaussian):
        raise ValueError(
            f"{kernel!r} is a kernel of norms and angles on a sphere only, but the norms of X go "
            f"from {lowest:.6g} to {highest:.6g}; use RandomFourier, or a Gaussian kernel."
        )
    return "ball"
