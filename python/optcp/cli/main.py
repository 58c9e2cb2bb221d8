"""Command-line entry point and the group of all commands.

Each command is a thin function in another module of this package. Heavy modules are imported inside the commands, so
that ``--help``, ``--version`` and ``validate`` start fast. Installed packages add commands with entry points of the
group ``optcp.commands``.
"""

from __future__ import annotations

import sys

import click

from optcp.cli import (
    check,
    checks,
    constellation,
    emulate,
    flows,
    mcp,
    outage,
    papers,
    pictures,
    run,
    start,
    study,
    topology,
    worst,
)
from optcp.cli.exits import status_of
from optcp.cli.options import PLAIN_WIDTH
from optcp.common.installed import COMMANDS, offered
from optcp.errors import InputError, nearest


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from optcp import _core

        click.echo(f"optcp {_core.version()}")
        context.exit()


SECTIONS = {
    "Scenarios": (
        "new",
        "topology",
        "flows",
        "constellation",
        "validate",
        "map",
        "routing",
        "run",
        "emulate",
        "animate",
        "playground",
    ),
    "Studies": ("outage", "worst", "trace", "compare", "plot", "report", "export"),
    "Published experiments": ("reproduce", "sensitivity"),
    "Validation and speed": ("evidence", "conformance", "packetdrill", "bench"),
    "Tools": ("list", "schema", "completion", "mcp"),
}
"""Sections of `optcp --help` and their commands; commands that are not installed are omitted."""
ADDED = "From other packages"
"""Section of the commands that installed packages add."""
ELSEWHERE = {"evidence": "papers"}
"""Extra of optcp that provides a command, by command name."""


class SectionedGroup(click.Group):
    """Command group with sections by purpose; an unknown command is answered with the nearest name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, including commands of installed packages."""
        return sorted({*super().list_commands(ctx), *offered(COMMANDS)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; the module of an installed package is imported only now."""
        if cmd_name in self.commands or cmd_name not in offered(COMMANDS):
            return super().get_command(ctx, cmd_name)
        command: click.Command = offered(COMMANDS)[cmd_name].load()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per purpose, with aligned names and complete first sentences."""
        names = self.list_commands(ctx)
        listed = {name for members in SECTIONS.values() for name in members}
        others = tuple(name for name in names if name not in listed)
        wide = max(map(len, names))
        for section, members in {**SECTIONS, ADDED: others}.items():
            commands = [command for name in members if (command := self.get_command(ctx, name))]
            if commands:
                with formatter.section(section):
                    formatter.write_dl(
                        [(f"{one.name:<{wide}}", one.get_short_help_str(limit=1000)) for one in commands]
                    )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; raise ``InputError`` with the nearest name if it does not exist."""
        foreign = args and not args[0].startswith("-") and args[0] not in self.commands
        # Shell completion must not print error messages.
        if foreign and not ctx.resilient_parsing and args[0] not in (known := self.list_commands(ctx)):
            if extra := ELSEWHERE.get(args[0]):
                raise InputError(f"command {args[0]!r} is not installed; run `pip install 'optcp[{extra}]'`")
            raise InputError(f"unknown command {args[0]!r}; {nearest(args[0], known)}")
        return super().resolve_command(ctx, args)


EPILOG = """\b
First steps:
  optcp run single-failure
  optcp trace results/single-failure
  optcp new mine.toml
"""

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": PLAIN_WIDTH}


@click.group(cls=SectionedGroup, epilog=EPILOG, context_settings=CONTEXT)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Simulate TCP over failing optical networks, packet by packet.

    A scenario and a seed determine the result completely.
    """


for module in (
    start,
    check,
    run,
    emulate,
    worst,
    pictures,
    topology,
    flows,
    constellation,
    outage,
    study,
    papers,
    checks,
    mcp,
):
    for command in module.COMMANDS:
        cli.add_command(command)


def main() -> None:
    """Run the command line and exit with its status."""
    sys.exit(status_of(cli))
