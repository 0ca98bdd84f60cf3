"""Which kernel, lengthscale and encoding: compared by cross-validation on a sample of the rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._array import is_sparse
from ..._words import did_you_mean
from ...engine.sample import RowSample
from ...features.for_kernel import features_for, has_features
from ...kernels import NNGP, NTK, ArcCosine, Gaussian, Kernel, Laplace, Matern
from ...preprocessing.columns import NUMBER

#: The name that asks for a choice among kernels of different kinds.
AUTO = "auto"
#: Kernels by name; "rbf" is scikit-learn's name of the Gaussian kernel.
NAMES: dict[str, type[Kernel]] = {
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "laplace": Laplace,
    "matern": Matern,
    "arccosine": ArcCosine,
    "nngp": NNGP,
    "ntk": NTK,
}
#: The encoding of whole numbers by a column for each of them, and that of an encoder of the user.
CATEGORIES, AS_ENCODED = "whole numbers as categories", "as encoded"
#: What a search makes of columns of numbers.
ENCODINGS: dict[str, dict[str, Any]] = {
    "standardized": {},
    "ranks": {"scaling": "ranks"},
    CATEGORIES: {"whole_numbers": "categories"},
}
#: What a linear model sees: soft clipping is not linear.
UNCLIPPED = "unclipped"
#: The widest rows that whole numbers as categories may make.
WIDEST = 300
#: Rows and features that kernels are compared with.
PILOT_ROWS, PILOT_COMPONENTS = 4096, 512
#: The share of repeated rows from which on users are told.
REPEATED = 0.1
#: How far a lengthscale may be from the median distance, and the gain worth a step there.
FACTORS, GAIN = (2.0**-5, 2.0**3), 0.002


@dataclass
class Columns:
    """What the first pass over the rows learns: the columns, and how many rows there are.

    Attributes
    ----------
    encoder : transformer
        Fitted on all rows.
    n_rows : int
        Rows that were seen.
    free : bool
        Whether the encoder is ours to change.
    """

    encoder: Any
    n_rows: int
    free: bool

    @property
    def is_numeric(self) -> bool:
        """Whether all columns hold numbers: then the sample can be encoded again and again."""
        # Decided once: a block may have nothing but missing entries in a column of categories. What
        # another encoder makes of columns is not known.
        return set(getattr(self.encoder, "kinds_", [None])) == {NUMBER}

    def encodings(self) -> list[str]:
        """Return the names of the encodings that a search tries."""
        if not self.free:
            return [AS_ENCODED]
        names = list(ENCODINGS)
        width = len(self.encoder_named(CATEGORIES).get_feature_names_out())
        if width == len(self.encoder.get_feature_names_out()) or width > WIDEST:
            names.remove(CATEGORIES)
        return names

    def encoder_named(self, name: str) -> Any:
        """Return the encoder of an encoding of :meth:`encodings`, or that of a linear model."""
        if name == UNCLIPPED:
            return self.encoder.rescaled(limit=None) if self.free else self.encoder
        return self.encoder.rescaled(**ENCODINGS[name]) if name in ENCODINGS else self.encoder

    def views(self, searched: bool) -> dict[str, Any]:
        """Return the encoders whose rows a sample keeps side by side; none if it keeps raw rows."""
        if self.is_numeric:
            return {}
        if not (searched and self.free):
            return {AS_ENCODED: self.encoder}
        return {name: self.encoder_named(name) for name in [*self.encodings(), UNCLIPPED]}

    def encoder_for(self, scaling: str, constant: float | None) -> Any:
        """Return the encoder with a scaling and a constant column, if it is ours to change."""
        if not self.free:
            return self.encoder
        return self.encoder.rescaled(scaling=scaling, constant=constant)


class EncodedSample:
    """A sample of the rows with their targets and weights, encoded as it is asked for.

    Parameters
    ----------
    columns : Columns
        What is known of the columns.
    sample : RowSample
        Rows, targets and weights. Rows are raw ones if all columns are numbers, else encoded
        ones.
    views : dict
        The encoders of the latter, by name; their columns stand side by side.
    bring : callable
        Gives encoded rows of the host where trials are computed.
    """

    columns: Columns
    y: Any
    weights: Any

    def __init__(
        self,
        columns: Columns,
        sample: RowSample,
        views: dict[str, Any],
        bring: Callable[[np.ndarray], Any] = np.asarray,
    ) -> None:
        self.columns, self._bring = columns, bring
        self._raw, self.y, self.weights = sample.columns
        self._places: dict[str, slice] = {}
        start = 0
        for name, encoder in views.items():
            stop = start + len(encoder.get_feature_names_out())
            self._places[name] = slice(start, stop)
            start = stop
        self._encoded: dict[tuple[str, float | None], Any] = {}

    def scalings(self) -> list[str]:
        """Return the scalings to try."""
        several = self.columns.free and self.columns.is_numeric and self._raw.shape[1] > 1
        if several and not is_sparse(self._raw):
            return ["each", "common"]
        return [getattr(self.columns.encoder, "scaling", "each")]

    def rows(self, scaling: str, constant: float | None = None) -> Any:
        """Return the encoded rows; the last ones are kept."""
        key = scaling, constant
        if key not in self._encoded:
            self._encoded = {key: self._encode(scaling, constant)}
        return self._encoded[key]

    def _encode(self, scaling: str, constant: float | None) -> Any:
        raw = self._raw
        if self.columns.is_numeric:
            with warnings.catch_warnings():
                # The sample has lost the names of its columns, after they were compared.
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                return self.columns.encoder_for(scaling, constant).transform(raw)
        if len(self._places) > 1:
            raw = raw[:, next(iter(self._places.values()))]
        if constant is None:
            return raw
        return np.column_stack([raw, np.full(len(raw), constant, dtype=raw.dtype)])

    def encoded(self, name: str) -> Any:
        """Return the rows in an encoding of the columns, or in that of a linear model.

        They are dense, and where trials are computed.
        """
        if self._places:
            own = self._places[name if name in self._places else AS_ENCODED]
            return self._bring(np.asarray(self._raw[:, own]))
        with warnings.catch_warnings():
            # The sample has lost the names of its columns, after they were compared.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return self._bring(np.asarray(self.columns.encoder_named(name).transform(self._raw)))

    def target_codes(self) -> np.ndarray:
        """Return a number for each row, equal where targets are equal."""
        # Labels may be objects, which NumPy compares in one dimension only.
        axis = 0 if self.y.ndim == 2 else None
        return np.unique(self.y, axis=axis, return_inverse=True)[1].ravel()

    def repeated_share(self) -> float:
        """Return the share of rows that occur more than once, target included; 0 if it is small."""
        rows = self._raw.toarray() if is_sparse(self._raw) else np.asarray(self._raw, dtype=float)
        # Missing entries are equal here, too.
        table = np.column_stack([np.where(np.isnan(rows), np.inf, rows), self.target_codes()])
        _, counts = np.unique(table, axis=0, return_counts=True)
        # Of two copies a sample rarely holds both; of many it holds their share.
        pairs = 2 * np.sum(counts == 2) * self.columns.n_rows / len(rows)
        share = float(min((pairs + counts[counts > 2].sum()) / len(rows), 1.0))
        return share if share >= REPEATED else 0.0


@dataclass(frozen=True)
class Candidate:
    """A kernel and the encoding it is tried with."""

    kernel: Kernel
    scaling: str
    constant: float | None = None


class Pilot:
    """Compares kernels by cross-validation on a sample of the rows.

    Parameters
    ----------
    sample : EncodedSample
        The rows to compare on.
    machine : estimator or None
        A ridge machine; its features are set, everything else stays. ``None`` if the sample
        cannot tell kernels apart: then all are equally good.
    options : dict
        Further arguments of its fit.
    n_components : int or None
        Features that the machine will have; no more are compared.
    seed : int
        Of the random features.
    """

    sample: EncodedSample

    def __init__(
        self,
        sample: EncodedSample,
        machine: Any,
        options: dict[str, Any],
        n_components: int | None,
        seed: int,
    ) -> None:
        self.sample, self._machine, self._options = sample, machine, options
        self._most = min(PILOT_COMPONENTS, n_components or PILOT_COMPONENTS)
        self._seed = seed
        self._errors: dict[tuple[Any, ...], float] = {}

    @property
    def n_tried(self) -> int:
        """How many kernels were compared."""
        return len(self._errors)

    def error(
        self,
        candidate: Candidate,
        n_rows: int = PILOT_ROWS,
        most: int = PILOT_COMPONENTS,
        selection: str | None = None,
    ) -> float:
        """Return the squared error of held-out rows, as a share of the targets' variance.

        Parameters
        ----------
        candidate : Candidate
            What is tried.
        n_rows, most : int
            Rows and features, at most.
        selection : str, default=None
            Another criterion than that of the machine.
        """
        if self._machine is None:
            return 0.0
        key = repr(candidate.kernel), candidate.scaling, candidate.constant, n_rows, most
        if key not in self._errors:
            X = self.sample.rows(candidate.scaling, candidate.constant)
            y, weights = self.sample.y, self.sample.weights
            if X.shape[0] > n_rows:
                some = np.random.default_rng(self._seed).permutation(X.shape[0])[:n_rows]
                X, y, weights = X[some], y[some], weights[some]
            size = int(min(self._most, most, max(32, X.shape[0] // 4)))
            machine = clone(self._machine)
            if selection is not None:
                machine.set_params(selection=selection)
            machine.set_params(features=features_for(candidate.kernel, size, self._seed))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                machine.fit(X, y, weights, **self._options)
            self._errors[key] = machine.expected_error()
        return self._errors[key]

    def best_scale(
        self, make: Callable[[float], Candidate], start: float = 1.0
    ) -> tuple[Candidate, float]:
        """Return the best candidate ``make(factor)``, climbing from ``start`` by factors."""
        factor, best = start, self.error(make(start))
        for step in (2.0, 2.0**0.5):
            for direction in (1 / step, step):
                moved = False
                while FACTORS[0] <= factor * direction <= FACTORS[1]:
                    error = self.error(make(factor * direction))
                    if error > (1 - GAIN) * best:
                        break
                    factor, best, moved = factor * direction, error, True
                if moved:
                    break
        return make(factor), best


def named_kernel(name: str, **parameters: Any) -> Kernel:
    """Return the kernel that a name stands for.

    Examples
    --------
    >>> named_kernel("rbf")
    Gaussian()
    """
    if name not in NAMES:
        names = sorted([*NAMES, AUTO])
        hint = did_you_mean(name, names, f"known are {', '.join(names)}.")
        raise ValueError(f"kernel={name!r} is not the name of a kernel; {hint}")
    return NAMES[name](**parameters)


def has_feature_map(kernel: Kernel | str | None) -> bool:
    """Return whether what was asked for can be approximated by features.

    Examples
    --------
    >>> has_feature_map("ntk"), has_feature_map(Gaussian() + Laplace())
    (True, False)
    """
    if kernel == AUTO:
        return True
    known = named_kernel(kernel) if isinstance(kernel, str) else kernel
    return known is None or has_features(known)
