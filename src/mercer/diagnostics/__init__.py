"""Is it any good? Measured approximation error, and what a machine found and how surely."""

from ..features.approximation import ApproximationError, approximation_error
from .selection import SelectionFrequencies, selection_frequencies
from .weights_display import WeightsDisplay

__all__ = [
    "ApproximationError",
    "SelectionFrequencies",
    "WeightsDisplay",
    "approximation_error",
    "selection_frequencies",
]
