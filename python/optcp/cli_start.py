"""The verbs to begin with: a scenario of one's own, the schema for its editor, completion in the shell."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from optcp import completion as shells
from optcp import shipped
from optcp.errors import InputError, nearest
from optcp.options import FILE


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
    from optcp.files import write_text

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


VERBS = (new, schema, completion)
