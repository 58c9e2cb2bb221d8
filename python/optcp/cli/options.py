"""Options and output consoles that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from optcp.common.plurals import count_noun
from optcp.errors import InputError, nearest
from optcp.scenarios.shipped import ScenarioType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from optcp.study.pool import Executor, Jobs

PLAIN_WIDTH = 100
"""Table width, in characters, if the output is not a terminal."""


class Alias(click.Option):
    """Option with a hidden second name."""

    def __init__(self, *args: Any, also: str, **kwargs: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*args, **kwargs)
        self.also = also

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:  # noqa: ANN401 - click keeps its type to itself
        """Register both names."""
        super().add_to_parser(parser, ctx)
        parser.add_option(obj=self, opts=[self.also], dest=self.name)


class Place(click.Path):
    """Path that must not be empty: `--out "$UNSET"` is an error, not the current directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Convert the text to a path."""
        if value == "":
            self.fail("the path is empty; use `.` for the current directory", param, ctx)
        return super().convert(value, param, ctx)


FILE = Place(path_type=Path, dir_okay=False)
DIRECTORY = Place(path_type=Path, file_okay=False)
SCENARIO = ScenarioType()

SET = click.option(
    "settings", "--set", multiple=True, metavar="KEY=VALUE", help="Override a value of the scenario. Repeatable."
)
CELL = click.option(
    "cells",
    "--cell",
    multiple=True,
    metavar="NAME=VALUE",
    help="Select the runs with this value of a swept parameter. Repeatable.",
)


class Whole(click.IntRange):
    """Integer option or argument with optional bounds."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Convert the text; every failure has the same message, which states the bounds."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            low, high = self.min, self.max
            bounds = "" if low is None else f" of {low} or more" if high is None else f" from {low} to {high}"
            self.fail(f"expected a whole number{bounds}, got {str(value)!r}", param, ctx)

    def _describe_range(self) -> str:
        # click would print `x<=None` for a number without bounds.
        return "" if self.min is None and self.max is None else super()._describe_range().replace("x", "N")


if TYPE_CHECKING:
    Choice = click.Choice[str]
else:
    Choice = click.Choice  # not generic in click 8.1


class Format(Choice):
    """Name of a format. A message on another name gives the nearest one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401
        """Return the name; fail if it does not exist."""
        if value not in self.choices:
            self.fail(f"unknown format {str(value)!r}; {nearest(value, self.choices)}", param, ctx)
        return str(value)


POSITIVE = Whole(min=1)
COUNT = Whole(min=1, max=1_000_000)
"""Number of runs. The upper bound keeps the records of all runs in memory."""

JOBS = click.option(
    "--jobs", type=POSITIVE, metavar="N", help="Number of runs at the same time. [default: number of processors]"
)
DASK = click.option(
    "--dask", metavar="ADDRESS", help="Run on the workers of this Dask cluster, such as tcp://HOST:8786."
)


DIGEST = click.option("--digest", is_flag=True, help="Also compute records_sha256, a digest of all simulated events.")
FORK = click.option(
    "--fork/--no-fork",
    default=True,
    show_default=True,
    help="Simulate the common start of parameter combinations once, or for each; results are equal.",
)


def _add_papers(_: click.Context, __: click.Parameter, directories: tuple[Path, ...]) -> None:
    if not directories:
        return
    from optcp.papers import registry

    for directory in directories:
        registry.add(directory)


OUT = click.option(
    "--out",
    type=DIRECTORY,
    metavar="DIR",
    default=Path("results"),
    show_default=True,
    help="Directory of the results.",
)


PAPERS = click.option(
    "--papers",
    type=DIRECTORY,
    multiple=True,
    metavar="DIR",
    is_eager=True,
    expose_value=False,
    callback=_add_papers,
    help="Also load the papers in DIR. Repeatable.",
)


def settings(option: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the names and values of ``NAME=VALUE`` texts.

    Raises
    ------
    InputError
        If a text has another form; the message starts with ``option``.
    """
    found = []
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name.strip():
            raise InputError(f"{option} {text}: expected NAME=VALUE, such as switch_delay='50 ms'")
        found.append((name.strip(), value.strip()))
    return tuple(found)


def pairs(settings: Sequence[str]) -> dict[str, str]:
    """Return the keys and values of ``--set KEY=VALUE``; the last value of a repeated key counts.

    Raises
    ------
    InputError
        If a setting has another form or is not UTF-8.
    """
    found = {}
    for setting in settings:
        key, separator, value = setting.partition("=")
        if not separator or not key.strip():
            raise InputError(f"--set {setting}: expected KEY=VALUE")
        if any("\ud800" <= letter <= "\udfff" for letter in setting):
            raise InputError(f"--set {setting}: not UTF-8 text")
        found[key.strip()] = value.strip()
    return found


def workers(jobs: int | None, dask: str | None = None) -> Jobs:
    """Return the number of threads, or the client of a Dask cluster, which is closed when the command ends."""
    if dask is None:
        from optcp.common.processors import processors

        return jobs or processors()
    if jobs is not None:
        raise click.UsageError("--jobs cannot be combined with --dask: the cluster determines the number of threads")
    from optcp.study import cluster

    client = cluster.connected(dask)
    click.get_current_context().call_on_close(client.close)
    count, threads = cluster.workers(client)
    there = (
        f"{count_noun(count, 'worker')} with {count_noun(threads, 'thread')}"
        if count
        else "no workers yet; runs start when workers connect"
    )
    click.echo(f"{dask}: {there}", err=True)
    executor: Executor = client
    return executor


def console(stderr: bool = False) -> Console:
    """Return the console for tables (standard output) or messages (standard error)."""
    from rich.console import Console

    # Print names, paths and values unchanged: `[/a]` is not markup and `:x:` is not an emoji.
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = PLAIN_WIDTH
    return made
