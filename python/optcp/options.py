"""What verbs of several modules take and print on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 100
"""Width of tables that do not go to a terminal."""


class Place(click.Path):
    """A path on the command line, which is not empty: `--out "$UNSET"` means no place, not this directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Make a path of it."""
        if value == "":
            self.fail("the path is empty; this directory is `.`", param, ctx)
        return super().convert(value, param, ctx)


FILE = Place(path_type=Path, dir_okay=False)
DIRECTORY = Place(path_type=Path, file_okay=False)


def console(stderr: bool = False) -> Console:
    """What tables and messages are printed on."""
    from rich.console import Console

    # Names, paths and values are shown as they are: `[/a]` in one is no markup, `:x:` no picture.
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = PLAIN_WIDTH
    return made
