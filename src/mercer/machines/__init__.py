"""What learns: ridge machines in one pass, and kernel machines that learn features."""

from .classifier import FeatureRidgeClassifier
from .irkm import IRKMClassifier, IRKMRegressor
from .kernel_classifier import KernelClassifier
from .kernel_regressor import KernelRegressor
from .learner_report import LearnerReport
from .regressor import FeatureRidge
from .report import FitReport
from .rfm import RFMClassifier, RFMRegressor

__all__ = [
    "FeatureRidge",
    "FeatureRidgeClassifier",
    "FitReport",
    "IRKMClassifier",
    "IRKMRegressor",
    "KernelClassifier",
    "KernelRegressor",
    "LearnerReport",
    "RFMClassifier",
    "RFMRegressor",
]
