"""The options that say what is learnt and how, for every command that learns or plans to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

KERNELS = ("gaussian", "rbf", "laplace", "matern", "arccosine", "nngp", "ntk", "auto")


class Features(click.ParamType):
    """A positive number, or ``auto``."""

    name = "number|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "auto" or isinstance(value, int):
            return value
        if str(value).isdigit() and int(value) > 0:
            return int(value)
        return self.fail(f"{value!r} is neither a positive number nor 'auto'.", param, ctx)


OPTIONS = (
    click.option(
        "--task",
        type=click.Choice(["auto", "classification", "regression"]),
        default="auto",
        show_default=True,
        help="What to learn; auto goes by the target and says so.",
    ),
    click.option(
        "--kernel",
        type=click.Choice(KERNELS),
        help="The kernel; by default the best of some, from 2,000 rows on also metrics of columns.",
    ),
    click.option("--depth", type=click.IntRange(1), help="Hidden layers of nngp and ntk."),
    click.option(
        "--order", type=click.Choice(["0", "1"]), help="Order of arccosine: step or ReLU."
    ),
    click.option(
        "--features",
        type=Features(),
        default="auto",
        show_default=True,
        help="How many random features.",
    ),
    click.option(
        "--approximation",
        type=click.Choice(["auto", "exact", "features"]),
        default="auto",
        show_default=True,
        help="The exact kernel, or features of it.",
    ),
    click.option(
        "--alpha", type=click.FloatRange(0, min_open=True), help="Ridge parameter; else chosen."
    ),
    click.option(
        "--effort",
        type=click.Choice(["quick", "default", "thorough"]),
        default="default",
        show_default=True,
        help="How much is searched, from 2,000 rows on.",
    ),
    click.option("--memory", help="Memory budget, such as 2GB.  [default: 1GB]"),
)


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say what is learnt and how."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def kernel_of(options: dict[str, Any]) -> Any:
    """Return the kernel that the options describe: an object, a name, or nothing."""
    from ..machines.auto.pilot import named_kernel

    name, depth, order = options["kernel"], options["depth"], options["order"]
    if name == "auto" and depth is None and order is None:
        return name
    if depth is not None:
        if name not in ("nngp", "ntk", "auto"):
            raise click.UsageError("--depth goes with --kernel nngp or ntk.")
        return named_kernel(name, depth=depth)
    if order is not None:
        if name != "arccosine":
            raise click.UsageError("--order goes with --kernel arccosine.")
        return named_kernel(name, order=int(order))
    return name


def budget_of(memory: str | None) -> dict[str, Any]:
    """Return the memory budget that was asked for, as an option of the engine."""
    from ..engine.config import parse_memory

    if memory is None:
        return {}
    try:
        return {"memory": parse_memory(memory)}
    except ValueError as error:
        raise click.UsageError(f"--memory: {error}") from error
