"""Derivatives of a part of a kernel by its falls: signs of differences, summed tile by tile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..engine.sums import OrderedSum
from ..ops.manhattan import absolute_sums, signed_sums
from .falls import falls, falls_of_values
from .part_pairs import PartPairs, Span, coefficients_of


class FallPairs(PartPairs):
    """The pairs of rows of two sets, for a kernel of the sum of absolute differences."""

    def gradients(self, rows: Any, span: Span, coefficients: Any) -> list[Any]:
        """Return the gradients at some rows, an array of their shape for each target."""
        totals: list[Any] = [0.0] * coefficients.shape[1]
        for columns, other_rows, tile in self._tiles(rows, span):
            weights = coefficients_of(coefficients, columns)
            sums = signed_sums(tile, rows, other_rows, weights, self.xp)
            totals = [total - part for total, part in zip(totals, sums, strict=True)]
        return totals

    def norm(self, left: Any, right: Any, matrix: bool) -> Any:
        """Return the bilinear form of the derivative by weights of these columns."""
        assert not matrix, "the metric of such a kernel is a weight for each column"
        total = OrderedSum()

        def work(task: tuple[int, Span]) -> None:
            number, span = task
            rows, weights = self.rows(span), coefficients_of(left, span)
            value = 0.0
            for columns, other_rows, tile in self._tiles(rows, span):
                factors = coefficients_of(right, columns)
                pairs = (weights @ factors.T) * tile
                value = value - absolute_sums(pairs, rows, other_rows, self.xp) / 2
            total.add(number, value)

        self.run(work)
        return total.values[0]

    def _tiles(self, rows: Any, span: Span) -> Iterator[tuple[Span, Any, Any]]:
        """Yield the blocks of ``Y``, as span and rows, with their falls to ``rows``."""
        for columns, other_rows in self.other_blocks():
            values = self.values(span, columns)
            found = None if values is None else falls_of_values(self.kernel, values)
            if found is None:
                found = falls(self.kernel, rows, other_rows, self.xp)
            yield columns, other_rows, found
