"""What solving costs: from how many rows on features are cheaper than the exact kernel."""

from __future__ import annotations

#: Features by default.
COMPONENTS = 2048
#: Folds of the cross-validation that chooses alpha on features.
FOLDS = 5
#: Time of an eigendecomposition over that of a tridiagonal reduction of the same size, measured.
EIGENVECTORS = 4 / 3
#: Rows up to which an exact kernel is affordable. It costs one eigendecomposition of its rows;
#: features cost a tridiagonal reduction for all rows and one for every fold. Both cost the same
#: at 1.65 times as many rows as there are features by default: 3,381.
EXACT_ROWS = int(((FOLDS + 1) / EIGENVECTORS) ** (1 / 3) * COMPONENTS)
#: Rows up to which an accelerator factors the matrix for a few ridge parameters: its factorisations
#: are as fast as its products, while iterations wait for many small computations.
DEVICE_EXACT_ROWS = 20_000
#: Arrays of the size of the kernel matrix that an exact fit holds at most.
EXACT_COPIES = 5
#: Arrays of the size of the sums of products that a solve from them holds at most.
SUMS_COPIES = 10
#: The same of one step of a feature-learning machine: one alpha, no folds.
STEP_EXACT_COPIES, STEP_SUMS_COPIES = 4, 6


def exact_memory(n_rows: int) -> int:
    """Return the bytes of an exact kernel machine.

    Examples
    --------
    >>> exact_memory(1000)
    40000000
    """
    return 8 * EXACT_COPIES * n_rows**2


def features_memory(n_components: int, n_folds: int = FOLDS) -> int:
    """Return the bytes of the sums of products of features, fold by fold, while they are solved.

    Examples
    --------
    >>> features_memory(100)
    1200000
    """
    return 8 * (n_folds + SUMS_COPIES) * n_components**2
