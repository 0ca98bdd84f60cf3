"""Which map, method and directions ``"auto"`` takes: one table of rules, each with its reason.

The rules follow from errors and times measured at equal dimension and equal time
(``benchmarks/results/accuracy_choice.md``). On a card the order of the maps is the same
(``gpu_maps.md``), but for transforms, which products outrun there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

#: Columns up to which directions are cheap to draw, to keep and to multiply with.
WIDE = 4096
#: Components from which on transforms of wide rows are faster than a product.
MANY = 1024
#: The depth from which on kernels of networks take twice the degree.
DEEP = 3
#: Lengthscales that rows of a Gaussian kernel are at most away from their mean for Gegenbauer
#: polynomials to be better (the root of the mean square), and how many times that the furthest is.
NEAR, FURTHEST = 1.1, 3.0
#: Components for each exact column of low degree, at least, so that enough are left for the others.
SPARE_COLUMNS = 2
#: The same for the deflated map.
SPARE = 1.25
#: The highest power that one convolution is best for.
ONE_CONVOLUTION = 5


@dataclass(frozen=True)
class Situation:
    """What the rules go by.

    Attributes
    ----------
    n_features, n_components : int
        Columns of the rows, and features.
    power : int
        The degree of a polynomial, or the depth of a network.
    reach, furthest : float
        Distances of rows from their mean (of a power series from the origin) over the lengthscale:
        the root of their mean square, and the largest; infinite where rows are not known.
    sphere : bool
        Whether all rows have the same norm.
    density : float
        The share of entries that are not zero, of sparse rows; 1 for dense ones, not a number where
        rows are not known.
    device : bool
        Whether rows are on a card, or will be sent there.
    """

    n_features: int = 1
    n_components: int = 512
    power: int = 1
    reach: float = math.inf
    furthest: float = math.inf
    sphere: bool = False
    density: float = math.nan
    device: bool = False

    def without_rows(self) -> Situation:
        """Return what a map knows by itself: numbers of columns and features.

        Examples
        --------
        >>> Situation(n_features=3, sphere=True).without_rows() == Situation(n_features=3)
        True
        """
        return Situation(self.n_features, self.n_components, self.power)


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


def _wide(situation: Situation) -> int:
    """Return the columns beyond which a sketch is faster; of deep networks it has more degrees."""
    return WIDE if situation.power < DEEP else 2 * WIDE


def _otherwise(situation: Situation) -> bool:
    return True


#: Rules by question: the families of kernels, and the maps that have several methods.
RULES: dict[str, tuple[Rule, ...]] = {
    "Gaussian": (
        Rule(
            "GegenbauerFeatures",
            "rows on a sphere",
            "one value a degree is all that the kernel has there",
            lambda s: s.sphere,
        ),
        Rule(
            "GegenbauerFeatures",
            f"dense rows on average within {NEAR:g} lengthscales of their mean, none {FURTHEST:g} "
            f"times as far, and at least {SPARE_COLUMNS} components for each column",
            "polynomials of few degrees hold the kernel, the lowest of them exactly",
            lambda s: (
                s.density == 1
                and s.reach <= NEAR
                and s.furthest <= FURTHEST * s.reach
                and s.n_components >= SPARE_COLUMNS * (s.n_features + 1)
            ),
        ),
        Rule(
            "RandomFourier",
            "sparse rows",
            "GegenbauerFeatures subtract the mean first, which would fill them",
            lambda s: s.density < 1,
        ),
        Rule(
            "RandomFourier",
            "rows far from their mean in lengthscales, or few components for each column",
            "GegenbauerFeatures would need too many degrees; waves of random frequencies do as "
            "well, in less time",
            _otherwise,
        ),
    ),
    "distance": (
        Rule(
            "GegenbauerFeatures",
            "rows on a sphere",
            "one value a degree is all that the kernel has there",
            lambda s: s.sphere,
        ),
        Rule(
            "RandomFourier",
            "rows not known to lie on a sphere, or a product over columns",
            "the kernel is none of norms and angles, as GegenbauerFeatures ask for",
            _otherwise,
        ),
    ),
    "arc-cosine": (
        Rule(
            "GegenbauerFeatures",
            f"at least {SPARE_COLUMNS} components for each function of degree up to 2",
            "these degrees hold most of the kernel, and are exact then",
            lambda s: s.n_components >= SPARE_COLUMNS * math.comb(s.n_features + 2, 2),
        ),
        Rule(
            "ArcCosineFeatures",
            f"fewer than {SPARE_COLUMNS} components for each function of degree up to 2",
            "its columns of degree up to 1 are exact, and it takes less time than "
            "GegenbauerFeatures",
            _otherwise,
        ),
    ),
    "power series": (
        Rule(
            "GegenbauerFeatures",
            "any rows",
            "random directions take less time than the transforms of DotProductSketch",
            _otherwise,
        ),
    ),
    "polynomial": (
        Rule(
            "NystromFeatures",
            "at least a component for each monomial",
            "as many landmarks hold the kernel exactly",
            lambda s: math.comb(s.n_features + s.power, s.power) <= s.n_components,
        ),
        Rule(
            "DotProductSketch",
            "more monomials than components",
            "columns of unequal size do no harm to a sketch, but to the directions of "
            "GegenbauerFeatures",
            _otherwise,
        ),
    ),
    "other": (
        Rule(
            "NystromFeatures",
            "a kernel without a map of its own",
            "landmarks ask for values of the kernel only",
            _otherwise,
        ),
    ),
    "RandomFourier": (
        Rule(
            "hd3",
            f"dense rows of more than {WIDE:,} columns, not on a device, and at least {MANY:,} "
            "components",
            "transforms take half of the time of a product, and no memory",
            lambda s: (
                s.density == 1 and not s.device and s.n_features > WIDE and s.n_components >= MANY
            ),
        ),
        Rule(
            "orthogonal",
            f"up to {WIDE:,} columns, rows not known to be dense, a device, or fewer than {MANY:,} "
            "components",
            "a product takes less time than transforms; a third of the error of independent waves",
            _otherwise,
        ),
    ),
    "NTKFeatures": (
        Rule(
            "one-shot",
            f"more than {WIDE:,} columns ({2 * WIDE:,} from depth {DEEP} on), not known to be "
            f"sparse, and at least {MANY:,} components",
            "directions take more time than a sketch, and memory",
            lambda s: not s.density < 1 and s.n_components >= MANY and s.n_features > _wide(s),
        ),
        Rule(
            "zonal",
            f"up to {WIDE:,} columns ({2 * WIDE:,} from depth {DEEP} on), sparse rows, or fewer "
            f"than {MANY:,} components",
            "the smallest error, without products of features layer by layer",
            _otherwise,
        ),
    ),
    "ArcCosineFeatures": (
        Rule(
            "deflated",
            f"at least {SPARE:g} components for each of the d + 1 exact columns",
            "what is exact is half of the kernel",
            lambda s: s.n_components >= SPARE * (s.n_features + 1),
        ),
        Rule(
            "antithetic",
            f"fewer than {SPARE:g} components for each of the d + 1 columns that could be exact",
            "these columns would be nearly all",
            _otherwise,
        ),
    ),
    "PolynomialSketch": (
        Rule(
            "tensor",
            f"degrees up to {ONE_CONVOLUTION}",
            "one convolution is about as near to the kernel, and faster",
            lambda s: s.power <= ONE_CONVOLUTION,
        ),
        Rule(
            "tree",
            f"degrees above {ONE_CONVOLUTION}",
            "errors of factors do not multiply",
            _otherwise,
        ),
    ),
    "CNTKSketch": (
        Rule(
            "random",
            "any images",
            "a matrix product a layer; sketches take three times as long on a processor, and "
            "transforms on a card",
            _otherwise,
        ),
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
    >>> choose("NTKFeatures", Situation(n_features=10)).choice
    'zonal'
    >>> choose("NTKFeatures", Situation(n_features=10_000, n_components=2048)).choice
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
