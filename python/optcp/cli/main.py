"""The command line: the group of all verbs. Each verb is a function without logic in a module beside this one.

Everything heavy is imported inside the verbs: ``--help``, ``--version`` and ``validate`` answer at once. Installed
packages add verbs by entry points of the group ``optcp.commands``.
"""

from __future__ import annotations

import sys

import click

from optcp.cli import check, checks, constellation, outage, papers, pictures, run, start, study
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
    "Your scenarios": ("new", "constellation", "validate", "map", "routing", "run", "animate", "playground"),
    "Studies": ("outage", "trace", "compare", "plot", "report", "export"),
    "The papers": ("reproduce", "sensitivity"),
    "Checks": ("evidence", "conformance", "packetdrill", "bench"),
    "About optcp": ("list", "schema", "completion"),
}
"""The verbs as `optcp --help` lists them, where they are installed."""
ADDED = "From other packages"
"""The section of all other verbs, which installed packages add."""
ELSEWHERE = {"evidence": "papers"}
"""The extra of optcp that brings a verb which this package does not have."""


class Verbs(click.Group):
    """A group that lists its verbs by what they are for, and knows the nearest one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all verbs, those of installed packages included."""
        return sorted({*super().list_commands(ctx), *offered(COMMANDS)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb; one of an installed package is imported for that."""
        if cmd_name in self.commands or cmd_name not in offered(COMMANDS):
            return super().get_command(ctx, cmd_name)
        command: click.Command = offered(COMMANDS)[cmd_name].load()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each purpose, all with one column of names, and the first sentences whole."""
        names = self.list_commands(ctx)
        listed = {verb for verbs in SECTIONS.values() for verb in verbs}
        others = tuple(name for name in names if name not in listed)
        wide = max(map(len, names))
        for section, verbs in {**SECTIONS, ADDED: others}.items():
            commands = [command for verb in verbs if (command := self.get_command(ctx, verb))]
            if commands:
                with formatter.section(section):
                    formatter.write_dl(
                        [(f"{one.name:<{wide}}", one.get_short_help_str(limit=1000)) for one in commands]
                    )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or say which there are."""
        foreign = args and not args[0].startswith("-") and args[0] not in self.commands
        # A shell that completes has no use for a message.
        if foreign and not ctx.resilient_parsing and args[0] not in (known := self.list_commands(ctx)):
            if extra := ELSEWHERE.get(args[0]):
                raise InputError(f"the command {args[0]!r} comes with `pip install 'optcp[{extra}]'`")
            raise InputError(f"there is no command {args[0]!r}; {nearest(args[0], known)}")
        return super().resolve_command(ctx, args)


EPILOG = """\b
A first run and its pictures, and a scenario of your own:
  optcp run single-failure
  optcp trace results/single-failure
  optcp new world.toml
"""

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": PLAIN_WIDTH}


@click.group(cls=Verbs, epilog=EPILOG, context_settings=CONTEXT)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Show the version."
)
def cli() -> None:
    """Simulate TCP over failing optical networks, packet by packet, the same way every time."""


for module in (start, check, run, pictures, constellation, outage, study, papers, checks):
    for verb in module.VERBS:
        cli.add_command(verb)


def main() -> None:
    """Run the command line."""
    sys.exit(status_of(cli))
