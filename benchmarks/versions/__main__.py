"""``python -m benchmarks.versions --old PATH --new PATH``: is the new version as fast?

And are its results the same? Every job runs in fresh processes, the old and the new version in
turn, so that other work on the machine slows both. Paths are checkouts of the repository, one of
them made for the purpose, for example with ``git worktree add ../old v0.1``.
"""

from __future__ import annotations

from pathlib import Path

import click

from ..options import out_option
from ..report import publish
from .compare import Version, compared
from .worker import JOBS

checkout = click.Path(exists=True, file_okay=False, path_type=Path, resolve_path=True)


@click.command()
@click.option("--old", type=checkout, required=True, help="Checkout of the version before.")
@click.option("--new", type=checkout, required=True, help="Checkout of the version after.")
@click.option("--only", type=click.Choice(list(JOBS)), multiple=True, help="Run these jobs only.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Processes of each version for a job.",
)
@out_option
def main(old: Path, new: Path, only: tuple[str, ...], rounds: int, out: Path) -> None:
    """Compare time and results of two versions of the package."""
    for path in (old, new):
        if not (path / "src" / "mercer").is_dir():
            raise click.UsageError(f"{path} is no checkout of mercer: it has no src/mercer.")
    versions = Version("old", old), Version("new", new)
    publish("versions", compared(*versions, list(only) or list(JOBS), rounds), out)


if __name__ == "__main__":
    main()
