"""The contract: checks that every kernel and feature map passes, ours or a stranger's.

``check_kernel(kernel)`` and ``check_feature_map(feature_map)`` run them all; in pytest,
parametrise over :data:`KERNEL_CHECKS` and :data:`FEATURE_MAP_CHECKS` to see each by name.
"""

from .arrays import array_libraries
from .feature_maps import FEATURE_MAP_CHECKS, check_feature_map
from .kernels import KERNEL_CHECKS, check_kernel
from .memory import peak_bytes
from .statistics import bias_in_standard_errors

__all__ = [
    "FEATURE_MAP_CHECKS",
    "KERNEL_CHECKS",
    "array_libraries",
    "bias_in_standard_errors",
    "check_feature_map",
    "check_kernel",
    "peak_bytes",
]
