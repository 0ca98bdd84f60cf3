"""Settings of the test run."""

import os

# scikit-learn dispatches on array libraries only if SciPy was told to before its import.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
