"""TensorSRHT: products of subsampled randomised transforms, a sketch of two factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import frozen, like
from .._random import Stream
from .._registry import storable
from ..ops.hadamard import padded_length, walsh_hadamard
from ..ops.products import dense
from .structured import pad_columns


@storable
class TensorSRHT:
    """A sketch of the tensor product of two rows by subsampled randomised transforms.

    Real: entry k is (H D₁ a)[i_k] (H D₂ b)[j_k] for the Hadamard matrix H, random signs D
    and independent random indices. Complex: the Fourier transform in the place of H, which
    needs no padding; real and imaginary parts are columns.

    Parameters
    ----------
    stream : Stream
        Where signs and indices come from.
    widths : pair of int
        Columns of the two factors.
    size : int
        Columns of the sketch; even if complex.
    transform : {"hadamard", "fourier"}, default="hadamard"
        Which transform.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> from mercer.sketches import TensorSRHT
    >>> x = np.ones((1, 3))
    >>> TensorSRHT(Stream(0), (3, 3), 8).sketch([x, x], np).shape
    (1, 8)
    """

    size: int
    transform: str

    def __init__(
        self, stream: Stream, widths: tuple[int, int], size: int, transform: str = "hadamard"
    ) -> None:
        if transform == "fourier" and size % 2:
            raise ValueError(f"A complex sketch needs an even size, got {size}.")
        self.size, self.transform = size, transform
        count = size // 2 if transform == "fourier" else size
        self._signs, self._chosen = [], []
        for k, width in enumerate(widths):
            stream.reserve(width + count)
            generator = stream.child(k).generator()
            length = padded_length(width) if transform == "hadamard" else width
            self._signs.append(frozen(generator.choice([-1.0, 1.0], width)))
            self._chosen.append(frozen(generator.integers(length, size=count)))

    def sketch(self, blocks: list[Any], xp: Any) -> Any:
        """Return the sketch of the tensor products of the rows of two blocks."""
        first, second = (
            self._transformed(dense(X) * like(X, signs), chosen, xp)
            for X, signs, chosen in zip(blocks, self._signs, self._chosen, strict=True)
        )
        product = first * second * self._chosen[0].size ** -0.5
        if self.transform == "hadamard":
            return product
        return xp.concat([xp.real(product), xp.imag(product)], axis=1)

    def _transformed(self, X: Any, chosen: np.ndarray, xp: Any) -> Any:
        if self.transform == "hadamard":
            whole = walsh_hadamard(pad_columns(X, padded_length(X.shape[1]), xp), xp)
        else:
            whole = xp.fft.fft(xp.astype(X, _complex_of(X, xp)), axis=1)
        return xp.take(whole, like(X, chosen), axis=1)


def _complex_of(X: Any, xp: Any) -> Any:
    return xp.complex64 if X.dtype == xp.float32 else xp.complex128
