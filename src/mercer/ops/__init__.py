"""How one block is computed: pure functions on arrays of any library, numba twins in ``_jit``."""
