"""The command line: one module a command, heavy imports inside the function."""

from __future__ import annotations

from importlib import import_module

import click

from .. import __version__

#: The commands, each in the module of its name.
COMMANDS = ("fit", "plan", "predict", "score", "show", "compare", "demo", "info")


class _LazyGroup(click.Group):
    """A group that imports the module of a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"mercer.cli.{name}").command
        return command


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: mercer demo",
)
@click.version_option(__version__, prog_name="mercer")
def main() -> None:
    """Kernel methods at any size.

    mercer chooses a kernel for a table and learns with all rows, landmarks or random features,
    as memory and time allow, and tells which score to expect on new rows.
    """
