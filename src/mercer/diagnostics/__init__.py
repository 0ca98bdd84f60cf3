"""Is it any good? Measured approximation error."""

from ..features.approximation import ApproximationError, approximation_error

__all__ = ["ApproximationError", "approximation_error"]
