"""Features of few bits, packed into words: thresholds of projections, and quantised values."""

from .code import EVEN, SIGN, TERNARY, Code
from .features import PackedFeatures
from .products import add_column_gram, column_gram, column_products, column_sums, row_gram
from .projected import packed_thresholds, threshold_codes
from .quantized import QuantizedFourier
from .ternary import TernaryFeatures

__all__ = [
    "EVEN",
    "SIGN",
    "TERNARY",
    "Code",
    "PackedFeatures",
    "QuantizedFourier",
    "TernaryFeatures",
    "add_column_gram",
    "column_gram",
    "column_products",
    "column_sums",
    "packed_thresholds",
    "row_gram",
    "threshold_codes",
]
