"""Tool ``list``: names that scenarios and tools accept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcp import _core, catalogue
from optcp.errors import InputError, nearest
from optcp.mcp.parts import part, without_empty
from optcp.outage.metrics import RATIO, UNITS
from optcp.outage.result import LOSS, TIME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optcp.mcp.report import Report


METRICS = "metrics"
"""Name of the list of all metrics."""
HEADS = LOSS | TIME


def call(
    report: Report,  # noqa: ARG001 - all tools have one
    *,
    family: str | None,
    contains: str,
    skip: int,
    most: int | None,
) -> dict[str, Any]:
    """Return the families of names, or the names of one family with their descriptions."""
    lists, families = catalogue.collections(), catalogue.families()
    if family is None:
        counts = {name: len(members) for name, members in (families | lists).items()}
        counts[METRICS] = len([*_metrics()])
        found = [{"name": name, "summary": f"{count} names"} for name, count in counts.items()]
    elif family == METRICS:
        found = [*_metrics()]
    elif family == "profiles":
        found = [*_options()]
    elif family in lists:
        found = [{"name": line, "summary": ""} for line in lists[family]]
    elif family in families:
        found = [{"name": name, "summary": summary} for name, summary in families[family]]
    else:
        raise InputError(f"family {family!r}: unknown family; {nearest(family, [*families, *lists, METRICS])}")
    wanted = contains.lower()
    chosen = [one for one in found if wanted in one["name"].lower() or wanted in one["summary"].lower()]
    some, left = part([without_empty(one, "summary") for one in chosen], skip, most)
    return {"family": family, "names": some, "left_out": left}


def _metrics() -> Iterator[dict[str, str]]:
    """Yield the metrics of runs and of the tool outage, with their units."""
    for one in _core.metrics():
        per = f", per {one['of']}" if one["of"] else ""
        yield {"name": one["name"], "summary": f"{one['summary']} Unit: {one['unit'] or RATIO}{per}."}
    for name, unit in UNITS.items():
        yield {"name": name, "summary": f"Tool outage: {HEADS.get(name, 'statistic over failures')}. Unit: {unit}."}


def _options() -> Iterator[dict[str, str]]:
    """Yield the options of the TCP profiles: all of the first, and the differences of the others."""
    reference, *_ = profiles = _core.profiles()
    for profile in profiles:
        name = profile["name"]
        differs = "" if profile is reference else f"; below, the differences from {reference['name']}"
        yield {"name": name, "summary": f"{profile['summary']} [{profile['source']}]{differs}"}
        for key, value, why in profile["choices"]:
            yield {"name": f"{name}: {key}", "summary": f"{value} ({why})"}
