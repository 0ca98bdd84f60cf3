"""Which classes may be stored in a model file, and by which names: a closed list.

mercer's own are registered where they are defined (``mercer._registry.storable``); those of
scikit-learn are listed here. A name is a module and a class, ``"mercer.kernels.ntk:NTK"``.
"""

from __future__ import annotations

from importlib import import_module

from .._registry import registered
from .errors import ModelFileError

#: The classes of scikit-learn, by the modules that they are imported from.
SCIKIT_LEARN: dict[str, tuple[str, ...]] = {
    "sklearn.pipeline": ("Pipeline", "FeatureUnion"),
    "sklearn.compose": ("ColumnTransformer", "make_column_selector"),
    "sklearn.preprocessing": (
        "FunctionTransformer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
    "sklearn.impute": ("SimpleImputer",),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.feature_selection": ("VarianceThreshold",),
}


def key_of(kind: type, where: str) -> str:
    """Return the name of a class in a file, or refuse a class that is not on the list.

    Parameters
    ----------
    kind : type
        The class.
    where : str
        What to call the object in an error.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> key_of(Gaussian, "kernel")
    'mercer.kernels.gaussian:Gaussian'
    """
    module, name = kind.__module__, kind.__name__
    if module.split(".")[0] == "sklearn":
        # Its classes live in private modules; files name the public ones.
        module = next((home for home, names in SCIKIT_LEARN.items() if name in names), module)
    if _found(module, name) is not kind:
        known = ", ".join(name for names in SCIKIT_LEARN.values() for name in names)
        raise ModelFileError(
            f"{where} is a {kind.__module__}.{name}, which a model file cannot hold; it holds "
            f"mercer's own estimators and these of scikit-learn: {known}; do this step before the "
            "model that is saved, or save the whole with joblib, which runs code when it loads."
        )
    return f"{module}:{name}"


def class_of(key: object) -> type:
    """Return the class of a name that may be stored in a file.

    Examples
    --------
    >>> class_of("mercer.kernels.gaussian:Gaussian").__name__
    'Gaussian'
    """
    module, _, name = key.partition(":") if isinstance(key, str) else ("", "", "")
    kind = _found(module, name)
    if kind is None:
        raise ModelFileError(f"it holds an object of class {key!r}, which is not on the list")
    return kind


def _found(module: str, name: str) -> type | None:
    """Return a class of the list; nothing is imported that is not on it."""
    if name in SCIKIT_LEARN.get(module, ()):
        kind: type = getattr(import_module(module), name)
        return kind
    return registered(module, name)
