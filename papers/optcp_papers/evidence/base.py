"""Definition of an experiment, and stored form of its result."""

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
"""Maximum number of decimals of a figure."""


@dataclass(frozen=True)
class Compared:
    """External figure compared with one of ours.

    Attributes
    ----------
    sharp
        Whether the comparison can detect small differences; None for a count of cases.
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
        Identification of the figure.
    value, ci95
        Figure and its 95 % interval; no interval for a count, open ends if one run is not enough.
    n
        Number of runs or cases.
    outside
        External figures for comparison; empty if none are known.
    """

    key: dict[str, str]
    value: float
    ci95: tuple[float | None, float | None] | None
    n: int
    outside: list[Compared] = field(default_factory=list)


class Cell(TypedDict):
    """Parameter combination in a result's provenance."""

    set: NotRequired[list[str]]
    seeds: tuple[int, int]
    metrics_sha256: NotRequired[str]


class Provenance(TypedDict):
    """Origin of a result: runs, or cases."""

    version: str
    scenario: NotRequired[str]
    cells: NotRequired[list[Cell]]
    metrics_sha256: NotRequired[str]
    cases_sha256: NotRequired[str]
    failed: NotRequired[list[str]]
    files: NotRequired[list[str]]


@dataclass(frozen=True)
class Result:
    """Stored result of an experiment (``<name>.json``).

    Attributes
    ----------
    experiment, title
        Name and subject.
    about
        Paragraphs: scenario, definition of the figure, known reasons for differences.
    value, unit_n, interval
        Headings of the columns of figures, of their number, and of their intervals.
    digits
        Number of decimals shown.
    rows
        Figures.
    provenance
        Version, seeds, digests, and each combination with the settings that reproduce it.
    """

    experiment: str
    title: str
    about: list[str]
    value: str
    unit_n: str
    digits: int
    rows: list[Row]
    provenance: Provenance
    interval: str = "95 % interval"

    def to_json(self) -> str:
        """Return the JSON text of the result."""
        return json_text(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read a text of :meth:`to_json`.

        Raises
        ------
        ValueError
            If the text is not the result of an experiment.
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
"""Finished runs by the names of the studies."""
Figures = Iterable[tuple[dict[str, str], Interval, *tuple[Figure, ...]]]
"""Key, our figure, and external figures that are not in the tables (such as estimates per combination), by row."""


@dataclass(frozen=True)
class Runs:
    """Source of figures that come from runs.

    Attributes
    ----------
    scenario
        Shipped scenario of the runs.
    studies
        Function from the number of seeds (None: the experiment's own) to its studies by name.
    find
        Function from the finished runs to figures, in the order of the rows.
    """

    scenario: str
    studies: Callable[[int | None], Studies]
    find: Callable[[Found], Figures]


Cases = Callable[[], tuple[list[Row], dict[str, Any]]]
"""Function that counts agreeing cases of a checkout, and returns rows and their provenance."""


@dataclass(frozen=True)
class Experiment:
    """Comparison with external evidence; :class:`Result` describes the other attributes.

    Attributes
    ----------
    name
        Name on the command line and in the tables of external figures.
    source
        Source of its figures.
    """

    name: str
    title: str
    about: tuple[str, ...]
    value: str
    source: Runs | Cases
    unit_n: str = "runs"
    digits: int = 3
    interval: str = "95 % interval"


def counted(key: dict[str, str], agree: int, cases: int, source: str) -> Row:
    """Return the row of ``cases`` cases of which ``agree`` agree with an external source."""
    return Row(key, agree, None, cases, [Compared(source, f"{cases}", "agrees" if agree == cases else "differs")])


def geometric(logs: Interval) -> Interval:
    """Return the geometric mean from an estimate of its logarithm."""
    return Interval(math.exp(logs.estimate), math.exp(logs.low), math.exp(logs.high), logs.n)
