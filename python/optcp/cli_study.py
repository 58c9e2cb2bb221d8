"""The verbs of finished studies: ``optcp compare`` and ``optcp plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optcp.errors import InputError
from optcp.options import DIRECTORY, FILE, console

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@click.command()
@click.argument("directory", type=DIRECTORY)
@click.option("--at", multiple=True, required=True, metavar="AXIS=VALUE", help="The cell to compare with; repeat.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric; may be repeated.")
@click.option("--format", "form", type=click.Choice(["table", "csv"]), default="table", show_default=True)
@click.option("--all", "everything", is_flag=True, help="Print every row of a long table.")
def compare(directory: Path, at: tuple[str, ...], metrics: tuple[str, ...], form: str, everything: bool) -> None:
    """Compare every metric of the study in DIRECTORY with one cell, seed by seed.

    Cells share their random draws, so that paired differences are more precise than intervals of each cell say. With
    several axes, name a value of each, or of some: along the others each cell has a reference of its own.
    """
    from optcp.labelled import MOST_ROWS
    from optcp.study.done import Done

    found = Done.open(directory).compare(at=_cell("--at", at), metrics=metrics or None)
    if form == "csv":
        click.echo(found.csv(), nl=False)
        return
    from optcp.tables import show_comparison

    show_comparison(console(), found, None if everything else MOST_ROWS)


@click.command()
@click.argument("directory", type=DIRECTORY)
@click.option("--y", required=True, metavar="METRIC", help="What is drawn.")
@click.option("--x", metavar="AXIS", help="Along which axis. [default: the first one of numbers]")
@click.option("--by", metavar="AXIS", help="A curve for each of its values. [default: the only axis left]")
@click.option("--at", multiple=True, metavar="AXIS=VALUE", help="A value of another axis; may be repeated.")
@click.option("--of", multiple=True, metavar="NAME", help="Only this group, port or reason; may be repeated.")
@click.option(
    "--minus", multiple=True, metavar="AXIS=VALUE", help="Differences from this cell, paired by seed; repeat."
)
@click.option("--columns", type=click.IntRange(1, 2), default=1, show_default=True, help="Width, of an IEEE page.")
@click.option("--out", type=FILE, help="A file .svg, .pdf or .png. [default: DIRECTORY/plots/METRIC-AXIS.svg]")
def plot(
    directory: Path,
    y: str,
    x: str | None,
    by: str | None,
    at: tuple[str, ...],
    of: tuple[str, ...],
    minus: tuple[str, ...],
    columns: int,
    out: Path | None,
) -> None:
    """Draw a metric of the study in DIRECTORY: means over the seeds with 95 % intervals."""
    from optcp.plots.study import Request, write
    from optcp.study.done import Done

    asked = Request(y, x, by, _cell("--at", at), of, _cell("--minus", minus), columns)
    click.echo(str(write(Done.open(directory), asked, out)))


def _cell(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Split AXIS=VALUE; the last of two for one axis counts."""
    found = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name.strip():
            raise InputError(f"{option} {text}: expected AXIS=VALUE")
        found[name.strip()] = value.strip()
    return found
