"""Interval values of ports and groups, which a page draws if there are too many packets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.data.table import Table
    from optcp.scenarios.run import Run

MOST_FRAMES = 500
MOST_VALUES = 150_000
"""Of one quantity of all ports."""

MOST_OBSERVED = 4_000_000
"""A run lists no more values of one quantity."""

MOST_READ = 400_000
"""No more are read from ports and fibres while a run goes on, at the end of each interval."""

MEANS = ("mean_packets", "mean_bytes", "utilisation")

LEAST_SCALE = 10.0
"""Packets or bytes / 1500 that fill the bar of a queue without limit, at the least."""


@dataclass
class Port:
    """A direction of a link as a page draws it, or of several that it draws as one.

    Attributes
    ----------
    name
        As in observations.
    ends
        The nodes that are drawn at its ends.
    rate_bps
        Bits a second, of all wavelengths of a fibre and of all ports together.
    limit, unit
        Of the queues together; infinite without a limit.
    fibre
        Whether bursts cross it, which wait nowhere.
    count
        Number of ports.
    """

    name: str
    ends: tuple[str, str]
    rate_bps: float
    limit: float
    unit: str
    fibre: bool
    count: int = 1


@dataclass(frozen=True)
class Frames:
    """Values by interval.

    Attributes
    ----------
    start_ps, step_ps
        Of the first interval, and of each.
    load
        Share of the rate that was used, shape (ports, n).
    queue
        Mean queue, in the unit of the port's limit, shape (ports, n).
    lost
        Packets or bursts lost at the port or beyond it, shape (ports, n).
    goodput_bps
        Of each group, shape (groups, n).
    """

    start_ps: int
    step_ps: int
    load: NDArray[np.float64]
    queue: NDArray[np.float64]
    lost: NDArray[np.float64]
    goodput_bps: NDArray[np.float64]


def ports_of(
    scenario: Mapping[str, Any], links: Sequence[Mapping[str, Any]], drawn_as: Mapping[str, str]
) -> tuple[list[Port], dict[str, int]]:
    """Both directions of each link, and as which of them each port by name is drawn."""
    found: dict[str, Port] = {}
    rows = {}
    for link in links:
        a, b = link["ends"]
        for (here, there), way in (((a, b), link["forward"]), ((b, a), link["reverse"])):
            name = f"{here}->{there}"
            # The default name of links without a given name.
            name = name if link["name"] == f"{a}-{b}" else f"{link['name']}:{name}"
            ends = (drawn_as[here], drawn_as[there])
            drawn = name if ends == (here, there) else f"{ends[0]}->{ends[1]}"
            unit = "bytes" if "queue_bytes" in way else "packets"
            limit = math.inf if way[f"queue_{unit}"] is None else float(way[f"queue_{unit}"])
            rate = float(way["rate_bps"]) * max(link.get("wavelengths", 0), 1)
            if drawn in found:
                found[drawn].rate_bps += rate
                found[drawn].limit += limit
                found[drawn].count += 1
            else:
                found[drawn] = Port(
                    drawn, ends, rate, limit, unit, bool(scenario.get("core") and link.get("wavelengths"))
                )
            rows[name] = list(found).index(drawn) if drawn != name else len(found) - 1
    return list(found.values()), rows


def step(span_ps: int, ports: int, stop_ps: int) -> int:
    """How long an interval is, so that a part of a run has as many as a page holds and can be counted."""
    frames = max(min(MOST_FRAMES, MOST_VALUES // max(ports, 1)), 50)
    return max(-(-span_ps // frames), -(-stop_ps * ports // MOST_OBSERVED), 1)


def kinds(scenario: Mapping[str, Any], step_ps: int) -> list[dict[str, str]]:
    """The observations that frames are made of, as ``[[observe]]`` has them."""
    of_bursts = {one["link"] for one in scenario.get("bursts", ())}
    fibres = {link["name"] for link in scenario["links"] if scenario.get("core") and link.get("wavelengths")}
    # Packets wait in the others.
    kinds = ["load", "queue", "ports"] if {link["name"] for link in scenario["links"]} - fibres - of_bursts else []
    kinds += ["fibres"] if fibres else []
    kinds += ["goodput"] if scenario["flows"] else []
    kinds += ["datagrams"] if scenario.get("traffic") else []
    values = 2 * len(scenario["links"]) * int(scenario["stop_ps"])
    read_ps = step_ps * max(-(-values // (MOST_READ * step_ps)), 1)
    intervals = [(kind, read_ps if kind in ("ports", "fibres") else step_ps) for kind in kinds]
    found = [{"name": kind, "kind": kind, "interval": f"{interval} ps"} for kind, interval in intervals]
    found.append({"name": "drops", "kind": "drops"})
    return found + ([{"name": "bursts", "kind": "bursts"}] if of_bursts else [])


def frames(
    run: Run, ports: Sequence[Port], rows: Mapping[str, int], groups: Sequence[str], step_ps: int, part: tuple[int, int]
) -> Frames:
    """Read a part of a run, from the interval in which it begins to the one in which it ends; ``rows`` as of ports."""
    first, behind = part[0] // step_ps, -(-part[1] // step_ps)
    count = behind - first
    bits = np.array([port.rate_bps * step_ps / 1e12 for port in ports])[:, None]

    def by_interval(table: Table, row: str, value: str, places: Mapping[str, int], size: int) -> NDArray[np.float64]:
        codes, names = table.coded(row)
        to = np.array([places.get(name, size) for name in names] or [size])
        when = (table.numbers("time_ps").astype(np.int64) - 1) // step_ps - first
        found = np.zeros((size + 1, count))
        # Means over several steps stand for each of them.
        for back in range(round((table.interval_s or 0) * 1e12 / step_ps) if value in MEANS else 1):
            inside = (when >= back) & (when < count + back)
            np.add.at(found, (to[codes[inside]], when[inside] - back), table.numbers(value)[inside])
        return found[:-1]

    # Assemblers may be called as the fibre between the same nodes is.
    queues = waiting(ports, rows)
    load, queue, lost = (np.zeros((len(ports), count)) for _ in range(3))
    if "load" in run.names:
        load = by_interval(run["load"], "port", "bytes", queues, len(ports)) * 8 / bits
        packets = by_interval(run["queue"], "port", "mean_packets", queues, len(ports))
        of_bytes = np.array([port.unit == "bytes" for port in ports])[:, None]
        queue = np.where(of_bytes, by_interval(run["ports"], "port", "mean_bytes", queues, len(ports)), packets)
    if "fibres" in run.names:
        load = load + by_interval(run["fibres"], "fibre", "utilisation", rows, len(ports))
        lost = lost + by_interval(run["fibres"], "fibre", "lost", rows, len(ports))
    if "bursts" in run.names:
        load = load + by_interval(run["bursts"], "port", "bytes", queues, len(ports)) * 8 / bits
    lost = lost + by_interval(_counted(run["drops"]), "port", "one", queues, len(ports))
    of_group = {name: index for index, name in enumerate(groups)}
    goodput = np.zeros((len(groups), count))
    for kind, value in (("goodput", "bytes"), ("datagrams", "arrived_bytes")):
        if kind in run.names:
            goodput = goodput + by_interval(run[kind], "group", value, of_group, len(groups)) * 8e12 / step_ps
    return Frames(first * step_ps, step_ps, load, queue, lost, goodput)


def waiting(ports: Sequence[Port], rows: Mapping[str, int]) -> dict[str, int]:
    """Return the row that draws each port, for ports that packets cross individually."""
    return {name: row for name, row in rows.items() if not ports[row].fibre}


def _counted(drops: Table) -> Table:
    """The same with a column of ones."""
    return type(drops)({**drops.columns, "one": np.ones(len(drops))})


def full(port: Port, queue: NDArray[np.float64]) -> float:
    """Return the length of a full bar of a port's queue: its limit or, without one, the maximum of the run."""
    most = LEAST_SCALE * (1500 if port.unit == "bytes" else 1)
    return port.limit if math.isfinite(port.limit) else max(float(queue.max(initial=0.0)), most)
