"""Events of a run as sentences: failures, repairs, switchovers and FIB updates."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from optcp.scenarios.run import FreshRun

MOST_NAMES = 3
"""Maximum number of names in a sentence."""

MOST_EVENTS = 400
"""Maximum number of events on a page."""

TOGETHER_PS = 1_000_000_000
"""Maximum time between events of one kind that share a sentence, in ps."""


class Event(NamedTuple):
    """Event with its time, kind ("down", "up", "switch", "tables") and sentence."""

    at_ps: int
    kind: str
    text: str


def events(run: FreshRun) -> list[Event]:
    """Return all events, ordered by time."""
    found = [*_failures(run.failed), *_switches(run.switches, run.scenario), *_tables(run.routing)]
    return sorted(found, key=lambda event: event.at_ps)[:MOST_EVENTS]


def _failures(failed: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
    for key, kind, says in (("at_ps", "down", "fails"), ("repair_ps", "up", "is repaired")):
        by_time: dict[int, list[str]] = defaultdict(list)
        for one in failed:
            if one[key] is not None:
                by_time[one[key]].append(one["port"])
        for at, ports in by_time.items():
            yield Event(at, kind, _said(_links(ports), says))


def _links(ports: Sequence[str]) -> list[str]:
    """Return ``A-B`` for both directions of a link, and the port for a single direction."""
    found = []
    seen = set()
    for port in ports:
        link, separator, ends = port.rpartition(":")
        a, _, b = ends.partition("->")
        back = f"{link}{separator}{b}->{a}"
        if back not in seen:
            found.append(f"{link}{separator}{a}-{b}" if back in ports else port)
        seen.add(port)
    return found


def _switches(switches: Sequence[Mapping[str, Any]], scenario: Mapping[str, Any]) -> Iterator[Event]:
    """Yield switchovers; equal ones that are close in time share a sentence."""
    runs: list[tuple[int, tuple[str, str, str], list[str]]] = []
    for one in switches:
        protection = scenario["protection"][one["protection"]]
        flows = protection["flows"] or f"all flows over {protection['links'][0]}"
        key = (one["packets"], one["to"], flows)
        last = next((run for run in reversed(runs) if run[1] == key), None)
        if last is not None and one["at_ps"] - last[0] <= TOGETHER_PS:
            last[2].append(one["node"])
        else:
            runs.append((one["at_ps"], key, [one["node"]]))
    for at, (packets, to, flows), nodes in runs:
        path = "backup path" if to == "backup" else "working path"
        yield Event(at, "switch", f"{_named(list(dict.fromkeys(nodes)))}: {packets} of {flows} switched to the {path}")


def _tables(routing: Mapping[str, Any] | None) -> Iterator[Event]:
    runs: list[tuple[int, int, str, list[str]]] = []
    for step in (routing or {}).get("steps", ()):
        if runs and runs[-1][2] == step["cause"] and step["at_ps"] - runs[-1][1] <= TOGETHER_PS:
            runs[-1] = (runs[-1][0], step["at_ps"], step["cause"], [*runs[-1][3], step["router"]])
        else:
            runs.append((step["at_ps"], step["at_ps"], step["cause"], [step["router"]]))
    for at, last, cause, routers in runs:
        names = list(dict.fromkeys(routers))
        what = {"failure": "repair path installed", "repair": "repair path removed", "convergence": "FIB updated"}[
            cause
        ]
        during = f", within {(last - at) / 1e9:.3g} ms" if last > at else ""
        yield Event(at, "tables", f"{_named(names)}: {what}{during}")


def _said(names: Sequence[str], says: str) -> str:
    plural = {"fails": "fail", "is repaired": "are repaired"}[says]
    return f"{_named(names)} {says if len(names) == 1 else plural}"


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:MOST_NAMES])} and {more} more"
