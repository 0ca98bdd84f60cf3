"""Is it any good? Measured approximation error, and what a machine found and how surely."""

from ..features.approximation import ApproximationError, approximation_error
from .approximation_display import ApproximationDisplay
from .comparison import Comparison, compare
from .dimension import StatisticalDimension, statistical_dimension
from .growth import grown_features
from .interval_display import IntervalDisplay
from .path_display import PathDisplay
from .plan_record import Plan, PlannedStep
from .planning import plan, refuse_what_does_not_fit
from .projection_cost import ProjectionCost, projection_cost
from .selection import SelectionFrequencies, selection_frequencies
from .spectral import SpectralApproximation, spectral_approximation
from .spectrum_display import SpectrumDisplay
from .sufficient import (
    sufficient_by_leverage,
    sufficient_fourier,
    sufficient_gegenbauer,
    sufficient_ntk,
    sufficient_relu,
    sufficient_step,
)
from .weights_display import WeightsDisplay

__all__ = [
    "ApproximationDisplay",
    "ApproximationError",
    "Comparison",
    "IntervalDisplay",
    "PathDisplay",
    "Plan",
    "PlannedStep",
    "ProjectionCost",
    "SelectionFrequencies",
    "SpectralApproximation",
    "SpectrumDisplay",
    "StatisticalDimension",
    "WeightsDisplay",
    "approximation_error",
    "compare",
    "grown_features",
    "plan",
    "projection_cost",
    "refuse_what_does_not_fit",
    "selection_frequencies",
    "spectral_approximation",
    "statistical_dimension",
    "sufficient_by_leverage",
    "sufficient_fourier",
    "sufficient_gegenbauer",
    "sufficient_ntk",
    "sufficient_relu",
    "sufficient_step",
]
