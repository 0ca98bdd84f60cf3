"""Tables with numbers, categories and missing entries, as rows that a kernel can compare."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
import scipy.sparse

from .._array import all_finite, as_floating, floating_name, is_sparse, like, namespace
from .._frame import is_missing
from .._sklearn import (
    BaseEstimator,
    Interval,
    StrOptions,
    TransformerMixin,
    check_columns,
    check_is_fitted,
    fit_context,
)
from ..engine.streams import pieces
from .table_summary import CATEGORY, DATE, TableSummary, is_matrix, label_of, typed_columns

#: Types whose values float32 holds exactly.
NARROW = "float32"


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns the columns of a table into centred and scaled numbers.

    Numbers are centred and scaled, and far ones drawn in; dates count as days; columns of
    zeros and ones are centred only. A missing number becomes the mean of its column, and a
    column that had missing entries when it was learnt gets a second one that says so. Every
    category gets a column of ones and zeros; missing is a category of its own. Constant
    columns are dropped.

    The encoder learns from blocks, in any order: all it keeps are counts, means and spreads.

    Parameters
    ----------
    scaling : {"each", "common"}, default="each"
        Give each column of numbers the variance 1, or divide all by one number such that
        their mean variance is 1 (for columns of one unit, such as pixels).
    limit : float or None, default=3.0
        How many standard deviations from the centre a number of its own scale can be at
        most: z becomes z / sqrt(1 + (z / limit)²), which leaves small z as they are. Single
        far values otherwise decide what a kernel sees. ``None`` leaves all as they are, and
        so does ``scaling="common"``.
    constant : float or None, default=None
        Append a column of this value. Kernels of the angle between rows (``ArcCosine``,
        ``NTK``) need one to tell rows of different lengths apart, as a network needs biases.
    max_categories : int, default=100
        The most columns that one column of categories becomes; the rarest share the last.
    unseen : {"error", "ignore"}, default="error"
        What to do with a category that was not there when the encoder learnt: refuse it, or
        leave all its columns zero.

    Attributes
    ----------
    kinds_ : list of str
        What each column of the input holds: ``"number"``, ``"date"`` or ``"category"``.
    mean_, scale_ : arrays of shape (n_numbers,)
        Centre and scale of the columns of numbers that are kept.
    categories_ : dict of int to list
        The categories of each column of the input that has them.

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

    _parameter_constraints: dict = {
        "scaling": [StrOptions({"each", "common"})],
        "limit": [Interval(Real, 0, None, closed="neither"), None],
        "constant": [Interval(Real, 0, None, closed="neither"), None],
        "max_categories": [Interval(Integral, 2, None, closed="left")],
        "unseen": [StrOptions({"error", "ignore"})],
    }

    def __init__(
        self, scaling="each", *, limit=3.0, constant=None, max_categories=100, unseen="error"
    ):
        self.scaling = scaling
        self.limit = limit
        self.constant = constant
        self.max_categories = max_categories
        self.unseen = unseen

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Learn the columns of ``X``.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The table: pandas, polars, pyarrow, NumPy, torch, CuPy or CSR.
        y : ignored

        Returns
        -------
        self : TableEncoder
        """
        self.__dict__.pop("_summary", None)
        self._learn(X, reset=True)
        return self._settle()

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None):
        """Learn from one more block of rows.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The block.
        y : ignored

        Returns
        -------
        self : TableEncoder
        """
        self._learn(X, reset=not hasattr(self, "_summary"))
        return self._settle()

    def transform(self, X):
        """Return the rows of ``X`` as numbers.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The table.

        Returns
        -------
        rows : array of shape (n_samples, n_features_out)
            In the library of ``X`` for arrays, else NumPy: float32 if float32 holds every
            column of numbers exactly, float64 otherwise. CSR stays CSR, and is not centred.
        """
        check_is_fitted(self)
        X = check_columns(X, owner=self)
        if not is_matrix(X):
            return self._encoded_columns(X)
        if self.categories_ or DATE in self.kinds_:
            return self._encoded_columns(np.asarray(X, dtype=object))
        return self._encoded_matrix(X)

    def get_feature_names_out(self, input_features=None):
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
        names = [named[j] for j in self._numbers]
        names += [f"{named[j]} is missing" for j in self._gaps]
        for j, shown in self.categories_.items():
            names += [f"{named[j]}={'missing' if c is None else c}" for c in shown]
            names += [f"{named[j]}=other"] * (j in self._shared)
        names += ["constant"] * (self.constant is not None)
        return np.array(names, dtype=object)

    def _learn(self, X, reset):
        """Add blocks of ``X`` to the summary; a block that is refused leaves it as it was."""
        X = check_columns(X, owner=self, reset=reset)
        fresh = TableSummary()
        for block in pieces(X):
            fresh.update(block)
        if hasattr(self, "_summary"):
            self._summary.merge(fresh, X)
        else:
            self._summary = fresh

    def _settle(self):
        """Turn what was counted into what ``transform`` needs."""
        summary = self._summary
        self.kinds_ = list(summary.kinds)
        numeric = np.array([kind != CATEGORY for kind in self.kinds_])
        variance = summary.squares / np.maximum(summary.count, 1)
        if not np.isfinite(variance).all():
            raise ValueError("Numbers of X are too large to be scaled; divide them first.")
        # Rounding leaves a constant column far from zero with a variance.
        still = variance <= (1e-14 * np.maximum(abs(summary.low), abs(summary.high))) ** 2
        gaps = numeric & (summary.count < summary.n_rows) & (summary.count > 0)
        spread = numeric & (summary.count > 0) & ~still
        self._numbers = np.flatnonzero(spread)
        self._gaps = np.flatnonzero(gaps)
        self.mean_ = summary.mean[self._numbers]
        flags = (summary.low == 0) & (summary.high == 1) & self._two_valued(summary, variance)
        scale = np.sqrt(np.where(spread, variance, 1.0))
        if self.scaling == "common":
            scale[:] = np.sqrt(variance[spread].mean()) if spread.any() else 1.0
        self.scale_ = np.where(flags, 1.0, scale)[self._numbers]
        softened = self.scaling == "each" and self.limit is not None
        # What is not drawn in has a limit that no float reaches.
        limits = np.where(flags, 1e30, float(self.limit) if softened else 1e30)
        self._limits = limits[self._numbers]
        self._settle_categories(summary)
        self._n_features_out = len(self.get_feature_names_out())
        return self

    @staticmethod
    def _two_valued(summary, variance):
        """Return which columns between 0 and 1 hold nothing else: their variance says so."""
        return np.isclose(variance, summary.mean * (1 - summary.mean), rtol=1e-9, atol=0)

    def _settle_categories(self, summary):
        self.categories_, self._shared = {}, []
        for j, counts in sorted(summary.categories.items()):
            if len(counts) < 2:
                continue
            shown = list(counts)
            if len(shown) > self.max_categories:
                common = sorted(shown, key=lambda c: (-counts[c], str(c)))
                shown = common[: self.max_categories - 1]
                self._shared.append(j)
            self.categories_[j] = sorted(shown, key=lambda c: (c is None, str(c)))

    def _encoded_matrix(self, X):
        """Return a matrix, centred and scaled, with columns for its gaps."""
        if is_sparse(X):
            rows = scipy.sparse.csr_array(X)[:, self._numbers].astype(floating_name(X))
            rows = scipy.sparse.csr_array(rows.multiply((1 / self.scale_).astype(rows.dtype)))
            if self.constant is None:
                return rows
            last = np.full((X.shape[0], 1), self.constant, dtype=rows.dtype)
            return scipy.sparse.csr_array(scipy.sparse.hstack([rows, last], format="csr"))
        xp = namespace(X)
        X = as_floating(X, floating_name(X))
        kept = X
        if len(self._numbers) < X.shape[1]:
            kept = xp.take(X, _indices(self._numbers, X), axis=1)
        rows = (kept - like(X, self.mean_)) / like(X, self.scale_)
        missing = xp.isnan(rows)
        if bool(xp.any(missing)):
            rows = xp.where(missing, xp.zeros_like(rows), rows)
        self._refuse_infinity(rows, X, xp)
        rows = softened(rows, like(X, self._limits), xp)
        if len(self._gaps):
            gaps = xp.isnan(xp.take(X, _indices(self._gaps, X), axis=1))
            rows = xp.concat([rows, xp.astype(gaps, rows.dtype)], axis=1)
        if self.constant is not None:
            rows = xp.concat([rows, xp.full_like(rows[:, :1], self.constant)], axis=1)
        return rows

    def _encoded_columns(self, X):
        typed = typed_columns(X)
        numeric = [values for kind, values in typed if kind != CATEGORY]
        narrow = all(floating_name(values) == NARROW for values in numeric)
        rows = np.zeros((X.shape[0], self._n_features_out), dtype=NARROW if narrow else float)
        at = len(self._numbers)
        for k, j in enumerate(self._numbers):
            values = self._as_numbers(X, j, *typed[j])
            scaled = (values - self.mean_[k]) / self.scale_[k]
            rows[:, k] = np.where(np.isnan(scaled), 0.0, scaled)
        self._refuse_infinity(rows[:, :at], X, namespace(rows))
        rows[:, :at] = softened(rows[:, :at], self._limits.astype(rows.dtype), np)
        for j in self._gaps:
            rows[:, at] = np.isnan(self._as_numbers(X, j, *typed[j]))
            at += 1
        for j, shown in self.categories_.items():
            width = len(shown) + (j in self._shared)
            codes = self._codes(X, j, typed[j][1], shown)
            known = np.flatnonzero(codes >= 0)
            rows[known, at + codes[known]] = 1.0
            at += width
        if self.constant is not None:
            rows[:, -1] = self.constant
        return rows

    def _as_numbers(self, X, j, kind, values):
        """Return a column that held numbers when it was learnt."""
        if kind == self.kinds_[j]:
            return np.asarray(values, dtype=float)
        present = [value for value in values.tolist() if not is_missing(value)]
        if present:
            shown = f"holds {present[0]!r}" if kind == CATEGORY else f"holds {kind}s"
            raise ValueError(
                f"Column {label_of(X, j)} held {self.kinds_[j]}s when the model was fitted, but "
                f"{shown} now; convert it first."
            )
        return np.full(len(values), np.nan)

    def _codes(self, X, j, values, shown):
        """Return the place of each value among the categories of its column; -1 for none."""
        other = len(shown) if j in self._shared else -1
        places = {category: place for place, category in enumerate(shown)}
        found = [None if is_missing(value) else value for value in values.tolist()]
        codes = np.array([places.get(value, other) for value in found], dtype=int)
        if other >= 0 or self.unseen == "ignore":
            return codes
        unseen = [found[i] for i in np.flatnonzero(codes < 0) if found[i] is not None]
        if unseen:
            some = ", ".join([repr(c) for c in shown if c is not None][:10])
            some += ", ..." if len(shown) > 10 else ""
            raise ValueError(
                f"Column {label_of(X, j)} holds the category {unseen[0]!r}, which was not there "
                f"when the model was fitted (known are {some}); correct it, or fit with "
                "TableEncoder(unseen='ignore')."
            )
        return codes

    def _refuse_infinity(self, rows, X, xp):
        if rows.shape[1] == 0 or all_finite(rows):
            return
        wrong = xp.astype(xp.any(~xp.isfinite(rows), axis=0), xp.int32)
        j = int(self._numbers[int(xp.argmax(wrong))])
        raise ValueError(
            f"X contains infinity in column {label_of(X, j)}; make such entries NaN (missing) "
            "or drop their rows."
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def softened(rows, limits, xp):
    """Return numbers drawn in such that none lies further out than its column's limit."""
    share = rows / limits
    return rows / xp.sqrt(1 + share * share)


def _indices(numbers, X):
    """Return column numbers as an array that the library of ``X`` takes by."""
    xp = namespace(X)
    return numbers if isinstance(X, np.ndarray) else xp.asarray(numbers, device=X.device)
