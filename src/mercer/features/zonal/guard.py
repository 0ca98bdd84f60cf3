"""What a zonal map expects of rows: norms that it was planned for."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..._array import like
from ..._registry import storable
from ...ops.norms import row_norms
from ...ops.products import dense

#: How far norms may be from the radius of the sphere that a map was made for.
OFF_SPHERE = 1e-3


class Outside(NamedTuple):
    """Rows of a block, how many of them are out of reach, and the largest norm."""

    n_rows: int
    n_outside: int
    furthest: float


@storable
@dataclass(frozen=True)
class PlannedNorms:
    """Refuses rows off the sphere of a map, and warns of rows out of its reach.

    Attributes
    ----------
    center : array or None
        What is subtracted from rows first.
    radius : float or None
        The norm that all rows must have, on a sphere only.
    reach : float
        The norm up to which the map holds most of k(x, x).
    planned : float
        The largest norm that the map was planned for.
    held : str
        What the map holds up to there, the beginning of the warning.
    """

    center: np.ndarray | None
    radius: float | None
    reach: float
    planned: float
    held: str

    def inspect(self, block: Any, xp: Any) -> Outside | None:
        """Return the rows of a block that are out of reach; refuse rows off the sphere."""
        if self.center is not None:
            block = dense(block)
            block = block - like(block, self.center)
        norms = row_norms(block, xp)
        if self.radius is not None:
            self._refuse_off_sphere(norms, self.radius, xp)
            return None
        outside = xp.astype(norms > self.reach, xp.int64)
        return Outside(norms.shape[0], int(xp.sum(outside)), float(xp.max(norms)))

    def conclude(self, findings: list[Outside | None]) -> None:
        """Warn of rows that are out of reach."""
        found = [finding for finding in findings if finding is not None]
        n_outside = sum(finding.n_outside for finding in found)
        if not n_outside:
            return
        less = "" if self.center is None else ", less center_,"
        warnings.warn(
            f"{self.held} for {n_outside} of {sum(finding.n_rows for finding in found)} rows: "
            f"their norms{less} go up to {max(finding.furthest for finding in found):.3g}, and the "
            f"map is planned for {self.planned:.3g}; fit it on rows like these, give it a higher "
            "degree, or use RandomFourier, which has no such limit, for a kernel of the distance.",
            UserWarning,
            stacklevel=4,
        )

    @staticmethod
    def _refuse_off_sphere(norms: Any, radius: float, xp: Any) -> None:
        off = xp.abs(norms / radius - 1) > OFF_SPHERE
        if xp.any(off):
            row = int(xp.argmax(xp.astype(off, norms.dtype)))
            raise ValueError(
                f"The map was fitted to rows of norm {radius:.6g}, but row {row} of a block "
                f"has norm {float(norms[row]):.6g}; fit with domain='ball' for rows of any norm."
            )
