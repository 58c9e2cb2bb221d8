"""Time-sequence graphs in the style of tcptrace: segments as vertical ticks above the ACK line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from optcp.plots.trace.frame import BLACK, BLUE, GREEN, ORANGE, VERMILION, line

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from optcp.data.table import Table
    from optcp.plots.trace.frame import Frame

VECTOR_LIMIT = 20_000
"""Number of ticks above which they are rasterised in PDF and SVG."""


def draw(frame: Frame, table: Table, flows: list[str], figure: Figure) -> None:
    """Draw one panel per flow."""
    panels = frame.panels(figure, len(flows), "Time-sequence graph", "segment number")
    marked = False
    for panel, flow in zip(panels, flows, strict=True):
        marked |= _flow(frame, panel, table.where(flow=flow))
        panel.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        panel.set_title(flow)
    handles: list[Artist] = [
        line(BLUE, "sent", marker="|", linestyle="none", markeredgewidth=1.4),
        line(VERMILION, "retransmitted", marker="|", linestyle="none", markeredgewidth=2.4, markersize=8),
        line(GREEN, "cumulative ACK"),
        line(BLACK, "segment dropped", marker="x", markersize=5, linestyle="none"),
        line(GREEN, "ACK dropped", marker="x", markersize=5, linestyle="none"),
    ]
    if marked:
        handles.append(line(ORANGE, "CE-marked segment", marker="d", markersize=5, linestyle="none"))
    frame.legend(figure, handles)


def _flow(frame: Frame, panel: Axes, rows: Table) -> bool:
    """Draw one flow; return whether a CE-marked segment is visible."""
    acked_at, acked = _points(rows.where(event="acked"))
    seen = frame.visible(acked_at, before=True)
    acked_at, acked = acked_at[seen], acked[seen]
    bounds: list[NDArray[np.float64]] = [acked[acked_at >= frame.start_s]]
    if len(acked):
        # Extend the last value to the end of the time axis.
        ends, line_ = np.append(acked_at, frame.end_s), np.append(np.maximum.accumulate(acked), acked.max())
        panel.plot(ends, line_, color=GREEN, drawstyle="steps-post", linewidth=0.9, zorder=2)
    bounds += [_ticks(frame, panel, rows, "sent", BLUE, 0.9), _ticks(frame, panel, rows, "resent", VERMILION, 1.8)]
    dropped = rows.where(event="dropped")
    for of_ack, colour in ((False, BLACK), (True, GREEN)):
        at, number = _points(dropped.rows(dropped.numbers("ack") == of_ack))
        seen = frame.visible(at)
        y = number[seen] if of_ack else number[seen] + 0.5
        panel.plot(at[seen], y, "x", color=colour, markersize=5, markeredgewidth=1.1, zorder=4)
        bounds.append(y)
    marked = rows.where(event="marked")
    at, number = _points(marked.rows(marked.numbers("ack") == 0))
    seen = frame.visible(at)
    panel.plot(at[seen], number[seen] + 0.5, "d", color=ORANGE, markersize=4, linestyle="none", zorder=4)
    everything = np.concatenate(bounds)
    if len(everything):
        low, high = everything.min(), everything.max() + 1
        panel.set_ylim(max(0, low - 0.04 * (high - low)), high + 0.04 * (high - low))
    return bool(len(at[seen]))


def _ticks(frame: Frame, panel: Axes, rows: Table, event: str, colour: str, width: float) -> NDArray[np.float64]:
    """Draw segments of one event; return the numbers of those in sight."""
    at, number = _points(rows.where(event=event))
    seen = frame.visible(at)
    at, number = at[seen], number[seen]
    feet, heads = np.column_stack([at, number]), np.column_stack([at, number + 1])
    ticks = LineCollection(
        list(np.stack([feet, heads], axis=1)),
        colors=colour,
        linewidths=width,
        zorder=3,
        rasterized=len(at) > VECTOR_LIMIT,
        capstyle="butt",
    )
    panel.add_collection(ticks, autolim=False)
    # A tick of one segment is invisible among thousands, so draw markers of fixed size below it, larger ones for
    # retransmissions.
    size = 7.0 if event == "resent" else 2.5
    panel.plot(at, number + 0.5, "|", color=colour, markersize=size, markeredgewidth=width, zorder=2.5)
    return number


def _points(rows: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return rows.seconds, rows.numbers("seq").astype(np.float64)
