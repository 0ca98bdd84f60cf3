"""Two versions of the package, measured against each other in one interleaved run."""
