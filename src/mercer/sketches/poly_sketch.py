"""PolySketch: sketches of the tensor powers of a row, as a chain or as a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._array import like
from .._random import Stream
from .._registry import storable
from ..ops.products import dense
from .tensor_sketch import TensorSketch
from .tensor_srht import TensorSRHT


def _node(stream: Stream, widths: tuple[int, int], size: int, kind: str, keeps_places: bool) -> Any:
    """Return a sketch of two factors, of which the first may have been sketched before."""
    if kind == "tensor":
        return TensorSketch(stream, widths, size, keeps_places)
    return TensorSRHT(stream, widths, size, "hadamard" if kind == "srht" else "fourier")


@storable
class PolyChain:
    """Sketches of all tensor powers up to a degree in one pass.

    T₁ = x and T_{j+1} is a sketch of the tensor product of T_j and x, with fresh randomness
    at every step: ⟨T_j(x), T_j(y)⟩ is ⟨x, y⟩^j in expectation, and its variance grows with the
    degree, not exponentially.

    Parameters
    ----------
    stream : Stream
        Where the sketches come from.
    n_features, size, degree : int
        Columns of the input, columns of the sketches, and the highest power.
    node : {"tensor", "srht", "srht-complex"}, default="tensor"
        The sketch of two factors.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import PolyChain
    >>> chain = PolyChain(Stream(0), n_features=3, size=16, degree=4)
    >>> [power.shape for power in chain.powers(np.ones((2, 3)), np)]
    [(2, 3), (2, 16), (2, 16), (2, 16)]
    """

    def __init__(
        self, stream: Stream, n_features: int, size: int, degree: int, node: str = "tensor"
    ) -> None:
        self.degree = degree
        widths = [n_features] + [size] * (degree - 2)
        self._nodes = [
            # A power that is a sketch already needs new signs, and no new places.
            _node(stream.child("chain", j), (width, n_features), size, node, j > 0)
            for j, width in enumerate(widths[: degree - 1])
        ]

    def powers(self, X: Any, xp: Any) -> Iterator[Any]:
        """Yield the sketches of the first, second, ... power of the rows."""
        yield X
        yield from self._higher_powers(X, xp)

    def weighted_sums(
        self,
        X: Any,
        weights: Sequence[Sequence[np.ndarray]],
        xp: Any,
        totals: Sequence[Any],
        places: Sequence[Any],
    ) -> list[Any]:
        """Return sums of the powers from the second on, times weights of their columns.

        Parameters
        ----------
        X : array of shape (n, n_features)
            Rows.
        weights : sequence of sequences of arrays of shape (size,)
            For each sum the weights of each power from the second on, as far as it goes.
        totals : sequence of arrays of shape (n, size) or None
            What each sum is added to; they may be overwritten.
        places : sequence of arrays of shape (n, size) or None
            Where fused kernels put a sum that is added to nothing.
        """
        sums = list(totals)
        longest = max(len(own) for own in weights)
        if isinstance(self._nodes[0], TensorSketch) and self._nodes[0].in_pairs(X):
            return self._sums_in_pairs(X, weights, sums, places, self._nodes[:longest])
        for place, power in zip(range(longest), self._higher_powers(X, xp), strict=False):
            for k in _users(weights, place):
                term = power * like(X, weights[k][place])
                sums[k] = term if sums[k] is None else sums[k] + term
        return sums

    def _higher_powers(self, X: Any, xp: Any) -> Iterator[Any]:
        power = X
        for node in self._nodes:
            power = node.sketch([power, X], xp)
            yield power

    def _sums_in_pairs(
        self,
        X: Any,
        weights: Sequence[Sequence[np.ndarray]],
        sums: list[Any],
        places: Sequence[Any],
        nodes: Sequence[TensorSketch],
    ) -> list[Any]:
        """Return the sums, with the powers as pairs of rows."""
        from ..ops._cuda.convolution import add_pairs

        pairs = X
        for power, node in enumerate(nodes):
            pairs = node.sketch_pairs(pairs, X)
            users = _users(weights, power)
            follows = power + 1 < len(nodes)
            for k in users:
                # Who looks at a power last gives it the signs of the next sketch, by the way.
                signs = nodes[power + 1].first_signs(X) if follows and k == users[-1] else None
                weight = like(X, weights[k][power])
                sums[k] = add_pairs(pairs, weight, sums[k], signs, places[k])
            if users and follows:
                pairs = pairs._replace(signed=True)
        return sums


def _users(weights: Sequence[Sequence[np.ndarray]], place: int) -> list[int]:
    """Return which sums a power belongs to."""
    return [k for k, own in enumerate(weights) if place < len(own) and own[place].any()]


@storable
class PolyTree:
    """A sketch of one tensor power by a balanced tree of sketches of two factors [1]_.

    Parameters
    ----------
    stream : Stream
        Where the sketches come from.
    n_features, size, degree : int
        Columns of the input and of the sketch, and the power.
    node : {"tensor", "srht", "srht-complex"}, default="tensor"
        The sketch of two factors.

    References
    ----------
    .. [1] T. Ahle et al., "Oblivious sketching of high-degree polynomial kernels", SODA 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import PolyTree
    >>> PolyTree(Stream(0), n_features=3, size=16, degree=5).sketch(np.ones((2, 3)), np).shape
    (2, 16)
    """

    def __init__(
        self, stream: Stream, n_features: int, size: int, degree: int, node: str = "tensor"
    ) -> None:
        self._root = _grown(stream, degree, (n_features, size), node)

    def sketch(self, X: Any, xp: Any) -> Any:
        """Return the sketch of the power of the rows."""
        return self._evaluated(self._root, dense(X), xp)

    def _evaluated(self, tree: Any, X: Any, xp: Any) -> Any:
        if tree is None:
            return X
        node, branches = tree
        return node.sketch([self._evaluated(branch, X, xp) for branch in branches], xp)


def _grown(
    stream: Stream, degree: int, shape: tuple[int, int], kind: str, number: int = 0
) -> tuple[Any, tuple[Any, Any]] | None:
    """Return a tree: ``None`` for a leaf, else a node and its two branches."""
    if degree == 1:
        return None
    n_features, size = shape
    left, right = (degree + 1) // 2, degree // 2
    widths = (n_features if left == 1 else size, n_features if right == 1 else size)
    node = _node(stream.child("tree", number), widths, size, kind, left > 1)
    branches = (
        _grown(stream, left, shape, kind, 2 * number + 1),
        _grown(stream, right, shape, kind, 2 * number + 2),
    )
    return node, branches
