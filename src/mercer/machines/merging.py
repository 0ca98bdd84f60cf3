"""What two machines have in common, and what one takes over from another."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np

from .._random import Stream

#: Private attributes that a fit leaves behind, and another one need not set.
LEARNT = {
    "_few_rows",
    "_n_columns",
    "_n_targets",
    "_one_target",
    "_posteriors",
    "_sample",
    "_statistics",
}


def take_over(machine: Any, fresh: Any) -> Any:
    """Return a machine with what it had learnt replaced by what another one has learnt."""
    parameters = set(machine.get_params(deep=False))
    for name in set(machine.__dict__) - parameters:
        # Others may have hung attributes of their own on an estimator: leave them.
        if name in LEARNT or (name.endswith("_") and not name.startswith("_")):
            delattr(machine, name)
    for name in set(fresh.__dict__) - parameters:
        setattr(machine, name, getattr(fresh, name))
    return machine


def same_features(first, second):
    """Return whether two fitted transformers do the same.

    They are tried on a few random rows; those that do not take numbers are compared whole.
    """
    if first is None or second is None:
        return first is second
    width = getattr(first, "n_features_in_", None)
    if width != getattr(second, "n_features_in_", None):
        return False
    if width is not None:
        probe = Stream(0).child("probe").generator().standard_normal((3, width))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one, other = (np.asarray(part.transform(probe)) for part in (first, second))
            return np.array_equal(one, other)
        except (TypeError, ValueError):
            pass
    return pickle.dumps(first) == pickle.dumps(second)
