"""What learns: ridge machines in one pass, exact kernels, the front door, feature learning."""

from .auto import KernelClassifier, KernelRegressor
from .feature_learning import (
    IRKMClassifier,
    IRKMRegressor,
    LearnerReport,
    RFMClassifier,
    RFMRegressor,
)
from .kernel_ridge import KernelRidge, KernelRidgeClassifier
from .report import Expectation, FitReport
from .ridge import FeatureRidge, FeatureRidgeClassifier

__all__ = [
    "Expectation",
    "FeatureRidge",
    "FeatureRidgeClassifier",
    "FitReport",
    "IRKMClassifier",
    "IRKMRegressor",
    "KernelClassifier",
    "KernelRegressor",
    "KernelRidge",
    "KernelRidgeClassifier",
    "LearnerReport",
    "RFMClassifier",
    "RFMRegressor",
]
