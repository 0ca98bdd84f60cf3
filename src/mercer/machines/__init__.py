"""What is learnt: ridge regression and classification on features, in one pass."""

from .classifier import FeatureRidgeClassifier
from .kernel_classifier import KernelClassifier
from .kernel_regressor import KernelRegressor
from .regressor import FeatureRidge
from .report import FitReport

__all__ = [
    "FeatureRidge",
    "FeatureRidgeClassifier",
    "FitReport",
    "KernelClassifier",
    "KernelRegressor",
]
