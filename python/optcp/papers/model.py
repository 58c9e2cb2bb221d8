"""Result of an exhibit, and its JSON form (``DIR/<paper>/<exhibit>.json``)."""

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
    """Simulated value with its published counterpart.

    Attributes
    ----------
    key
        Parameter values, for example ``{"flows": "10+10", "delta_ms": 50}``.
    metric
        Name of the metric with its unit as suffix (``_pct`` is per cent or percentage points).
    paper
        Published value; None if it does not exist or the figure is lost.
    measured, ci95
        Simulated value and 95 % interval; None for undefined or infinite values and ends.
    n
        Number of runs.
    verdict
        See :mod:`optcp.papers.verdict`.
    why
        Known reason of a difference; empty unless the verdict is ``differs``.
    at_least
        Lower bound of a censored value, such as the completion time of unfinished flows, for which ``measured`` is
        None; otherwise None. JSON omits None.
    at_most
        Upper bound of a value, such as an availability, in the same way.
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
        """Return the row for JSON, without bounds that are None."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in ("at_least", "at_most") or value is not None
        }

    @property
    def value(self) -> float:
        """Simulated value; NaN if undefined."""
        return math.nan if self.measured is None else self.measured

    @property
    def name(self) -> str:
        """Key and metric as one text, unique in an exhibit."""
        return " ".join([*(f"{name}={value}" for name, value in self.key.items()), self.metric])


@dataclass(frozen=True)
class Claim:
    """Statement of a paper with its verdict.

    Attributes
    ----------
    id
        Name, unique in an exhibit.
    text, where
        Statement, and its place in the paper.
    holds
        True, False or "undecided"; "undecided" if interpretations of an unstated parameter disagree.
    evidence
        Parts of the verdict with their numbers.
    readings
        Verdict by interpretation.
    """

    id: str
    text: str
    where: str
    holds: Holds
    evidence: str
    readings: dict[str, Holds] = field(default_factory=dict)

    @property
    def disagrees(self) -> bool:
        """Whether it holds under one interpretation and fails under another."""
        return {True, False} <= set(self.readings.values())


@dataclass(frozen=True)
class Series:
    """Curve or histogram.

    Attributes
    ----------
    name, key
        Name and parameter values of the curve.
    x, y
        Coordinates of equal length, in ``x_unit`` and ``y_unit``.
    ci95
        One (low, high) per point, or empty without intervals; None for unbounded ends.
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
        """Lower and upper ends of the intervals; NaN if unbounded."""
        low, high = zip(*self.ci95, strict=True)
        return [math.nan if end is None else end for end in low], [math.nan if end is None else end for end in high]


def _bounded(end: float | None) -> float | None:
    """Return an end of an interval for JSON: None if infinite."""
    return end if end is not None and math.isfinite(end) else None


class Source(TypedDict):
    """Source of a result."""

    paper: str
    where: str


Stage = Literal["decided", "interpretations disagree", "no seeds to add", "the same with more seeds", "bound reached"]
"""Reason why no more seeds are added for a claim; see :mod:`optcp.papers.until`."""


class Ended(TypedDict):
    """Final stage of a claim, and number of seeds of the largest study."""

    stage: Stage
    seeds: int


class UntilDecided(TypedDict):
    """Interim looks, as multiples of the default number of seeds, with their level and the stages of claims."""

    looks: list[int]
    level: float
    claims: dict[str, Ended]


class Size(TypedDict):
    """Size of a result."""

    name: str
    seeds: dict[str, int]
    paper_runs: int | None
    until_decided: NotRequired[UntilDecided]


class Provenance(TypedDict):
    """Provenance of a result."""

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
    """Result of an exhibit, from which tables, figures and reports are created.

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
        Remarks that readers need to interpret the numbers.
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
