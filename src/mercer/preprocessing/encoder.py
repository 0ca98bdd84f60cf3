"""Tables with numbers, categories and missing values, as rows that a kernel can compare."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._array import is_sparse
from .._registry import storable
from .._sklearn import (
    BaseEstimator,
    Interval,
    StrOptions,
    TransformerMixin,
    check_columns,
    check_is_fitted,
    checked,
    fit_context,
    unchanged_on_error,
)
from ..engine.cluster import Partitions, answered, on_cluster
from ..engine.streams import pieces
from .columns import CATEGORY, DATE, DURATION, NUMBER, plural
from .encoding import Encoding
from .table_on_cluster import table_summary
from .table_summary import TableSummary

#: The parameters that can be changed without looking at the data again.
RESCALABLE = ("scaling", "limit", "constant", "whole_numbers")


@storable
class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns the columns of a table into centred and scaled numbers.

    Numbers are centred and scaled, and outliers soft-clipped; dates count as days; columns of
    zeros and ones are centred only. A missing number becomes the mean of its column, and a
    column that had missing values in ``fit`` gets a second one that flags them. Every category
    gets a column of ones and zeros; missing is a category of its own. Constant columns are
    dropped: those of one value, or of several that differ by rounding errors only (whole numbers
    up to 2⁵³ always differ by more).

    Strings are categories, unless all of a column are dates of ISO 8601 (``2024-05-31``, with or
    without a time of day) in the first block: then it is a column of dates. Make it categorical
    (``astype("category")``) to prevent that.

    The encoder learns from blocks in any order: all it keeps are counts, means, standard
    deviations, ranges, and up to about 2,000 quantiles of each column of dense rows. Whether the
    first block is dense or CSR decides about centring. An encoder fitted on CSR rows neither
    centres nor soft-clips, so that they stay sparse, and dense rows get the same numbers. An
    encoder fitted on dense rows or a frame gives CSR rows the same numbers as dense ones, and so
    makes them dense: pass them in blocks.

    Parameters
    ----------
    scaling : {"each", "common", "ranks"}, default="each"
        Give each column of numbers the variance 1, or divide all by one number such that
        their mean variance is 1 (for columns of one unit, such as pixels), or replace numbers,
        dates and durations x by their ranks: sqrt(12) (F(x) - 1/2) with the distribution
        function F of the column, uniform with mean 0 and variance 1 where there are no ties.
        Equal numbers get the middle of their ranks, unseen ones are interpolated, and those
        beyond all that were seen get the first or the last rank. F is exact up to 2,048
        different values of a column; beyond that it is wrong by about 0.002 at most. Columns of
        zeros and ones and parts of dates have no ranks. Not for CSR rows.
    limit : float or None, default=3.0
        How many standard deviations from the mean a number of its own scale can be at most:
        z becomes z / sqrt(1 + (z / limit)²), which hardly changes small z. Single outliers
        otherwise decide what a kernel sees. ``None`` clips nothing, and neither does
        ``scaling="common"``; ranks need no clipping.
    constant : float or None, default=None
        Append a column of this value. Zonal kernels (``ArcCosine``, ``NTK``) need one to tell
        rows of different norms apart, as a network needs biases.
    max_categories : int, default=100
        The most columns that one column of categories becomes; the rarest share the last.
    unseen : {"warn", "error", "ignore"}, default="warn"
        What to do with a category that was not there in ``fit``: set all its columns to zero
        with a warning, refuse it, or set them to zero silently. Where the rarest categories share
        a column, unseen ones join them. The same holds for a missing number in a column that had
        none in ``fit``, which becomes the mean.
    dates : {"days", "parts"}, default="days"
        Encode dates as days since 1970 alone, or add what recurs: the place in the year as a
        point of a circle (cosine and sine of the month, with the day as a fraction of it, so
        that December is beside January), and a column of zeros and ones for each weekday.
    whole_numbers : {"numbers", "categories"}, default="numbers"
        With ``"categories"``, a column of numbers that holds 3 to 32 different values, all of
        them whole (at most ``max_categories``), becomes a column of ones and zeros for each
        value, as grades and codes should; ``unseen`` holds for other values. Not for CSR rows.

    Attributes
    ----------
    kinds_ : list of str
        What each column of the input holds: ``"number"``, ``"date"``, ``"duration"`` or
        ``"category"``.
    centered_ : bool
        Whether numbers are centred: not if the first rows were CSR.
    mean_, scale_ : arrays of shape (n_numbers,)
        Mean and scale of the columns of numbers that are kept, parts of dates included; ranks
        do without them.
    categories_ : dict of int to list
        The categories of each column of the input that has them.
    whole_numbers_ : dict of int to array
        The values of each column of whole numbers that is encoded as categories.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import TableEncoder
    >>> frame = pd.DataFrame({"size": [1.0, 2.0, None, 3.0], "colour": list("rgrb")})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.get_feature_names_out()
    array(['size', 'size is missing', 'colour=b', 'colour=g', 'colour=r'], dtype=object)
    >>> encoder.transform(frame).round(1)
    array([[-1.1,  0. ,  0. ,  0. ,  1. ],
           [ 0. ,  0. ,  0. ,  1. ,  0. ],
           [ 0. ,  1. ,  0. ,  0. ,  1. ],
           [ 1.1,  0. ,  1. ,  0. ,  0. ]])
    """

    n_features_in_: int
    centered_: bool
    kinds_: list[str]
    categories_: dict[int, list[Any]]
    whole_numbers_: dict[int, np.ndarray]
    mean_: np.ndarray
    scale_: np.ndarray

    _parameter_constraints: dict[str, list[Any]] = {
        "scaling": [StrOptions({"each", "common", "ranks"})],
        "limit": [Interval(Real, 0, None, closed="neither"), None],
        "constant": [Interval(Real, 0, None, closed="neither"), None],
        "max_categories": [Interval(Integral, 2, None, closed="left")],
        "unseen": [StrOptions({"warn", "error", "ignore"})],
        "dates": [StrOptions({"days", "parts"})],
        "whole_numbers": [StrOptions({"numbers", "categories"})],
    }
    #: What was learnt of the data; ``None`` before fit, and after :meth:`without_summary`.
    _summary: TableSummary | None = None

    def __init__(
        self,
        scaling: str = "each",
        *,
        limit: float | None = 3.0,
        constant: float | None = None,
        max_categories: int = 100,
        unseen: str = "warn",
        dates: str = "days",
        whole_numbers: str = "numbers",
    ) -> None:
        self.scaling = scaling
        self.limit = limit
        self.constant = constant
        self.max_categories = max_categories
        self.unseen = unseen
        self.dates = dates
        self.whole_numbers = whole_numbers

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn the columns of ``X``.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The table: pandas, polars, pyarrow, NumPy, torch, CuPy, CSR or Dask.
        y : ignored

        Returns
        -------
        self : TableEncoder
        """
        with unchanged_on_error(self):
            self._summary = None
            if on_cluster(X):
                return self._learn_partitions(Partitions.of(X))._settle()
            return self._learn(X, reset=True)._settle()

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn from one more block of rows; one that is refused changes nothing.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The block.
        y : ignored

        Returns
        -------
        self : TableEncoder
        """
        if self._summary is None and hasattr(self, "kinds_"):
            raise ValueError(
                "This encoder holds no summary of the data any more, so it cannot learn from more "
                "rows; clone it and fit the clone."
            )
        with unchanged_on_error(self):
            return self._learn(X, reset=self._summary is None)._settle()

    def transform(self, X: Any) -> Any:
        """Return the rows of ``X`` as numbers.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The table.

        Returns
        -------
        rows : array of shape (n_samples, n_features_out)
            In the library of ``X`` for arrays, else NumPy: float32 if float32 holds every
            column of numbers exactly, float64 otherwise. CSR rows stay CSR if the encoder was
            fitted on CSR rows, and become dense otherwise.
        """
        check_is_fitted(self)
        if on_cluster(X):
            return answered(self, "transform", X)
        return self._encoding.encode(check_columns(X, owner=self), self.unseen)

    def transform_checked(self, X: Any) -> Any:
        """Return the rows of a table, as ``check_columns`` returns it, as numbers."""
        return self._encoding.encode(X, self.unseen)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of the result.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self)
        given = getattr(self, "feature_names_in_", None)
        named = [f"x{j}" if given is None else str(given[j]) for j in range(self.n_features_in_)]
        return np.array(self._encoding.names(named), dtype=object)

    def rescaled(self, **parameters: Any) -> TableEncoder:
        """Return a fitted copy with another scaling, limit, constant or rule for whole numbers.

        Nothing is learnt anew: the copy is what ``fit`` with these parameters would give.

        Parameters
        ----------
        **parameters
            Some of ``scaling``, ``limit``, ``constant`` and ``whole_numbers``.

        Returns
        -------
        encoder : TableEncoder

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import TableEncoder
        >>> encoder = TableEncoder().fit([[1.0], [3.0]])
        >>> encoder.rescaled(limit=None, constant=1.0).transform([[11.0]])
        array([[9., 1.]])
        >>> encoder.rescaled(scaling="ranks").transform([[1.0], [2.0], [11.0]]).round(2)
        array([[-0.87],
               [ 0.  ],
               [ 0.87]])
        """
        check_is_fitted(self)
        strange = [name for name in parameters if name not in RESCALABLE]
        if strange:
            raise TypeError(
                f"rescaled takes {', '.join(RESCALABLE)}; got {strange[0]!r}: fit another encoder "
                "for other parameters."
            )
        if self._summary is None:
            raise ValueError(
                "This encoder holds no summary of the data any more, so it cannot be rescaled; "
                "do so before without_summary, or fit it again."
            )
        other: TableEncoder = checked(copy.copy(self).set_params(**parameters))
        other._summary = self._summary.copy()
        return other._settle()

    def without_summary(self) -> TableEncoder:
        """Return a fitted copy that encodes as this one and holds no counts of the data.

        Counts of all categories must not be stored in the file of a model. The copy cannot
        learn from more rows, nor be rescaled.

        Returns
        -------
        encoder : TableEncoder
        """
        check_is_fitted(self)
        other = copy.copy(self)
        other._summary = None
        return other

    def describe(self) -> str:
        """Return a sentence on the columns: their kinds, and how many they become.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from mercer import TableEncoder
        >>> TableEncoder().fit([[1.0, 2.0, 5.0], [3.0, None, 5.0]]).describe()
        '3 numeric; 2 columns once encoded, 1 with missing values, 2 constant columns dropped'
        """
        check_is_fitted(self)
        words = {NUMBER: "numeric", DATE: None, DURATION: None, CATEGORY: "categorical"}
        parts = []
        for kind, word in words.items():
            n = self.kinds_.count(kind)
            if n:
                parts.append(f"{n:,} {word or (kind if n == 1 else plural(kind))}")
        text = f"{', '.join(parts)}; {_counted(self._n_features_out, 'column')} once encoded"
        if len(self._gaps):
            text += f", {len(self._gaps):,} with missing values"
        if self._encoding.scaling.ranks:
            text += f", {_counted(len(self._encoding.scaling.ranks), 'column')} as ranks"
        n_whole = len(self.whole_numbers_)
        if n_whole:
            text += f", {_counted(n_whole, 'whole-number column')} as categories"
        kept = int(np.sum(self._numbers < len(self.kinds_))) + len(self.categories_) + n_whole
        dropped = len(self.kinds_) - kept
        return text + (f", {_counted(dropped, 'constant column')} dropped" if dropped else "")

    def _chosen(self) -> list[tuple[str, str]]:
        return [("columns", self.describe())] if hasattr(self, "kinds_") else []

    def _learn(self, X: Any, reset: bool) -> TableEncoder:
        """Add blocks of ``X`` to the summary; a block that is refused leaves it as it was."""
        X = check_columns(X, owner=self, reset=reset)
        before = self._summary
        if before is None:
            # Sparse rows have too many columns to learn the distribution of each.
            fresh = TableSummary(self.dates == "parts", with_quantiles=not is_sparse(X))
        else:
            fresh = before.following()
        for block in pieces(X):
            fresh.update(block)
        fresh.flush()
        if before is None:
            self._summary, self.centered_ = fresh, not is_sparse(X)
        else:
            before.merge(fresh)
        return self

    def _learn_partitions(self, parts: Partitions) -> TableEncoder:
        """Learn from all rows of a cluster."""
        row = check_columns(parts.example.X, owner=self, reset=True)
        self.centered_ = not is_sparse(row)
        self._summary = table_summary(
            parts, self, date_parts=self.dates == "parts", with_quantiles=self.centered_
        )
        return self

    def _settle(self) -> TableEncoder:
        """Turn what was counted into what ``transform`` needs."""
        summary = self._summary
        assert summary is not None
        encoding = self._encoding = Encoding.from_summary(
            summary,
            scaling=self.scaling,
            limit=self.limit,
            constant=self.constant,
            max_categories=self.max_categories,
            whole_numbers=self.whole_numbers,
            centered=self.centered_,
        )
        self.kinds_, self.categories_ = encoding.kinds, encoding.categories
        self.whole_numbers_ = encoding.whole
        self.mean_, self.scale_ = encoding.scaling.mean, encoding.scaling.scale
        self._numbers, self._gaps = encoding.scaling.columns, encoding.gaps
        self._n_features_out = encoding.width
        return self

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return what a model file holds: no counts of the data if it is compact."""
        return {**self.__dict__, "_summary": None} if compact else dict(self.__dict__)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.scaling != "ranks" and self.whole_numbers != "categories"
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
