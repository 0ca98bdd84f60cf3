"""Feature-learning machines: kernels whose columns, or directions, are weighted as the fit asks."""

from .irkm import IRKMClassifier, IRKMRegressor
from .report import LearnerReport
from .rfm import RFMClassifier, RFMRegressor

__all__ = ["IRKMClassifier", "IRKMRegressor", "LearnerReport", "RFMClassifier", "RFMRegressor"]
