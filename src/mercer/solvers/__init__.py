"""All linear algebra of learning: from what a pass has gathered to coefficients."""

from .device_statistics import DeviceMoments, DeviceStatistics, gathered_beside, on_host
from .dual import solve_kernel
from .few_rows import FewRows
from .folds import draws_below
from .gathered import Accumulator, Gathered
from .packed_statistics import PackedMoments, PackedStatistics
from .posterior import DualPosterior, Posterior, posterior_of
from .problem import Problem, Solution
from .qr import ReducedRows, reduced_blocks, reduced_rows
from .ridge import solve, solve_ridge
from .statistics import (
    Moments,
    RidgeStatistics,
    accumulator_for,
)
from .systems import GivenSystem, OrthogonalSystem, PrimalSystem

__all__ = [
    "Accumulator",
    "DeviceMoments",
    "DeviceStatistics",
    "DualPosterior",
    "FewRows",
    "Gathered",
    "GivenSystem",
    "Moments",
    "OrthogonalSystem",
    "PackedMoments",
    "PackedStatistics",
    "Posterior",
    "PrimalSystem",
    "Problem",
    "ReducedRows",
    "RidgeStatistics",
    "Solution",
    "accumulator_for",
    "draws_below",
    "gathered_beside",
    "on_host",
    "posterior_of",
    "reduced_blocks",
    "reduced_rows",
    "solve",
    "solve_kernel",
    "solve_ridge",
]
