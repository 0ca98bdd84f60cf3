"""All linear algebra of learning: from what a pass has gathered to coefficients."""

from .dual import FewRows, solve_kernel
from .posterior import DualPosterior, Posterior
from .problem import Problem, Solution
from .ridge import solve, solve_ridge
from .statistics import Moments, RidgeStatistics
from .systems import GivenSystem, OrthogonalSystem, PrimalSystem

__all__ = [
    "DualPosterior",
    "FewRows",
    "GivenSystem",
    "Moments",
    "OrthogonalSystem",
    "Posterior",
    "PrimalSystem",
    "Problem",
    "RidgeStatistics",
    "Solution",
    "solve",
    "solve_kernel",
    "solve_ridge",
]
