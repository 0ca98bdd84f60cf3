"""What learns: ridge in one pass, exact kernels, the front door, clusters, feature learning."""

from .auto import KernelClassifier, KernelRegressor
from .feature_learning import (
    IRKMClassifier,
    IRKMRegressor,
    LearnerReport,
    RFMClassifier,
    RFMRegressor,
)
from .greedy_design import GreedyDesign
from .kernel_k_means import KernelKMeans
from .kernel_objective import KernelObjective
from .kernel_pca import KernelPCA
from .kernel_ridge import KernelRidge, KernelRidgeClassifier
from .report import Expectation, FitReport
from .ridge import FeatureRidge, FeatureRidgeClassifier

__all__ = [
    "Expectation",
    "FeatureRidge",
    "FeatureRidgeClassifier",
    "FitReport",
    "GreedyDesign",
    "IRKMClassifier",
    "IRKMRegressor",
    "KernelClassifier",
    "KernelKMeans",
    "KernelObjective",
    "KernelPCA",
    "KernelRegressor",
    "KernelRidge",
    "KernelRidgeClassifier",
    "LearnerReport",
    "RFMClassifier",
    "RFMRegressor",
]
