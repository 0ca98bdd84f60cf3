"""Classes that are not yet registered where they are defined; this file goes when all are."""

from __future__ import annotations

from importlib import import_module

from .._registry import storable

MODULES = {
    "mercer.machines.regressor": ("FeatureRidge",),
    "mercer.machines.classifier": ("FeatureRidgeClassifier",),
    "mercer.machines.kernel_regressor": ("KernelRegressor",),
    "mercer.machines.kernel_classifier": ("KernelClassifier",),
    "mercer.machines.irkm": ("IRKMClassifier", "IRKMRegressor"),
    "mercer.machines.rfm": ("RFMClassifier", "RFMRegressor"),
    "mercer.machines.standardized": ("Scales",),
    "mercer.machines.weighted_fits": ("FourierFunctions", "KernelFunctions"),
    "mercer.machines.weights": ("ColumnWeights", "Metric"),
    "mercer.machines.learner_report": ("LearnerReport",),
    "mercer.machines.report": ("FitReport",),
    "mercer.machines.choosing": ("Method",),
    "mercer.machines.solving": ("FewRows", "KernelRows"),
    "mercer.solvers.ridge": ("Solution",),
    "mercer.solvers.statistics": ("Moments", "RidgeStatistics"),
    "mercer.features.exact": ("KernelColumns",),
    "mercer.preprocessing.spherical": ("SphericalCoordinates",),
    "mercer.preprocessing.encoder": ("TableEncoder",),
    "mercer.preprocessing.table_summary": ("TableSummary",),
}


def register_undecorated(module: str) -> None:
    """Register the classes of a module of the list, which say what they store by ``_stored``."""
    for name in MODULES.get(module, ()):
        kind = storable(getattr(import_module(module), name))
        if hasattr(kind, "_stored") and not hasattr(kind, "__mercer_state__"):
            kind.__mercer_state__ = kind._stored
