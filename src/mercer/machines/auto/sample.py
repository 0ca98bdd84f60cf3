"""What is known of the columns, and a sample of the rows that can be encoded again and again."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._array import is_sparse
from ...engine.sample import RowSample
from ...preprocessing.columns import NUMBER


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
        # Decided once: a block may have nothing but missing entries in a column of categories.
        return set(getattr(self.encoder, "kinds_", [NUMBER])) == {NUMBER}

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
        Rows (raw ones if all columns are numbers, else encoded ones), targets and weights.
    """

    def __init__(self, columns: Columns, sample: RowSample) -> None:
        self.columns = columns
        self._raw, self.y, self.weights = sample.columns
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
        if constant is None:
            return raw
        return np.column_stack([raw, np.full(len(raw), constant, dtype=raw.dtype)])

    def repeated_share(self) -> float:
        """Return the share of rows that occur more than once, target included."""
        rows = self._raw.toarray() if is_sparse(self._raw) else np.asarray(self._raw)
        _, codes = np.unique(self.y, axis=0, return_inverse=True)
        _, counts = np.unique(np.column_stack([rows, codes.ravel()]), axis=0, return_counts=True)
        return float(counts[counts > 1].sum() / len(rows))
