"""What the page shows of one exhibit: its command, its scenarios, its table in columns."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp import _core
from optcp.common.stored import with_checksum
from optcp.common.terminal import interval
from optcp.errors import InputError
from optcp.papers.options import Options, Size
from optcp.papers.registry import exhibits
from optcp.report import worlds
from optcp.report.findings import tone
from optcp.report.words import column, readable
from optcp.web.playground import short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.model import Result, Row
    from optcp.study import Grid
    from optcp.web.packed import Files

MOST_ROWS = 12
"""Of a table, before somebody asks for all: those with a printed value, or the first ones."""


@dataclass(frozen=True)
class Line:
    """A row of the table.

    Attributes
    ----------
    keys
        Its values of the keys.
    """

    row: Row
    keys: list[str]
    metric: str
    interval: str


@dataclass(frozen=True)
class World:
    """A world of an exhibit.

    Attributes
    ----------
    name
        What it is called.
    file
        The name of its file.
    address
        Of its first cell in the playground beside the page; empty where there is none, or the world is not for one.
    """

    name: str
    file: str
    address: str


@dataclass(frozen=True)
class Shown:
    """An exhibit on the page.

    Attributes
    ----------
    keys
        Names of the table's keys.
    first, more
        Lines that are seen at once, and those that are folded.
    printed
        Whether any row has a printed value.
    command, until_decided
        What makes it, and what decides what is undecided (empty where nothing is).
    data
        The name of its file.
    scenarios
        Its worlds.
    """

    keys: list[str]
    first: list[Line]
    more: list[Line]
    printed: bool
    command: str
    until_decided: str
    data: str
    scenarios: list[World]


def shown(result: Result, files: Files, playground: bool) -> Shown:
    """Make what the page shows of an exhibit; its files go to ``files``, and a playground is for its small worlds."""
    lines, keys = _lines(result)
    printed = [line for line in lines if line.row.paper is not None]
    rest = [line for line in lines if line.row.paper is None]
    cut = len(printed) or MOST_ROWS
    ordered = [*printed, *rest]
    undecided = any(tone(claim) == "undecided" for claim in result.claims)
    undecided |= any(row.verdict == "undecided" for row in result.rows)
    staged = "until_decided" in result.size
    return Shown(
        keys,
        ordered[:cut],
        ordered[cut:],
        bool(printed),
        command(result),
        f"optcp reproduce {result.exhibit} --until-decided" if undecided and not staged else "",
        files.add(f"{result.exhibit}.json", with_checksum(result.to_json())),
        [
            World(
                name,
                files.add(f"{result.exhibit} {name}.toml", worlds.toml(grid, first.to_toml())),
                short(first, f"{slug(name)}.toml") if playground else "",
            )
            for name, grid in studies(result).items()
            for first in (grid.branches[0].scenario,)
        ],
    )


def _lines(result: Result) -> tuple[list[Line], list[str]]:
    names = list(dict.fromkeys(name for row in result.rows for name in row.key))
    heads, columns = [], []
    for name in names:
        places = [at for at, row in enumerate(result.rows) if name in row.key]
        head, texts = column(name, [result.rows[at].key[name] for at in places])
        found = dict(zip(places, texts, strict=True))
        heads.append(head)
        columns.append([found.get(at, "") for at in range(len(result.rows))])
    lines = [
        Line(row, [one[at] for one in columns], readable(row.metric), interval(*row.ci95))
        for at, row in enumerate(result.rows)
    ]
    return lines, heads


def command(result: Result) -> str:
    """The command that makes an exhibit at this size."""
    words = ["optcp", "reproduce", result.exhibit]
    for part in str(result.size["name"]).split(", "):
        name, _, value = part.partition("=")
        if name != "default":
            words += [f"--{name}", *([value] if value else [])]
    for name in result.changed:
        words += ["--set", f"{name}={result.assumed[name]}"]
    if result.provenance["seeds"] and result.provenance["seeds"][0] != 1:
        words += ["--first-seed", str(result.provenance["seeds"][0])]
    return shlex.join(words)


def studies(result: Result) -> Mapping[str, Grid]:
    """The worlds of an exhibit by the names of its studies; none of an exhibit that is not there."""
    exhibit = exhibits().get(result.exhibit)
    if exhibit is None:
        return {}
    size = Size(result.size["name"])
    try:
        return exhibit.studies(result.assumed, Options(size=size, check=False))
    except (_core.ScenarioError, InputError, LookupError, ValueError, TypeError):
        # A result of another version of its exhibit: what it assumed need not be what is assumed now.
        return {}


def slug(text: str) -> str:
    """An id of a text."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower())
