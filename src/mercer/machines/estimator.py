"""What all machines share as estimators: one state, parameters of the ridge, and a fresh fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from .._random import stored_random_state
from .._sklearn import BaseEstimator, Interval

#: Constraints of ``alpha`` wherever it is a parameter.
ALPHA: list[Any] = [Interval(Real, 0, None, closed="neither"), "array-like", None]
#: Predictions of shape (n_rows, n_targets), and their variances if they were asked for.
Values = tuple[Any, Any]
#: What a fit sets beside the state.
SET_BY_FIT = ("n_features_in_", "feature_names_in_", "_state")


class Machine(BaseEstimator):
    """An estimator whose fitted state is one object, ``None`` before it is fitted."""

    _state: Any = None

    @abstractmethod
    def raw_predict(self, X: Any, with_variance: bool = False) -> Values:
        """Return predictions before they are decoded, and their variances.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.
        with_variance : bool, default=False
            Whether variances of new observations are wanted.

        Returns
        -------
        values : array of shape (n_samples, n_targets)
            In the unit of expanded targets: numbers, or a decision for every class.
        variances : array of the same shape, or None
        """

    @property
    @abstractmethod
    def targets_(self) -> Any:
        """What is known of the targets."""

    @property
    def probability_scale_(self) -> float:
        """The scale of the softmax of a classifier, calibrated on held-out rows."""
        raise AttributeError(f"{type(self).__name__} has no probabilities.")

    def _blocks(self, stream: Iterable[Any]) -> Iterator[Any]:
        """Yield the blocks of a stream in the form in which they are learnt."""
        return iter(stream)

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds; a generator is the seed that it has given."""
        state, seed = dict(self.__dict__), getattr(self._state, "seed", None)
        if "random_state" in state:
            state["random_state"] = stored_random_state(state["random_state"], seed)
        return state

    def _fitted(self) -> Any:
        """Return the state, or say that there is none."""
        if self._state is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        return self._state


def adopt(machine: Any, fresh: Any) -> Any:
    """Return a machine with what it had learnt replaced by what a fresh one has learnt.

    Examples
    --------
    >>> from mercer import FeatureRidge
    >>> model = adopt(FeatureRidge(), FeatureRidge().fit(np.eye(2), [0.0, 1.0]))
    >>> model.n_features_in_
    2
    """
    for name in SET_BY_FIT:
        machine.__dict__.pop(name, None)
        if name in fresh.__dict__:
            setattr(machine, name, fresh.__dict__[name])
    return machine


def checked_alpha(alpha: Any) -> Any:
    """Return the ridge parameter, or candidates for it as an array of positive numbers.

    Examples
    --------
    >>> checked_alpha([0.1, 1])
    array([0.1, 1. ])
    """
    if alpha is None:
        return None
    found = np.asarray(alpha, dtype=float)
    if found.ndim > 1 or found.size == 0 or not ((found > 0) & np.isfinite(found)).all():
        raise ValueError(f"alpha must hold positive, finite numbers, got {alpha!r}.")
    return alpha if found.ndim == 0 else found
