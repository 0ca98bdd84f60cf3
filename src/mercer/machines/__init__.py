"""What is learnt: ridge regression and classification on features, in one pass."""

from .classifier import FeatureRidgeClassifier
from .regressor import FeatureRidge

__all__ = ["FeatureRidge", "FeatureRidgeClassifier"]
