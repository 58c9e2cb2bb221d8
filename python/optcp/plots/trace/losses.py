"""Trace plots of dropped and marked packets over time."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch

from optcp.plots.trace.frame import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, line

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from optcp.data.table import Table
    from optcp.plots.trace.frame import Frame

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
BARS = 100


def drops(frame: Frame, table: Table, ports: list[str], figure: Figure) -> None:
    """Draw the number of drops by reason (top) and each drop at its port (bottom)."""
    _draw(frame, table, ports, figure, "dropped", "reason")


def marks(frame: Frame, table: Table, ports: list[str], figure: Figure) -> None:
    """Draw the number of marks by group (top) and each mark at its port (bottom)."""
    _draw(frame, table, ports, figure, "marked", "group")


def _draw(frame: Frame, table: Table, ports: list[str], figure: Figure, what: str, by: str) -> None:
    panels = frame.panels(figure, 2, f"Packets {what}", "")
    times = table.seconds
    inside = np.isin(np.arange(len(table)), np.arange(len(table))[frame.visible(times)])
    inside &= np.any([table.is_("port", port) for port in ports], axis=0)
    rows = table.rows(inside)
    kinds = rows.distinct(by)
    edges = np.linspace(frame.start_s, frame.end_s, BARS + 1)
    handles: list[Artist] = []
    below = np.zeros(BARS)
    position = {port: index for index, port in enumerate(reversed(ports))}
    for colour, kind in zip(cycle(COLOURS), kinds, strict=False):
        of_kind = rows.where(**{by: kind})
        counts = np.histogram(of_kind.seconds, edges)[0]
        panels[0].bar(edges[:-1], counts, np.diff(edges), below, align="edge", color=colour, linewidth=0, zorder=2)
        below += counts
        y = [position[port] for port in of_kind.texts("port")]
        panels[1].plot(of_kind.seconds, y, "|", color=colour, markersize=9, markeredgewidth=1.1)
        handles.append(Patch(color=colour, label=f"{kind} ({len(of_kind)})"))
    panels[0].set_title(f"packets per {1000 * (edges[1] - edges[0]):g} ms")
    panels[0].set_ylim(0, 1.1 * max(below.max(), 1))
    panels[1].set_title("by port")
    panels[1].set_yticks(list(position.values()), list(position))
    panels[1].set_ylim(-0.7, len(ports) - 0.3)
    if not handles:
        handles.append(line("none", f"no packet was {what}"))
    frame.legend(figure, handles)
