"""What ``optcp validate`` prints of ``[[schedules]]``: which link does what when, in each period."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SHOWN = 12
"""Steps of a schedule; of the others how many they are."""
ALIKE = 2
"""Ports that are named one by one where they change alike."""
UNITS = {"s": 12, "ms": 9, "us": 6, "ns": 3, "ps": 0}
"""Powers of ten of a picosecond."""


def lines(resolved: Mapping[str, Any]) -> Iterator[str]:
    """The schedules of a resolved scenario, a line a step."""
    for schedule in resolved.get("schedules", ()):
        steps, period_ps = schedule["steps"], schedule["period_ps"]
        again = "once" if period_ps is None else f"every {time(period_ps)}"
        yield f"schedule: {again} from {time(schedule['start_ps'])}, {len(steps)} steps"
        for step in steps[:SHOWN]:
            yield f"  {time(step['after_ps']):>10}  {', '.join(_together(step['changes']))}"
        if len(steps) > SHOWN:
            yield f"  ... and {len(steps) - SHOWN} more"


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
    """What changes at an instant, and where; of many ports that change alike, as those of a group, the first."""
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
        return f"delay {time(change['delay_ps'])}"
    if "transmitter" in change:
        return str(change["transmitter"])
    if "ece" in change:
        return f"ECE {change['ece']}"
    held = change.get("queue_packets", change.get("queue_bytes"))
    unit = "packets" if "queue_packets" in change else "B"
    return f"queue {'unlimited' if held is None else f'{held} {unit}'}"
