"""What machines with a ridge solution tell of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..solvers import Solution
from .described import described
from .estimator import Machine
from .report import AS_ASKED, CRITERIA, Expectation, three_digits


class SolvedMachine(Machine):
    """A machine whose state solves for coefficients, when it is first asked."""

    per_target: bool

    @property
    def targets_(self) -> Any:
        """What is known of the targets."""
        return self._fitted().targets

    @property
    def solution_(self) -> Solution:
        """What the solver did; asking for it solves, if rows were added since the last time."""
        return self._fitted().solve()

    @property
    def alpha_(self) -> float | np.ndarray:
        """The ridge parameter that was chosen: one for all targets, or one for each."""
        alpha = self.solution_.alpha
        return alpha if self.per_target else float(alpha[0])

    @property
    def noise_variance_(self) -> np.ndarray:
        """The estimated variance of the noise, for every target."""
        return self.solution_.noise

    def expected_error(self) -> float:
        """Return the squared error to expect of new rows, as a share of the targets' variance.

        Returns
        -------
        error : float
        """
        return float(self._fitted().expected_error())

    def expectation(self) -> Expectation:
        """Return what to expect on new rows.

        Returns
        -------
        expectation : Expectation
            The score, the squared error over the variance, and how they were measured.
        """
        return self._fitted().expectation()

    def _chosen(self) -> list[tuple[str, str]]:
        known = described(self._state)
        if known is None:
            return []
        solution = self.solution_
        how = CRITERIA.get(solution.criterion, AS_ASKED)
        if len(solution.alphas) > 1:
            how = f"{how} over {len(solution.alphas)} candidates"
        found = [*known.lines, ("ridge", f"alpha = {np.mean(solution.alpha):.3g}: {how}")]
        if known.knows_score:
            expected = self.expectation()
            score = f"{expected.score_name} {three_digits(expected.score)} expected on new rows"
            found.append(("score", f"{score} ({expected.reason})"))
        return found


class SolvedRegression(SolvedMachine):
    """The coefficients of a machine whose targets are numbers."""

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the features, or of the kernel functions of the rows."""
        coef = self.solution_.coef
        return coef[:, 0] if self.targets_.single else coef.T

    @property
    def intercept_(self) -> float | np.ndarray:
        """The constant."""
        intercept = self.solution_.intercept
        return float(intercept[0]) if self.targets_.single else intercept


class SolvedClassification(SolvedMachine):
    """The coefficients of a machine whose targets are labels."""

    @property
    def probability_scale_(self) -> float:
        """The scale of the softmax, calibrated on held-out rows."""
        return float(self._fitted().scale())

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients, a row for every class (one for two classes)."""
        return self.solution_.coef.T

    @property
    def intercept_(self) -> np.ndarray:
        """The constants."""
        return self.solution_.intercept
