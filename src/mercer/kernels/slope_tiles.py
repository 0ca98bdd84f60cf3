"""Derivatives of a part of a kernel by its slopes: each tile is multiplied with rows at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..engine.sums import OrderedSum
from .part_pairs import PartPairs, Span, coefficients_of, summed
from .slopes import Slopes, slopes, slopes_of_values


class SlopePairs(PartPairs):
    """The pairs of rows of two sets, for a kernel of norms and inner products."""

    def gradients(self, rows: Any, span: Span, coefficients: Any) -> list[Any]:
        """Return the gradients at some rows, an array of their shape for each target."""
        n_targets = coefficients.shape[1]
        products: list[Any] = [0.0] * n_targets
        own: Any = None
        for columns, other_rows, tile in self._tiles(rows, span):
            weights = coefficients_of(coefficients, columns)
            for k in range(n_targets):
                products[k] = products[k] + tile.cross @ (weights[:, k : k + 1] * other_rows)
            if tile.own is not None:
                sums = tile.own @ weights
                own = sums if own is None else own + sums
        if own is None:
            return products
        return [product + own[:, k : k + 1] * rows for k, product in enumerate(products)]

    def norm(self, left: Any, right: Any, matrix: bool) -> Any:
        """Return the bilinear form of the derivative by weights of these columns."""
        xp, total = self.xp, OrderedSum()

        def work(task: tuple[int, Span]) -> None:
            number, span = task
            rows, weights = self.rows(span), coefficients_of(left, span)
            product, own, others = 0.0, 0.0, []
            for columns, other_rows, tile in self._tiles(rows, span):
                factors = coefficients_of(right, columns)
                product = product + ((weights @ factors.T) * tile.cross) @ other_rows
                if tile.own is not None:
                    own = own + xp.sum(weights * (tile.own @ factors), axis=1, keepdims=True)
                    others.append(xp.sum(factors * (tile.other.T @ weights), axis=1, keepdims=True))
            value = summed(rows, product + own * rows / 2, matrix, xp)
            total.add(number, value, *([xp.concat(others)] if others else []))

        self.run(work)
        value, *others = total.values
        if others:
            for span, rows in self.other_blocks():
                part = others[0][span[0] : span[1], :] * rows / 2
                value = value + summed(rows, part, matrix, xp)
        return (value + value.T) / 2 if matrix else value

    def _tiles(self, rows: Any, span: Span) -> Iterator[tuple[Span, Any, Slopes]]:
        """Yield the blocks of ``Y``, as span and rows, with their slopes to ``rows``."""
        for columns, other_rows in self.other_blocks():
            values = self.values(span, columns)
            found = None if values is None else slopes_of_values(self.kernel, values)
            if found is None:
                found = slopes(self.kernel, rows, other_rows, self.xp)
            yield columns, other_rows, found
