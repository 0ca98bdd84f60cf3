"""Settings of the test run."""

import gc
import os

import pytest
from hypothesis import settings

# Two workers share two cores: threads of BLAS, LAPACK and OpenMP would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# scikit-learn dispatches on array libraries only if SciPy was told to before its import.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# The first example of a test may compile; the machine may be busy. Nothing here is timed.
settings.register_profile("mercer", deadline=None, print_blob=True)
settings.load_profile("mercer")


@pytest.fixture(scope="session", autouse=True)
def _what_is_imported_stays():
    """Keep the garbage collector from looking at all modules whenever memory is measured."""
    gc.collect()
    gc.freeze()
