"""Random features of the arc-cosine kernels."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from .._array import all_finite
from .._random import Stream
from .._registry import storable
from .._sklearn import RANDOM_STATE, Options, StrOptions
from ..kernels import ArcCosine
from ..ops import arccosine
from ..ops.hadamard import padded_length
from ..ops.norms import row_norms, unit_rows
from ..ops.products import dense
from ..sketches import SAMPLINGS, HadamardProjection, Projection, isotropic_projection
from .base import FeatureMap
from .growth import COMPONENTS, TOLERANCE
from .rules import Situation, chosen_method
from .traits import MapTraits


@storable
class ArcCosineFeatures(FeatureMap):
    r"""Random features of the arc-cosine kernel of order 0 or 1.

    The plain map is :math:`\sqrt{2/m}\,\sigma(X W)` with :math:`\sigma` the step or the ReLU
    function and normal directions W [1]_. The deflated map, the default wherever the exact
    columns it needs fit, writes ``(a + |a|) / 2`` for ReLU, or ``(1 + sign a) / 2`` for the
    step, emits the parts whose kernels are known as d + 1 deterministic columns, and samples
    only the rest: at d = 64 and 512 features its mean squared error is more than fifteen
    times smaller.

    Parameters
    ----------
    order : {0, 1}, default=1
        Step (0) or ReLU (1).
    n_components : int or "auto", default=512
        The number of features. ``"auto"``: as many as
        ``tolerance`` asks for.
    method : {"auto", "deflated", "antithetic", "plain"}, default="auto"
        ``"deflated"`` as above; ``"antithetic"``: every direction and its negative, half the
        projections; ``"plain"``: as in the literature. ``"auto"`` is deflated if
        ``n_components >= 1.25 * (n_features + 1)`` and antithetic otherwise.
    sampling : {"orthogonal", "gaussian", "leverage", "gibbs", "hd3"}, default="orthogonal"
        How directions are drawn. ``"orthogonal"``: Haar blocks; ``"gaussian"``: independent
        normal; ``"leverage"``: the norm-weighted law of [2]_, drawn exactly (its directions
        are uniform on the sphere); ``"gibbs"``: the same law by the Gibbs sampler of [2]_,
        one sweep, to compare with; ``"hd3"``: Hadamard blocks, for wide rows only.
    tolerance : float, default=0.05
        For ``n_components="auto"``: the relative error of the kernel matrix of some of the rows
        at which the map stops growing.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the directions.

    Attributes
    ----------
    kernel_ : ArcCosine
        The exact kernel that the map approximates.
    method_, method_reason_ : str
        Which method ``"auto"`` chose, and why.
    projection_ : Projection
        The directions, as a linear operator.
    seed_ : int
        The seed of everything that was drawn.

    References
    ----------
    .. [1] Y. Cho and L. Saul, "Kernel methods for deep learning", NeurIPS 2009.
    .. [2] I. Han et al., "Random features for the neural tangent kernel", arXiv 2104.01351.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ArcCosineFeatures
    >>> X = np.random.default_rng(0).standard_normal((100, 8))
    >>> features = ArcCosineFeatures(order=1, n_components=256, random_state=0).fit(X)
    >>> features.method_
    'deflated'
    >>> Z = features.transform(X)
    >>> K = features.kernel_(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.05 * np.linalg.norm(K))
    True
    """

    method_: str
    projection_: Projection
    _mean: float

    _parameter_constraints: dict[str, Any] = {
        "order": [Options(Integral, {0, 1})],
        "n_components": COMPONENTS,
        "method": [StrOptions({"auto", "deflated", "antithetic", "plain"})],
        "sampling": [StrOptions({*SAMPLINGS, "hd3"})],
        "tolerance": TOLERANCE,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        order: int = 1,
        *,
        n_components: Any = 512,
        method: str = "auto",
        sampling: str = "orthogonal",
        tolerance: float = 0.05,
        random_state: Any = None,
    ) -> None:
        self.order = order
        self.n_components = n_components
        self.method = method
        self.sampling = sampling
        self.tolerance = tolerance
        self.random_state = random_state

    def _kernel(self) -> ArcCosine:
        return ArcCosine(order=self.order)

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        exact = n_features_in + 1
        method, reason = chosen_method(
            "ArcCosineFeatures", self.method, Situation(n_features_in, self.n_components)
        )
        if method == "deflated":
            size = self.n_components - exact
            if size < 1:
                raise ValueError(
                    f"method='deflated' needs n_components above {exact} for {n_features_in} "
                    f"columns, but n_components={self.n_components}; use more, or "
                    "method='auto'."
                )
        else:
            size = self.n_components if method == "plain" else -(-self.n_components // 2)
        projection, norm_dimension = self._directions(stream, n_features_in, size)
        return {
            "method_": method,
            "method_reason_": reason,
            "projection_": projection,
            "_mean": arccosine.mean_projection(norm_dimension),
            "traits_": MapTraits(scratch=projection.scratch),
        }

    def _directions(
        self, stream: Stream, n_features_in: int, size: int
    ) -> tuple[Projection, int | None]:
        """Return the directions, and the dimension d of their norm √d (``None``: Gaussian)."""
        if self.sampling == "hd3":
            length = padded_length(n_features_in)
            radii, directions = np.full(size, length**0.5), stream.child("directions")
            return HadamardProjection(directions, n_features_in, size, radii), length
        projection = isotropic_projection(stream, n_features_in, size, self.sampling)
        return projection, None if self.sampling == "gaussian" else n_features_in

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        if self.method_ == "deflated":
            # The random columns come last: their projections are computed where they belong.
            target = None if out is None else out[:, self.n_features_in_ + 1 :]
            if self.order == 1:
                projected = self.projection_.project(X, xp, target)
                norms = row_norms(X, xp)
                if not all_finite(norms):
                    raise ValueError(
                        "The norms of the rows overflow; scale X down or pass it in float64."
                    )
                return arccosine.deflated_relu(dense(X), norms, projected, self._mean, xp, out)
            unit, norms = unit_rows(X, xp)
            projected = self.projection_.project(unit, xp, target)
            return arccosine.deflated_step(dense(unit), norms, projected, self._mean, xp, out)
        if self.method_ == "plain":
            return arccosine.plain(self.projection_.project(X, xp, out), self.order, xp, out)
        target = None if out is None else out[:, : self.projection_.size]
        projected = self.projection_.project(X, xp, target)
        return arccosine.antithetic(projected, self.order, self.n_components, xp, out)
