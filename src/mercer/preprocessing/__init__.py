"""Tables to numbers: the encoder of columns, and coordinates on the sphere."""

from .encoder import TableEncoder
from .spherical import SphericalCoordinates

__all__ = ["SphericalCoordinates", "TableEncoder"]
