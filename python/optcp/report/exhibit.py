"""Contents of the report on one experiment: command, scenarios and table."""

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
"""Number of visible rows of a table without published values; rows with a published value are always visible."""


@dataclass(frozen=True)
class Line:
    """Row of the table.

    Attributes
    ----------
    keys
        Values of the keys, as text.
    """

    row: Row
    keys: list[str]
    metric: str
    interval: str


@dataclass(frozen=True)
class World:
    """Scenario of an experiment.

    Attributes
    ----------
    name
        Name of the study.
    file
        Name of the scenario file.
    address
        Address of its first parameter combination in the playground; empty if the playground cannot run it.
    """

    name: str
    file: str
    address: str


@dataclass(frozen=True)
class Shown:
    """Experiment as the page shows it.

    Attributes
    ----------
    keys
        Heads of the key columns.
    first, more
        Visible and folded lines.
    printed
        Whether any row has a published value.
    command, until_decided
        Command that reproduces it, and command that decides undecided verdicts (empty if all are decided).
    data
        Name of its JSON file.
    scenarios
        Scenarios of its studies.
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
    """Prepare an experiment for the page; its files go to ``files``, and ``playground`` links its small scenarios."""
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
    """Return the command that reproduces a result at its size."""
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
    """Return the grids of an experiment by study; empty if the experiment is not installed."""
    exhibit = exhibits().get(result.exhibit)
    if exhibit is None:
        return {}
    size = Size(result.size["name"])
    try:
        return exhibit.studies(result.assumed, Options(size=size, check=False))
    except (_core.ScenarioError, InputError, LookupError, ValueError, TypeError):
        # A result of another version may have other assumptions than the installed experiment.
        return {}


def slug(text: str) -> str:
    """An id of a text."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower())
