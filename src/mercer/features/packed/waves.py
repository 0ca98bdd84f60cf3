"""Cosines rounded to one or two bits: random Fourier features made of additions."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..._array import floating_name, frozen, is_numpy, namespace
from ..._random import Stream
from ..._registry import storable
from ..._sklearn import RANDOM_STATE, Interval, Options, StrOptions, checked
from ...kernels import Gaussian, Isotropic, Kernel, WaveKernel
from ...ops.waves import RoundedCosine, Waves
from ...sketches import Projection, TernaryProjection, draw_probabilities
from ..base import FeatureMap
from ..frequencies import draw_frequencies
from ..traits import MapTraits
from .projected import block_wave_codes, packed_waves, wave_codes
from .sparsity import FEWEST_TERMS, share_of_zeros, warn_of_few_terms


@storable
class WaveFeatures(FeatureMap):
    r"""Random Fourier features rounded to two bits or one, of frequencies in {-1, 0, 1}.

    With frequencies :math:`w_j` and uniform shifts :math:`b_j` the features are the cosines and
    the sines of :math:`w_j^\top x + b_j`, rounded to -3, -1, 1 or 3, to -1, 0 or 1, or to -1 or
    1. Because of the shifts rounding is no bias that nothing is known of: inner products have a
    mean of their own, ``kernel_``, which is the target plus a narrow peak where rows almost
    coincide [1]_. For rows that are farther apart the peak is on the diagonal of the kernel
    matrix only, and acts as a ridge parameter does: see :meth:`ridge_parameter`.

    Frequencies are columns of entries -1, 0 and 1, times a number each: a projection is made of
    additions. Its sums are to be normal; of fewer than 25 columns frequencies are therefore
    dense.

    Parameters
    ----------
    kernel : Kernel, default=None
        :class:`~mercer.Gaussian`, :class:`~mercer.Laplace`, :class:`~mercer.Matern` or another
        kernel of the Euclidean distance; ``None`` means ``Gaussian()``.
    n_components : int, default=4096
        The number of features: a cosine and a sine for each frequency.
    levels : {2, 3, 4}, default=4
        How many values a feature has. Four and three take two bits, two take one.
    sparsity : float or "auto", default="auto"
        The share of zeros in the projection. ``"auto"``: 0.9, or less where fewer than 25 entries
        of a column would be left; of fewer than 25 columns frequencies are dense.
    output : {"int8", "packed", "float"}, default="int8"
        What ``transform`` returns: int8; bits, as :class:`PackedFeatures`; or floats, scaled so
        that their inner products approximate ``kernel_``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the frequencies and the shifts.

    Attributes
    ----------
    kernel_ : WaveKernel
        The exact kernel of the features, for normal sums; its ``kernel`` is the target.
    target_kernel_ : Kernel
        The kernel that was asked for, its lengthscale a number.
    cosine_ : RoundedCosine
        Values, scale and harmonics: the inner products of integer features approximate
        ``kernel_`` times m / scale².
    ridge_correction_ : float
        Less what the features add to the diagonal. See :meth:`ridge_parameter`.
    projection_ : TernaryProjection or DenseProjection
        The directions of the frequencies.
    waves_ : Waves
        What becomes of a projection.
    seed_ : int
        The seed of everything that was drawn.

    References
    ----------
    .. [1] P. T. Boufounos and S. Rane, "Efficient coding of signal distances using universal
       quantized embeddings", DCC 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, WaveFeatures
    >>> X = np.random.default_rng(0).standard_normal((100, 300)) / 300**0.5
    >>> features = WaveFeatures(Gaussian(), n_components=1000, random_state=0).fit(X)
    >>> np.unique(features.transform(X)).tolist(), round(features.ridge_correction_, 3)
    ([-3, -1, 1, 3], -0.048)
    >>> features.set_params(output="packed").transform(X)
    PackedFeatures(100 x 1,000, 2 bits an entry, 0.0256 MB)
    """

    projection_: Projection
    waves_: Waves

    _parameter_constraints: dict[str, Any] = {
        "kernel": [Kernel, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "levels": [Options(Integral, {2, 3, 4})],
        "sparsity": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "output": [StrOptions({"int8", "packed", "float"})],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 4096,
        levels: int = 4,
        sparsity: float | str = "auto",
        output: str = "int8",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.levels = levels
        self.sparsity = sparsity
        self.output = output
        self.random_state = random_state

    @property
    def target_kernel_(self) -> Kernel:
        """The kernel that was asked for, its lengthscale a number."""
        target: Kernel = self.kernel_.kernel  # type: ignore[attr-defined]
        return target

    @property
    def cosine_(self) -> RoundedCosine:
        """Values, scale and harmonics."""
        return self.waves_.cosine

    @property
    def ridge_correction_(self) -> float:
        """Less what the features add to the diagonal."""
        return -self.cosine_.excess

    def ridge_parameter(self, alpha: float) -> float:
        """Return the ridge parameter for these features that acts as ``alpha`` does for the target.

        Where rows do not almost coincide, rounding adds a multiple of the identity to the kernel
        matrix, as a ridge parameter does: it is taken off again, where something is left, and
        brought to the scale of what ``transform`` returns.

        Parameters
        ----------
        alpha : float
            The ridge parameter for the target kernel.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import WaveFeatures
        >>> features = WaveFeatures(output="float", random_state=0).fit(np.eye(3))
        >>> round(features.ridge_parameter(1.0), 3), features.ridge_parameter(0.01)
        (0.952, 0.01)
        """
        left = alpha + self.ridge_correction_
        own = left if left > 0 else alpha
        return own if self.output == "float" else own / self._factor**2

    @property
    def _factor(self) -> float:
        """Return what integers are multiplied with."""
        return self.cosine_.scale / math.sqrt(self.n_components)

    def _kernel(self) -> Kernel:
        known = checked(Gaussian() if self.kernel is None else self.kernel)
        if not isinstance(known, Isotropic):
            raise ValueError(
                f"kernel={known!r} is not a kernel of the Euclidean distance; use Gaussian, "
                "Laplace or Matern here, and TernaryFeatures for other kernels."
            )
        return WaveKernel(known, int(self.levels))

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        size = -(-int(self.n_components) // 2)
        if self.sparsity == "auto" and n_features_in < FEWEST_TERMS:
            target = self.target_kernel_
            _, projection = draw_frequencies(target, "auto", True, stream, n_features_in, size)
            lengths = np.ones(size)
        else:
            projection, lengths = self._additions(stream, n_features_in, size)
        stream.reserve(size)
        shifts = stream.child("shifts").generator().uniform(0, 1, size)
        cosine = RoundedCosine(int(self.levels))
        scales = frozen(lengths / (2 * math.pi))
        factor = cosine.scale / math.sqrt(self.n_components)
        return {
            "projection_": projection,
            "waves_": Waves(cosine, scales, frozen(shifts), int(self.n_components)),
            "traits_": MapTraits(
                unbiased=not isinstance(projection, TernaryProjection),
                scratch=2 * int(self.n_components),
                step=factor * (1 if self.levels == 3 else 2),
            ),
        }

    def _additions(
        self, stream: Stream, n_features_in: int, size: int
    ) -> tuple[Projection, np.ndarray]:
        """Return directions in {-1, 0, 1}, and what makes frequencies of them."""
        sparsity = share_of_zeros(self.sparsity, n_features_in)
        warn_of_few_terms(sparsity, n_features_in, "sparsity='auto'")
        drawn = stream.child("directions")
        projection = TernaryProjection(drawn, n_features_in, size, sparsity)
        u = draw_probabilities(stream.child("radii"), size, stratified=True)
        radii = self.target_kernel_.spectral_radii(u, n_features_in)  # type: ignore[attr-defined]
        return projection, radii / np.sqrt(np.maximum(projection.counts, 1))

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        name = floating_name(X)
        if is_numpy(X):
            target = np.empty((X.shape[0], self.waves_.size), dtype=name) if out is None else out
            codes = np.empty(target.shape, dtype=np.int8)
            block_wave_codes(X, self.projection_, self.waves_, codes)
            return np.multiply(codes, np.asarray(self._factor, dtype=name), out=target)
        codes = self.waves_.of(self.projection_.project(X, xp))
        return xp.astype(codes, getattr(namespace(X), name)) * self._factor

    def _all_rows(self, block_map: Callable[..., Any], X: Any) -> Any:
        if self.output == "float":
            return super()._all_rows(block_map, X)
        whole = packed_waves if self.output == "packed" else wave_codes
        return whole(X, self.projection_, self.waves_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.output != "float":
            tags.transformer_tags.preserves_dtype = []
        return tags
