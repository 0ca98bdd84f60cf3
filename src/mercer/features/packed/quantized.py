"""Random Fourier features of one to eight bits each, rounded at random and without bias."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from ..._array import floating_name, frozen, namespace, to_numpy
from ..._random import Stream
from ..._registry import storable
from ..._sklearn import RANDOM_STATE, Interval, StrOptions
from ...engine.memory import allocate
from ...kernels import Kernel
from ...ops.fourier import shifted_cosine
from ...ops.packed import n_words, pack_codes
from ...ops.rounding import coded_values, rounded_codes, rounding_excess, row_hashes
from ...sketches import Projection
from ..base import FeatureMap
from ..frequencies import draw_frequencies, projection_names, spectral_kernel
from ..traits import MapTraits
from .code import MOST_BITS, Code
from .features import PackedFeatures
from .projected import run_row_blocks


@storable
@dataclass(frozen=True, eq=False)
class RoundedColumns:
    """What every feature has of its own beside its frequency.

    Attributes
    ----------
    shifts : array of shape (size,)
        What is added to its phase.
    keys : uint64 array of shape (size,)
        What its noise is made of, together with a row's contents.
    """

    shifts: np.ndarray
    keys: np.ndarray

    def __mercer_check__(self) -> None:
        """Raise an error if what was read from a file are not shifts and keys."""
        if self.shifts.shape != self.keys.shape or self.keys.dtype != np.uint64:
            raise ValueError("shifts and keys must be arrays of one shape, the keys uint64.")


@storable
class QuantizedFourier(FeatureMap):
    r"""Random Fourier features that are rounded to few bits, without bias.

    With frequencies :math:`w_j` of the kernel's spectral measure and uniform shifts :math:`b_j`
    the features

    .. math:: z_j(x) = \sqrt{2/m} \cos(w_j^\top x + b_j)

    are rounded, up or down at random, to one of :math:`2^b` levels at equal distances, such that
    each is right on average [1]_. The inner product of the features of two different rows then has
    the kernel as its mean; it varies a little more. The same memory holds :math:`32 / b` times as
    many features as in float32, which is a gain where memory is what limits them.

    Noise is a function of the seed, the row (its entries in float32) and the feature: the features
    of a row do not depend on other rows or on how often they are computed, and equal rows have
    equal features. So the inner product of a row's features with themselves, or with those of an
    equal row, is larger than the kernel, by ``diagonal_excess_`` on average. On the diagonal of a
    training kernel matrix that acts as a ridge parameter does: see :meth:`ridge_parameter`.

    Parameters
    ----------
    kernel : Kernel, default=None
        :class:`~mercer.Gaussian`, :class:`~mercer.Laplace`, :class:`~mercer.Matern`,
        :class:`~mercer.ProductLaplace` or another kernel that knows its spectral measure;
        ``None`` means ``Gaussian()``.
    n_components : int, default=4096
        The number of features, each with a frequency of its own.
    bits : int, default=4
        What a feature takes, from 1 to 8.
    projection : str, default="auto"
        How the directions of the frequencies are drawn; see :class:`RandomFourier`.
    stratified : bool, default=True
        Spread the lengths of the frequencies evenly over their law instead of drawing them
        independently.
    output : {"float", "packed"}, default="float"
        What ``transform`` returns: floats, or bits, as :class:`PackedFeatures`. The values are the
        same; only bits save memory.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the frequencies, the shifts and the rounding.

    Attributes
    ----------
    kernel_ : Kernel
        The exact kernel that the map approximates, its lengthscale a number.
    projection_ : Projection
        The frequencies, as a linear operator.
    projection_name_ : str
        Which projection ``"auto"`` chose.
    columns_ : RoundedColumns
        The shifts of the phases, and the keys of the noise.
    code_ : Code
        What bits are worth.
    diagonal_excess_ : float
        What the squared norm of a row's features, which is 1 on average before, gains by rounding:
        1 for one bit, 0.126 for two, 0.0055 for four, 0.00002 for eight.
    seed_ : int
        The seed of everything that was drawn.

    References
    ----------
    .. [1] J. Zhang, A. May, T. Dao and C. Ré, "Low-precision random Fourier features for
       memory-constrained kernel approximation", AISTATS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, QuantizedFourier
    >>> X = np.random.default_rng(0).standard_normal((100, 8))
    >>> features = QuantizedFourier(Gaussian("median"), bits=2, random_state=0).fit(X)
    >>> Z = features.transform(X)
    >>> error = abs(Z @ Z.T - features.kernel_(X) - features.diagonal_excess_ * np.eye(100))
    >>> bool(error.max() < 0.1)
    True
    >>> features.set_params(output="packed").transform(X)
    PackedFeatures(100 x 4,096, 2 bits an entry, 0.102 MB)
    """

    projection_: Projection
    projection_name_: str
    columns_: RoundedColumns
    code_: Code

    _parameter_constraints: dict[str, Any] = {
        "kernel": [Kernel, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "bits": [Interval(Integral, 1, MOST_BITS, closed="both")],
        "projection": [projection_names()],
        "stratified": ["boolean"],
        "output": [StrOptions({"float", "packed"})],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 4096,
        bits: int = 4,
        projection: str = "auto",
        stratified: bool = True,
        output: str = "float",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.bits = bits
        self.projection = projection
        self.stratified = stratified
        self.output = output
        self.random_state = random_state

    @property
    def diagonal_excess_(self) -> float:
        """What the squared norm of a row's features gains by rounding, on average."""
        return self.traits_.excess

    def ridge_parameter(self, alpha: float) -> float:
        """Return the ridge parameter for these features that acts as ``alpha`` does for the kernel.

        Rounding adds ``diagonal_excess_`` times the identity to the kernel matrix of different
        rows, as a ridge parameter does: it is taken off again, where something is left.

        Parameters
        ----------
        alpha : float
            The ridge parameter for the kernel.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import QuantizedFourier
        >>> features = QuantizedFourier(bits=2, random_state=0).fit(np.eye(3))
        >>> round(features.ridge_parameter(1.0), 3), features.ridge_parameter(0.1)
        (0.874, 0.1)
        """
        left = alpha - self.diagonal_excess_
        return left if left > 0 else alpha

    def _kernel(self) -> Kernel:
        return spectral_kernel(self.kernel)

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        size, bits = int(self.n_components), int(self.bits)
        name, projection = draw_frequencies(
            self.kernel_, self.projection, self.stratified, stream, n_features_in, size
        )
        stream.reserve(2 * size, draws=2)
        shifts = stream.child("shifts").generator().uniform(0, 2 * np.pi, size)
        keys = stream.child("rounding").generator().integers(0, 2**64, size, dtype=np.uint64)
        largest = math.sqrt(2 / size)
        return {
            "projection_": projection,
            "projection_name_": name,
            "columns_": RoundedColumns(frozen(shifts), frozen(keys)),
            "code_": Code.uniform(bits, -largest, largest),
            "traits_": MapTraits(
                scratch=projection.scratch + 2 * size,
                excess=rounding_excess(bits),
                step=2 * largest / (2**bits - 1),
            ),
        }

    def _codes(self, X: Any, xp: Any) -> Any:
        """Return the codes of the features of a block, in uint8 and in its library."""
        cosines = shifted_cosine(self.projection_.project(X, xp), self.columns_.shifts, xp)
        return rounded_codes(cosines, row_hashes(X), self.columns_.keys, self.code_.n_planes)

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        codes = self._codes(X, xp)
        # To the last bit what unpacking gives.
        values = replace(self.code_, dtype=floating_name(X)).values
        return coded_values(codes, values, out)

    def _all_rows(self, block_map: Callable[..., Any], X: Any) -> Any:
        if self.output == "float":
            return super()._all_rows(block_map, X)
        size = self.projection_.size
        planes = allocate(np.empty(0), (self.code_.n_planes, X.shape[0], n_words(size)), "uint64")

        def work(block: Any, start: int) -> None:
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                codes = to_numpy(self._codes(block, namespace(block)))
            pack_codes(codes, planes[:, start : start + codes.shape[0]])

        run_row_blocks(work, X, size + self.traits_.scratch, "X")
        return PackedFeatures(planes, size, self.code_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.output != "float":
            tags.transformer_tags.preserves_dtype = []
        return tags
