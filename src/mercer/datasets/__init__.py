"""Generators of data with known ground truth: hierarchical polynomials and pure epistasis."""

from .epistasis import make_epistasis
from .hierarchical import HierarchicalTask, make_hierarchical
from .penetrance import marginal_penetrance, penetrance_table, table_heritability
from .polynomials import TARGETS, SparsePolynomial, leap_complexity, staircase

__all__ = [
    "TARGETS",
    "HierarchicalTask",
    "SparsePolynomial",
    "leap_complexity",
    "make_epistasis",
    "make_hierarchical",
    "marginal_penetrance",
    "penetrance_table",
    "staircase",
    "table_heritability",
]
