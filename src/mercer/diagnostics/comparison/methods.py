"""What is compared: names, feature maps, kernels and estimators, as methods with one label each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from ..._words import did_you_mean, shortened
from ...features import NTKFeatures, NystromFeatures, RandomFourier
from ...features.arccosine import ArcCosineFeatures
from ...kernels import Kernel
from ...machines import (
    IRKMClassifier,
    IRKMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
)
from .data import ENCODED, UNCLIPPED, WITH_CONSTANT
from .tuning import Tuner, head


@dataclass(frozen=True)
class Settings:
    """What makers of estimators must know.

    Attributes
    ----------
    task : str
        ``"regression"`` or ``"classification"``.
    tuner : Tuner
        Who chooses lengthscales.
    seed : int
        Of random features.
    """

    task: str
    tuner: Tuner
    seed: int


#: Makes an estimator of so many features, and says what there is to say of it.
Maker = Callable[[int | None, Settings], tuple[Any, str]]


@dataclass(frozen=True)
class Method:
    """One thing to compare.

    Attributes
    ----------
    label : str
        What tables and pictures call it.
    make : callable
        Returns an estimator that is not fitted, and a sentence on it.
    sized : bool
        Whether it has a number of features to vary.
    sampled : bool
        Whether it learns from a sample of the rows only.
    view : str
        How it sees the rows.
    """

    label: str
    make: Maker
    sized: bool = False
    sampled: bool = False
    view: str = ENCODED


def _linear(size: int | None, settings: Settings) -> tuple[Any, str]:
    return head(None, settings.task), "ridge regression on the columns, outliers as they are"


def _boosting(size: int | None, settings: Settings) -> tuple[Any, str]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    regression = settings.task == "regression"
    maker = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    return maker(random_state=settings.seed), f"scikit-learn's {maker.__name__} with its defaults"


def _exact(size: int | None, settings: Settings) -> tuple[Any, str]:
    kernel, why = settings.tuner.kernel("gaussian")
    maker = KernelRidge if settings.task == "regression" else KernelRidgeClassifier
    return maker(kernel), why


def _irkm(size: int | None, settings: Settings) -> tuple[Any, str]:
    maker = IRKMRegressor if settings.task == "regression" else IRKMClassifier
    return maker(random_state=settings.seed), "learns column weights"


def _of_kernel(name: str, map_class: Any) -> Maker:
    """Return the maker of a map of a kernel whose lengthscale is chosen."""

    def make(size: int | None, settings: Settings) -> tuple[Any, str]:
        kernel, why = settings.tuner.kernel(name)
        features = map_class(kernel, n_components=size, random_state=settings.seed)
        return head(features, settings.task), why

    return make


def _zonal(map_class: Any) -> Maker:
    def make(size: int | None, settings: Settings) -> tuple[Any, str]:
        features = map_class(n_components=size, random_state=settings.seed)
        return head(features, settings.task), "with a constant column"

    return make


def _of_scikit_learn(name: str) -> Maker:
    """Return the maker of scikit-learn's map with the Gaussian kernel that was chosen."""

    def make(size: int | None, settings: Settings) -> tuple[Any, str]:
        from sklearn import kernel_approximation

        kernel, why = settings.tuner.kernel("gaussian")
        gamma = 1 / (2 * float(kernel.get_params()["lengthscale"]) ** 2)
        maker = getattr(kernel_approximation, name)
        features = maker(gamma=gamma, n_components=size, random_state=settings.seed)
        return head(features, settings.task), why

    return make


#: All methods that have a name.
NAMED: dict[str, Method] = {
    "linear": Method("linear", _linear, view=UNCLIPPED),
    "boosting": Method("gradient boosting", _boosting),
    "exact": Method("exact, Gaussian", _exact, sampled=True),
    "irkm": Method("IRKM", _irkm, sampled=True),
    "gaussian": Method("Fourier, Gaussian", _of_kernel("gaussian", RandomFourier), sized=True),
    "laplace": Method("Fourier, Laplace", _of_kernel("laplace", RandomFourier), sized=True),
    "matern": Method("Fourier, Matérn", _of_kernel("matern", RandomFourier), sized=True),
    "ntk": Method("NTK", _zonal(NTKFeatures), sized=True, view=WITH_CONSTANT),
    "arccosine": Method("arc-cosine", _zonal(ArcCosineFeatures), sized=True, view=WITH_CONSTANT),
    "nystrom": Method("Nyström, Gaussian", _of_kernel("gaussian", NystromFeatures), sized=True),
    "sklearn-rbf": Method("RBFSampler (sklearn)", _of_scikit_learn("RBFSampler"), sized=True),
    "sklearn-nystroem": Method("Nystroem (sklearn)", _of_scikit_learn("Nystroem"), sized=True),
}
#: What is compared by default.
DEFAULT = (
    "linear",
    "boosting",
    "exact",
    "irkm",
    "gaussian",
    "laplace",
    "ntk",
    "nystrom",
    "sklearn-rbf",
    "sklearn-nystroem",
)


def methods_of(maps: Any) -> list[Method]:
    """Return the methods that a user asks for.

    Parameters
    ----------
    maps : iterable or mapping of what to compare, or None
        Names, kernels, feature maps and estimators; a mapping has labels as keys. ``None`` is
        the default.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> [method.label for method in methods_of(["linear", Gaussian(2.0)])]
    ['linear', 'features of Gaussian(lengthscale=2.0)']
    """
    if maps is None:
        maps = DEFAULT
    if isinstance(maps, Mapping):
        found = [replace(_method(given), label=str(label)) for label, given in maps.items()]
    elif isinstance(maps, str) or not isinstance(maps, Iterable):
        found = [_method(maps)]
    else:
        found = [_method(given) for given in maps]
    if not found:
        raise ValueError("maps is empty: give at least one map, kernel, estimator or name.")
    labels = [method.label for method in found]
    repeated = next((label for label in labels if labels.count(label) > 1), None)
    if repeated is not None:
        raise ValueError(
            f"maps holds two methods called {repeated!r}; give a dict with a label for each."
        )
    return found


def _method(given: Any) -> Method:
    """Return the method that an entry of ``maps`` stands for."""
    if isinstance(given, str):
        if given not in NAMED:
            hint = did_you_mean(given, NAMED, f"known are {', '.join(NAMED)}.")
            raise ValueError(f"maps: {given!r} is not the name of a method; {hint}")
        return NAMED[given]
    if isinstance(given, Kernel):
        return Method(f"features of {shortened(repr(given))}", _of_given_kernel(given), sized=True)
    if isinstance(given, type) or not hasattr(given, "fit"):
        raise TypeError(
            "maps takes names, kernels, feature maps and estimators (objects, not classes), got "
            f"{given!r}."
        )
    text = shortened(" ".join(repr(given).split()))
    if hasattr(given, "predict"):
        return Method(text, lambda size, settings: (clone(given), "as given"))
    if not hasattr(given, "transform"):
        raise TypeError(f"maps: {text} neither predicts nor transforms.")
    sized = "n_components" in given.get_params(deep=False)
    return Method(text, _of_given_map(given), sized=sized)


def _of_given_kernel(kernel: Kernel) -> Maker:
    def make(size: int | None, settings: Settings) -> tuple[Any, str]:
        assert size is not None
        choice = settings.tuner.map_for(kernel, size)
        return head(choice.features, settings.task), choice.reason

    return make


def _of_given_map(given: Any) -> Maker:
    def make(size: int | None, settings: Settings) -> tuple[Any, str]:
        features = clone(given)
        if size is not None:
            features.set_params(n_components=size)
        if getattr(features, "random_state", 0) is None:
            features.set_params(random_state=settings.seed)
        return head(features, settings.task), "as given"

    return make
