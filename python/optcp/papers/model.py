"""The parts of an exhibit's result, and its JSON form (``DIR/<paper>/<exhibit>.json``)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

from optcp.common import stored
from optcp.common.files import json_text

Verdict = Literal["match", "near", "differs", "undecided", "claim-only"]
Holds = Literal[True, False, "undecided"]
Key = dict[str, str | int | float]


@dataclass(frozen=True)
class Row:
    """One compared value.

    Attributes
    ----------
    key
        What the row is of, for example ``{"flows": "10+10", "delta_ms": 50}``.
    metric
        Name of the metric; its unit ends the name (``_pct`` is per cent or percentage points).
    paper
        The printed value; None where nothing is printed or the figure is lost.
    measured, ci95
        The measured value and its 95 % interval; None for a value that is undefined or beyond all bounds, and at an end
        where one run is not enough for an interval.
    n
        The number of runs behind the value.
    verdict
        See :mod:`optcp.papers.verdict`.
    why
        For ``differs``: what is known about the reason. Empty otherwise.
    at_least
        Lower bound of a value that the end of runs cuts, such as the completion time of unfinished flows; ``measured``
        is None then. None for all other values. JSON has it only where there is one.
    at_most
        The same with an upper bound, as of an availability.
    """

    key: Key
    metric: str
    paper: float | None
    measured: float | None
    ci95: tuple[float | None, float | None]
    n: int
    verdict: Verdict
    why: str = ""
    at_least: float | None = None
    at_most: float | None = None

    def record(self) -> dict[str, Any]:
        """Return it as JSON has it: a bound only where there is one."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in ("at_least", "at_most") or value is not None
        }

    @property
    def value(self) -> float:
        """The measured value, NaN where there is none."""
        return math.nan if self.measured is None else self.measured

    @property
    def name(self) -> str:
        """Key and metric as one text, unique in an exhibit."""
        return " ".join([*(f"{name}={value}" for name, value in self.key.items()), self.metric])


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, judged.

    Attributes
    ----------
    id
        The claim's name, unique in an exhibit.
    text, where
        The statement and where the paper makes it.
    holds
        True, False or "undecided"; where interpretations of an unstated parameter disagree, "undecided".
    evidence
        Each part of the judgement with its numbers.
    readings
        The judgement under each interpretation, by its name.
    """

    id: str
    text: str
    where: str
    holds: Holds
    evidence: str
    readings: dict[str, Holds] = field(default_factory=dict)

    @property
    def disagrees(self) -> bool:
        """Whether it holds under one interpretation and fails under another, which no run can decide."""
        return {True, False} <= set(self.readings.values())


@dataclass(frozen=True)
class Series:
    """One curve or histogram.

    Attributes
    ----------
    name, key
        Which curve.
    x, y
        Points, equally long, in ``x_unit`` and ``y_unit``.
    ci95
        One (low, high) a point, or empty where the curve has no interval; None where the runs do not bound a value.
    """

    name: str
    key: Key
    x_label: str
    x_unit: str
    y_label: str
    y_unit: str
    x: list[float]
    y: list[float]
    ci95: list[tuple[float | None, float | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        ends = [(_bounded(low), _bounded(high)) for low, high in self.ci95]
        object.__setattr__(self, "ci95", ends)

    @property
    def ends(self) -> tuple[list[float], list[float]]:
        """The lower and the upper ends of the intervals; NaN where there is none."""
        low, high = zip(*self.ci95, strict=True)
        return [math.nan if end is None else end for end in low], [math.nan if end is None else end for end in high]


def _bounded(end: float | None) -> float | None:
    """An end of an interval as JSON can say it: None where it is infinite."""
    return end if end is not None and math.isfinite(end) else None


class Source(TypedDict):
    """What is read of a result's source."""

    paper: str
    where: str


Stage = Literal["decided", "interpretations disagree", "no seeds to add", "the same with more seeds", "bound reached"]
"""How a claim ended where seeds were added until it was decided; see :mod:`optcp.papers.until`."""


class Ended(TypedDict):
    """How a claim ended, and with how many seeds of the study that had most."""

    stage: Stage
    seeds: int


class UntilDecided(TypedDict):
    """The looks of a sequential design: in multiples of the default number of seeds, each at one level."""

    looks: list[int]
    level: float
    claims: dict[str, Ended]


class Size(TypedDict):
    """What is read of a result's size."""

    name: str
    seeds: dict[str, int]
    paper_runs: int | None
    until_decided: NotRequired[UntilDecided]


class Provenance(TypedDict):
    """What is read of a result's provenance."""

    version: str
    git: str
    scenario_sha256: NotRequired[str]
    seeds: tuple[int, int] | None
    records_sha256: NotRequired[str | None]
    metrics_sha256: str
    cells: NotRequired[list[dict[str, Any]]]
    kept: NotRequired[list[dict[str, Any]]]


@dataclass(frozen=True)
class Result:
    """An exhibit's result, all that tables, figures and reports are made from.

    Attributes
    ----------
    exhibit, title, source
        Id, title, and ``{"paper": ..., "where": ...}``.
    size
        ``name`` (:class:`optcp.papers.options.Size`), ``seeds`` by study, ``paper_runs`` (None beyond the paper): how
        large this run of it is. ``until_decided`` only where seeds were added in stages.
    assumed
        Every unstated parameter of the paper, with the value used.
    changed
        The assumed parameters that ``--set`` changed: name to their default.
    notes
        What a reader must know beside the numbers.
    provenance
        ``version``, ``git``, ``scenario_sha256``, ``seeds`` (first, last), ``records_sha256`` (or None),
        ``metrics_sha256``.
    """

    exhibit: str
    title: str
    source: Source
    size: Size
    assumed: dict[str, Any]
    changed: dict[str, Any]
    rows: list[Row]
    claims: list[Claim]
    notes: list[str]
    provenance: Provenance
    series: list[Series]

    def to_json(self) -> str:
        """The JSON text, the same bytes for the same result."""
        return json_text(asdict(self) | {"rows": [row.record() for row in self.rows]})

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read :meth:`to_json` back.

        Raises
        ------
        ValueError
            If the text is not an exhibit's result.
        """
        result = stored.one(cls, stored.table(text))
        for index, curve in enumerate(result.series):
            if len(curve.y) != len(curve.x):
                raise ValueError(f"`series[{index}].x` and `series[{index}].y` are not equally long")
            if curve.ci95 and len(curve.ci95) != len(curve.x):
                raise ValueError(f"`series[{index}].x` and `series[{index}].ci95` are not equally long")
        ended = result.size.get("until_decided", {"claims": {claim.id: None for claim in result.claims}})["claims"]
        if set(ended) != {claim.id for claim in result.claims}:
            raise ValueError("`size.until_decided.claims` and `claims` are not of the same claims")
        for name in result.changed:
            if name not in result.assumed:
                raise ValueError(f"`changed.{name}` is not in `assumed`")
        return result


def finite(value: float, digits: int = 4) -> float | None:
    """Round a number for a result; None where it is infinite, which JSON cannot say."""
    if not math.isfinite(value):
        return None
    # "+ 0.0" turns a negative zero into zero.
    return round(value, digits) + 0.0
