"""The seam to people: names that are near, lists that stay short, errors with a way out."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Arguments that are called otherwise on the command line.
FLAGS = {"na_values": "--na"}
#: How kernels are written whose names the front door takes.
WRITTEN = {
    "gaussian": "Gaussian('median')",
    "rbf": "Gaussian('median')",
    "laplace": "Laplace('median')",
    "matern": "Matern('median')",
    "arccosine": "ArcCosine()",
    "nngp": "NNGP()",
    "ntk": "NTK()",
}


def did_you_mean(name: Any, names: Iterable[Any], otherwise: str = "") -> str:
    """Return a question with the nearest name there is, or what to say if none is near.

    Capital letters do not count.

    Examples
    --------
    >>> did_you_mean("prize", ["price", "size"])
    "did you mean 'price'?"
    >>> did_you_mean("PRICE", ["size", "price"])
    "did you mean 'price'?"
    >>> did_you_mean("x", ["price"], "there is only 'price'.")
    "there is only 'price'."
    """
    spelled = {str(other).casefold(): str(other) for other in names}
    near = difflib.get_close_matches(str(name).casefold(), spelled, n=1)
    return f"did you mean {spelled[near[0]]!r}?" if near else otherwise


def listed(items: Sequence[Any], most: int = 20) -> str:
    """Return items with commas between them, and only their number once there are many.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b, ... (3 in all)'
    """
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, ... ({len(items):,} in all)"


def columns_hint(given: Sequence[Any], known: Sequence[Any]) -> str:
    """Return how the columns of a table become those that are known.

    Examples
    --------
    >>> columns_hint(["milage", "power"], ["mileage", "power"])
    "X has no column 'mileage'; did you mean 'milage'?"
    >>> columns_hint(["power", "colour", "mileage"], ["mileage", "power"])
    'Pick the columns, in order, by the names in feature_names_in_.'
    """
    missing = [name for name in known if name not in set(given)]
    if not missing:
        return "Pick the columns, in order, by the names in feature_names_in_."
    unseen = [name for name in given if name not in set(known)]
    question = did_you_mean(missing[0], unseen, "the model needs it.")
    return f"X has no column {missing[0]!r}; {question}"


class AdvisedError(ValueError):
    """An error whose way out is arguments in Python and options on the command line.

    Parameters
    ----------
    problem : str
        The sentence up to the arguments.
    options : mapping of str to str or list of str, default=None
        The arguments to give, with their values, if there are any.
    after : str, default="."
        The rest of the sentence.

    Examples
    --------
    >>> error = AdvisedError("The columns are separated by ';': add ", {"sep": ";"})
    >>> str(error)
    "The columns are separated by ';': add sep=';'."
    >>> error.for_command_line()
    "The columns are separated by ';': add --sep ';'."
    """

    problem: str
    options: dict[str, Any]
    after: str

    def __init__(
        self, problem: str, options: Mapping[str, Any] | None = None, after: str = "."
    ) -> None:
        super().__init__(problem, options, after)
        self.problem, self.options, self.after = problem, dict(options or {}), after

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.problem}{arguments}{self.after}"

    def for_command_line(self) -> str:
        """Return the sentence with options instead of arguments."""
        pairs = [
            f"{FLAGS.get(name, f'--{name}')} {_quoted(value)}"
            for name, values in self.options.items()
            for value in ([values] if isinstance(values, str) else values)
        ]
        return f"{self.problem}{' '.join(pairs)}{self.after}"


def _quoted(value: str) -> str:
    """Return a value as a shell takes it; a tab as ``\\t``, which the commands understand."""
    text = value.replace("\t", "\\t")
    # A comma needs no quotes, but at the end of a sentence they make it readable.
    return f"'{text}'" if text == "," else shlex.quote(text)


def shortened(text: str) -> str:
    """Return a string whose long numbers are cut to four digits.

    Examples
    --------
    >>> shortened("Gaussian(lengthscale=1.0085943729614786)")
    'Gaussian(lengthscale=1.009)'
    """
    return re.sub(r"\d+\.\d{4,}(e[+-]?\d+)?", lambda found: f"{float(found[0]):.4g}", text)


def one_line(estimator: Any) -> str:
    """Return an estimator in one line, its long numbers cut to four digits.

    Examples
    --------
    >>> from mercer import Gaussian, RandomFourier
    >>> one_line(RandomFourier(Gaussian(1.00859437296), n_components=64, random_state=0))
    'RandomFourier(kernel=Gaussian(lengthscale=1.009), n_components=64, random_state=0)'
    """
    return shortened(" ".join(repr(estimator).split()))


def part_hint(name: str, value: Any) -> str:
    """Return how to write a kernel or a map that was given as something else, or nothing.

    Examples
    --------
    >>> part_hint("kernel", "gaussian")
    "Write mercer.Gaussian('median')."
    >>> part_hint("alpha", "gaussian")
    ''
    """
    if name == "kernel" and isinstance(value, str):
        written = WRITTEN.get(value.lower())
        return f"Write mercer.{written or WRITTEN['gaussian']}{'' if written else ', for example'}."
    if name == "kernel" and hasattr(value, "transform"):
        kind = type(value).__name__
        return f"A feature map goes into a machine of features, as in FeatureRidge({kind}(...))."
    if name == "features" and hasattr(value, "as_rows"):
        return (
            "A kernel goes into a feature map, as in FeatureRidge(RandomFourier(Gaussian())); "
            "mercer.choose_map names the map for a kernel."
        )
    return ""
