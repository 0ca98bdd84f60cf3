"""Labels as numbers and back: what all classifiers do with classes."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

from .._array import is_foreign, to_numpy
from ..engine.streams import as_weights


def label_codes(labels, classes, way_out):
    """Return the places of labels among the sorted classes, or say what is wrong with them.

    Parameters
    ----------
    labels, classes : arrays
        Checked labels, and all that there are.
    way_out : str
        What a user whose first block lacks some classes can do.

    Examples
    --------
    >>> label_codes(np.asarray(["b", "a"]), np.asarray(["a", "b"]), "")
    array([1, 0])
    """
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only, {classes.tolist()[0]!r}; at least two classes are needed "
            f"(for a stream whose first block has one, {way_out})."
        )
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    unknown = classes[codes] != labels
    if unknown.any():
        raise ValueError(
            f"y holds the label {labels[unknown].tolist()[0]!r}, which is not among the classes "
            f"{classes.tolist()!r}; {way_out}."
        )
    return codes


def as_targets(codes, n_classes):
    """Return a column of -1 and 1 for two classes, and one for each class of more.

    Examples
    --------
    >>> as_targets(np.asarray([0, 1]), 2).ravel()
    array([-1.,  1.])
    """
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def decided(decision, classes):
    """Return the labels that decisions stand for.

    Examples
    --------
    >>> decided(np.asarray([-0.5, 2.0]), np.asarray(["a", "b"])).tolist()
    ['a', 'b']
    """
    if decision.ndim == 1:
        return classes[(decision > 0).astype(int)]
    return classes[decision.argmax(axis=1)]


def with_class_weights(class_weight, y, classes, sample_weight, streaming):
    """Return sample weights times class weights; on a stream only known ones.

    Examples
    --------
    >>> with_class_weights("balanced", [0, 0, 1], np.asarray([0, 1]), None, streaming=False)
    array([0.75, 0.75, 1.5 ])
    """
    if class_weight is None:
        return sample_weight
    y = (to_numpy(y) if is_foreign(y) else np.asarray(y)).ravel()
    sample_weight = as_weights(sample_weight, len(y))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(
                f"class_weight must be a dict, 'balanced' or None, but {class_weight!r} came."
            )
        if streaming:
            raise ValueError(
                "class_weight='balanced' must know all labels before it starts; on a stream "
                "give the weights as a dict."
            )
        own = compute_sample_weight(class_weight, y)
    else:
        # Of all classes: a block of a stream may lack some.
        each = compute_class_weight(class_weight, classes=classes, y=classes)
        own = each[np.searchsorted(classes, y)]
    return own if sample_weight is None else own * sample_weight


def every_class(decisions):
    """Return decisions with a column for each class; those of two classes share one.

    Examples
    --------
    >>> every_class(np.asarray([[0.5]]))
    array([[-0.5,  0.5]])
    """
    if decisions.shape[1] == 1:
        return np.concatenate([-decisions, decisions], axis=1)
    return decisions


def best_scale(decisions, labels, weights):
    """Return the scale of the softmax of greatest likelihood, between 1/1000 and 1000.

    As if half a row more had been wrong: rows that are all right do not make a machine certain,
    few of them even less than many.

    Examples
    --------
    >>> decisions = np.asarray([[0.0, 1.0]] * 9)
    >>> round(float(np.exp(best_scale(decisions, np.ones(9, dtype=int), np.ones(9)))), 2)
    19.0
    """
    known = weights > 0
    decisions, labels, weights = decisions[known], labels[known], weights[known]
    n_rows, n_classes = decisions.shape
    doubt = 0.5 / (n_rows + 1)
    wanted = np.full(decisions.shape, doubt / (n_classes - 1))
    wanted[np.arange(n_rows), labels] = 1 - doubt

    def loss(log_scale):
        likely = (wanted * log_softmax(np.exp(log_scale) * decisions, axis=1)).sum(axis=1)
        return -(weights * likely).sum()

    bounds = (-np.log(1000), np.log(1000))
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
