"""The base of all estimators: scikit-learn's, with what ``fit`` chose and hints at wrong parts."""

from __future__ import annotations

from ._estimators import BaseEstimator as ScikitLearnEstimator
from ._html import facts
from ._words import part_hint


class BaseEstimator(ScikitLearnEstimator):
    """scikit-learn's base class; in notebooks what ``fit`` chose stands below the diagram."""

    def _validate_params(self) -> None:
        """Check the parameters; where a kernel or a map is none, say how to write it."""
        try:
            super()._validate_params()
        except ValueError as error:
            for name, value in self.get_params(deep=False).items():
                hint = part_hint(name, value)
                if hint and f"The {name!r} parameter" in str(error):
                    raise type(error)(f"{error} {hint}") from error
            raise

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
