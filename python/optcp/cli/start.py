"""The verbs to begin with: a scenario of one's own, the schema for its editor, completion in the shell."""

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
    help="Which one: `optcp list scenarios`.",
)
@click.option("--force", is_flag=True, help="Overwrite what is there.")
def new(file: Path, name: str, force: bool) -> None:
    """Write a scenario to begin with, whose comments say what to change.

    It is a copy of one that comes with optcp. Beside it goes the JSON Schema that its first line names: editors with
    the language server Taplo (VS Code: Even Better TOML) or Tombi then complete keys and values, and mark mistakes.
    """
    for path, written in shipped.begin(file, name, force=force):
        click.echo(f"{path}: {'written' if written else 'unchanged'}")
    shown = shlex.quote(str(file))
    click.echo(f"Next:\n  optcp validate {shown}\n  optcp run {shown}")


@click.command()
@click.option("--out", type=FILE, help="Write it to this file, such as the one that scenarios beside it name.")
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
@click.option("--install", is_flag=True, help="Write it where the shell reads it, and say what was changed.")
def completion(shell: str | None, install: bool) -> None:
    """Print or install what lets bash, zsh or fish complete commands, options and names.

    By default it is the shell of $SHELL, or the login shell if $SHELL is not set.
    """
    known = shell or Path(shells.default()).name
    if known not in shells.SHELLS:
        raise InputError(f"your shell is {known or 'unknown'}: name one of these; {nearest(known, shells.SHELLS)}")
    root = click.get_current_context().find_root().command
    if not install:
        click.echo(shells.script(root, known), nl=False)
        return
    changes = shells.install(root, known)
    for path, done in changes:
        click.echo(f"{path}: {done}")
    click.echo(f"A new {known} completes optcp. To undo it, delete {shlex.quote(str(changes[0][0]))}.")


@click.command(name="list")
@PAPERS
@click.argument("family", required=False, shell_complete=shells.among(shells.families))
def list_names(family: str | None) -> None:
    """List what scenario files and commands can name: exhibits, profiles, policies, units, ...

    `optcp list profiles` prints what each TCP profile chooses, and why: all of rfc, and what differs from it.
    `optcp list topologies` prints the collections of networks; `optcp list sndlib` what is in one. `optcp list
    constellations` prints the shells of satellites; `optcp list cities` the ground stations.
    """
    from optcp.cli.listing import collections, families, profile_lines

    lists = collections()
    if family in lists:
        click.echo("\n".join(lists[family]))
        return
    known = families()
    if family is not None and family not in known:
        raise InputError(f"there is no family {family!r}; {nearest(family, [*known, *lists])}")
    if family == "profiles":
        click.echo("\n".join(profile_lines()))
        return
    for name in [family] if family else known:
        click.echo(f"{name}:")
        width = max((len(entry) for entry, _ in known[name]), default=0)
        for entry, summary in known[name]:
            click.echo(f"  {entry:<{width}}  {summary}".rstrip())


VERBS = (new, list_names, schema, completion)
