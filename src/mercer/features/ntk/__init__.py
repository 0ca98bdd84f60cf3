"""Features of the neural tangent kernel and of its Gaussian process, and baselines."""

from .baselines import GradientFeatures, TensorNTKFeatures
from .maps import NNGPFeatures, NTKFeatures

__all__ = ["GradientFeatures", "NNGPFeatures", "NTKFeatures", "TensorNTKFeatures"]
