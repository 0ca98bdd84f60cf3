"""The base of all estimators: scikit-learn's, which shows in notebooks what ``fit`` chose."""

from __future__ import annotations

from ._estimators import BaseEstimator as ScikitLearnEstimator
from ._html import facts


class BaseEstimator(ScikitLearnEstimator):
    """scikit-learn's base class; in notebooks what ``fit`` chose stands below the diagram."""

    def _chosen(self) -> list[tuple[str, str]]:
        """Return what was chosen, as pairs of a heading and a sentence; nothing before ``fit``."""
        return []

    def _html_repr(self) -> str:
        """Return the diagram of scikit-learn and, below it, what was chosen."""
        # First, as the diagram may ask for every attribute, and with that for what takes time.
        pairs = self._chosen()
        diagram = super()._html_repr()
        if not pairs:
            return diagram
        return diagram + facts(f"{type(self).__name__}: what was chosen", pairs)
