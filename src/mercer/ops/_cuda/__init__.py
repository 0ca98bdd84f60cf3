"""Fused kernels for CUDA devices, in Triton. Import a module of this folder where it is used.

Every function here has a twin in ``mercer.ops`` in the words of the Array API, which serves as
its oracle and wherever ``mercer._devices.has_fused_kernels`` says no. Rows are handed over with
one number after the other; several rows may lie apart, as in a slice of columns.
"""

from __future__ import annotations

import triton
import triton.language as tl

#: As the annotation of a parameter: a Python number is passed in float64, not in float32.
fp64 = tl.float64
#: Columns that one program handles.
BLOCK = 1024


def grid_of(n_rows: int, n_columns: int, block: int = BLOCK) -> tuple[int, int]:
    """Return the programs for a matrix: one for each row and some columns."""
    return n_rows, triton.cdiv(n_columns, block)
