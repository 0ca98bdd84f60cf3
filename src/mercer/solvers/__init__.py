"""Statistics to coefficients: ridge regression from sums that one pass has gathered."""

from .ridge import Problem, Solution, solve, solve_primal
from .statistics import Moments, RidgeStatistics
from .systems import DualSystem, OrthogonalSystem, PrimalSystem

__all__ = [
    "DualSystem",
    "Moments",
    "OrthogonalSystem",
    "PrimalSystem",
    "Problem",
    "RidgeStatistics",
    "Solution",
    "solve",
    "solve_primal",
]
