"""Which rows to label: a greedy design on features, or on an exact kernel."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from .._array import is_foreign
from .._random import seed_of
from .._registry import storable
from .._sklearn import (
    RANDOM_STATE,
    BaseEstimator,
    HasMethods,
    Interval,
    check_rows,
    fit_context,
    unchanged_on_error,
)
from ..engine.config import matrix_memory
from ..engine.progress import Progress
from ..engine.streams import as_weights, learning_rows
from ..engine.threads import allowed_threads
from ..features import RandomFourier
from ..kernels import Gaussian, Kernel
from ..solvers.greedy_design import Design, FeatureRemainder, MatrixRemainder, Remainder
from .feature_rows import FeatureRows, checked_rows
from .row_streams import feature_blocks, is_row_stream, row_blocks

#: Copies of an exact kernel matrix that a design holds at most.
COPIES = 2


@storable
class GreedyDesign(BaseEstimator):
    r"""The rows whose labels help most, chosen before any label is known.

    With the kernel K of all rows, and S the labelled ones, it lowers
    :math:`J(S) = -\operatorname{tr} K_{\cdot S} (K_{SS} + \alpha)^{-1} K_{S \cdot}`, which bounds
    the risk of kernel ridge regression from the labels of S [1]_, as fast as one row at a time
    can. A step costs one product of the features with two columns, n m, however many rows are
    labelled already.

    Parameters
    ----------
    features : transformer or None, default=None
        A feature map, or another transformer; ``None`` means ``RandomFourier`` of
        ``Gaussian("median")``, unless ``kernel`` is given.
    n_points : int, default=10
        How many rows to choose.
    kernel : Kernel or None, default=None
        An exact kernel in place of features; its matrix of all rows must fit in memory.
    alpha : float, default=1e-3
        The ridge parameter that the labels will be learnt with.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the features where they are ``None``.

    Attributes
    ----------
    indices_ : array of shape (n_points,)
        The rows to label, in the order in which they were chosen; fewer than asked for where
        no further row would lower the criterion.
    gains_ : array of shape (n_points,)
        By how much each of them lowers the criterion.
    criterion_ : array of shape (n_points + 1,)
        The criterion J before the first of them, and after each.
    features_ : transformer or None
        The fitted features.

    References
    ----------
    .. [1] N. Shoham and H. Avron, "Experimental design for overparameterized learning with
       application to single shot deep active learning", 2020.

    Examples
    --------
    Of rows in two groups, one of each is labelled first:

    >>> import numpy as np
    >>> from mercer import Gaussian, GreedyDesign
    >>> X = np.asarray([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> design = GreedyDesign(kernel=Gaussian(), n_points=2).fit(X)
    >>> design.indices_
    array([1, 3])
    >>> design.more(1)
    array([2])
    """

    indices_: np.ndarray
    gains_: np.ndarray
    criterion_: np.ndarray

    _parameter_constraints: dict[str, list[Any]] = {
        "features": [HasMethods(["fit", "transform"]), None],
        "n_points": [Interval(Integral, 1, None, closed="left")],
        "kernel": [Kernel, None],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "random_state": RANDOM_STATE,
    }

    #: The design so far; ``None`` before ``fit``.
    _design: Design | None = None

    def __init__(
        self,
        features: Any = None,
        n_points: int = 10,
        *,
        kernel: Kernel | None = None,
        alpha: float = 1e-3,
        random_state: Any = 0,
    ) -> None:
        self.features = features
        self.n_points = n_points
        self.kernel = kernel
        self.alpha = alpha
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, *, labelled: Any = None, sample_weight: Any = None
    ) -> Self:
        """Choose rows to label.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            The rows that may be labelled, or blocks of them; of a stream, features are kept in
            memory and rows are not.
        y : ignored
        labelled : array of int, or of bool, default=None
            Rows that are labelled already.
        sample_weight : array of shape (n_samples,), default=None
            How much the error on each row matters.

        Returns
        -------
        self
        """
        if self.kernel is not None and self.features is not None:
            raise ValueError("Give features or kernel, not both: a design is made on one of them.")
        with unchanged_on_error(self), allowed_threads():
            self.features_: Any = None
            design = Design(self._pool(X, sample_weight), float(self.alpha))
            n_rows = design.n_rows
            known = _numbers(labelled, n_rows)
            if self.n_points > n_rows - len(known):
                raise ValueError(
                    f"n_points={self.n_points} rows cannot be chosen: {n_rows - len(known)} of "
                    f"{n_rows} rows are not labelled."
                )
            start = -sum(design.add(int(number)) for number in known)
            self.indices_, self.gains_ = np.zeros(0, dtype=np.int64), np.zeros(0)
            self.criterion_ = np.asarray([start])
            self._design = design
            self.more(int(self.n_points))
        return self

    def more(self, n_points: int) -> np.ndarray:
        """Choose further rows, after those of ``indices_``; an interruption keeps what is found.

        Parameters
        ----------
        n_points : int
            How many.

        Returns
        -------
        indices : array of shape (n_points,)
            The new rows, which are added to ``indices_`` too.
        """
        if self._design is None:
            if self.__sklearn_is_fitted__():
                raise ValueError(
                    "This design was saved without the features that further rows are chosen by; "
                    "save it with compact=False."
                )
            raise NotFittedError("This GreedyDesign instance is not fitted yet. Call 'fit' first.")
        if not isinstance(n_points, Integral) or n_points < 0:
            raise ValueError(f"n_points must be a whole number of rows, got {n_points!r}.")
        found: list[tuple[int, float]] = []
        try:
            found.extend(_chosen(self._design, n_points))
        except KeyboardInterrupt:
            warnings.warn(
                f"Interrupted; the design ends with the {len(found)} rows found so far.",
                UserWarning,
                stacklevel=2,
            )
        numbers = np.asarray([number for number, _ in found], dtype=np.int64)
        gains = np.asarray([gain for _, gain in found])
        self.indices_ = np.concatenate([self.indices_, numbers])
        self.gains_ = np.concatenate([self.gains_, gains])
        after = self.criterion_[-1] - np.cumsum(gains)
        self.criterion_ = np.concatenate([self.criterion_, after])
        return numbers

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "indices_")

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds; if compact, not the features of all rows."""
        return {**self.__dict__, "_design": None} if compact else dict(self.__dict__)

    def _pool(self, X: Any, sample_weight: Any) -> Remainder:
        """Return the kernel of all rows, exact or of features, with their weights."""
        if is_row_stream(X):
            if sample_weight is not None:
                raise ValueError("sample_weight must be None for a stream: blocks bring their own.")
            if self.kernel is not None:
                raise ValueError("An exact kernel needs all rows at once; give features instead.")
            parts = list(self._featured(X))
            weights = [np.ones(len(Z)) if w is None else w for Z, w in parts]
            Z = _stacked([part for part, _ in parts])
            return FeatureRemainder(Z, np.concatenate(weights))
        if self.kernel is not None:
            rows = check_rows(X, owner=self, reset=True)
            return self._exact(rows, as_weights(sample_weight, rows.shape[0]))
        parts = list(self._featured([X]))
        Z = _stacked([part for part, _ in parts])
        return FeatureRemainder(Z, as_weights(sample_weight, len(Z)))

    def _exact(self, rows: Any, weights: np.ndarray | None) -> Remainder:
        assert self.kernel is not None
        if is_foreign(rows):
            raise TypeError(
                f"An exact design needs NumPy rows, got {type(rows)}; convert them, or give "
                "features, which may come from any library."
            )
        need, room = 8 * COPIES * rows.shape[0] ** 2, matrix_memory()
        if need > room:
            raise ValueError(
                f"The exact kernel of {rows.shape[0]:,} rows needs {need / 1e9:.3g} GB, of "
                f"{room / 1e9:.3g} GB; give features instead, NystromFeatures(kernel) for example."
            )
        return MatrixRemainder(self.kernel(rows), weights)

    def _featured(self, stream: Any) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Yield the features of blocks, and their weights; features are fitted on the first."""
        fitted: FeatureRows | None = None
        for block, weights in row_blocks(stream):
            rows = checked_rows(block, self._map(), owner=self, reset=fitted is None)
            if fitted is None:
                fitted = FeatureRows.learnt(self._map(), rows)
                self.features_ = fitted.fitted
            own = as_weights(weights, rows.shape[0])
            for place, Z in feature_blocks(fitted, rows, learning_rows(fitted.width, 8)):
                yield Z, None if own is None else own[place]

    def _map(self) -> Any:
        if self.features is not None:
            return self.features
        return RandomFourier(Gaussian("median"), random_state=seed_of(self.random_state))


def _chosen(design: Design, n_points: int) -> Iterator[tuple[int, float]]:
    """Yield the rows that gain most, one after the other, and their gains."""
    with Progress("greedy design", n_points) as progress:
        for _ in range(n_points):
            number = design.best()
            if number is None:
                return
            yield number, design.add(number)
            progress.advance(1)
            progress.show()


def _numbers(labelled: Any, n_rows: int) -> np.ndarray:
    """Return the numbers of labelled rows, or say what is wrong with them."""
    if labelled is None:
        return np.zeros(0, dtype=np.int64)
    given = np.asarray(labelled)
    if given.dtype == bool:
        if given.shape != (n_rows,):
            raise ValueError(
                f"labelled must say of each of the {n_rows} rows whether it is, got shape "
                f"{given.shape}."
            )
        return np.flatnonzero(given)
    if given.size == 0:
        return np.zeros(0, dtype=np.int64)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(
            f"labelled must hold numbers of rows, or a boolean for each row, got {labelled!r}."
        )
    if given.min() < 0 or given.max() >= n_rows:
        raise ValueError(f"labelled must hold numbers of rows from 0 to {n_rows - 1}.")
    return np.unique(given)


def _stacked(parts: list[np.ndarray]) -> np.ndarray:
    """Return blocks of rows as one array, which takes the place of them."""
    if len(parts) == 1:
        return parts[0]
    whole = np.empty((sum(len(part) for part in parts), parts[0].shape[1]), parts[0].dtype)
    stop = len(whole)
    # From the last one on: each is freed when it is copied.
    while parts:
        part = parts.pop()
        whole[stop - len(part) : stop] = part
        stop -= len(part)
    return whole
