"""Tables to numbers: the encoder of columns, and coordinates on the sphere; images whitened."""

from .encoder import TableEncoder
from .spherical import SphericalCoordinates
from .whitening import ImageWhitening

__all__ = ["ImageWhitening", "SphericalCoordinates", "TableEncoder"]
