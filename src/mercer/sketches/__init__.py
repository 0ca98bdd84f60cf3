"""Random linear maps: projections on random directions, dense and structured."""

from .directions import gibbs_directions, haar_directions, spherical_directions
from .fastfood import FastfoodProjection
from .hadamard import HadamardProjection
from .projection import DenseProjection, Projection
from .radii import draw_probabilities
from .spherical_structured import spherical_structured_directions

__all__ = [
    "DenseProjection",
    "FastfoodProjection",
    "HadamardProjection",
    "Projection",
    "draw_probabilities",
    "gibbs_directions",
    "haar_directions",
    "spherical_directions",
    "spherical_structured_directions",
]
