"""Data with known ground truth (hierarchical polynomials, pure epistasis), and CIFAR-10."""

from .cifar10 import LabelledImages, fetch_cifar10, load_cifar10_jpeg
from .epistasis import make_epistasis
from .hierarchical import HierarchicalTask, make_hierarchical
from .penetrance import marginal_penetrance, penetrance_table, table_heritability
from .polynomials import TARGETS, SparsePolynomial, leap_complexity, staircase

__all__ = [
    "TARGETS",
    "HierarchicalTask",
    "LabelledImages",
    "SparsePolynomial",
    "fetch_cifar10",
    "leap_complexity",
    "load_cifar10_jpeg",
    "make_epistasis",
    "make_hierarchical",
    "marginal_penetrance",
    "penetrance_table",
    "staircase",
    "table_heritability",
]
