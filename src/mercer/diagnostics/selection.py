"""Would other rows, or another seed, have found the same columns?"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from .._array import is_foreign, to_numpy
from .._frame import column_names, is_frame, series
from .._random import Stream
from .._sklearn import check_rows
from ..datasets.arguments import checked_integer, checked_seed
from ..engine.config import config
from ..engine.progress import Progress
from ..engine.streams import is_stream, rows_at

METHODS = ("bootstrap", "seeds")


@dataclass(frozen=True, eq=False)
class SelectionFrequencies:
    """How often columns were among the most important.

    Attributes
    ----------
    selection_frequencies_ : array of shape (n_features,)
        The share of the repetitions in which a column was among the largest.
    importances_ : array of shape (n_repeats, n_features)
        ``feature_importances_`` of every repetition.
    n_selected : int
        How many columns were selected in a repetition.
    feature_names : tuple of str
        The names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.diagnostics import SelectionFrequencies
    >>> importances = np.asarray([[0.7, 0.2, 0.1], [0.6, 0.1, 0.3]])
    >>> found = SelectionFrequencies(np.asarray([1.0, 0.5, 0.5]), importances, 2, ("a", "b", "c"))
    >>> print(found)
    among the 2 largest of 3 columns, 2 repetitions: a 100 %, b 50 %, c 50 %
    """

    selection_frequencies_: np.ndarray
    importances_: np.ndarray
    n_selected: int
    feature_names: tuple[str, ...]

    def __str__(self) -> str:
        order = np.argsort(-self.selection_frequencies_, kind="stable")[: 2 * self.n_selected]
        n_repeats, n_columns = self.importances_.shape
        often = ", ".join(
            f"{self.feature_names[k]} {100 * self.selection_frequencies_[k]:.0f} %" for k in order
        )
        return (
            f"among the {self.n_selected} largest of {n_columns:,} columns, "
            f"{n_repeats} repetitions: {often}"
        )


def selection_frequencies(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    n_features: int,
    n_repeats: int = 20,
    method: str = "bootstrap",
    random_state: Any = None,
) -> SelectionFrequencies:
    """Return how often every column is among those of largest ``feature_importances_``.

    Columns that matter are among the largest for almost every sample of the rows; a column that
    was lucky once is not. Chance alone gives ``n_features`` over the number of columns.

    Parameters
    ----------
    estimator : estimator
        What has ``feature_importances_`` once it is fitted, such as
        :class:`~mercer.IRKMRegressor` or a forest. It is cloned, and stays as it is.
    X : array or data frame of shape (n_samples, n_features), or a sampler
        The rows; with ``method="seeds"`` anything that the estimator learns from.
    y : array of shape (n_samples,) or (n_samples, n_targets), default=None
        Targets; ``None`` where X brings them.
    n_features : int
        How many columns are selected in a repetition.
    n_repeats : int, default=20
        Repetitions.
    method : {"bootstrap", "seeds"}, default="bootstrap"
        ``"bootstrap"`` draws as many rows as there are, with replacement, from each class by
        itself if the estimator is a classifier, and learns from those drawn, 63 % on average.
        ``"seeds"`` learns from the same X with other seeds, which for a sampler are other
        rows. Every repetition has a seed of its own either way.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the rows and of the seeds.

    Returns
    -------
    frequencies : SelectionFrequencies
        With ``selection_frequencies_`` and ``importances_``.

    Notes
    -----
    Rows that were drawn several times are given once: leave-one-out, by which machines choose,
    would find a copy of every row that it holds out.

    Columns that tie for the last ranks share them, and a column of importance 0 is never
    selected.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import IRKMRegressor
    >>> from mercer.diagnostics import selection_frequencies
    >>> X = np.random.default_rng(0).standard_normal((150, 8))
    >>> found = selection_frequencies(
    ...     IRKMRegressor(), X, X[:, 1] * X[:, 3], n_features=2, n_repeats=5, random_state=0
    ... )
    >>> found.selection_frequencies_
    array([0., 1., 0., 1., 0., 0., 0., 0.])
    """
    n_features = checked_integer("n_features", n_features, 1)
    n_repeats = checked_integer("n_repeats", n_repeats, 1)
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method must be one of {sorted(METHODS)}, got {method!r}.")
    stream = Stream(checked_seed(random_state))
    seeds = _seed_names(estimator)
    if method == "seeds":
        if not seeds:
            raise ValueError(
                f"method='seeds' needs an estimator with a random_state, but {estimator!r} has "
                "none; use method='bootstrap'."
            )
        samples: Iterator[tuple[Any, Any]] = itertools.repeat((X, y))
    else:
        samples = _bootstrap(estimator, X, y, stream.child("rows"))
    importances = []
    with Progress("selecting features", n_repeats) as progress:
        for number in range(n_repeats):
            seed = int(stream.child("seeds", number).generator().integers(2**31 - 1))
            model = clone(estimator).set_params(**dict.fromkeys(seeds, seed))
            rows, targets = next(samples)
            with config(progress=False):
                model.fit(rows, targets)
            found = _importances(model)
            checked_integer("n_features", n_features, 1, len(found))
            importances.append(found)
            progress.advance(1)
            progress.show()
    same = all(np.array_equal(found, importances[0]) for found in importances)
    if method == "seeds" and n_repeats > 1 and same:
        warnings.warn(
            "All repetitions gave the same importances, to the last digit: the estimator draws "
            "nothing that depends on its seed, and the frequencies say nothing; use "
            "method='bootstrap'.",
            UserWarning,
            stacklevel=2,
        )
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = column_names(X) if is_frame(X) else [f"x{k}" for k in range(len(found))]
    frequencies = np.mean([_selected(found, n_features) for found in importances], axis=0)
    return SelectionFrequencies(
        frequencies, np.stack(importances), n_features, tuple(map(str, names))
    )


def _seed_names(estimator: Any) -> list[str]:
    """Return the names of all seeds of an estimator and of the parts inside it."""
    names = estimator.get_params()
    return [name for name in names if name == "random_state" or name.endswith("__random_state")]


def _bootstrap(estimator: Any, X: Any, y: Any, stream: Stream) -> Iterator[tuple[Any, Any]]:
    """Return an iterator over samples of the rows with their targets."""
    if not is_frame(X):
        if is_stream(X) or not (hasattr(X, "shape") or isinstance(X, (list, tuple))):
            raise ValueError(
                "X must be an array or a data frame, as method='bootstrap' draws from rows, got a "
                f"{type(X).__name__}; use method='seeds' for a sampler or a stream."
            )
        X = check_rows(X)
    if y is None:
        raise ValueError("method='bootstrap' needs y, a target for each row.")
    targets = to_numpy(y) if is_foreign(y) else np.asarray(series(y))
    if len(targets) != X.shape[0]:
        raise ValueError(
            f"X and y have inconsistent numbers of samples: X has {X.shape[0]} rows, y has "
            f"{len(targets)}; give one target for each row."
        )
    groups = [np.arange(len(targets))]
    if is_classifier(estimator) and targets.size == len(targets):
        labels = targets.ravel()
        groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return _drawn(X, targets, groups, stream)


def _drawn(
    X: Any, y: np.ndarray, groups: list[np.ndarray], stream: Stream
) -> Iterator[tuple[Any, Any]]:
    """Yield rows that were drawn with replacement from each group, every row once."""
    for number in itertools.count():
        generator = stream.child(number).generator()
        rows = np.unique(np.concatenate([generator.choice(each, len(each)) for each in groups]))
        yield rows_at(X, rows), y[rows]


def _importances(model: Any) -> np.ndarray:
    found = getattr(model, "feature_importances_", None)
    if found is None:
        raise ValueError(
            f"{type(model).__name__} has no feature_importances_ after fit; use IRKMRegressor, "
            "RFMRegressor, their classifiers, a forest, or another estimator that has them."
        )
    return np.array(found, dtype=float)


def _selected(importances: np.ndarray, size: int) -> np.ndarray:
    """Return 1 for the largest entries, a share for those that tie for the last ranks.

    Examples
    --------
    >>> _selected(np.asarray([0.5, 0.2, 0.2, 0.1]), 2)
    array([1. , 0.5, 0.5, 0. ])
    """
    last = np.sort(importances)[-size]
    above, tied = importances > last, importances == last
    share = above + tied * ((size - above.sum()) / tied.sum())
    return np.where(importances > 0, share, 0.0)
