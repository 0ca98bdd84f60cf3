"""What a machine did and why, in words and in numbers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, dataclass
from typing import Any

from .._html import facts
from .._registry import storable

#: Why a choice is what it is, where a user made it.
AS_ASKED = "as you asked for"
#: The names of criteria in sentences.
CRITERIA = {
    "cv": "cross-validation",
    "loo": "leave-one-out",
    "gcv": "generalised cross-validation",
    "held_out": "held-out rows",
}
#: What a model is called in sentences.
METHODS = {
    "exact": "the exact kernel",
    "landmarks": "landmarks as centres",
    "features": "features",
    "linear": "a linear model",
}


@dataclass(frozen=True)
class Expectation:
    """What a fitted machine expects on new rows, and by what criterion.

    Attributes
    ----------
    score_name : str
        ``"R2"`` or ``"accuracy"``.
    score : float
        The score to expect.
    error : float
        The mean squared error to expect, over the variance of the targets.
    reason : str
        How it was measured.
    n_rows : int
        Rows that were learnt from.

    Examples
    --------
    >>> from mercer import FeatureRidge
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> expectation = FeatureRidge(alpha=1e-6).fit(X, [0.0, 1.0, 2.0, 3.0]).expectation()
    >>> expectation.score_name, round(expectation.score, 3), expectation.n_rows
    ('R2', 1.0, 4)
    """

    score_name: str
    score: float
    error: float
    reason: str
    n_rows: int


class Report:
    """Pairs of a heading and a sentence, readable wherever they are shown."""

    @abstractmethod
    def lines(self) -> list[tuple[str, str]]:
        """Return pairs of a heading and a sentence."""

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return asdict(self)  # type: ignore[call-overload]

    def __str__(self) -> str:
        return "\n".join(f"{heading:<9} {sentence}" for heading, sentence in self.lines())

    def __repr__(self) -> str:
        return f"{type(self).__name__}\n{self}"

    def _repr_html_(self) -> str:
        return facts(type(self).__name__, self.lines())


@storable
@dataclass(frozen=True, repr=False)
class FitReport(Report):
    """What a kernel machine chose, why, and how well it expects to do.

    Attributes
    ----------
    task : str
        ``"regression"`` or ``"classification"``.
    n_rows, n_columns : int
        Of the table.
    encoding : str
        What the columns became.
    kernel : str
        The kernel, with its numbers.
    kernel_reason : str
        Why it is that one.
    method : str
        ``"exact"``, ``"landmarks"``, ``"features"`` or ``"linear"``.
    method_reason : str
        Why it is that one.
    n_components : int or None
        How many features or landmarks; ``None`` for an exact kernel and a linear model.
    alpha : float
        The ridge parameter.
    alpha_reason : str
        How it was chosen.
    score_name : str
        ``"R2"`` or ``"accuracy"``.
    score : float
        What is expected on new rows, from held-out rows.
    score_reason : str
        How it was measured.
    linear_score : float or None
        The same of a linear model; ``None`` if it was not measured.
    approximation_error : float or None
        Relative distance of the features from the kernel; ``None`` for an exact kernel.
    repeated_rows : float
        The share of rows that occur more than once, target included, in a sample.
    seconds : float
        Time of the fit.
    memory : int
        Bytes that the fit planned for, beside the input.
    solver : str
        How far an iterative solver came, and what it kept in memory; empty for others.
    outlook : str
        What a larger budget would buy; empty where nothing was searched.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelClassifier
    >>> report = KernelClassifier().fit(*load_iris(return_X_y=True)).report_
    >>> report.task, report.method, report.n_rows
    ('classification', 'exact', 150)
    """

    task: str
    n_rows: int
    n_columns: int
    encoding: str
    kernel: str
    kernel_reason: str
    method: str
    method_reason: str
    n_components: int | None
    alpha: float
    alpha_reason: str
    score_name: str
    score: float
    score_reason: str
    linear_score: float | None
    approximation_error: float | None
    repeated_rows: float
    seconds: float
    memory: int
    solver: str = ""
    outlook: str = ""

    def lines(self) -> list[tuple[str, str]]:
        """Return pairs of a heading and a sentence."""
        size = "" if self.n_components is None else f"{self.n_components:,} "
        method = size + METHODS[self.method]
        linear = "not measured" if self.linear_score is None else three_digits(self.linear_score)
        found = [
            ("data", f"{self.n_rows:,} rows, {self.n_columns:,} columns: {self.encoding}"),
            ("kernel", f"{self.kernel}: {self.kernel_reason}"),
            ("method", f"{method}: {self.method_reason}"),
            ("ridge", f"alpha = {self.alpha:.3g}: {self.alpha_reason}"),
            *([("solver", self.solver)] if self.solver else []),
            (
                "score",
                f"{self.score_name} {three_digits(self.score)} expected on new rows "
                f"({self.score_reason}); linear model {linear}{self._verdict()}",
            ),
        ]
        if self.repeated_rows:
            found.append(
                (
                    "warning",
                    f"{self.repeated_rows:.0%} of the rows occur more than once, target included: "
                    "if they are copies, the expected score is too good; drop them",
                )
            )
        if self.approximation_error is not None:
            found.append(
                (
                    "fidelity",
                    f"kernel matrix with a relative error of {self.approximation_error:.2%} "
                    "(500 rows)",
                )
            )
        cost = f"{self.seconds:.1f} s, {self.memory / 1e6:.0f} MB planned, not counting the input"
        found.append(("cost", cost))
        return [*found, ("outlook", self.outlook)] if self.outlook else found

    def _verdict(self) -> str:
        if self.method == "linear" or self.linear_score is None:
            return ""
        if self.score > self.linear_score:
            return ""
        return ", which is at least as good: prefer it"


def three_digits(value: float) -> str:
    """Return a score in three digits, never as minus zero.

    Examples
    --------
    >>> three_digits(-0.0001)
    '0.000'
    """
    return f"{round(value, 3) + 0.0:.3f}"
