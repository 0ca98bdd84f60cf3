"""Which map, method and directions ``"auto"`` takes: one table of rules, each with its reason.

The rules follow from errors and times measured at equal dimension and equal time
(``benchmarks/results/accuracy_choice.md``), those of a card from ``gpu_maps.md`` and
``gpu_cntk.md``. On a card the order of the maps is the same, so that no rule asks for the device,
and the same seed draws the same features everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

#: Columns up to which directions are cheap to draw, to keep and to multiply with.
WIDE = 4096
#: Lengthscales that rows of a Gaussian kernel are away from their mean for Gegenbauer polynomials
#: to be better: the root of the mean square, and the furthest row.
NEAR, FURTHEST = 1.0, 2.0
#: Components for each exact column of the deflated map, at least.
SPARE = 1.25
#: The highest power that one convolution is best for.
ONE_CONVOLUTION = 3


@dataclass(frozen=True)
class Situation:
    """What the rules go by.

    Attributes
    ----------
    n_features, n_components : int
        Columns of the rows, and features.
    power : int
        The degree of a polynomial.
    reach, furthest : float
        Distances of rows from their mean (of a power series from the origin) over the lengthscale:
        the root of their mean square, and the largest; infinite where rows are not known.
    sphere : bool
        Whether all rows have the same norm.
    density : float
        The share of entries that are not zero, of sparse rows; 1 for dense ones.
    """

    n_features: int = 1
    n_components: int = 512
    power: int = 1
    reach: float = math.inf
    furthest: float = math.inf
    sphere: bool = False
    density: float = 1.0


@dataclass(frozen=True)
class Rule:
    """One rule: what is chosen, when, and why.

    Attributes
    ----------
    choice : str
        The map, or the method of a map.
    when, why : str
        In words.
    holds : callable
        ``holds(situation)`` says whether it applies.
    """

    choice: str
    when: str
    why: str
    holds: Callable[[Situation], bool]

    @property
    def reason(self) -> str:
        """The rule as a sentence."""
        return f"{self.choice} ({self.when}: {self.why})"


def _otherwise(situation: Situation) -> bool:
    return True


#: Rules by question: the families of kernels, and the maps that have several methods.
RULES: dict[str, tuple[Rule, ...]] = {
    "Gaussian": (
        Rule("GegenbauerFeatures", "rows on a sphere", "TODO", lambda s: s.sphere),
        Rule(
            "GegenbauerFeatures",
            f"rows within {NEAR:g} lengthscale of their mean, none beyond {FURTHEST:g}",
            "TODO",
            lambda s: s.reach <= NEAR and s.furthest <= FURTHEST and s.density == 1,
        ),
        Rule("RandomFourier", "other rows", "TODO", _otherwise),
    ),
    "distance": (
        Rule("GegenbauerFeatures", "rows on a sphere", "TODO", lambda s: s.sphere),
        Rule("RandomFourier", "other rows", "TODO", _otherwise),
    ),
    "network": (Rule("zonal", "up to", "TODO", _otherwise),),
    "arc-cosine": (Rule("GegenbauerFeatures", "any rows", "TODO", _otherwise),),
    "power series": (Rule("GegenbauerFeatures", "any rows", "TODO", _otherwise),),
    "polynomial": (
        Rule("GegenbauerFeatures", "a degree up to 2", "TODO", lambda s: s.power <= 2),
        Rule(
            "NystromFeatures",
            "no more monomials than components",
            "as many landmarks hold the kernel exactly",
            lambda s: math.comb(s.n_features + s.power, s.power) <= s.n_components,
        ),
        Rule("DotProductSketch", "more monomials", "TODO", _otherwise),
    ),
    "images": (Rule("CNTKSketch", "any", "TODO", _otherwise),),
    "other": (Rule("NystromFeatures", "any", "TODO", _otherwise),),
    "NTKFeatures": (
        Rule("zonal", f"up to {WIDE:,} columns", "TODO", lambda s: s.n_features <= WIDE),
        Rule("one-shot", f"more than {WIDE:,} columns", "TODO", _otherwise),
    ),
    "ArcCosineFeatures": (
        Rule(
            "deflated",
            "TODO",
            "TODO",
            lambda s: s.n_components >= SPARE * (s.n_features + 1),
        ),
        Rule("antithetic", "TODO", "TODO", _otherwise),
    ),
    "PolynomialSketch": (
        Rule("tensor", "TODO", "TODO", lambda s: s.power <= ONE_CONVOLUTION),
        Rule("tree", "TODO", "TODO", _otherwise),
    ),
}


def choose(question: str, situation: Situation) -> Rule:
    """Return the first rule on a question that applies.

    Parameters
    ----------
    question : str
        A key of ``RULES``.
    situation : Situation
        What is known.

    Examples
    --------
    >>> choose("NTK", Situation(n_features=10)).choice
    'zonal'
    >>> choose("NTK", Situation(n_features=10_000)).choice
    'one-shot'
    """
    return next(rule for rule in RULES[question] if rule.holds(situation))


def chosen_method(question: str, asked: str, situation: Situation) -> tuple[str, str]:
    """Return the method that was asked for, or the one that the rules name, and why.

    Parameters
    ----------
    question : str
        A key of ``RULES``.
    asked : str
        The method, or ``"auto"``.
    situation : Situation
        What is known.

    Examples
    --------
    >>> chosen_method("NTKFeatures", "random", Situation())
    ('random', 'as you asked for')
    """
    if asked != "auto":
        return asked, "as you asked for"
    rule = choose(question, situation)
    return rule.choice, rule.reason
