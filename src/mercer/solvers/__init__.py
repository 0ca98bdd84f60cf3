"""Statistics to coefficients: ridge regression from sums that one pass has gathered."""

from .kernel_ridge import KernelSolution, solve_kernel
from .ridge import Problem, Solution, solve, solve_primal
from .statistics import Moments, RidgeStatistics
from .systems import DualSystem, GivenSystem, OrthogonalSystem, PrimalSystem

__all__ = [
    "DualSystem",
    "GivenSystem",
    "KernelSolution",
    "Moments",
    "OrthogonalSystem",
    "PrimalSystem",
    "Problem",
    "RidgeStatistics",
    "Solution",
    "solve",
    "solve_kernel",
    "solve_primal",
]
