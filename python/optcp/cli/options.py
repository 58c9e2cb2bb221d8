"""What verbs of several modules take and print on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from optcp.common.plurals import count_noun
from optcp.errors import InputError
from optcp.scenarios.shipped import ScenarioType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from optcp.study.pool import Executor, Jobs

PLAIN_WIDTH = 100
"""Width of tables that do not go to a terminal."""


class Alias(click.Option):
    """An option with a second name, which does the same and is not shown."""

    def __init__(self, *args: Any, also: str, **kwargs: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*args, **kwargs)
        self.also = also

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:  # noqa: ANN401 - click keeps its type to itself
        """Let the parser know both names."""
        super().add_to_parser(parser, ctx)
        parser.add_option(obj=self, opts=[self.also], dest=self.name)


class Place(click.Path):
    """A path on the command line, which is not empty: `--out "$UNSET"` means no place, not this directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Make a path of it."""
        if value == "":
            self.fail("the path is empty; this directory is `.`", param, ctx)
        return super().convert(value, param, ctx)


FILE = Place(path_type=Path, dir_okay=False)
DIRECTORY = Place(path_type=Path, file_okay=False)
SCENARIO = ScenarioType()

SET = click.option("settings", "--set", multiple=True, metavar="KEY=VALUE", help="Change a value; may be repeated.")
CELL = click.option(
    "cells", "--cell", multiple=True, metavar="AXIS=VALUE", help="Runs with this value; may be repeated."
)


class Whole(click.IntRange):
    """A whole number on the command line, within bounds."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Read it; one sentence says what is expected, whatever else was given."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            low, high = self.min, self.max
            bounds = "" if low is None else f" of {low} or more" if high is None else f" from {low} to {high}"
            self.fail(f"expected a whole number{bounds}, got {str(value)!r}", param, ctx)


POSITIVE = Whole(min=1)
COUNT = Whole(min=1, max=1_000_000)
"""Of runs: what is known of each must fit into memory."""

JOBS = click.option("--jobs", type=POSITIVE, help="Threads. [default: one a processor]")
DASK = click.option(
    "--dask", metavar="ADDRESS", help="Run on the workers of a Dask cluster, such as tcp://HOST:8786, not in threads."
)


DIGEST = click.option("--digest", is_flag=True, help="Compute records_sha256, the digest of all records, too.")
FORK = click.option("--fork/--no-fork", default=True, help="Share warm-ups between branches; results are equal.")


def _add_papers(_: click.Context, __: click.Parameter, directories: tuple[Path, ...]) -> None:
    if not directories:
        return
    from optcp.papers import registry

    for directory in directories:
        registry.add(directory)


PAPERS = click.option(
    "--papers",
    type=DIRECTORY,
    multiple=True,
    metavar="DIR",
    is_eager=True,
    expose_value=False,
    callback=_add_papers,
    help="A folder with a paper of your own, or with several; may be repeated.",
)


def settings(option: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Axes and values of ``AXIS=VALUE``.

    Raises
    ------
    InputError
        If one is something else; ``option`` begins the message.
    """
    found = []
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name.strip():
            raise InputError(f"{option} {text}: expected AXIS=VALUE, such as switch_delay='50 ms'")
        found.append((name.strip(), value.strip()))
    return tuple(found)


def pairs(settings: Sequence[str]) -> dict[str, str]:
    """Split KEY=VALUE of ``--set``; the last of two for one key counts.

    Raises
    ------
    InputError
        If one is something else.
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
    """Where runs are made: in threads, or on a cluster, which is left when the command ends."""
    if dask is None:
        from optcp.common.processors import processors

        return jobs or processors()
    if jobs is not None:
        raise click.UsageError("--jobs are threads of this machine, and the workers of --dask have their own")
    from optcp.study import cluster

    client = cluster.connected(dask)
    click.get_current_context().call_on_close(client.close)
    count, threads = cluster.workers(client)
    there = (
        f"{count_noun(count, 'worker')} with {count_noun(threads, 'thread')}"
        if count
        else "no workers yet; runs wait for them"
    )
    click.echo(f"{dask}: {there}", err=True)
    executor: Executor = client
    return executor


def console(stderr: bool = False) -> Console:
    """What tables and messages are printed on."""
    from rich.console import Console

    # Names, paths and values are shown as they are: `[/a]` in one is no markup, `:x:` no picture.
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = PLAIN_WIDTH
    return made
