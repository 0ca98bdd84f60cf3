"""What a feature-learning machine did and why, in words and in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from ..._registry import storable
from ..report import Report, three_digits

#: How an error is measured, by solver.
EXPECTED_BY = {"exact": "leave-one-out", "iterative": "held-out rows"}
#: Columns to name.
NAMED = 5
SOLVERS = {
    "exact": "the kernel matrix of all rows",
    "iterative": "all rows as centres, by conjugate gradients",
    "features": "{:,} random Fourier features",
    "nystrom": "the kernel functions of {:,} rows",
}


@storable
@dataclass(frozen=True, repr=False)
class LearnerReport(Report):
    """What a feature-learning machine chose, why, and how well it expects to do.

    Attributes
    ----------
    n_rows, n_columns : int
        Of the data, or of an iteration's fresh rows.
    kernel : str
        The kernel, with its numbers.
    kernel_reason : str
        Why it is that one.
    solver : {"exact", "iterative", "features", "nystrom"}
        How it was solved.
    solver_reason : str
        Why so.
    n_components : int or None
        Features, or landmarks; ``None`` for the exact kernel.
    iteration, n_iterations : int
        The iteration that was kept, and how many there were.
    importances : dict
        The names of the columns with the largest shares, and these.
    alpha : float
        The ridge parameter.
    alpha_reason : str
        How it was chosen.
    score_name : str
        ``"R2"`` or ``"accuracy"``.
    score : float
        What is expected on new rows.
    score_reason : str
        How it was measured.
    error : float
        The squared error, over the variance of the targets, by which the iteration was chosen.
    plain_error : float
        The same of the first iteration, with equal weights unless it was a warm start.
    approximation_error : float or None
        Relative distance of the features from the kernel; ``None`` for the exact kernel.
    seconds : float
        Time of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import IRKMRegressor
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (200, 10))
    >>> report = IRKMRegressor(random_state=0).fit(X, X[:, 2] * X[:, 5]).report_
    >>> report.solver, sorted(list(report.importances)[:2]), report.error < report.plain_error
    ('exact', ['x2', 'x5'], True)
    """

    n_rows: int
    n_columns: int
    kernel: str
    kernel_reason: str
    solver: str
    solver_reason: str
    n_components: int | None
    iteration: int
    n_iterations: int
    importances: dict[str, float]
    alpha: float
    alpha_reason: str
    score_name: str
    score: float
    score_reason: str
    error: float
    plain_error: float
    approximation_error: float | None
    seconds: float

    def lines(self) -> list[tuple[str, str]]:
        """Return pairs of a heading and a sentence."""
        columns = ", ".join(f"{name} {share:.1%}" for name, share in self.importances.items())
        found = [
            ("data", f"{self.n_rows:,} rows, {self.n_columns:,} columns"),
            ("kernel", f"{self.kernel}: {self.kernel_reason}"),
            ("solver", f"{SOLVERS[self.solver].format(self.n_components)}: {self.solver_reason}"),
            ("learnt", f"iteration {self.iteration} of {self.n_iterations} kept; {columns}"),
            ("ridge", f"alpha = {self.alpha:.3g}: {self.alpha_reason}"),
            (
                "score",
                f"{self.score_name} {three_digits(self.score)} expected on new rows "
                f"({self.score_reason}); "
                f"squared error over variance {self.error:.3g} ({self.plain_error:.3g} at first)",
            ),
        ]
        if self.approximation_error is not None:
            found.append(
                (
                    "fidelity",
                    f"kernel matrix with a relative error of {self.approximation_error:.2%}",
                )
            )
        return [*found, ("cost", f"{self.seconds:.1f} s")]
