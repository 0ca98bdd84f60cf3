"""The contract: checks that every kernel, feature map and machine passes, ours or a stranger's.

``check_kernel(kernel)``, ``check_feature_map(feature_map)`` and ``check_machine(machine)`` run
them all; in pytest, parametrise over :data:`KERNEL_CHECKS`, :data:`FEATURE_MAP_CHECKS` and
:data:`MACHINE_CHECKS` to see each by name.
"""

from .arrays import array_libraries
from .feature_maps import FEATURE_MAP_CHECKS, check_feature_map
from .kernels import KERNEL_CHECKS, check_kernel
from .machines import MACHINE_CHECKS, MachineOptions, MachineTrial, check_machine
from .memory import peak_bytes
from .statistics import bias_in_standard_errors

__all__ = [
    "FEATURE_MAP_CHECKS",
    "KERNEL_CHECKS",
    "MACHINE_CHECKS",
    "MachineOptions",
    "MachineTrial",
    "array_libraries",
    "bias_in_standard_errors",
    "check_feature_map",
    "check_kernel",
    "check_machine",
    "peak_bytes",
]
