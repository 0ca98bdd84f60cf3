"""Features of few bits, packed into words: thresholds, rounded waves, and quantised values."""

from .code import EVEN, QUARTERS, SIGN, TERNARY, Code
from .features import PackedFeatures
from .products import add_column_gram, column_gram, column_products, column_sums, row_gram
from .projected import packed_thresholds, packed_waves, threshold_codes, wave_codes
from .quantized import QuantizedFourier
from .ternary import TernaryFeatures
from .waves import WaveFeatures

__all__ = [
    "EVEN",
    "QUARTERS",
    "SIGN",
    "TERNARY",
    "Code",
    "PackedFeatures",
    "QuantizedFourier",
    "TernaryFeatures",
    "WaveFeatures",
    "add_column_gram",
    "column_gram",
    "column_products",
    "column_sums",
    "packed_thresholds",
    "packed_waves",
    "row_gram",
    "threshold_codes",
    "wave_codes",
]
