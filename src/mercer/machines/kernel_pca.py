"""Principal components in the space of a kernel, in one pass over the rows."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from .._array import floating_name, is_sparse, to_numpy
from .._estimators import available_if
from .._random import seed_of
from .._registry import storable
from .._sklearn import (
    RANDOM_STATE,
    HasMethods,
    Interval,
    check_rows,
    fit_context,
    unchanged_on_error,
)
from ..engine.blocks import take
from ..engine.cluster import Partitions, answered, on_cluster
from ..engine.streams import Block, rows_between, stream_names
from ..engine.threads import allowed_threads
from .feature_rows import FeatureRows, same_features, warn_of_first_block
from .pca_state import Components, PCAState
from .ridge_sums import RidgeSums
from .row_streams import feature_blocks, is_row_stream
from .unsupervised import UnsupervisedMachine


def refuse_weights(weights: Any) -> None:
    """Say that rows have no weights, where some have.

    Examples
    --------
    >>> refuse_weights(np.ones(2))
    """
    if weights is not None and not (np.asarray(weights) == 1).all():
        raise ValueError(
            "KernelPCA counts every row once, but a block of the stream has sample weights "
            "other than 1: leave them out, or repeat rows."
        )


def _sums(machine: KernelPCA, block: Block, start: None) -> RidgeSums:
    return machine.sums_of(block)


def _leads_back(machine: Any) -> bool:
    """Return whether a machine has an inverse transform, or say what it needs."""
    if not machine.fit_inverse_transform:
        raise AttributeError("inverse_transform needs fit_inverse_transform=True.")
    return True


@storable
class KernelPCA(UnsupervisedMachine):
    r"""Principal components in the space of a kernel, in one pass over the rows.

    Principal components of centred features with :math:`z(x)^\top z(y) \approx k(x, y)` are those
    of kernel principal component analysis. They follow from the sums :math:`\sum z` and
    :math:`\sum z z^\top`, which are gathered block by block: memory does not grow with the rows,
    blocks may come in any order, and the sums of two machines can be added. The eigenvalue
    problem is solved when its result is first asked for.

    Parameters
    ----------
    features : transformer or None, default=None
        A feature map, or another transformer; ``None`` means ``RandomFourier`` of
        ``Gaussian("median")``.
    n_components : int, default=2
        Components to keep.
    alpha : float, default=1e-3
        The ridge parameter of ``inverse_transform``.
    fit_inverse_transform : bool, default=False
        Gather what ``inverse_transform`` needs too: sums of products of features and columns.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the features where they are ``None``.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features_out)
        The components in the space of the features, orthonormal. The entry of largest absolute
        value of each is positive.
    explained_variance_ : array of shape (n_components,)
        The variances of the scores.
    explained_variance_ratio_ : array of shape (n_components,)
        Their shares of the variance of all features.
    mean_ : array of shape (n_features_out,)
        The mean of the features.
    n_samples_seen_ : int
        Rows that were learnt from.
    features_ : transformer
        The fitted features.

    Examples
    --------
    The inner one of two rings differs from the outer one in a component:

    >>> from sklearn.datasets import make_circles
    >>> from mercer import Gaussian, KernelPCA, RandomFourier
    >>> X, outer = make_circles(500, factor=0.3, noise=0.05, random_state=0)
    >>> features = RandomFourier(Gaussian(0.5), n_components=300, random_state=0)
    >>> model = KernelPCA(features, n_components=3).fit(X)
    >>> model.transform(X).shape
    (500, 3)
    >>> bool(model.explained_variance_ratio_.sum() < 1)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "features": [HasMethods(["fit", "transform"]), None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "fit_inverse_transform": ["boolean"],
        "random_state": RANDOM_STATE,
    }

    _state: PCAState | None = None

    def __init__(
        self,
        features: Any = None,
        n_components: int = 2,
        *,
        alpha: float = 1e-3,
        fit_inverse_transform: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.features = features
        self.n_components = n_components
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from all rows, forgetting what was learnt before.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a stream
            Rows, or an iterable of blocks: rows, or (X, y). Its features are fitted on the first
            block; it is read once. Of Dask arrays and data frames each block adds to the sums
            where it is.
        y : ignored

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._state = None
            if on_cluster(X):
                self._learn_partitions(Partitions.of(X))
            elif is_row_stream(X):
                self._learn_stream(X)
            else:
                X = self._checked(X, reset=True)[0]
                self._state = self._new_state(X)
                self._learn(X, self._state.block_rows())
            self._components()
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more block of rows; the order of blocks does not matter.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The block.
        y : ignored

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            first = self._state is None
            X = self._checked(X, reset=first)[0]
            if self._state is None:
                self._state = self._new_state(X)
                warn_of_first_block(self._map(0, X), X.shape[0])
            # A block whose features are refused changes nothing.
            self._learn(X, X.shape[0])
        return self

    def merge(self, other: KernelPCA) -> Self:
        """Add what another machine with the same features has learnt.

        Parameters
        ----------
        other : KernelPCA
            Fitted on other rows, with the same random features.

        Returns
        -------
        self
        """
        if type(self) is not type(other):
            raise ValueError(
                f"Cannot merge a {type(self).__name__} with a {type(other).__name__}: both must be "
                "of one class."
            )
        for machine, name in ((self, "this machine"), (other, "the other machine")):
            if machine._state is None:
                raise ValueError(f"Nothing to merge: {name} is not fitted.")
        mine, theirs = self._fitted(), other._fitted()
        if mine.n_columns != theirs.n_columns:
            raise ValueError("fit_inverse_transform must be the same in both machines.")
        if not same_features(mine.rows.fitted, theirs.rows.fitted):
            raise ValueError(
                "The two machines have different features; give their maps the same kernel, a "
                "lengthscale that is a number, and the same integer random_state."
            )
        mine.merge(theirs)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the scores of the rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : array of shape (n_samples, n_components)
            float32 for float32 features.
        """
        state, found = self._fitted(), self._components()
        if on_cluster(X):
            return answered(self, "transform", X)
        X = self._checked(X)[0]
        parts = []
        for _, Z in feature_blocks(state.rows, X, state.block_rows()):
            parts.append(found.scores(Z, Z if state.rows.overwritable else np.empty_like(Z)))
        return np.concatenate(parts)

    @available_if(_leads_back)
    def inverse_transform(self, X: Any) -> np.ndarray:
        r"""Return rows for scores: the ridge regression of the rows on their scores.

        It is kernel ridge regression of the rows restricted to the leading components, and there
        with ``fit_inverse_transform=True`` only.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        rows : array of shape (n_samples, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import Gaussian, KernelPCA, RandomFourier
        >>> X = np.random.default_rng(0).standard_normal((300, 3))
        >>> features = RandomFourier(Gaussian(5.0), n_components=100, random_state=0)
        >>> model = KernelPCA(features, 10, fit_inverse_transform=True).fit(X)
        >>> error = X - model.inverse_transform(model.transform(X))
        >>> bool(error.var() < 0.01 * X.var())
        True
        """
        found = self._components()
        if found.coef is None or found.row_mean is None:
            raise ValueError(
                "inverse_transform needs fit_inverse_transform=True while rows are learnt; refit."
            )
        scores = check_rows(X)
        if scores.shape[1] != len(found.coef):
            raise ValueError(
                f"X has {scores.shape[1]} columns, but inverse_transform expects the scores of "
                f"{len(found.coef)} components."
            )
        scores = to_numpy(take(scores, 0, scores.shape[0], floating_name(scores)))
        return scores @ found.coef.astype(scores.dtype) + found.row_mean.astype(scores.dtype)

    @property
    def components_(self) -> np.ndarray:
        """The components in the space of the features."""
        return self._components().directions

    @property
    def explained_variance_(self) -> np.ndarray:
        """The variances of the scores."""
        return self._components().variances

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        """Their shares of the variance of all features; zeros where that is zero."""
        found = self._components()
        return found.variances / (found.total or 1.0)

    @property
    def mean_(self) -> np.ndarray:
        """The mean of the features."""
        return self._components().mean

    @property
    def n_samples_seen_(self) -> int:
        """Rows that were learnt from."""
        return self._fitted().n_rows

    @property
    def _n_features_out(self) -> int:
        """The name that scikit-learn has for the columns of ``transform``."""
        return len(self._components().directions)

    @allowed_threads()
    def _components(self) -> Components:
        """Return the components; asking for them solves, if rows were added since."""
        state = self._fitted()
        most = min(state.n_rows, state.rows.width)
        if self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} must be at most the number of rows and that of "
                f"features: there are n_samples={state.n_rows} and {state.rows.width} features."
            )
        return state.components(self.n_components, self.alpha)

    @allowed_threads()
    def _learn(self, X: Any, size: int) -> None:
        """Add checked rows to the state, in blocks."""
        state = self._fitted()
        self._refuse_sparse(X)
        for rows, Z in feature_blocks(state.rows, X, size):
            state.add(Z, rows_between(X, rows.start, rows.stop))

    def _learn_stream(self, stream: Iterable[Any]) -> None:
        """Learn from the blocks of a stream."""
        for X, weights in self._stream_rows(stream, fresh=True):
            refuse_weights(weights)
            if self._state is None:
                self._state = self._new_state(X)
                warn_of_first_block(self._map(0, X), X.shape[0])
            self._learn(X, self._state.block_rows())
        names = stream_names(stream)
        if names is not None:
            self.feature_names_in_ = names

    def _learn_partitions(self, parts: Partitions) -> None:
        """Learn from all rows of a cluster."""
        X = self._checked(parts.example.X, reset=True)[0]
        self._refuse_sparse(X)
        state = self._new_state(X, parts)
        template = copy.copy(self)
        template._state = state.empty()
        # Its features stay here.
        found = parts.total(_sums, template, "component-sums")
        if found is None:
            raise ValueError("All blocks of X are empty: at least one row is needed.")
        state.sums, state.n_rows = found.gathered, found.n_rows
        self._state = state

    def sums_of(self, block: Block) -> RidgeSums:
        """Return what a block of a cluster adds to the sums; the machine does not change.

        Parameters
        ----------
        block : Block
            Rows; their targets are ignored.
        """
        refuse_weights(block.weights)
        part = copy.copy(self)
        state = part._state = self._fitted().empty()
        part._learn(self._checked(block.X)[0], state.block_rows())
        return RidgeSums(state.sums, None, state.n_rows)

    def _new_state(self, X: Any, parts: Partitions | None = None) -> PCAState:
        """Return a state of which only the features are known."""
        self._refuse_sparse(X)
        seed = seed_of(self.random_state)
        n_columns = X.shape[1] if self.fit_inverse_transform else 0
        rows = FeatureRows.learnt(self._map(seed, X), X if parts is None else parts)
        return PCAState(rows, n_columns, seed)

    def _refuse_sparse(self, X: Any) -> None:
        if self.fit_inverse_transform and is_sparse(X):
            raise ValueError(
                "fit_inverse_transform=True does not take sparse rows, as the rows that it returns "
                "are dense: convert them with X.toarray(), or set fit_inverse_transform=False."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.fit_inverse_transform
        return tags
