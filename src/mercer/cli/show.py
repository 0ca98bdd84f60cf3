"""``mercer show``: what a model file holds, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .._words import listed
from ._screen import explained, facts, print_json

#: Arrays of a file that are named.
LARGEST = 4


@click.command("show", short_help="Say what is in a model file.")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@explained
def command(model: Path, as_json: bool) -> None:
    """Say what is in MODEL: what it predicts, from what, how, and how well.

    \b
    mercer show houses.mercer
    """
    from ..io.model_file import load, read

    try:
        content, arrays = read(model)
    except FileNotFoundError as error:
        raise click.UsageError(str(error)) from error
    fitted = load(model)
    size = model.stat().st_size
    numbers = sum(array.size for array in arrays.values())
    about = {
        "file": str(model),
        "bytes": size,
        "format": content["version"],
        "mercer": content["mercer"],
        "estimator": type(fitted).__name__,
        "target": getattr(fitted, "target_name_", None),
        "columns": [str(name) for name in getattr(fitted, "feature_names_in_", [])],
        "classes": [_plain(label) for label in getattr(fitted, "classes_", [])],
    }
    report = getattr(fitted, "report_", None)
    if as_json:
        about["report"] = None if report is None else report.as_dict()
        print_json(about)
        return
    pairs = [
        (
            "file",
            f"{model}, {size / 1e3:,.0f} kB, {numbers:,} numbers, format {about['format']}, "
            f"written by mercer {about['mercer']}",
        ),
        ("arrays", _largest(arrays)),
        ("estimator", repr(fitted).replace("\n", " ")),
    ]
    if about["target"]:
        pairs.append(("target", str(about["target"])))
    pairs += [(name, listed(about[name])) for name in ("columns", "classes") if about[name]]
    facts(pairs + ([] if report is None else report.lines()))


def _largest(arrays: dict[str, Any]) -> str:
    """Return what takes the most bytes of a file."""
    order = sorted(arrays, key=lambda name: -arrays[name].nbytes)[:LARGEST]
    parts = [
        f"{' x '.join(map(str, arrays[name].shape))} {arrays[name].dtype} "
        f"({arrays[name].nbytes / 1e3:,.1f} kB)"
        for name in order
    ]
    rest = len(arrays) - len(order)
    return ", ".join(parts + [f"{rest} smaller"] * bool(rest)) if parts else "none"


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label
