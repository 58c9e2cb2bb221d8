"""What an experiment is, and the form in which its result is stored."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NotRequired, TypedDict

from optcp.common import stored
from optcp.common.files import json_text
from optcp.stats import Interval
from optcp.study import Study, StudyResult
from optcp_papers.evidence.outside import Figure

MOST_DIGITS = 15
"""A figure has no more decimals than this."""


@dataclass(frozen=True)
class Compared:
    """An outside figure beside one of ours.

    Attributes
    ----------
    sharp
        Whether the comparison tells small differences; None for a count of cases.
    """

    source: str
    text: str
    verdict: str
    sharp: bool | None = None


@dataclass(frozen=True)
class Row:
    """One figure of ours.

    Attributes
    ----------
    key
        What it is of.
    value, ci95
        The figure and its 95 % interval; no interval for a count, open ends where one run is not enough.
    n
        Runs or cases behind it.
    outside
        What it is compared with; empty where nothing outside is known.
    """

    key: dict[str, str]
    value: float
    ci95: tuple[float | None, float | None] | None
    n: int
    outside: list[Compared] = field(default_factory=list)


class Cell(TypedDict):
    """A cell in a result's provenance."""

    set: NotRequired[list[str]]
    seeds: tuple[int, int]
    metrics_sha256: NotRequired[str]


class Provenance(TypedDict):
    """Where a result comes from: runs, or cases."""

    version: str
    scenario: NotRequired[str]
    cells: NotRequired[list[Cell]]
    metrics_sha256: NotRequired[str]
    cases_sha256: NotRequired[str]
    failed: NotRequired[list[str]]
    files: NotRequired[list[str]]


@dataclass(frozen=True)
class Result:
    """What an experiment found, as it is stored (``<name>.json``).

    Attributes
    ----------
    experiment, title
        Its name and what it is about.
    about
        Paragraphs: the world, what counts, what is known of differences.
    value, unit_n
        Headings of the columns of figures and of their number.
    digits
        Decimals that are shown.
    rows
        The figures.
    provenance
        Version, seeds, digests, and each cell with the settings that make it again.
    """

    experiment: str
    title: str
    about: list[str]
    value: str
    unit_n: str
    digits: int
    rows: list[Row]
    provenance: Provenance

    def to_json(self) -> str:
        """Write it for a file."""
        return json_text(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        ValueError
            If the text is no experiment's result.
        """
        result = stored.one(cls, stored.table(text))
        if not 0 <= result.digits <= MOST_DIGITS:
            raise ValueError(f"`digits` is not between 0 and {MOST_DIGITS}")
        digest = "metrics_sha256" if "cells" in result.provenance else "cases_sha256"
        stored.need(result.provenance, [digest], "provenance.")
        if result.provenance.get("cells") == []:
            raise ValueError("`provenance.cells` is empty")
        if result.experiment == "packetdrill":
            stored.need(result.provenance, ["failed"], "provenance.")
        return result


Studies = dict[Any, Study]
Found = Mapping[Any, StudyResult]
"""Their finished runs, by the same names."""
Figures = Iterable[tuple[dict[str, str], Interval, *tuple[Figure, ...]]]
"""Of each row the key, our figure, and outside ones that are not in the tables. Estimates of cells are such a thing."""


@dataclass(frozen=True)
class Runs:
    """Where figures of runs come from.

    Attributes
    ----------
    scenario
        The shipped scenario that is run.
    studies
        From how many seeds are wanted (None: the experiment's own number) to studies of it, by a name of their own.
    find
        From their finished runs to figures, in the order of the rows.
    """

    scenario: str
    studies: Callable[[int | None], Studies]
    find: Callable[[Found], Figures]


Cases = Callable[[], tuple[list[Row], dict[str, Any]]]
"""Counts what agrees among cases that a checkout has: gives rows and their provenance."""


@dataclass(frozen=True)
class Experiment:
    """Something that is compared with evidence from outside; :class:`Result` says what else it has.

    Attributes
    ----------
    name
        As the command line and the tables of outside figures have it.
    source
        What it is made from.
    """

    name: str
    title: str
    about: tuple[str, ...]
    value: str
    source: Runs | Cases
    unit_n: str = "runs"
    digits: int = 3


def counted(key: dict[str, str], agree: int, cases: int, source: str) -> Row:
    """The row of so many cases, of which so many agree with an outside source."""
    return Row(key, agree, None, cases, [Compared(source, f"{cases}", "agrees" if agree == cases else "differs")])


def geometric(logs: Interval) -> Interval:
    """The geometric mean whose logarithm is estimated."""
    return Interval(math.exp(logs.estimate), math.exp(logs.low), math.exp(logs.high), logs.n)
