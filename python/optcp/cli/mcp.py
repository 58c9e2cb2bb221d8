"""Command ``mcp``: a server for language models and other programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from optcp.cli.options import DIRECTORY, Whole

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.option(
    "--directory", type=DIRECTORY, required=True, metavar="DIR", help="Only directory that it reads and writes."
)
@click.option(
    "--cpu",
    type=Whole(1, 86_400),
    default=120,
    show_default=True,
    metavar="N",
    help="Maximum CPU time of a call, in s.",
)
@click.option(
    "--memory", type=Whole(512, 1_000_000), default=2048, show_default=True, metavar="N",
    help="Maximum memory of a call, in MB.",
)  # fmt: skip
@click.option(
    "--disk", type=Whole(1, 1_000_000), default=256, show_default=True, metavar="N",
    help="Maximum growth of the directory in a call, in MB.",
)  # fmt: skip
def mcp(directory: Path, cpu: int, memory: int, disk: int) -> None:
    """Serve the Model Context Protocol over standard input and output.

    A client, such as an assistant, starts this command. Its tools write, check, run, compare and draw scenarios in DIR,
    and search the documentation. Each call runs in a separate process with limits, and the client can cancel it.
    Python code of scenarios is refused. Linux and macOS only; needs `optcp[mcp]`.
    """
    from optcp.data.labelled import optional
    from optcp.errors import InputError

    if sys.platform == "win32":
        raise InputError("optcp mcp needs Linux or macOS: Windows cannot limit a process in this way")
    optional("mcp")
    from optcp.mcp.limits import Limits
    from optcp.mcp.server import serve

    if not directory.is_dir():
        raise InputError(f"--directory {directory}: no such directory")
    serve(directory, Limits(cpu, memory, disk), _help())


def _help() -> dict[str, str]:
    """Return the help text of each command, for the search."""
    root = click.get_current_context().find_root()
    group = root.command
    if not isinstance(group, click.Group):
        return {}
    found = {name: group.get_command(root, name) for name in group.list_commands(root)}
    return {
        name: command.get_help(click.Context(command, info_name=f"optcp {name}"))
        for name, command in found.items()
        if command is not None
    }


COMMANDS = (mcp,)
