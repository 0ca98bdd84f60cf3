"""Images of one contrast, with pixels that are not correlated."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np

from .._array import as_floating, like, moved, namespace, to_numpy
from .._devices import algebra_of
from .._registry import storable
from .._sklearn import (
    BaseEstimator,
    Interval,
    OneToOneFeatureMixin,
    TransformerMixin,
    check_is_fitted,
    check_rows,
    fit_context,
    unchanged_on_error,
)
from ..engine.rows import map_rows, visit_rows
from ..ops.images import as_rows
from ..ops.products import dense, product


@storable
class ImageWhitening(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Gives images one brightness and contrast, and takes the correlations from their pixels.

    Each image is brought to mean 0 and variance 1. Then zero-phase whitening (ZCA) [1]_ is
    applied: with the covariance :math:`V \operatorname{diag}(\lambda) V^\top` of the training
    images and their mean :math:`\mu`,

    .. math::
        x \mapsto V \operatorname{diag}\left((\lambda + \rho \bar\lambda)^{-1/2}\right)
        V^\top (x - \mu).

    The result looks like an image with sharp edges. The regularisation :math:`\rho`, a share of
    the mean eigenvalue, keeps the noise of the smallest eigenvalues from drowning it.

    Parameters
    ----------
    regularization : float or None, default=0.1
        The share ρ; ``None`` normalises images only, without whitening.
    normalize : bool, default=True
        Bring each image to mean 0 and variance 1 first; one of a single colour becomes 0.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        The mean of the normalised training images.
    eigenvalues_ : array of shape (n_features,)
        Of their covariance, ascending.
    whitening_ : array of shape (n_features, n_features)
        The matrix of the formula, or ``None`` without whitening.
    n_samples_seen_ : int
        Images that were learnt from.

    References
    ----------
    .. [1] A. J. Bell and T. J. Sejnowski, "The independent components of natural scenes are edge
       filters", Vision Research 37, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocessing import ImageWhitening
    >>> noise = np.random.default_rng(0).standard_normal((500, 6, 6, 1))
    >>> images = noise + 0.5 * np.roll(noise, 1, axis=1)
    >>> whitened = ImageWhitening(regularization=0.01).fit_transform(images)
    >>> def correlation_of_neighbours(X):
    ...     return abs(round(float(np.corrcoef(X[:, 2, 2, 0], X[:, 3, 2, 0])[0, 1]), 1))
    >>> correlation_of_neighbours(images), correlation_of_neighbours(whitened)
    (0.4, 0.0)
    """

    n_features_in_: int

    _parameter_constraints: dict[str, list[Any]] = {
        "regularization": [Interval(Real, 0, None, closed="neither"), None],
        "normalize": ["boolean"],
    }

    mean_: np.ndarray
    eigenvalues_: np.ndarray
    whitening_: np.ndarray | None
    n_samples_seen_: int

    def __init__(self, regularization: float | None = 0.1, *, normalize: bool = True) -> None:
        self.regularization = regularization
        self.normalize = normalize

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn mean and covariance.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or images with axes of their own
            NumPy, torch, CuPy or another Array API library.
        y : ignored

        Returns
        -------
        self : ImageWhitening
        """
        with unchanged_on_error(self):
            self._sums = None
            self._learn(X, reset=True)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more block of images.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or images with axes of their own
            The block.
        y : ignored

        Returns
        -------
        self : ImageWhitening
        """
        with unchanged_on_error(self):
            self._learn(X, reset=self._sums is None)
        return self

    def transform(self, X: Any) -> Any:
        """Return normalised and whitened images.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or images with axes of their own
            As in ``fit``.

        Returns
        -------
        whitened : array
            In the shape, library and floating dtype of ``X``.
        """
        check_is_fitted(self)
        shape = getattr(X, "shape", ())
        rows = check_rows(_flattened(X), owner=self)

        def whitened(block: Any, out: Any = None) -> Any:
            block = self._normalised(dense(block), namespace(block))
            if self.whitening_ is None:
                return block
            return product(block - like(block, self.mean_), like(block, self.whitening_), out)

        scratch = 3 * self.n_features_in_
        label = type(self).__name__
        found = map_rows(whitened, rows, self.n_features_in_, scratch=scratch, label=label)
        return found if len(shape) < 3 else namespace(found).reshape(found, tuple(shape))

    #: Number of images, their sum and the sum of their outer products; ``None`` before ``fit``.
    _sums: tuple[int, np.ndarray, np.ndarray] | None = None

    def _learn(self, X: Any, reset: bool) -> None:
        rows = check_rows(_flattened(X), owner=self, reset=reset)
        d = self.n_features_in_
        n, total, products = self._sums or (0, np.zeros(d), np.zeros((d, d)))
        if self._sums is not None:
            total, products = total.copy(), products.copy()

        def add(block: Any) -> None:
            nonlocal n
            xp = namespace(block)
            block = self._normalised(dense(block), xp)
            n += block.shape[0]
            total[...] += to_numpy(xp.sum(block, axis=0, dtype=xp.float64))
            if self.regularization is not None:
                products[...] += to_numpy(as_floating(product(block.T, block), "float64"))

        visit_rows(add, rows, label=type(self).__name__)
        self._sums, self.n_samples_seen_, self.mean_ = (n, total, products), n, total / n
        self.whitening_ = None
        if self.regularization is not None:
            self._decompose(rows)

    def _decompose(self, rows: Any) -> None:
        """Find the whitening matrix, on the device of the rows."""
        n, _, products = self._sums or (1, None, np.zeros((0, 0)))
        covariance = products / n - np.outer(self.mean_, self.mean_)
        values, vectors = (
            to_numpy(part) for part in algebra_of(rows).eigh(moved(covariance, rows))
        )
        self.eigenvalues_ = np.maximum(values, 0.0)
        floor = float(self.regularization or 0.0) * float(self.eigenvalues_.mean())
        scales = 1 / np.sqrt(self.eigenvalues_ + (floor or 1.0))
        self.whitening_ = (vectors * scales) @ vectors.T

    def _normalised(self, block: Any, xp: Any) -> Any:
        if not self.normalize:
            return block
        block = block - xp.mean(block, axis=1, keepdims=True)
        largest = xp.max(xp.abs(block), axis=1, keepdims=True)
        block = block / xp.where(largest > 0, largest, xp.ones_like(largest))
        deviation = xp.sqrt(xp.mean(block * block, axis=1, keepdims=True))
        return block / xp.where(deviation > 0, deviation, xp.ones_like(deviation))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _flattened(X: Any) -> Any:
    """Return images as rows; rows as they are."""
    return as_rows(X) if getattr(X, "ndim", 2) > 2 else X
