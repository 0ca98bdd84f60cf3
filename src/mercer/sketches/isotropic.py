"""Directions w with E[w wᵀ] = I, as the maps of ReLU networks want them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._random import Stream
from .directions import gibbs_directions, haar_directions, spherical_directions
from .projection import DenseProjection

#: How directions are drawn, by name; "gaussian" gives them random lengths besides.
SAMPLINGS: dict[str, Callable[[Stream, int, int], np.ndarray]] = {
    "gaussian": spherical_directions,
    "orthogonal": haar_directions,
    "leverage": spherical_directions,
    "gibbs": gibbs_directions,
}


def isotropic_projection(
    stream: Stream, n_features: int, size: int, sampling: str
) -> DenseProjection:
    """Return directions of norm √d, or normal ones for ``sampling="gaussian"``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._random import Stream
    >>> W = isotropic_projection(Stream(0), 4, 3, "orthogonal").matrix
    >>> np.linalg.norm(W, axis=0).round(6)
    array([2., 2., 2.])
    """
    unit = SAMPLINGS[sampling](stream.child("directions"), n_features, size)
    if sampling != "gaussian":
        return DenseProjection(unit * n_features**0.5)
    stream.reserve(size)
    lengths = np.sqrt(stream.child("radii").generator().chisquare(n_features, size))
    return DenseProjection(unit * lengths)
