"""Trace plot of congestion windows over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch

from optcp.plots.trace.frame import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, line

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from optcp.data.table import Table
    from optcp.plots.trace.frame import Frame

PHASES = {"slow-start": GREEN, "avoidance": SKY, "recovery": ORANGE, "loss": VERMILION}
EVENTS = {"timeouts": ("RTO", BLACK, "v", 0.94), "ecn_reductions": ("ECN reduction", VERMILION, "|", 0.86)}
"""Counters of the table, each with its label, colour, marker and relative height in the panel."""
STRIP = (1.0, 0.05)
"""Position and height of the phase strip above a panel, relative to the panel height."""


def draw(frame: Frame, table: Table, flows: list[str], figure: Figure) -> None:
    """Draw one panel per flow: cwnd, ssthresh and segments in flight, phases, RTOs and ECN reductions."""
    panels = frame.panels(figure, len(flows), "Congestion window", "segments")
    shown: set[str] = set()
    for panel, flow in zip(panels, flows, strict=True):
        shown |= _flow(frame, panel, table.where(flow=flow), _segment_bytes(frame, flow))
        panel.set_title(flow, pad=9)
    handles: list[Artist] = [
        line(BLUE, "cwnd"),
        line(PURPLE, "ssthresh", linestyle="--"),
        Patch(color=GREY, alpha=0.45, linewidth=0, label="in flight"),
    ]
    handles += [Patch(color=colour, label=phase) for phase, colour in PHASES.items()]
    for name, (label, colour, marker, _) in EVENTS.items():
        if name in shown:
            handles.append(line(colour, label, marker=marker, markersize=6, linestyle="none"))
    frame.legend(figure, handles)


def _segment_bytes(frame: Frame, flow: str) -> float:
    scenario = frame.run.scenario
    for group in scenario["flows"]:
        if any(flow in route["flows"] for route in group["routes"]):
            return float(scenario["tcp"][group["tcp"]]["mss_bytes"])
    raise ValueError(f"the scenario has no flow {flow}")


def _flow(frame: Frame, panel: Axes, rows: Table, segment: float) -> set[str]:
    """Draw one flow; return the counters that increase within the time axis."""
    times = rows.seconds
    # Older runs have no counter of ECN reductions.
    counted = {name: rows.numbers(name).astype(np.int64) for name in EVENTS if name in rows.columns}
    grew = {name: times[1:][np.diff(count) > 0] for name, count in counted.items()}
    grew = {name: at[(at >= frame.start_s) & (at <= frame.end_s)] for name, at in grew.items()}
    seen = frame.visible(times, before=True)
    times, phases = times[seen], rows.texts("phase")[seen]
    if not len(times):
        return set()
    # Extend the last values to the end of the time axis.
    ends = np.append(times, frame.end_s)
    values = {
        name: np.append(column, column[-1])
        for name, column in (
            ("cwnd", rows.numbers("cwnd_bytes")[seen] / segment),
            ("ssthresh", rows.numbers("ssthresh_bytes")[seen] / segment),
            ("flight", rows.numbers("flight_segments")[seen].astype(float)),
        )
    }
    panel.fill_between(ends, values["flight"], step="post", color=GREY, alpha=0.45, linewidth=0)
    panel.plot(ends, values["cwnd"], color=BLUE, drawstyle="steps-post", linewidth=1.0)
    panel.plot(ends, values["ssthresh"], color=PURPLE, drawstyle="steps-post", linewidth=1.0, linestyle="--")
    top = 1.12 * max(values["cwnd"].max(), values["flight"].max(), 1.0)
    panel.set_ylim(0, top)
    for name, at in grew.items():
        _, colour, marker, height = EVENTS[name]
        panel.plot(at, np.full(len(at), height * top), marker, color=colour, markersize=6, linestyle="none")
    _strip(frame, panel, times, phases)
    return {name for name, at in grew.items() if len(at)}


def _strip(frame: Frame, panel: Axes, times: NDArray[np.float64], phases: list[str]) -> None:
    """Draw the phases as a coloured strip above the panel."""
    changes = [index for index in range(len(phases)) if index == 0 or phases[index] != phases[index - 1]]
    for first, following in zip(changes, [*changes[1:], None], strict=True):
        start = max(times[first], frame.start_s)
        end = frame.end_s if following is None else times[following]
        panel.broken_barh(
            [(start, end - start)],
            STRIP,
            transform=panel.get_xaxis_transform(),
            color=PHASES.get(phases[first], GREY),
            linewidth=0,
            clip_on=False,
        )
