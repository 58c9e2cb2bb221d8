"""Effects of ``[[schedules]]`` over time, as texts of ``optcp validate`` and bands of plots."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from optcp.common.plurals import count_noun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

SHOWN = 12
"""Maximum number of printed steps per schedule."""
ALIKE = 2
"""Maximum number of named ports with equal changes."""
MOST_CHANGES = 20_000
"""Number of changes above which no bands are drawn."""
MOST_STATES = 50
"""Number of states above which no band is drawn, as for satellite path delays."""
KINDS = ("served", "transmitter", "rate_bps", "delay_ps", "queue_packets", "queue_bytes", "ece", "loss")
"""Kinds of changes."""
UNITS = {"s": 12, "ms": 9, "us": 6, "ns": 3, "ps": 0}
"""Units of time, as powers of ten of a picosecond."""


def lines(resolved: Mapping[str, Any]) -> Iterator[str]:
    """Yield the schedules of a resolved scenario as text, one line per step."""
    for schedule in resolved.get("schedules", ()):
        steps, period_ps = schedule["steps"], schedule["period_ps"]
        again = "once" if period_ps is None else f"every {time(period_ps)}"
        yield f"schedule: {again} from {time(schedule['start_ps'])}, {count_noun(len(steps), 'step')}"
        for step in steps[:SHOWN]:
            yield f"  {time(step['after_ps']):>10}  {', '.join(_together(step['changes']))}"
        if len(steps) > SHOWN:
            yield f"  ... and {len(steps) - SHOWN} more"


@dataclass(frozen=True)
class Band:
    """States of one property of a port, set by schedules over a period.

    Attributes
    ----------
    ports
        Ports, all with the same changes.
    spans
        Start and end in ps, and the state in words.
    """

    ports: tuple[str, ...]
    spans: tuple[tuple[int, int, str], ...]

    @property
    def name(self) -> str:
        """The port, or the first and how many more."""
        more = len(self.ports) - 1
        return self.ports[0] + (f" and {more} more" if more else "")


def bands(resolved: Mapping[str, Any], start_ps: int, end_ps: int) -> list[Band]:
    """Return the changes of schedules between two times; ports with equal changes are one band.

    Parameters
    ----------
    resolved
        A resolved scenario.
    start_ps, end_ps
        The part of the time, in ps.

    Returns
    -------
    list[Band]
        In the order in which ports are named; empty where nothing changes, or too much does.
    """
    found: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    drifting: set[str] = set()
    count = 0
    for schedule in resolved.get("schedules", ()):
        for at, change in _events(schedule, start_ps, end_ps):
            if "to_ps" in change:
                drifting.add(change["port"])
                continue
            count += 1
            if count > MOST_CHANGES:
                return []
            kind = next(kind for kind in KINDS if kind in change)
            found[change["port"], kind.partition("_")[0]].append((at, _said(change)))
    first = _first(resolved)
    alike: dict[tuple[tuple[int, int, str], ...], list[str]] = {}
    for (port, kind), changes in found.items():
        # A delay that changes continuously has no states.
        if kind == "delay" and port in drifting:
            continue
        spans = _spans(first(port, kind), sorted(changes, key=lambda one: one[0]), start_ps, end_ps)
        if len({state for _, _, state in spans}) <= MOST_STATES:
            alike.setdefault(spans, []).append(port)
    return [Band(tuple(ports), spans) for spans, ports in alike.items()]


def shown_interval(resolved: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return start and end, in ps, of the part of the run in which plots show schedules.

    This is the first period of the schedule with the longest period, cut at the end of the run. If no schedule repeats,
    it is the whole run; without schedules, ``None``.
    """
    schedules = resolved.get("schedules", ())
    periods = [one for one in schedules if one["period_ps"] is not None]
    if periods:
        longest = max(periods, key=lambda one: one["period_ps"])
        start: int = longest["start_ps"]
        return start, min(start + longest["period_ps"], resolved["stop_ps"])
    return (0, resolved["stop_ps"]) if schedules else None


def _events(schedule: Mapping[str, Any], start_ps: int, end_ps: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The changes up to an end, from a period before a start on."""
    began, period = schedule["start_ps"], schedule["period_ps"]
    if period is not None and began + period < start_ps:
        began += (start_ps - began) // period * period - period
    while began < end_ps:
        for step in schedule["steps"]:
            if began + step["after_ps"] < end_ps:
                yield from ((began + step["after_ps"], change) for change in step["changes"])
        if period is None:
            return
        began += period


def _first(resolved: Mapping[str, Any]) -> Callable[[str, str], str]:
    """Return the state before the first change, by port and kind."""
    ports: dict[str, tuple[Mapping[str, Any], int]] = {}
    for link in resolved["links"]:
        for way, (a, b) in enumerate((link["ends"], link["ends"][::-1])):
            ports[f"{a}->{b}"] = ports[f"{link['name']}:{a}->{b}"] = (link, way)

    def first(port: str, kind: str) -> str:
        link, way = ports[port]
        if kind == "served":
            return _said({kind: link["served"][way]})
        if kind in ("transmitter", "ece", "loss"):
            return _said({kind: {"transmitter": "sends", "ece": "kept", "loss": 0.0}[kind]})
        of_port = link[("forward", "reverse")[way]]
        return _said({one: of_port[one] for one in of_port if one.startswith(kind)})

    return first


def _spans(
    first: str, changes: Sequence[tuple[int, str]], start_ps: int, end_ps: int
) -> tuple[tuple[int, int, str], ...]:
    """Return the states between two times; successive states differ."""
    spans: list[tuple[int, int, str]] = []
    since, state = start_ps, first
    for at, said in (*changes, (end_ps, "")):
        if said == state:
            continue
        if at > since:
            # A change that is undone at the same time is no change.
            again = bool(spans) and spans[-1][2] == state
            spans.append((spans.pop()[0] if again else since, at, state))
            since = at
        state = said
    return tuple(spans)


def time(ps: int) -> str:
    """A whole number of picoseconds in the largest unit of which it is not less than one.

    Examples
    --------
    >>> time(91_600_000_000), time(0), time(250)
    ('91.6 ms', '0 s', '250 ps')
    """
    unit = next((unit for unit, power in UNITS.items() if ps >= 10**power), "s")
    return f"{(Decimal(ps) / 10 ** UNITS[unit]).normalize():f} {unit}"


def _together(changes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the changes at one time with their ports; of many ports with equal changes, such as a group, the first."""
    alike: dict[str, list[str]] = {}
    for change in changes:
        alike.setdefault(_said(change), []).append(change["port"])
    for said, ports in alike.items():
        if len(ports) > ALIKE:
            yield f"{ports[0]} and {len(ports) - 1} more {said}"
        else:
            yield from (f"{port} {said}" for port in ports)


def _said(change: Mapping[str, Any]) -> str:
    if "served" in change:
        return f"served {change['served']}"
    if "rate_bps" in change:
        return f"{Decimal(change['rate_bps']).normalize():f} bit/s"
    if "delay_ps" in change:
        delay = change["delay_ps"]
        drifts = f", to {time(change['to_ps'])} in {time(change['over_ps'])}" if "to_ps" in change else ""
        return f"delay {time(delay) if isinstance(delay, int) else 'as drawn'}{drifts}"
    if "transmitter" in change:
        return str(change["transmitter"])
    if "ece" in change or "loss" in change:
        return f"ECE {change['ece']}" if "ece" in change else f"loss {100 * change['loss']:g} %"
    held = change.get("queue_packets", change.get("queue_bytes"))
    unit = "packets" if "queue_packets" in change else "B"
    return f"queue {'unlimited' if held is None else f'{held} {unit}'}"
