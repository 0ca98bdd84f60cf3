"""What is approximated: exact kernels, callable on two blocks of rows."""

from .algebra import Product, Scaled, Sum
from .base import Kernel
from .dot_product import Exponential, Polynomial
from .gaussian import Gaussian
from .laplace import Laplace, ProductLaplace
from .matern import Matern
from .relu import NNGP, NTK, ArcCosine
from .series import PowerSeries
from .stationary import Isotropic

__all__ = [
    "NNGP",
    "NTK",
    "ArcCosine",
    "Exponential",
    "Gaussian",
    "Isotropic",
    "Kernel",
    "Laplace",
    "Matern",
    "Polynomial",
    "PowerSeries",
    "Product",
    "ProductLaplace",
    "Scaled",
    "Sum",
]
