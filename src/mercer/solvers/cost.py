"""What solving costs in memory, and from how many rows on features are the cheaper way."""

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
#: The same where candidates for alpha are so few that each is factorised.
FACTOR_COPIES = 2
#: Features from which on a few candidates for alpha are factorised, and not all of them scored.
LARGE = 3072
#: Arrays of the size of the sums of products that a solve from them holds at most: beside the folds
#: where there are some, or in all; for all candidates, and for a few of them.
FOLD_COPIES, ALL_COPIES = (8, 4), (3, 3)
#: The most of those that any number of features asks for.
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


def solve_memory(n_components: int, n_folds: int) -> int:
    """Return the bytes that a solve from sums of products of features takes, the sums included.

    Nearer than :func:`features_memory`, which is an upper bound that holds for every size.

    Examples
    --------
    >>> solve_memory(1000, 0), solve_memory(1000, 5), solve_memory(4000, 5)
    (24000000, 104000000, 1152000000)
    """
    copies = FOLD_COPIES if n_folds else ALL_COPIES
    return 8 * (n_folds + copies[n_components >= LARGE]) * n_components**2


def most_components(budget: int, n_folds: int = FOLDS) -> int:
    """Return how many features a memory budget allows, in whole hundreds where there are some.

    Examples
    --------
    >>> most_components(10**9)
    2800
    """
    most = int((budget / features_memory(1, n_folds)) ** 0.5)
    return most // 100 * 100 if most >= 100 else most
