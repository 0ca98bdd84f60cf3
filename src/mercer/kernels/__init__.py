"""What is approximated: exact kernels, callable on two blocks of rows."""

from .algebra import Product, Scaled, Sum
from .base import Kernel
from .cntk import CNTK
from .columns import OnColumns
from .dot_product import Exponential, Polynomial
from .function import FunctionKernel
from .gaussian import Gaussian
from .laplace import Laplace, ProductLaplace
from .matern import Matern
from .moments import kernel_moments
from .powered import PoweredExponential
from .relu import NNGP, NTK, ArcCosine
from .series import PowerSeries
from .stationary import Isotropic
from .ternary import Ternary
from .waves import WaveKernel
from .zonal import DotProduct, GeneralizedZonal, Zonal
from .zonal_coefficients import zonal_coefficients

__all__ = [
    "CNTK",
    "NNGP",
    "NTK",
    "ArcCosine",
    "DotProduct",
    "Exponential",
    "FunctionKernel",
    "Gaussian",
    "GeneralizedZonal",
    "Isotropic",
    "Kernel",
    "Laplace",
    "Matern",
    "OnColumns",
    "Polynomial",
    "PowerSeries",
    "PoweredExponential",
    "Product",
    "ProductLaplace",
    "Scaled",
    "Sum",
    "Ternary",
    "WaveKernel",
    "Zonal",
    "kernel_moments",
    "zonal_coefficients",
]
