"""Targets of all machines: numbers or labels, checked, encoded, expanded, decoded and scored."""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol, Self

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.class_weight import compute_class_weight

from .._registry import storable
from .._sklearn import check_labels, check_targets


class Targets(Protocol):
    """What a machine knows of its targets.

    Targets that a user gives are *checked* (one row each, nothing missing), *encoded* (as compact
    as they can be kept) and *expanded* (a float column for each output). Predictions are *decoded*.
    """

    score_name: str

    @property
    def n_columns(self) -> int:
        """Columns of expanded targets."""
        ...

    def check(self, y: Any, n_rows: int) -> np.ndarray:
        """Return targets of any kind as an array with a row for each of ``n_rows``."""
        ...

    def observe(self, checked: np.ndarray) -> None:
        """Note what must be known before targets are encoded; more blocks may follow."""
        ...

    def encode(self, checked: np.ndarray) -> np.ndarray:
        """Return checked targets in the form in which they are kept."""
        ...

    def expand(self, encoded: np.ndarray) -> np.ndarray:
        """Return encoded targets as floats of shape (n_rows, n_columns)."""
        ...

    def decode(self, values: np.ndarray) -> np.ndarray:
        """Return what users get for predictions of shape (n_rows, n_columns)."""
        ...

    def weights(
        self, encoded: np.ndarray, sample_weight: np.ndarray | None, whole: bool
    ) -> np.ndarray | None:
        """Return the weights of rows; ``whole`` says that these rows are all there are."""
        ...

    def refuse_other(self, other: Self) -> None:
        """Raise an error if the targets of another machine are of another kind."""
        ...

    def score(self, checked: np.ndarray, predicted: np.ndarray, sample_weight: Any) -> float:
        """Return how good predictions are: R² or the accuracy."""
        ...


@storable
class NumberTargets:
    """Targets that are numbers, one column or several.

    Examples
    --------
    >>> targets = NumberTargets()
    >>> checked = targets.check([1, 2], n_rows=2)
    >>> targets.observe(checked)
    >>> targets.encode(checked)
    array([[1.],
           [2.]])
    """

    score_name = "R2"

    def __init__(self) -> None:
        self.n_columns = 0
        self.single = True

    def check(self, y: Any, n_rows: int) -> np.ndarray:
        """Return targets as floats of one or two dimensions."""
        return check_targets(y, n_rows)

    def observe(self, checked: np.ndarray) -> None:
        """Note how many columns there are; all blocks must have as many."""
        columns = 1 if checked.ndim == 1 else int(checked.shape[1])
        if self.n_columns and columns != self.n_columns:
            raise ValueError(
                f"All blocks must have the same targets: earlier blocks had {self.n_columns} "
                f"column(s), got {columns}."
            )
        if not self.n_columns:
            self.n_columns, self.single = columns, checked.ndim == 1

    def encode(self, checked: np.ndarray) -> np.ndarray:
        """Return targets of two dimensions."""
        self.observe(checked)
        return checked[:, None] if checked.ndim == 1 else checked

    def expand(self, encoded: np.ndarray) -> np.ndarray:
        """Return them as they are."""
        return encoded

    def decode(self, values: np.ndarray) -> np.ndarray:
        """Return predictions with as many dimensions as the targets had."""
        return values[:, 0] if self.single else values

    def weights(
        self, encoded: np.ndarray, sample_weight: np.ndarray | None, whole: bool
    ) -> np.ndarray | None:
        """Return the sample weights."""
        return sample_weight

    def refuse_other(self, other: Self) -> None:
        """Raise an error if the columns differ."""
        if (self.n_columns, self.single) != (other.n_columns, other.single):
            raise ValueError(
                f"The machines have different targets, {self.n_columns} and {other.n_columns} "
                "column(s); only machines of the same targets merge."
            )

    def score(self, checked: np.ndarray, predicted: np.ndarray, sample_weight: Any) -> float:
        """Return R², the mean over several targets."""
        return float(r2_score(checked, predicted, sample_weight=sample_weight))


@storable
class LabelTargets:
    """Targets that are labels: a column of -1 and 1 for two classes, else one for each class.

    Parameters
    ----------
    classes : array of shape (n_classes,), default=None
        All labels; ``None`` if they are to be observed.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    way_out : str
        What a user whose first block lacks some classes can do.

    Examples
    --------
    >>> targets = LabelTargets()
    >>> checked = targets.check(["b", "a", "b"], n_rows=3)
    >>> targets.observe(checked)
    >>> targets.expand(targets.encode(checked)).ravel()
    array([ 1., -1.,  1.])
    >>> targets.decode(np.asarray([[-0.5], [2.0]])).tolist()
    ['a', 'b']
    """

    score_name = "accuracy"

    def __init__(
        self,
        classes: Any = None,
        class_weight: Any = None,
        way_out: str = "name all classes in the first call, classes=[...]",
    ) -> None:
        if isinstance(class_weight, str) and class_weight != "balanced":
            raise ValueError(
                f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}."
            )
        self.given = classes is not None
        self.classes = np.unique(np.asarray(classes)) if self.given else np.empty(0)
        self.class_weight, self.way_out = class_weight, way_out
        self._counts: Counter[Any] = Counter()

    @property
    def n_columns(self) -> int:
        """Columns of expanded targets."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def check(self, y: Any, n_rows: int) -> np.ndarray:
        """Return labels of one dimension."""
        return check_labels(y, n_rows)

    def observe(self, checked: np.ndarray) -> None:
        """Note the classes, if they were not given, and how often they occur."""
        found, counts = np.unique(checked, return_counts=True)
        self._counts.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
        if not self.given:
            self.classes = np.union1d(self.classes, found) if len(self.classes) else found

    def encode(self, checked: np.ndarray) -> np.ndarray:
        """Return the places of labels among the classes, or say what is wrong with them."""
        classes = self.classes
        if len(classes) < 2:
            raise ValueError(
                f"y holds one class only, {classes.tolist()[0]!r}; at least two classes are "
                f"needed (for a stream whose first block has one, {self.way_out})."
            )
        codes = np.minimum(np.searchsorted(classes, checked), len(classes) - 1)
        unknown = classes[codes] != checked
        if unknown.any():
            raise ValueError(
                f"y holds the label {checked[unknown].tolist()[0]!r}, which is not among the "
                f"classes {classes.tolist()!r}; {self.way_out}."
            )
        return codes

    def expand(self, encoded: np.ndarray) -> np.ndarray:
        """Return -1 and 1."""
        if len(self.classes) == 2:
            return np.where(encoded == 1, 1.0, -1.0)[:, None]
        return np.where(encoded[:, None] == np.arange(len(self.classes)), 1.0, -1.0)

    def decode(self, values: np.ndarray) -> np.ndarray:
        """Return the label of the largest value."""
        return np.asarray(self.classes[self.codes(values)])

    def codes(self, expanded: np.ndarray) -> np.ndarray:
        """Return the places among the classes that expanded targets, or decisions, stand for."""
        if expanded.shape[1] == 1:
            return (expanded[:, 0] > 0).astype(int)
        return np.asarray(expanded.argmax(axis=1))

    def weights(
        self, encoded: np.ndarray, sample_weight: np.ndarray | None, whole: bool
    ) -> np.ndarray | None:
        """Return sample weights times class weights; of a part of the rows only known ones."""
        if self.class_weight is None:
            return sample_weight
        if not isinstance(self.class_weight, str):
            # Of all classes: a block of a stream may lack some.
            each = compute_class_weight(self.class_weight, classes=self.classes, y=self.classes)
        elif whole:
            # Rows of weight 0 are no rows.
            known = encoded if sample_weight is None else encoded[sample_weight > 0]
            counts = np.bincount(known, minlength=len(self.classes))
            each = len(known) / (max(np.count_nonzero(counts), 1) * np.maximum(counts, 1))
        else:
            raise ValueError(
                "class_weight='balanced' needs all labels at once; for a stream pass the weights "
                "as a dict."
            )
        own = each[encoded]
        return own if sample_weight is None else own * sample_weight

    def balanced_weights(self) -> dict[Any, float]:
        """Return weights that give each class the same total, from all labels observed."""
        total = sum(self._counts.values())
        return {label: total / (len(self._counts) * n) for label, n in self._counts.items()}

    def refuse_other(self, other: Self) -> None:
        """Raise an error if the classes differ."""
        if not np.array_equal(self.classes, other.classes):
            raise ValueError(
                f"The machines know different classes, {self.classes.tolist()!r} and "
                f"{other.classes.tolist()!r}; name all of them with classes=[...]."
            )

    def score(self, checked: np.ndarray, predicted: np.ndarray, sample_weight: Any) -> float:
        """Return the accuracy."""
        return float(accuracy_score(checked, predicted, sample_weight=sample_weight))

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds: no counts of the data."""
        return {**self.__dict__, "_counts": Counter()}
