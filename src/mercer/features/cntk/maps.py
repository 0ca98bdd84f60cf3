"""Features of the convolutional neural tangent kernel."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import scipy.fft

from ..._random import Stream
from ..._registry import storable
from ..._sklearn import RANDOM_STATE, Interval, StrOptions
from ...kernels import CNTK
from ...ops.images import as_images, image_shape_of, mirror_images
from ..base import FeatureMap
from ..rules import Situation, chosen_method
from ..traits import MapTraits
from .layers import ConvolutionalLayers, Network, Widths
from .random_layers import RandomLayers
from .sketch_layers import SketchLayers

#: Columns of Ψ in the last layer, as a share of all.
RELU_SHARE = 0.5
#: The degrees of series and of sketched polynomials unless others are asked for.
SERIES, SKETCHED = 2, 8
#: The most columns of each kind that inner layers have unless more are asked for.
WIDEST = 1024


@storable
class CNTKSketch(FeatureMap):
    r"""Features of the convolutional neural tangent kernel, linear in the number of pixels.

    At every position two sets of features are carried from layer to layer: Ψ, whose inner
    products are those of the activations, and Φ, whose are the tangent kernel. The same sketches
    serve all positions and images. With the mean over positions at the end the kernel of all
    pairs of positions, which takes their number squared for each pair of images, is an inner
    product of two rows [1]_.

    ``"random"``: Ψ and the factor of order 0 are random features of the arc-cosine kernels, or of
    their first terms: a matrix product a layer. ``"sketch"``: both are polynomial sketches, and
    their product with Φ is a tensor sketch, all by Fourier transforms.

    Parameters
    ----------
    depth : int, default=3
        The number of convolutional layers.
    filter_size : int, default=3
        Taps of a filter along an axis, an odd number.
    n_components : int, default=1024
        The number of features.
    degree : int, "auto" or None, default="auto"
        The degree of the polynomials of ``"sketch"``, or of the Hermite series that stands for
        the ReLU in ``"random"``; ``None`` is the ReLU itself, whose features are ``"random"``.
        ``"auto"`` is 8 for sketches. For random features with pooling it is 2, as smooth features
        have more of the kernel in as many columns: only parallel patches, few among all pairs,
        have another kernel then. Without pooling patches meet themselves: ``None``.
    pooling : {"gap"} or None, default="gap"
        Global average pooling, or none.
    train_readout : bool, default=True
        Whether the last, linear layer is trained, too.
    method : {"auto", "random", "sketch"}, default="auto"
        As above; ``"auto"`` is random, which takes a third of the time of the sketch on a processor
        and no Fourier transforms on a card, at about the same error from some hundred features on;
        with fewer, the sketch is the more accurate one.
    width : int or None, default=None
        Columns of Ψ and of the rest in the layers before the last one; ``None`` means half of
        ``n_components``, at most 1,024.
    mirrored : bool, default=False
        Whether an image and its mirror image are the same thing, as in photographs but not in
        script: features are the means of both, at twice the time.
    image_shape : tuple of int, default=None
        The (height, width, channels) of images, or (length, channels) of signals, that rows
        hold. ``None`` reads it off batches of 4 or 3 dimensions.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything that is drawn.

    Attributes
    ----------
    kernel_ : CNTK
        The exact kernel that the map approximates, with the shape of the images.
    method_, method_reason_ : str
        Which method ``"auto"`` chose, and why.
    layers_ : ConvolutionalLayers
        What was drawn.
    seed_ : int
        The seed of everything that was drawn.

    References
    ----------
    .. [1] A. Zandieh et al., "Scaling neural tangent kernels via sketching and random
       features", NeurIPS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import CNTKSketch
    >>> images = np.random.default_rng(0).standard_normal((20, 8, 8, 3))
    >>> features = CNTKSketch(depth=2, n_components=2048, random_state=0).fit(images)
    >>> Z, K = features.transform(images), features.kernel_(images)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.1 * np.linalg.norm(K))
    True

    In machines, on flattened rows:

    >>> from mercer import FeatureRidge
    >>> rows, y = images.reshape(20, -1), images[:, :, :, 0].mean(axis=(1, 2))
    >>> features = CNTKSketch(depth=2, n_components=64, image_shape=(8, 8, 3), random_state=0)
    >>> FeatureRidge(features).fit(rows, y).predict(rows).shape
    (20,)
    """

    kernel_: CNTK
    layers_: ConvolutionalLayers

    _parameter_constraints: dict[str, Any] = {
        "depth": [Interval(Integral, 1, None, closed="left")],
        "filter_size": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "degree": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "pooling": [StrOptions({"gap"}), None],
        "train_readout": ["boolean"],
        "method": [StrOptions({"auto", "random", "sketch"})],
        "width": [Interval(Integral, 2, None, closed="left"), None],
        "mirrored": ["boolean"],
        "image_shape": [tuple, list, None],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        depth: int = 3,
        filter_size: int = 3,
        n_components: int = 1024,
        *,
        degree: int | str | None = "auto",
        pooling: str | None = "gap",
        train_readout: bool = True,
        method: str = "auto",
        width: int | None = None,
        mirrored: bool = False,
        image_shape: Sequence[int] | None = None,
        random_state: Any = None,
    ) -> None:
        self.depth = depth
        self.filter_size = filter_size
        self.n_components = n_components
        self.degree = degree
        self.pooling = pooling
        self.train_readout = train_readout
        self.method = method
        self.width = width
        self.mirrored = mirrored
        self.image_shape = image_shape
        self.random_state = random_state

    def _kernel(self) -> CNTK:
        network = self.depth, self.filter_size, self.pooling, self.train_readout
        return CNTK(*network, self.image_shape, self.mirrored)

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        method, reason = chosen_method(
            "CNTKSketch", self.method, Situation(n_features_in, self.n_components)
        )
        degree = self._degree(method)
        if degree is None and method == "sketch":
            raise ValueError(
                "degree=None is the ReLU itself, which has no sketch; pass a degree, such as 8, "
                'or method="random".'
            )
        shape = image_shape_of(np.empty((0, n_features_in)), self.kernel_.image_shape)
        network = Network(shape, self.depth, self.filter_size, self.pooling is not None)
        widths = self._widths(method)
        single = self.n_components < widths[-1].both
        layers: ConvolutionalLayers
        if method == "random":
            layers = RandomLayers(stream, network, widths, single, degree)
        else:
            layers = SketchLayers(stream, network, widths, single, degree)
        unbiased = self.depth == 1 and degree is None
        traits = MapTraits(unbiased=unbiased, scratch=layers.scratch)
        facts = {"method_": method, "method_reason_": reason}
        return {**facts, "layers_": layers, "traits_": traits}

    def _degree(self, method: str) -> Any:
        """Return the degree, or ``None`` for the ReLU itself."""
        if self.degree != "auto":
            return self.degree
        if method == "sketch":
            return SKETCHED
        return SERIES if self.pooling else None

    def _widths(self, method: str) -> list[Widths]:
        """Return the columns of every layer."""
        m = self.n_components
        width = min(max(2, m // 2), WIDEST) if self.width is None else self.width
        inner = Widths(width, _fast(width) if method == "sketch" else width)
        if not self.train_readout:
            last = Widths(0, m)
        elif m == 1:
            last = Widths(1, 1)
        else:
            tangent = max(1, m - round(RELU_SHARE * m))
            tangent = _fast(tangent) if method == "sketch" else tangent
            last = Widths(m - tangent, tangent)
        return [inner] * (self.depth - 1) + [last]

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        found = self.layers_.features(X, xp)
        if not self.mirrored:
            return found
        mirrored = mirror_images(as_images(X, self.kernel_.image_shape))
        return 0.5 * (found + self.layers_.features(mirrored, xp))


def _fast(size: int) -> int:
    """Return a length of Fourier transforms, no larger, that has small prime factors only."""
    found: int = scipy.fft.prev_fast_len(size, real=True)
    return found
