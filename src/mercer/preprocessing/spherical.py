"""Latitude and longitude as points on the sphere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from .._array import has_values, namespace
from .._registry import storable
from .._sklearn import (
    BaseEstimator,
    StrOptions,
    TransformerMixin,
    check_is_fitted,
    check_rows,
    fit_context,
)
from ..engine.rows import map_rows, visit_rows
from ..ops.products import dense

#: Half a turn in the unit of the angles.
HALF_TURN = {"degrees": 180.0, "radians": math.pi}
#: What columns of latitudes and of longitudes are called.
LATITUDES, LONGITUDES = {"lat", "latitude"}, {"lon", "lng", "long", "longitude"}
#: How far beyond the pole rounding may lead, in right angles.
ROUNDING = 1e-6


@storable
class SphericalCoordinates(TransformerMixin, BaseEstimator):
    """Turns latitude and longitude into the point (x, y, z) of the unit sphere.

    Longitudes are taken modulo a whole turn; all longitudes at a pole are one point. Other
    columns, a time for example, are appended unchanged: see
    :class:`~mercer.features.ProductFeatures`.

    Parameters
    ----------
    columns : pair of int or of str, default=(0, 1)
        Latitude and longitude: numbers of columns, or names of those of a data frame. Numbers
        are refused where the names of the columns say that these are others.
    unit : {"degrees", "radians"}, default="degrees"
        The unit of the angles.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocessing import SphericalCoordinates
    >>> SphericalCoordinates().fit_transform([[0.0, 90.0], [90.0, 17.0], [0.0, -270.0]]).round(6)
    array([[0., 1., 0.],
           [0., 0., 1.],
           [0., 1., 0.]])
    """

    n_features_in_: int
    columns_: tuple[int, int]

    _parameter_constraints: dict[str, list[Any]] = {
        "columns": [list, tuple],
        "unit": [StrOptions(set(HALF_TURN))],
    }

    def __init__(self, columns: Sequence[int | str] = (0, 1), *, unit: str = "degrees") -> None:
        self.columns = columns
        self.unit = unit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> SphericalCoordinates:
        """Find the columns, and check latitudes.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Latitudes, longitudes and other columns.
        y : ignored

        Returns
        -------
        self : SphericalCoordinates
        """
        rows = check_rows(X, owner=self, reset=True)
        self.columns_ = self._found()
        visit_rows(self.points, rows, label="checking angles")
        return self

    def transform(self, X: Any) -> Any:
        """Return x, y, z and the other columns.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            As in ``fit``.

        Returns
        -------
        points : array of shape (n_samples, n_features + 1)
        """
        check_is_fitted(self)
        rows = check_rows(X, owner=self)

        def each(block: Any, out: Any = None) -> Any:
            return self.points(block)

        return map_rows(each, rows, self.n_features_in_ + 1, label="SphericalCoordinates")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns: x, y, z and those of the other columns.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{k}" for k in range(self.n_features_in_)]
        return np.asarray(["x", "y", "z", *(names[k] for k in self._others())], dtype=object)

    def _found(self) -> tuple[int, int]:
        """Return the numbers of the columns of latitude and longitude."""
        if len(self.columns) != 2:
            raise ValueError(
                f"columns must name two columns, latitude and longitude; got {self.columns!r}."
            )
        names = list(getattr(self, "feature_names_in_", []))
        found: list[int] = []
        for column in self.columns:
            if isinstance(column, str):
                if column not in names:
                    known = f"its columns are {names}" if names else "its columns have no names"
                    raise ValueError(f"columns names {column!r} of X, but {known}.")
                column = names.index(column)
            if not isinstance(column, Integral) or not 0 <= column < self.n_features_in_:
                raise ValueError(
                    f"columns must be names or numbers from 0 to {self.n_features_in_ - 1} for X "
                    f"with {self.n_features_in_} columns; got {column!r}."
                )
            found.append(int(column))
        if found[0] == found[1]:
            raise ValueError(f"columns={self.columns!r} names one column twice.")
        self._refuse_contradiction(names, found)
        return found[0], found[1]

    def _refuse_contradiction(self, names: list[str], found: list[int]) -> None:
        """Refuse columns of which the names say that they are others, or the wrong way round."""
        right = [
            [k for k, name in enumerate(names) if str(name).lower() in words]
            for words in (LATITUDES, LONGITUDES)
        ]
        if [len(places) for places in right] != [1, 1]:
            return
        latitude, longitude = right[0][0], right[1][0]
        named = all(isinstance(column, str) for column in self.columns)
        if found == [latitude, longitude] or (named and found != [longitude, latitude]):
            return
        raise ValueError(
            f"columns={self.columns!r} takes {names[found[0]]!r} for latitude and "
            f"{names[found[1]]!r} for longitude; write "
            f"columns={(names[latitude], names[longitude])!r}."
        )

    def _others(self) -> list[int]:
        return [k for k in range(self.n_features_in_) if k not in self.columns_]

    def points(self, block: Any) -> Any:
        """Return the points of one block of checked rows.

        Parameters
        ----------
        block : array of shape (n_rows, n_features)
            Of any library.

        Returns
        -------
        points : array of shape (n_rows, n_features + 1)
        """
        xp = namespace(block)
        block = dense(block)
        half = HALF_TURN[self.unit]
        latitude, longitude = (block[:, k] for k in self.columns_)
        beyond = xp.abs(latitude) > half / 2 * (1 + ROUNDING)
        if has_values(block) and xp.any(beyond):
            row = int(xp.argmax(xp.astype(beyond, block.dtype)))
            raise ValueError(
                f"Latitude {float(latitude[row]):g} is beyond the poles at {half / 2:.6g} "
                f"{self.unit}; is it a longitude (columns=(1, 0)), or in another unit?"
            )
        # A whole turn first: the cosine of a large angle loses digits.
        turns = xp.remainder(longitude, xp.full_like(longitude, 2 * half))
        phi, lam = latitude * (math.pi / half), turns * (math.pi / half)
        ring = xp.cos(phi)
        points = [ring * xp.cos(lam), ring * xp.sin(lam), xp.sin(phi)]
        return xp.stack([*points, *(block[:, k] for k in self._others())], axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = True
        return tags
