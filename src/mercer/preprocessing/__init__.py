"""Tables to numbers: the encoder of columns, and coordinates on spheres."""

from .encoder import TableEncoder
from .spherical import SphericalCoordinates

__all__ = ["SphericalCoordinates", "TableEncoder"]
