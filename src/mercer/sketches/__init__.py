"""Random linear maps: projections on random directions, and sketches of tensor products."""

from .count_sketch import CountSketch
from .directions import gibbs_directions, haar_directions, spherical_directions
from .fastfood import FastfoodProjection
from .hadamard import HadamardProjection
from .isotropic import SAMPLINGS, isotropic_projection
from .patch_sample import PatchSample
from .patch_sketch import PatchSketch
from .poly_sketch import PolyChain, PolyTree
from .product_sketch import ProductSketch
from .projection import DenseProjection, Projection
from .radii import draw_probabilities
from .relu_layer import ReluLayer
from .series_sketch import SeriesSketch, terms_together
from .spherical_structured import spherical_structured_directions
from .tensor_sketch import TensorSketch
from .tensor_srht import TensorSRHT
from .ternary import TernaryProjection

__all__ = [
    "SAMPLINGS",
    "CountSketch",
    "DenseProjection",
    "FastfoodProjection",
    "HadamardProjection",
    "PatchSample",
    "PatchSketch",
    "PolyChain",
    "PolyTree",
    "ProductSketch",
    "Projection",
    "ReluLayer",
    "SeriesSketch",
    "TensorSRHT",
    "TensorSketch",
    "TernaryProjection",
    "draw_probabilities",
    "gibbs_directions",
    "haar_directions",
    "isotropic_projection",
    "spherical_directions",
    "spherical_structured_directions",
    "terms_together",
]
