"""Maps and kernels side by side: error, time, memory and size, and a report of them."""

from .records import Comparison, Skipped, Spectrum, Trial, Weights
from .run import compare

__all__ = ["Comparison", "Skipped", "Spectrum", "Trial", "Weights", "compare"]
