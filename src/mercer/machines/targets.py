"""Targets of all machines: numbers or labels, checked, encoded, expanded, decoded and scored."""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol, Self

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from .._array import dtype_name, is_foreign, moved, namespace, take_rows, to_numpy
from .._registry import storable
from .device_targets import checked_labels, checked_numbers
from .scores import AccuracySums, RSquaredSums, accuracy, r_squared

#: What a score follows from, of some rows; merged with that of others.
ScoreSums = RSquaredSums | AccuracySums


class Targets(Protocol):
    """What a machine knows of its targets.

    Targets that a user gives are *checked* (one row each, nothing missing), *encoded* (as compact
    as they can be kept) and *expanded* (a float column for each output). Predictions are *decoded*.

    Where ``beside`` is an array of another library than NumPy, targets are brought to its library
    and device, and stay there: so do weights and, of numbers, decoded predictions.
    """

    score_name: str

    @property
    def n_columns(self) -> int:
        """Columns of expanded targets."""
        ...

    def check(self, y: Any, n_rows: int, beside: Any = None) -> Any:
        """Return targets of any kind as an array with a row for each of ``n_rows``."""
        ...

    def observe(self, checked: Any) -> None:
        """Note what must be known before targets are encoded; more blocks may follow."""
        ...

    def merge(self, other: Self) -> None:
        """Note what other targets, of other rows, have observed."""
        ...

    def encode(self, checked: Any, beside: Any = None) -> Any:
        """Return checked targets in the form in which they are kept."""
        ...

    def expand(self, encoded: Any) -> Any:
        """Return encoded targets as floats of shape (n_rows, n_columns)."""
        ...

    def decode(self, values: Any) -> Any:
        """Return what users get for predictions of shape (n_rows, n_columns)."""
        ...

    def weights(self, encoded: Any, sample_weight: Any, whole: bool) -> Any:
        """Return the weights of rows; ``whole`` says that these rows are all there are."""
        ...

    def refuse_other(self, other: Self) -> None:
        """Raise an error if the targets of another machine are of another kind."""
        ...

    def score(self, checked: Any, predicted: Any, sample_weight: Any) -> float:
        """Return how good predictions are: R² or the accuracy."""
        ...

    def score_sums(self, checked: Any, predicted: Any, sample_weight: Any) -> ScoreSums:
        """Return what the score follows from, of some of the rows."""
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
        self.n_columns: int = 0
        self.single: bool = True

    def check(self, y: Any, n_rows: int, beside: Any = None) -> Any:
        """Return targets as floats of one or two dimensions."""
        return checked_numbers(y, n_rows, beside)

    def observe(self, checked: Any) -> None:
        """Note how many columns there are; all blocks must have as many."""
        columns = 1 if checked.ndim == 1 else int(checked.shape[1])
        if self.n_columns and columns != self.n_columns:
            raise ValueError(
                f"All blocks must have the same targets: earlier blocks had {self.n_columns} "
                f"column(s), got {columns}."
            )
        if not self.n_columns:
            self.n_columns, self.single = columns, checked.ndim == 1

    def merge(self, other: NumberTargets) -> None:
        """Note that other rows have as many columns, or refuse them."""
        if not self.n_columns:
            self.n_columns, self.single = other.n_columns, other.single
        elif other.n_columns:
            self.refuse_other(other)

    def encode(self, checked: Any, beside: Any = None) -> Any:
        """Return targets of two dimensions."""
        self.observe(checked)
        found = checked[:, None] if checked.ndim == 1 else checked
        return found if beside is None else moved(found, beside)

    def expand(self, encoded: Any) -> Any:
        """Return them as they are."""
        return encoded

    def decode(self, values: Any) -> Any:
        """Return predictions with as many dimensions as the targets had."""
        return values[:, 0] if self.single else values

    def weights(self, encoded: Any, sample_weight: Any, whole: bool) -> Any:
        """Return the sample weights."""
        return sample_weight

    def refuse_other(self, other: Self) -> None:
        """Raise an error if the columns differ."""
        if (self.n_columns, self.single) != (other.n_columns, other.single):
            raise ValueError(
                f"The machines have different targets, {self.n_columns} and {other.n_columns} "
                "column(s); only machines of the same targets merge."
            )

    def score(self, checked: Any, predicted: Any, sample_weight: Any) -> float:
        """Return R², the mean over several targets."""
        return r_squared(checked, predicted, sample_weight)

    def score_sums(self, checked: Any, predicted: Any, sample_weight: Any) -> ScoreSums:
        """Return what R² follows from."""
        return RSquaredSums.of(checked, predicted, sample_weight)


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

    way_out: str

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
        self.given: bool = classes is not None
        self.classes = np.unique(np.asarray(classes)) if self.given else np.empty(0)
        self.class_weight, self.way_out = class_weight, way_out
        self._counts: Counter[Any] = Counter()

    @property
    def n_columns(self) -> int:
        """Columns of expanded targets."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def check(self, y: Any, n_rows: int, beside: Any = None) -> Any:
        """Return labels of one dimension: strings are NumPy's wherever the rows are."""
        return checked_labels(y, n_rows, beside)

    def observe(self, checked: Any) -> None:
        """Note the classes, if they were not given, and how often they occur."""
        if is_foreign(checked):
            found, counts = map(to_numpy, namespace(checked).unique_counts(checked))
            order = np.argsort(found)
            found, counts = found[order], counts[order]
        else:
            found, counts = np.unique(checked, return_counts=True)
        self._counts.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
        if not self.given:
            self.classes = np.union1d(self.classes, found) if len(self.classes) else found

    def merge(self, other: LabelTargets) -> None:
        """Note the classes of other rows, and how often they occur."""
        self._counts.update(other._counts)
        if not self.given and len(other.classes):
            known = len(self.classes)
            self.classes = np.union1d(self.classes, other.classes) if known else other.classes

    def encode(self, checked: Any, beside: Any = None) -> Any:
        """Return the places of labels among the classes, or say what is wrong with them."""
        classes = self.classes
        if len(classes) < 2:
            raise ValueError(
                f"y holds one class only, {classes.tolist()[0]!r}; at least two classes are "
                f"needed (for a stream whose first block has one, {self.way_out})."
            )
        if is_foreign(checked):
            codes, unknown = _places_on_device(classes, checked)
        else:
            codes = np.minimum(np.searchsorted(classes, checked), len(classes) - 1)
            unknown = classes[codes] != checked
        if bool(namespace(unknown).any(unknown)):
            wrong = to_numpy(checked)[to_numpy(unknown)].tolist()[0]
            raise ValueError(
                f"y holds the label {wrong!r}, which is not among the classes "
                f"{classes.tolist()!r}; {self.way_out}."
            )
        return codes if beside is None else moved(codes, beside)

    def expand(self, encoded: Any) -> Any:
        """Return -1 and 1."""
        if is_foreign(encoded):
            return _signs_on_device(encoded, len(self.classes))
        if len(self.classes) == 2:
            return np.where(encoded == 1, 1.0, -1.0)[:, None]
        return np.where(encoded[:, None] == np.arange(len(self.classes)), 1.0, -1.0)

    def decode(self, values: Any) -> Any:
        """Return the label of the largest value: on a device, unless labels are strings."""
        codes = self.codes(values)
        if is_foreign(codes) and self.classes.dtype.kind in "biuf":
            return take_rows(moved(self.classes, codes), codes)
        return np.asarray(self.classes[to_numpy(codes)])

    def codes(self, expanded: Any) -> Any:
        """Return the places among the classes that expanded targets, or decisions, stand for."""
        if is_foreign(expanded):
            xp = namespace(expanded)
            if expanded.shape[1] == 1:
                return xp.astype(expanded[:, 0] > 0, xp.int64)
            return xp.argmax(expanded, axis=1)
        if expanded.shape[1] == 1:
            return (expanded[:, 0] > 0).astype(int)
        return np.asarray(expanded.argmax(axis=1))

    def weights(self, encoded: Any, sample_weight: Any, whole: bool) -> Any:
        """Return sample weights times class weights; of a part of the rows only known ones."""
        if self.class_weight is None:
            return sample_weight
        if not isinstance(self.class_weight, str):
            # Of all classes: a block of a stream may lack some.
            each = compute_class_weight(self.class_weight, classes=self.classes, y=self.classes)
        elif whole:
            counts = _rows_of_each(encoded, sample_weight, len(self.classes))
            each = counts.sum() / (max(np.count_nonzero(counts), 1) * np.maximum(counts, 1))
        else:
            raise ValueError(
                "class_weight='balanced' needs all labels at once; for a stream pass the weights "
                "as a dict."
            )
        if is_foreign(encoded):
            own = take_rows(moved(np.asarray(each, dtype=float), encoded), encoded)
            return own if sample_weight is None else own * moved(sample_weight, encoded)
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

    def score(self, checked: Any, predicted: Any, sample_weight: Any) -> float:
        """Return the accuracy."""
        return accuracy(checked, predicted, sample_weight)

    def score_sums(self, checked: Any, predicted: Any, sample_weight: Any) -> ScoreSums:
        """Return what the accuracy follows from."""
        return AccuracySums.of(checked, predicted, sample_weight)

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds: no counts of the data."""
        return {**self.__dict__, "_counts": Counter()}


def _places_on_device(classes: np.ndarray, labels: Any) -> tuple[Any, Any]:
    """Return the places of labels on a device among the classes, and which are none of them."""
    xp = namespace(labels)
    if classes.dtype.kind not in "biuf":
        none = xp.ones_like(labels, dtype=xp.bool)
        return xp.zeros_like(labels, dtype=xp.int64), none
    whole = classes.dtype.kind in "biu" and "float" not in dtype_name(labels)
    name = "int64" if whole else "float64"
    known, found = moved(classes.astype(name), labels), xp.astype(labels, getattr(xp, name))
    codes = xp.clip(xp.searchsorted(known, found), 0, len(classes) - 1)
    return codes, xp.take(known, codes, axis=0) != found


def _signs_on_device(codes: Any, n_classes: int) -> Any:
    """Return 1 in the column of the class of each row, and -1 in the others."""
    xp = namespace(codes)
    if n_classes == 2:
        own = (codes == 1)[:, None]
    else:
        own = codes[:, None] == moved(np.arange(n_classes), codes)[None, :]
    return 2 * xp.astype(own, xp.float64) - 1


def _rows_of_each(codes: Any, sample_weight: Any, n_classes: int) -> np.ndarray:
    """Return how many rows of each class have weight: those of weight 0 are no rows."""
    if not is_foreign(codes):
        known = codes if sample_weight is None else codes[sample_weight > 0]
        return np.bincount(known, minlength=n_classes)
    xp = namespace(codes)
    positive = None if sample_weight is None else moved(sample_weight, codes) > 0
    own = [codes == k if positive is None else (codes == k) & positive for k in range(n_classes)]
    return to_numpy(xp.stack([xp.sum(xp.astype(part, xp.int64)) for part in own]))
