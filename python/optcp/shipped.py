"""The scenario files that come with OpTCP, found by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import optcp
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    Paths = click.ParamType[Path]
else:
    Paths = click.ParamType  # click 8.1 does not say of what


def scenarios() -> dict[str, Path]:
    """Each shipped scenario's file by its name: the papers' own, which lie with them, and the others."""
    package = Path(optcp.__file__).parent
    found = [*package.glob("scenarios/*.toml"), *package.glob("papers/*/scenarios/*.toml")]
    return {path.stem: path for path in sorted(found, key=lambda path: path.name)}


def find(text: str) -> Path:
    """Return the scenario file that a user means: a path, or else the name of a shipped one.

    Raises
    ------
    InputError
        If there is neither.
    """
    path = Path(text)
    if path.is_file():
        return path
    known = scenarios()
    named = path.name.removesuffix(".toml")
    if path.parent == Path() and named in known:
        return known[named]
    if path.is_dir():
        raise InputError(f"{text}: this is a directory; a scenario is a file, such as world.toml")
    raise InputError(f"{text}: there is no such file and no scenario of this name; {nearest(named, known)}")


class ScenarioType(Paths):
    """A scenario on the command line."""

    name = "scenario"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ARG002
        """Find the file."""
        return value if isinstance(value, Path) else find(str(value))
