"""scikit-learn's base classes, with the types that scikit-learn does not give them.

scikit-learn has no types: whatever derives from its classes is ``Any`` for a type checker, which
then finds no misspelled method of a model. When the program runs, the names below are
scikit-learn's own classes; a type checker reads what stands here in their place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

#: The type of a method, which decorators leave as it is.
Method = TypeVar("Method", bound=Callable[..., Any])

if TYPE_CHECKING:
    import numpy as np

    class BaseEstimator:
        """Parameters, and what a scikit-learn tool asks of everything that has them."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def _validate_params(self) -> None: ...
        def _html_repr(self) -> str: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __setstate__(self, state: dict[str, Any]) -> None: ...
        def __sklearn_tags__(self) -> Any: ...
        def __sklearn_clone__(self) -> Self: ...

    class TransformerMixin:
        """``fit`` and ``transform`` in one call."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(
            self, *, transform: Literal["default", "pandas", "polars"] | None = None
        ) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class OneToOneFeatureMixin:
        """Output columns have the names of the input columns."""

        def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]: ...

    class ClassNamePrefixFeaturesOutMixin:
        """Output columns are numbered, after the name of the class."""

        def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]: ...

    class RegressorMixin:
        """A model of numbers."""

        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """A model of labels."""

        def __sklearn_tags__(self) -> Any: ...

    class ClusterMixin:
        """A model of groups of rows."""

        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> np.ndarray[Any, Any]: ...
        def __sklearn_tags__(self) -> Any: ...

    def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]: ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        OneToOneFeatureMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.utils.metaestimators import available_if

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "ClusterMixin",
    "Method",
    "OneToOneFeatureMixin",
    "RegressorMixin",
    "TransformerMixin",
    "available_if",
]
