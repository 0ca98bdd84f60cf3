"""Features of the neural tangent kernel, and of the Gaussian process of the same network."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, Protocol

import scipy.fft

from ..._random import Stream
from ..._registry import storable
from ..._sklearn import RANDOM_STATE, Interval, StrOptions
from ...kernels import NNGP, NTK, PowerSeries
from ...kernels.series import default_degree
from ...sketches import SAMPLINGS
from ..base import FeatureMap
from ..growth import COMPONENTS, TOLERANCE
from ..rules import Situation, chosen_method
from ..traits import MapTraits
from ..zonal.design import ZonalDesign
from ..zonal.region import Region
from .layers import LayerSizes, OneShot, ProcessLayers, RandomLayers, SketchLayers

DEPTH: list[Any] = [Interval(Integral, 1, None, closed="left")]
SIZE: list[Any] = [Interval(Integral, 2, None, closed="left"), None]
#: Columns from which on sharing directions costs nothing in precision.
SHARED_FROM = 256


class Layers(Protocol):
    """What computes the features of a network kernel.

    Attributes
    ----------
    scratch : int
        Numbers that it holds for each row while it works.
    device_scratch : int
        The same on an accelerator.
    """

    scratch: int
    device_scratch: int

    def features(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return the features of a block of rows, in ``out`` if given."""


class _NetworkFeatures(FeatureMap):
    """What features of network kernels share: methods, the zonal map and the one-shot sketch."""

    kernel_: NTK | NNGP
    layers_: Layers

    depth: int
    n_components: int
    method: str
    degree: int | None

    @abstractmethod
    def _layers(self, stream: Stream, n_features_in: int, method: str) -> Layers:
        """Return what computes features layer by layer."""

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        method, reason = chosen_method(
            "NTKFeatures", self.method, Situation(n_features_in, self.n_components, self.depth)
        )
        facts = {"method_": method, "method_reason_": reason}
        if method == "zonal":
            design = ZonalDesign(
                self.kernel_, Region.anywhere(), n_features_in, self.n_components, self.degree
            )
            columns = design.columns(stream)
            traits = MapTraits(
                random=columns.is_random,
                scratch=columns.scratch,
                device_scratch=columns.device_scratch,
            )
            drawn = {"mean_kernel_": design.mean_kernel(), "layers_": columns}
            return {**facts, "traits_": traits, **drawn}
        if method == "one-shot":
            degree = default_degree(self.kernel_) if self.degree is None else self.degree
            series = PowerSeries.near(self.kernel_, degree)
            sketch = OneShot(stream, n_features_in, self.n_components, series.taylor())
            traits = MapTraits(scratch=sketch.scratch, replays=True)
            drawn = {"mean_kernel_": series, "layers_": sketch}
            return {**facts, "traits_": traits, **drawn}
        layers = self._layers(stream, n_features_in, method)
        unbiased = self.depth == 1 and method == "random"
        traits = MapTraits(
            unbiased=unbiased,
            scratch=layers.scratch,
            device_scratch=layers.device_scratch,
            replays=True,
        )
        return {**facts, "traits_": traits, "layers_": layers}

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        return self.layers_.features(X, xp, out)


@storable
class NTKFeatures(_NetworkFeatures):
    r"""Features of the neural tangent kernel of a ReLU network.

    ``"zonal"``: the kernel is :math:`\|x\| \|y\| f(\cos)`, and f is a sum of Gegenbauer
    polynomials, of which low degrees are exact and random directions give the others
    (:class:`GegenbauerFeatures`). ``"one-shot"``: f is replaced by the nearest polynomial with
    non-negative coefficients, and that is sketched. The cost of both does not depend on the
    depth. ``"random"``: layer by layer, random features of the
    arc-cosine kernels and a sketch of their product with those of the layer before [1]_.
    ``"sketch"``: layer by layer, with polynomial sketches in their place [2]_.

    Parameters
    ----------
    depth : int, default=1
        The number of hidden layers.
    n_components : int or "auto", default=1024
        The number of features. ``"auto"``: as many as
        ``tolerance`` asks for.
    method : {"auto", "zonal", "one-shot", "random", "sketch"}, default="auto"
        As above; ``"auto"`` is zonal, which has the smallest error, or one-shot for at least 1,024
        components of rows of more than 4,096 columns (8,192 from depth 3 on), where it is faster.
    degree : int or None, default=None
        The degree of polynomials; ``None`` means 8, or 16 from depth 3 on for
        ``"one-shot"``; for ``"zonal"`` see :class:`GegenbauerFeatures`.
    variant : {"improved", "paper"}, default="improved"
        For ``"random"``: exact parts, antithetic and orthogonal directions; or the maps and
        the sizes of [1]_.
    n_step, n_relu : int or None, default=None
        For layer-wise methods: columns of the features of order 0, and of order 1, of which
        the latter are part of the result (the rest of it is the sketch). ``None`` means the
        sizes that were found best: a third (half, for the paper's variant) of the
        components for ``n_relu``, and at least 256 for ``n_step``.
    sampling : {"auto", "orthogonal", "gaussian", "leverage", "gibbs"}, default="auto"
        How the directions of ``"random"`` are drawn; ``"leverage"`` and ``"gibbs"`` are the
        norm-weighted law of [1]_, exact and by its sampler. ``"auto"`` is orthogonal, or
        gaussian for the paper's variant.
    share : bool or "auto", default="auto"
        Whether both orders of a layer use the same directions, which halves the work;
        ``"auto"`` does so for at least 256 columns of each.
    tolerance : float, default=0.05
        For ``n_components="auto"``: the relative error of the kernel matrix of some of the rows
        at which the map stops growing.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything that is drawn.

    Attributes
    ----------
    kernel_ : NTK
        The exact kernel that the map approximates.
    mean_kernel_ : Kernel
        Of ``"zonal"`` and ``"one-shot"``: what the features give on average, the polynomial.
    method_, method_reason_ : str
        Which method ``"auto"`` chose, and why.
    seed_ : int
        The seed of everything that was drawn.

    References
    ----------
    .. [1] I. Han et al., "Random features for the neural tangent kernel", arXiv 2104.01351.
    .. [2] A. Zandieh et al., "Scaling neural tangent kernels via sketching and random
       features", NeurIPS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NTKFeatures
    >>> X = np.random.default_rng(0).standard_normal((60, 8))
    >>> features = NTKFeatures(depth=2, n_components=1024, random_state=0).fit(X)
    >>> Z, K = features.transform(X), features.kernel_(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.1 * np.linalg.norm(K))
    True
    """

    _parameter_constraints: dict[str, Any] = {
        "depth": DEPTH,
        "n_components": COMPONENTS,
        "method": [StrOptions({"auto", "zonal", "one-shot", "random", "sketch"})],
        "degree": [Interval(Integral, 1, None, closed="left"), None],
        "variant": [StrOptions({"improved", "paper"})],
        "n_step": SIZE,
        "n_relu": SIZE,
        "sampling": [StrOptions({"auto", *SAMPLINGS})],
        "share": ["boolean", StrOptions({"auto"})],
        "tolerance": TOLERANCE,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        depth: int = 1,
        *,
        n_components: Any = 1024,
        method: str = "auto",
        degree: int | None = None,
        variant: str = "improved",
        n_step: int | None = None,
        n_relu: int | None = None,
        sampling: str = "auto",
        share: bool | str = "auto",
        tolerance: float = 0.05,
        random_state: Any = None,
    ) -> None:
        self.depth = depth
        self.n_components = n_components
        self.method = method
        self.degree = degree
        self.variant = variant
        self.n_step = n_step
        self.n_relu = n_relu
        self.sampling = sampling
        self.share = share
        self.tolerance = tolerance
        self.random_state = random_state

    def _kernel(self) -> NTK:
        return NTK(depth=self.depth)

    def _layers(self, stream: Stream, n_features_in: int, method: str) -> Layers:
        improved = self.variant == "improved"
        m = self.n_components
        share_of_relu = 0.3 if improved and method == "random" else 0.5
        n_relu = self.n_relu
        if n_relu is None:
            # A sketch whose length has small prime factors only takes a fraction of the time.
            sketch = scipy.fft.next_fast_len(max(1, round((1 - share_of_relu) * m)), real=True)
            n_relu = max(1, m - sketch)
        if m == 1:
            n_relu, m = 1, 2
        if n_relu >= m:
            raise ValueError(
                f"n_relu={n_relu} leaves no column for the sketch of n_components={m}; use more "
                "components, or a smaller n_relu."
            )
        n_step = max(256, n_relu) if self.n_step is None else self.n_step
        sizes, single = LayerSizes(n_relu, n_step, m - n_relu), self.n_components == 1
        if method == "sketch":
            degree = 8 if self.degree is None else self.degree
            return SketchLayers(stream, n_features_in, self.depth, sizes, single, degree=degree)
        sampling = self.sampling
        if sampling == "auto":
            sampling = "orthogonal" if improved else "gaussian"
        share = self.share
        if share == "auto":
            share = min(n_relu, n_step) >= SHARED_FROM
        return RandomLayers(
            *(stream, n_features_in, self.depth, sizes, single),
            improved=improved,
            sampling=sampling,
            share=bool(share),
        )


@storable
class NNGPFeatures(_NetworkFeatures):
    r"""Features of the Gaussian process kernel of a ReLU network of infinite width.

    As :class:`NTKFeatures`: ``"zonal"`` takes Gegenbauer polynomials of the cosine,
    ``"one-shot"`` sketches the nearest polynomial, ``"random"`` applies random features of
    the arc-cosine kernel layer by layer.

    Parameters
    ----------
    depth : int, default=1
        The number of hidden layers.
    n_components : int or "auto", default=1024
        The number of features. ``"auto"``: as many as
        ``tolerance`` asks for.
    method : {"auto", "zonal", "one-shot", "random"}, default="auto"
        As above; ``"auto"`` is zonal, or one-shot as for :class:`NTKFeatures`.
    degree : int or None, default=None
        The degree of the polynomial; ``None`` means 8; for ``"zonal"`` see
        :class:`GegenbauerFeatures`.
    sampling : {"orthogonal", "gaussian", "leverage", "gibbs"}, default="orthogonal"
        How the directions of ``"random"`` are drawn.
    tolerance : float, default=0.05
        For ``n_components="auto"``: the relative error of the kernel matrix of some of the rows
        at which the map stops growing.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything that is drawn.

    Attributes
    ----------
    kernel_ : NNGP
        The exact kernel that the map approximates.
    mean_kernel_ : Kernel
        Of ``"zonal"`` and ``"one-shot"``: what the features give on average.
    method_, method_reason_ : str
        Which method ``"auto"`` chose, and why.
    seed_ : int
        The seed of everything that was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NNGPFeatures
    >>> X = np.random.default_rng(0).standard_normal((60, 8))
    >>> features = NNGPFeatures(depth=2, n_components=1024, random_state=0).fit(X)
    >>> Z, K = features.transform(X), features.kernel_(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.1 * np.linalg.norm(K))
    True
    """

    _parameter_constraints: dict[str, Any] = {
        "depth": DEPTH,
        "n_components": COMPONENTS,
        "method": [StrOptions({"auto", "zonal", "one-shot", "random"})],
        "degree": [Interval(Integral, 1, None, closed="left"), None],
        "sampling": [StrOptions(set(SAMPLINGS))],
        "tolerance": TOLERANCE,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        depth: int = 1,
        *,
        n_components: Any = 1024,
        method: str = "auto",
        degree: int | None = None,
        sampling: str = "orthogonal",
        tolerance: float = 0.05,
        random_state: Any = None,
    ) -> None:
        self.depth = depth
        self.n_components = n_components
        self.method = method
        self.degree = degree
        self.sampling = sampling
        self.tolerance = tolerance
        self.random_state = random_state

    def _kernel(self) -> NNGP:
        return NNGP(depth=self.depth)

    def _layers(self, stream: Stream, n_features_in: int, method: str) -> Layers:
        return ProcessLayers(stream, n_features_in, self.depth, self.n_components, self.sampling)
