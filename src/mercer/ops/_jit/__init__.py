"""The numba twins. Import a module of this folder where it is used: importing numba costs time.

Every function here has a NumPy (or Array API) twin in ``mercer.ops`` that serves as its
oracle. All release the GIL and none starts threads: the engine does.
"""

from __future__ import annotations

import numba


def compiled(function):
    """Return ``function`` compiled at its first call, and kept on disk where there is a place."""
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        # Neither the package's folder nor the user's can be written to: compile every time.
        return numba.njit(nogil=True)(function)
