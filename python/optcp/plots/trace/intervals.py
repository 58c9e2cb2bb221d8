"""Trace plots of interval data: queues and load of ports, goodput of groups."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from optcp.plots.trace.frame import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, line

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from optcp.data.table import Table
    from optcp.plots.trace.frame import Frame

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)


def queue(frame: Frame, table: Table, ports: list[str], figure: Figure) -> None:
    """Draw one panel per port: mean and maximum queue, and the queue limit."""
    panels = frame.panels(figure, len(ports), "Queue", "packets (including the one in transmission)")
    limits = False
    for panel, port in zip(panels, ports, strict=True):
        rows = table.where(port=port)
        edges = _edges(rows)
        mean, most = rows.numbers("mean_packets"), rows.numbers("max_packets").astype(float)
        panel.stairs(most, edges, color=SKY, fill=True, alpha=0.55)
        panel.stairs(mean, edges, color=BLUE, linewidth=1.1, baseline=None)
        limit = direction(frame, port).get("queue_packets")
        top = max(_in_sight(frame, edges, most), 1.0)
        # A limit far above the values would flatten the curve.
        if limit is not None and limit <= 4 * top:
            panel.axhline(limit, color=BLACK, linewidth=0.9, linestyle=(0, (5, 3)))
            limits, top = True, max(top, limit)
        panel.set_ylim(0, 1.1 * top)
        panel.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        panel.set_title(port)
    handles: list[Artist] = [
        line(BLUE, "interval mean"),
        line(SKY, "maximum", linewidth=6, alpha=0.55),
    ]
    if limits:
        handles.append(line(BLACK, "queue limit", linewidth=0.9, linestyle=(0, (5, 3))))
    frame.legend(figure, handles)


def sojourn(frame: Frame, table: Table, ports: list[str], figure: Figure) -> None:
    """Draw one panel per port: median, 95th percentile and maximum of the queueing delay."""
    panels = frame.panels(figure, len(ports), "Queueing delay", "ms")
    for panel, port in zip(panels, ports, strict=True):
        rows = table.where(port=port)
        edges = _edges(rows)
        p50, p95, longest = (rows.numbers(name) / 1e9 for name in ("p50_ps", "p95_ps", "longest_ps"))
        panel.stairs(longest, edges, color=GREY, fill=True, alpha=0.45)
        panel.stairs(p95, edges, color=SKY, fill=True, alpha=0.7)
        panel.stairs(p50, edges, color=BLUE, linewidth=1.1, baseline=None)
        panel.set_ylim(0, 1.1 * max(_in_sight(frame, edges, longest), 0.001))
        panel.set_title(port)
    handles: list[Artist] = [
        line(BLUE, "interval median"),
        line(SKY, "95th percentile", linewidth=6, alpha=0.7),
        line(GREY, "maximum", linewidth=6, alpha=0.45),
    ]
    frame.legend(figure, handles)


def load(frame: Frame, table: Table, ports: list[str], figure: Figure) -> None:
    """Draw one panel per port: transmitted bits and link rate."""
    panels = frame.panels(figure, len(ports), "Load", "Mbit/s")
    rates = False
    for panel, port in zip(panels, ports, strict=True):
        rows = table.where(port=port)
        edges, mbps = _edges(rows), _mbps(rows)
        panel.stairs(mbps, edges, color=BLUE, linewidth=1.1, baseline=None)
        capacity = direction(frame, port)["rate_bps"] / 1e6
        top = max(_in_sight(frame, edges, mbps), 0.001)
        if capacity <= 4 * top:
            panel.axhline(capacity, color=BLACK, linewidth=0.9, linestyle=(0, (5, 3)))
            rates, top = True, max(top, capacity)
        panel.set_ylim(0, 1.1 * top)
        panel.set_title(port)
    handles: list[Artist] = [line(BLUE, _mean_of(table))]
    if rates:
        handles.append(line(BLACK, "link rate", linewidth=0.9, linestyle=(0, (5, 3))))
    frame.legend(figure, handles)


def goodput(frame: Frame, table: Table, groups: list[str], figure: Figure) -> None:
    """Draw one curve per group."""
    (panel,) = frame.panels(figure, 1, "Goodput", "Mbit/s")
    handles: list[Artist] = []
    top = 0.001
    for colour, group in zip(cycle(COLOURS), groups, strict=False):
        rows = table.where(group=group)
        edges, mbps = _edges(rows), _mbps(rows)
        panel.stairs(mbps, edges, color=colour, linewidth=1.1, baseline=None)
        top = max(top, _in_sight(frame, edges, mbps))
        handles.append(line(colour, group))
    panel.set_ylim(0, 1.1 * top)
    panel.set_title(_mean_of(table))
    frame.legend(figure, handles)


def queueing(table: Table) -> list[str]:
    """Return the ports with more than one packet in the queue at any time, else all ports."""
    return _above(table, "max_packets", 1)


def waiting(table: Table) -> list[str]:
    """Return the ports with any queueing delay, else all ports."""
    return _above(table, "longest_ps", 0)


def _above(table: Table, column: str, bound: float) -> list[str]:
    ports = table.distinct("port")
    return [port for port in ports if table.where(port=port).numbers(column).max() > bound] or ports


def busiest(table: Table, row: str, column: str) -> list[str]:
    """Return the names in a column, ordered by the sum of another column, largest first."""
    names = table.distinct(row)
    total = {name: float(table.where(**{row: name}).numbers(column).sum()) for name in names}
    return sorted(names, key=lambda name: -total[name])


def _edges(rows: Table) -> NDArray[np.float64]:
    return np.concatenate([[0.0], rows.seconds])


def _mbps(rows: Table) -> NDArray[np.float64]:
    # The end of the run may cut the last interval.
    mbps: NDArray[np.float64] = rows.numbers("bytes") * 8 / np.diff(_edges(rows)) / 1e6
    return mbps


def _mean_of(table: Table) -> str:
    return f"interval mean over {1000 * (table.interval_s or 0.0):g} ms"


def _in_sight(frame: Frame, edges: NDArray[np.float64], values: NDArray[Any]) -> float:
    seen = values[(edges[1:] > frame.start_s) & (edges[:-1] < frame.end_s)]
    return float(seen.max()) if len(seen) else 0.0


def direction(frame: Frame, port: str) -> dict[str, Any]:
    """Return the settings of a port ``A->B``, or ``name:A->B`` for named parallel links."""
    name, _, hop = port.rpartition(":")
    source, _, destination = hop.partition("->")
    for link in frame.run.scenario["links"]:
        if name and link["name"] != name:
            continue
        for side, ends in (("forward", link["ends"]), ("reverse", link["ends"][::-1])):
            if ends == [source, destination]:
                direction: dict[str, Any] = link[side]
                return direction
    raise ValueError(f"the scenario has no port {port}")
