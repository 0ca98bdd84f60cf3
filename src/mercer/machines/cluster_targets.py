"""What must be known of targets on a cluster before they are learnt: one look at all of them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from ..engine.cluster import Partitions
from ..engine.streams import Block, as_weights
from .targets import LabelTargets, Targets


@dataclass
class Observed:
    """Targets that have seen some rows, and others that have seen those with weight.

    Attributes
    ----------
    all, weighted : Targets
        Of one kind.
    """

    all: Any
    weighted: Any

    def merge(self, other: Observed) -> None:
        """Add what others have seen."""
        self.all.merge(other.all)
        self.weighted.merge(other.weighted)


def observed(targets: Targets, parts: Partitions) -> tuple[Any, Any]:
    """Return targets that know what they must of all rows, and those that workers learn with.

    Numbers need no look; labels do, unless all classes were named and none is to be balanced.

    Parameters
    ----------
    targets : Targets
        Of which nothing is known yet.
    parts : Partitions
        The rows.
    """
    y = parts.example.y
    if not isinstance(targets, LabelTargets):
        targets.observe(targets.check(y, 1))
        return targets, targets
    balanced = targets.class_weight == "balanced"
    if y is None:
        targets.check(y, 1)
    if targets.given and not balanced:
        return targets, targets
    found = parts.without_rows().total(_seen, targets, "labels")
    if found is None:
        raise ValueError("All blocks of X are empty: at least one row is needed.")
    known = found.all
    if not balanced:
        return known, known
    # A worker sees some of the rows: the weights are those of all.
    learning = copy.copy(known)
    learning.class_weight = found.weighted.balanced_weights()
    return known, learning


def _seen(targets: Any, block: Block, start: None) -> Observed:
    n_rows = len(block.X)
    checked = targets.check(block.y, n_rows)
    weights = as_weights(block.weights, n_rows)
    found = Observed(copy.deepcopy(targets), copy.deepcopy(targets))
    found.all.observe(checked)
    kept = checked if weights is None else checked[weights > 0]
    if len(kept):
        found.weighted.observe(kept)
    return found
