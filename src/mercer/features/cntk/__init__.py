"""Features of the convolutional neural tangent kernel."""

from .maps import CNTKSketch

__all__ = ["CNTKSketch"]
