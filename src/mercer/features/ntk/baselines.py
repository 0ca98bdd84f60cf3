"""The baselines of the literature for the neural tangent kernel: tensor and gradient features."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from ..._array import frozen, like
from ..._random import Stream
from ..._registry import storable
from ..._sklearn import RANDOM_STATE, Interval, StrOptions
from ...kernels import NTK
from ...ops.columns import column_products
from ...ops.products import dense, product
from ...sketches import SAMPLINGS, ReluLayer
from ..base import FeatureMap
from ..traits import MapTraits

#: The most columns that these maps make.
MOST_COLUMNS = 2**20


def _refuse_explosion(columns: int, formula: str, way_out: str) -> None:
    if columns > MOST_COLUMNS:
        raise ValueError(
            f"These features would have {columns:,} columns ({formula}), more than "
            f"{MOST_COLUMNS:,}; {way_out}, or use NTKFeatures, which sketches them."
        )


@storable
class TensorNTKFeatures(FeatureMap):
    r"""Features of the neural tangent kernel without a sketch: all products are formed.

    :math:`\Phi_l = [\Psi_l, \Lambda_l \otimes \Phi_{l-1}]` with random features of the
    arc-cosine kernels [1]_. There are :math:`m_1 \sum_{k<L} m_0^k + m_0^L d` of them: a
    baseline for shallow networks and few columns.

    Parameters
    ----------
    depth : int, default=1
        The number L of hidden layers.
    n_relu : int, default=64
        Features m₁ of order 1 in a layer.
    n_step : int, default=16
        Features m₀ of order 0 in a layer.
    sampling : {"gaussian", "orthogonal", "leverage", "gibbs"}, default="gaussian"
        How directions are drawn.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the directions.

    Attributes
    ----------
    kernel_ : NTK
        The exact kernel that the map approximates.
    seed_ : int
        The seed of everything that was drawn.

    References
    ----------
    .. [1] A. Bietti and J. Mairal, "On the inductive bias of neural tangent kernels",
       NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import TensorNTKFeatures
    >>> features = TensorNTKFeatures(depth=1, n_relu=8, n_step=4, random_state=0)
    >>> features.fit_transform(np.eye(3)).shape
    (3, 20)
    """

    layers_: list[Any]

    _parameter_constraints: dict[str, Any] = {
        "depth": [Interval(Integral, 1, None, closed="left")],
        "n_relu": [Interval(Integral, 1, None, closed="left")],
        "n_step": [Interval(Integral, 1, None, closed="left")],
        "sampling": [StrOptions(set(SAMPLINGS))],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        depth: int = 1,
        *,
        n_relu: int = 64,
        n_step: int = 16,
        sampling: str = "gaussian",
        random_state: Any = None,
    ) -> None:
        self.depth = depth
        self.n_relu = n_relu
        self.n_step = n_step
        self.sampling = sampling
        self.random_state = random_state

    def _kernel(self) -> NTK:
        return NTK(depth=self.depth)

    def _columns(self, n_features_in: int) -> int:
        powers = [self.n_step**k for k in range(self.depth + 1)]
        return self.n_relu * sum(powers[:-1]) + powers[-1] * n_features_in

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        columns = self._columns(n_features_in)
        _refuse_explosion(columns, "n_step**depth * n_features and more", "use a smaller n_step")
        options: dict[str, Any] = {"improved": False, "sampling": self.sampling, "share": False}
        widths = [n_features_in] + [self.n_relu] * (self.depth - 1)
        layers = [
            ReluLayer(stream.child("layer", k), width, self.n_relu, self.n_step, **options)
            for k, width in enumerate(widths)
        ]
        scratch = columns + 2 * (self.n_relu + self.n_step)
        return {"layers_": layers, "traits_": MapTraits(unbiased=self.depth == 1, scratch=scratch)}

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        phi = psi = dense(X)
        for layer in self.layers_:
            psi, lam = layer.features(psi, xp)
            phi = xp.concat([psi, column_products(lam, phi, xp)], axis=1)
        return phi


@storable
class GradientFeatures(FeatureMap):
    r"""The gradient of a ReLU network of finite width at its random initialisation.

    Their kernel is the neural tangent kernel in expectation for one hidden layer, and in the
    limit of infinite width for more. With L layers of width w there are
    :math:`d w + (L - 1) w^2 + w` of them.

    Parameters
    ----------
    depth : int, default=1
        The number L of hidden layers.
    width : int, default=32
        The width w of each.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the weights.

    Attributes
    ----------
    kernel_ : NTK
        The exact kernel of the network of infinite width.
    network_weights_ : list of arrays
        The weights of every layer, and of the output.
    seed_ : int
        The seed of everything that was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GradientFeatures
    >>> GradientFeatures(depth=2, width=8, random_state=0).fit_transform(np.eye(3)).shape
    (3, 96)
    """

    network_weights_: list[Any]

    _parameter_constraints: dict[str, Any] = {
        "depth": [Interval(Integral, 1, None, closed="left")],
        "width": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(self, depth: int = 1, *, width: int = 32, random_state: Any = None) -> None:
        self.depth = depth
        self.width = width
        self.random_state = random_state

    def _kernel(self) -> NTK:
        return NTK(depth=self.depth)

    def _columns(self, n_features_in: int) -> int:
        return self.width * (n_features_in + (self.depth - 1) * self.width + 1)

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        columns = self._columns(n_features_in)
        _refuse_explosion(columns, "d w + (depth - 1) w**2 + w", "use a smaller width")
        stream.reserve(columns, draws=self.depth + 1)
        shapes = [(n_features_in, self.width)] + [(self.width, self.width)] * (self.depth - 1)
        shapes.append((self.width, 1))
        return {
            "network_weights_": [
                frozen(stream.child("layer", k).generator().standard_normal(shape))
                for k, shape in enumerate(shapes)
            ],
            "traits_": MapTraits(unbiased=self.depth == 1, scratch=2 * columns),
        }

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        scale = (2 / self.width) ** 0.5
        hidden, slopes = [X], []
        for weights in self.network_weights_[:-1]:
            before = product(hidden[-1], like(X, weights))
            slopes.append(xp.astype(before > 0, before.dtype) * scale)
            hidden.append(before * slopes[-1])
        # Backwards: the derivative of the output with respect to each layer's projections.
        upstream = xp.broadcast_to(like(X, self.network_weights_[-1])[:, 0], slopes[-1].shape)
        parts = [hidden[-1]]
        for k in range(self.depth - 1, -1, -1):
            derivative = upstream * slopes[k]
            parts.append(column_products(derivative, dense(hidden[k]), xp))
            if k:
                upstream = derivative @ like(X, self.network_weights_[k]).T
        return xp.concat(parts, axis=1)
