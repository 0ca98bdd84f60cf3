"""What the steps of a fit do and hold: operations by kind, and bytes at the peak.

Pure arithmetic: how fast this machine does each kind is measured elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..engine.streams import learning_rows
from ..engine.symmetric import STRIP_BYTES, STRIPS
from ..ops.products import PANEL
from .bracket import HELD_OUT
from .cost import EIGENVECTORS, EXACT_COPIES, FACTOR_COPIES, LARGE, solve_memory
from .dual import MANY_CANDIDATES
from .iterative import FEW, MOST_HELD_OUT, SAMPLE_ROWS, SHARE, WORTH_LEARNING
from .ridge import MANY
from .row_systems import RANK, ROWS_EACH

#: Candidates for alpha that are factorised where features are many: a few more than it starts with.
TRIED = 7
#: Candidates by default.
CANDIDATES = 31
#: Iterations that conjugate gradients usually take: of all candidates together, and at last with
#: all rows.
ITERATIONS, LAST_ITERATIONS = 30, 30
#: Proposals for each column of the preconditioner, of which some are rejected.
PROPOSED = 1.3


@dataclass(frozen=True)
class Shape:
    """The size of what is learnt from.

    Attributes
    ----------
    n_rows, n_columns, n_targets : int
        Rows, numbers in a row, and columns of the expanded targets.
    itemsize : int
        Bytes of a number of the features: 4 or 8.
    """

    n_rows: int
    n_columns: int
    n_targets: int = 1
    itemsize: int = 8


@dataclass(frozen=True)
class Step:
    """A step of a fit.

    Attributes
    ----------
    name : str
        What is done.
    memory : int
        Bytes that are held at the peak of the step, beside the rows that are given.
    work : mapping of str to float
        Amounts by kind: ``"sums32"``, ``"sums64"``, ``"cholesky"`` and ``"tridiagonal"`` are
        floating-point operations, ``"kernel"`` entries of kernel matrices, ``"bytes"`` what is
        read from memory, and ``"rows"`` rows that become features.
    seconds : float
        Time that was measured, beside that of the work.
    spare : int
        Bytes among the memory that are taken only as long as there is room.

    Examples
    --------
    >>> step = Step("factorise", 8 * 100**2, {"cholesky": 100**3 / 3})
    >>> step.memory
    80000
    """

    name: str
    memory: int
    work: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    spare: int = 0


def feature_steps(
    shape: Shape, n_components: int, n_folds: int = 0, n_candidates: int = CANDIDATES
) -> list[Step]:
    """Return the steps of ridge regression on features.

    Parameters
    ----------
    shape : Shape
        What is learnt from.
    n_components : int
        Features.
    n_folds : int, default=0
        Folds of a cross-validation; 0: generalised cross-validation.
    n_candidates : int, default=31
        Candidates for alpha.

    Examples
    --------
    >>> [step.name for step in feature_steps(Shape(10_000, 5), 500)]
    ['features and their products', 'choice of alpha']
    """
    n, m = shape.n_rows, n_components
    if n < m and not n_folds:
        return _few_rows_steps(shape, m, n_candidates)
    width = m + shape.n_targets
    rows = min(n, learning_rows(width, 8, max(256, max(1, n_folds) * width // 8)))
    # A fold takes a copy of its own rows; panels of products have the dtype of the features.
    block = int(rows * m * shape.itemsize * (1 + (1 / n_folds if n_folds else 0)))
    sums = 8 * max(1, n_folds) * m * m
    panel = min(m, PANEL) * m * shape.itemsize
    gather = Step(
        "features and their products",
        sums + block + 2 * panel,
        {
            f"sums{8 * shape.itemsize}": float(n) * m * (m + 2 * shape.n_targets),
            "rows": n,
            # Products of every block, and fold, are added to a triangle of float64 sums.
            "bytes": 12.0 * m * m * -(-n // rows) * max(1, n_folds),
        },
    )
    work = _solve(shape, m, n_folds, n_candidates)
    # Blocks that are freed stay with the process.
    return [gather, Step("choice of alpha", solve_memory(m, n_folds) + block + panel, work)]


def _solve(shape: Shape, m: int, n_folds: int, n_candidates: int) -> dict[str, float]:
    """Return the operations of the choice of alpha from sums of products."""
    found = _factored(shape, m, n_folds, n_candidates)
    # Sums of folds are added up, and each taken away.
    return {**found, "bytes": 24.0 * m * m * (2 * n_folds + 3)}


def _factored(shape: Shape, m: int, n_folds: int, n_candidates: int) -> dict[str, float]:
    """Return the operations of decompositions."""
    cube = float(m) ** 3 / 3
    if n_candidates == 1 and m >= MANY:
        return {"cholesky": 2 * cube}
    if m < LARGE:
        return {"tridiagonal": 4 * cube * (1 + n_folds)}
    if not n_folds:
        # A factor and the inverse of its triangle.
        return {"cholesky": 2 * cube * min(TRIED, n_candidates)}
    held_out = min(n_folds, int(HELD_OUT * n_folds / shape.n_rows) + 1)
    return {"cholesky": cube * (held_out * min(TRIED, n_candidates) + 2)}


def _few_rows_steps(shape: Shape, m: int, n_candidates: int) -> list[Step]:
    """Return the steps for fewer rows than features."""
    n = shape.n_rows
    rows, square = 8 * n * m, 8 * n * n
    solve = direct_steps(shape, n_candidates)[-1]
    products = {"sums64": 2.0 * n * n * m, "rows": n}
    return [
        Step("features and their products", 2 * rows + square, products),
        Step("choice of alpha", 2 * rows + solve.memory, solve.work),
    ]


def direct_steps(shape: Shape, n_candidates: int = CANDIDATES) -> list[Step]:
    """Return the steps of an exact kernel machine that decomposes the kernel matrix.

    Parameters
    ----------
    shape : Shape
        What is learnt from.
    n_candidates : int, default=31
        Candidates for alpha.

    Examples
    --------
    >>> direct_steps(Shape(1000, 5))[-1].memory
    40000000
    """
    n = shape.n_rows
    matrix = Step("kernel matrix", 8 * n * (n + shape.n_columns), {"kernel": n * n})
    if n_candidates >= MANY_CANDIDATES:
        work = {"tridiagonal": EIGENVECTORS * 4 * n**3 / 3, "sums64": 2.0 * n * n * n_candidates}
        return [matrix, Step("eigendecomposition", 8 * EXACT_COPIES * n * n, work)]
    work = {"cholesky": 2 * n_candidates * n**3 / 3}
    return [matrix, Step("Cholesky decompositions", 8 * FACTOR_COPIES * n * n, work)]


def iterative_steps(shape: Shape, room: int, n_candidates: int = CANDIDATES) -> list[Step]:
    """Return the steps of an exact kernel machine by conjugate gradients, as they usually are.

    Parameters
    ----------
    shape : Shape
        What is learnt from.
    room : int
        Bytes that the kernel matrix may take.
    n_candidates : int, default=31
        Candidates for alpha.

    Examples
    --------
    >>> steps = iterative_steps(Shape(20_000, 5), 10**10)
    >>> steps[-1].memory > 2 * 20_000**2
    True
    """
    n, columns = shape.n_rows, shape.n_targets + 1
    rank = int(min(RANK, max(50, n // ROWS_EACH), max(50, room // (32 * n))))
    factor = 8 * n * rank
    rows = 2 * 8 * n * shape.n_columns
    kept = min(2 * n * n, max(0, room - factor))
    held = min(SHARE * n, MOST_HELD_OUT)
    last = LAST_ITERATIONS if held > WORTH_LEARNING * n else 0
    # Many are narrowed down to three.
    few, sample = n_candidates if n_candidates <= FEW else 3, min(n, SAMPLE_ROWS)
    found = []
    if n_candidates > FEW:
        narrowed = direct_steps(Shape(sample, shape.n_columns, shape.n_targets))[-1]
        found.append(Step("candidates on a sample", rows + narrowed.memory, narrowed.work))
    tall = {"sums64": float(n) * rank * rank * (1 + 2 * 2), "kernel": PROPOSED * n * rank}
    found.append(Step("preconditioner", rows + factor + 8 * n * 128 * 4, tall))
    passes = ITERATIONS * few * columns + last * columns
    # Tiles that have no room are computed in every product.
    again = 1 - kept / (2 * n * n)
    work = {
        "kernel": n * n / 2 * (1 + again * (ITERATIONS + last - 1)),
        # Each column of a product reads the tiles once, those of the factor twice.
        "bytes": passes * (2.0 * n * n + 2 * factor),
    }
    # Iterates, residuals, directions and their products, and sums of several strips of tiles.
    width = few * columns
    vectors = 8 * n * (6 * width + 4 * columns) + min(STRIP_BYTES, 8 * n * width * STRIPS)
    # Weighted copies of the factor: of the preconditioner, and of that of the last solve.
    held_factors = (3 if last else 2) * factor
    memory = rows + held_factors + kept + vectors
    found.append(Step("conjugate gradients", memory, work, spare=kept))
    return found
