"""``mercer info``: what a bug report should contain."""

from __future__ import annotations

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

import click

#: Packages whose versions matter, with the extra that brings the optional ones.
PACKAGES = {
    "numpy": "",
    "scipy": "",
    "scikit-learn": "",
    "numba": "",
    "array-api-compat": "",
    "narwhals": "",
    "matplotlib": "plot",
    "pyarrow": "tables",
    "torch": "torch",
    "dask": "dask",
    "xarray": "grids",
    "onnx": "onnx",
    "onnxruntime": "onnx",
}
#: Packages that no extra brings, and that are listed where they are installed.
OTHERS = ("pandas", "polars", "duckdb")


@click.command("info", short_help="Show versions, cores and the memory budget.")
def command() -> None:
    """Show versions, threads and memory with where they come from, as bug reports need them.

    \b
    mercer info
    """
    from rich.console import Console
    from rich.table import Table

    from .. import __version__
    from .._limits import free_memory, memory, threads
    from .._settings import settings

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("mercer", __version__)
    table.add_row("python", f"{platform.python_version()} on {platform.system()}")
    for package, extra in PACKAGES.items():
        try:
            table.add_row(package, version(package))
        except PackageNotFoundError:
            table.add_row(package, f"not installed (pip install 'mercer\\[{extra}]')")
    for package in OTHERS:
        with suppress(PackageNotFoundError):
            table.add_row(package, version(package))
    of_threads, of_memory = threads(), memory()
    table.add_row("threads", f"{of_threads.value}: {of_threads.source}")
    if of_memory is not None:
        free = f"{free_memory() / 1e9:.3g} GB free"
        table.add_row("memory", f"{of_memory.value / 1e9:.3g} GB: {of_memory.source}; {free}")
    table.add_row("memory budget", f"{settings().memory / 1e9:.3g} GB beside input and output")
    Console().print(table)
