"""Commands ``new``, ``list``, ``schema`` and ``completion``."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from optcp.cli import completion as shells
from optcp.cli.options import FILE, PAPERS
from optcp.errors import InputError, nearest
from optcp.scenarios import shipped


@click.command()
@click.argument("file", type=FILE, metavar="FILE.toml")
@click.option(
    "--from",
    "name",
    default="ring",
    show_default=True,
    metavar="NAME",
    shell_complete=shells.among(shipped.scenarios),
    help="Shipped scenario to copy; `optcp list scenarios` prints the names.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def new(file: Path, name: str, force: bool) -> None:
    """Create a commented scenario file to start from.

    The file is a copy of a shipped scenario. Its first line names a JSON Schema, which is written next to it. Editors
    with the language server Taplo (VS Code: Even Better TOML) or Tombi use it to complete keys and mark mistakes.
    """
    for path, written in shipped.begin(file, name, force=force):
        click.echo(f"{path}: {'written' if written else 'unchanged'}")
    shown = shlex.quote(str(file))
    click.echo(f"Next:\n  optcp validate {shown}\n  optcp run {shown}")


@click.command()
@click.option(
    "--out", type=FILE, help="Write to FILE, such as the schema that your scenarios name. [default: standard output]"
)
def schema(out: Path | None) -> None:
    """Print the JSON Schema of scenario files."""
    from optcp import _core
    from optcp.common.files import write_text

    if out is None:
        click.echo(_core.schema())
        return
    write_text(out, _core.schema())
    click.echo(f"{out}")


@click.command()
@click.argument("shell", required=False, type=click.Choice(shells.SHELLS))
@click.option("--install", is_flag=True, help="Install it for this shell and list the changed files.")
def completion(shell: str | None, install: bool) -> None:
    """Print or install shell completion for bash, zsh or fish.

    The default is the shell of $SHELL, or the login shell if $SHELL is not set.
    """
    known = shell or Path(shells.default()).name
    if known not in shells.SHELLS:
        raise InputError(f"no completion for the shell {known or 'unknown'}; {nearest(known, shells.SHELLS)}")
    root = click.get_current_context().find_root().command
    if not install:
        click.echo(shells.script(root, known), nl=False)
        return
    changes = shells.install(root, known)
    for path, done in changes:
        click.echo(f"{path}: {done}")
    click.echo(f"Start a new {known} to use it. To remove it, delete {shlex.quote(str(changes[0][0]))}.")


@click.command(name="list")
@PAPERS
@click.argument("family", required=False, shell_complete=shells.among(shells.families))
def list_names(family: str | None) -> None:
    """List the names that scenarios and commands accept.

    FAMILY is a group of names, such as scenarios, exhibits or queues. `optcp list profiles` prints the options of each
    TCP profile with reasons: all for rfc, the differences for the others. `optcp list topologies` prints the
    collections of networks, and `optcp list sndlib` one collection. `optcp list constellations` prints satellite
    shells, and `optcp list cities` ground stations.
    """
    from optcp.catalogue import collections, families, profile_lines

    lists = collections()
    if family in lists:
        click.echo("\n".join(lists[family]))
        return
    known = families()
    if family is not None and family not in known:
        raise InputError(f"unknown family {family!r}; {nearest(family, [*known, *lists])}")
    if family == "profiles":
        click.echo("\n".join(profile_lines()))
        return
    for name in [family] if family else known:
        click.echo(f"{name}:")
        width = max((len(entry) for entry, _ in known[name]), default=0)
        for entry, summary in known[name]:
            click.echo(f"  {entry:<{width}}  {summary}".rstrip())


COMMANDS = (new, list_names, schema, completion)
