"""Random Fourier features of shift-invariant kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._random import Stream
from .._registry import storable
from .._sklearn import RANDOM_STATE
from ..kernels import Kernel
from ..ops.fourier import cosine_sine
from ..sketches import Projection
from .base import FeatureMap
from .frequencies import draw_frequencies, projection_names, spectral_kernel
from .growth import COMPONENTS, TOLERANCE
from .traits import MapTraits


@storable
class RandomFourier(FeatureMap):
    r"""Random Fourier features of a shift-invariant kernel.

    With the columns of :math:`W` drawn from the spectral measure of :math:`k`, the features
    :math:`z(x) = D^{-1/2} [\cos(W^\top x), \sin(W^\top x)]` satisfy
    :math:`\mathbb{E}\, z(x)^\top z(y) = k(x, y)` [1]_, and :math:`z(x)^\top z(x) = 1`
    exactly (for an even number of features). Frequencies that are orthogonal in blocks [2]_
    have the same mean and a smaller error; they are the default.

    Parameters
    ----------
    kernel : Kernel, default=None
        :class:`~mercer.Gaussian`, :class:`~mercer.Laplace`, :class:`~mercer.Matern`,
        :class:`~mercer.ProductLaplace` or another kernel that knows its spectral measure;
        ``None`` means ``Gaussian()``.
    n_components : int or "auto", default=512
        The number of features: a cosine and a sine for each frequency. Of an odd number
        the last frequency has a cosine with a random offset only. ``"auto"``: as many as
        ``tolerance`` asks for.
    projection : str, default="auto"
        How the directions of the frequencies are drawn. ``"orthogonal"``: Haar blocks;
        ``"gaussian"`` and ``"spherical"``: independent (two names of one law, as the kernel
        sets the lengths); ``"hd3"`` and ``"fastfood"``: products of Hadamard transforms,
        for wide rows; ``"ssf"``: spherical structured points. ``"auto"`` is orthogonal,
        or independent for :class:`~mercer.ProductLaplace`, whose frequencies are not
        uniform in direction.
    stratified : bool, default=True
        Spread the lengths of the frequencies evenly over their law instead of drawing them
        independently.
    tolerance : float, default=0.05
        For ``n_components="auto"``: the relative error of the kernel matrix of some of the rows
        at which the map stops growing.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the frequencies.

    Attributes
    ----------
    kernel_ : Kernel
        The exact kernel that the map approximates, its lengthscale a number.
    projection_ : Projection
        The frequencies, as a linear operator.
    frequencies_ : array of shape (n_features, ceil(n_components / 2))
        The frequencies, as a matrix.
    projection_name_ : str
        Which projection ``"auto"`` chose.
    seed_ : int
        The seed of everything that was drawn.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random features for large-scale kernel machines",
       NeurIPS 2007.
    .. [2] F. Yu et al., "Orthogonal random features", NeurIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, RandomFourier
    >>> X = np.random.default_rng(0).standard_normal((100, 8))
    >>> features = RandomFourier(Gaussian("median"), n_components=1024, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> Z.shape
    (100, 1024)
    >>> bool(abs(Z @ Z.T - features.kernel_(X)).max() < 0.1)
    True
    """

    projection_: Projection
    projection_name_: str
    _offset: float

    _parameter_constraints: dict[str, Any] = {
        "kernel": [Kernel, None],
        "n_components": COMPONENTS,
        "projection": [projection_names()],
        "stratified": ["boolean"],
        "tolerance": TOLERANCE,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: Any = 512,
        projection: str = "auto",
        stratified: bool = True,
        tolerance: float = 0.05,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.projection = projection
        self.stratified = stratified
        self.tolerance = tolerance
        self.random_state = random_state

    @property
    def frequencies_(self) -> np.ndarray:
        """The frequencies as a matrix of shape (n_features, ceil(n_components / 2))."""
        return self.projection_.matrix

    def _kernel(self) -> Kernel:
        return spectral_kernel(self.kernel)

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        size = -(-self.n_components // 2)
        offset = stream.child("offset").generator().uniform(0, 2 * np.pi)
        name, projection = draw_frequencies(
            self.kernel_, self.projection, self.stratified, stream, n_features_in, size
        )
        return {
            "projection_": projection,
            "projection_name_": name,
            "_offset": offset if self.n_components % 2 else 0.0,
            "traits_": MapTraits(scratch=projection.scratch),
        }

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        target = None if out is None else out[:, : self.projection_.size]
        phases = self.projection_.project(X, xp, target)
        if self._offset:
            phases[:, -1] += self._offset
        return cosine_sine(phases, self.n_components, xp, out)
