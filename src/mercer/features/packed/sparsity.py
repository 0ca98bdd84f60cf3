"""How many zeros a projection in {-1, 0, 1} may have: sums of signs are to be normal."""

from __future__ import annotations

import warnings

#: Entries that are not zero in a column of the projection, from which on its sums are normal.
FEWEST_TERMS = 25
#: The share of zeros of the projection by default, where columns are many enough.
SPARSITY = 0.9


def share_of_zeros(asked: float | str, n_features: int) -> float:
    """Return the share of zeros in the projection.

    Parameters
    ----------
    asked : float or "auto"
        What the user wants.
    n_features : int
        Columns of the rows.

    Examples
    --------
    >>> share_of_zeros("auto", 1000), share_of_zeros("auto", 100), share_of_zeros(0.5, 100)
    (0.9, 0.75, 0.5)
    """
    if isinstance(asked, str):
        return min(SPARSITY, max(0.0, 1 - FEWEST_TERMS / n_features))
    return float(asked)


def warn_of_few_terms(sparsity: float, n_features: int, for_few_columns: str) -> None:
    """Warn of columns of the projection with so few entries that their sums are not normal.

    Parameters
    ----------
    sparsity : float
        The share of zeros.
    n_features : int
        Columns of the rows.
    for_few_columns : str
        What to use where even a projection without zeros has too few entries.
    """
    left = (1 - sparsity) * n_features
    if left >= (1 - 1e-9) * FEWEST_TERMS:
        return
    remedy = "give a smaller sparsity" if n_features >= FEWEST_TERMS else f"use {for_few_columns}"
    warnings.warn(
        f"A projection of {n_features} columns with sparsity={sparsity:.3g} sums {left:.3g} "
        f"entries on average: below {FEWEST_TERMS} such sums are not normal, and the features "
        f"not those of kernel_; {remedy}.",
        UserWarning,
        stacklevel=2,
    )
