"""Senders' windows over time."""

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

    from optcp.plots.trace.frame import Frame
    from optcp.table import Table

PHASES = {"slow-start": GREEN, "avoidance": SKY, "recovery": ORANGE, "loss": VERMILION}
STRIP = (1.0, 0.05)
"""Where above a panel its phases are, in its heights."""


def draw(frame: Frame, table: Table, flows: list[str], figure: Figure) -> None:
    """One panel a flow: cwnd, ssthresh and what is in flight, in segments; phases above, timeouts marked."""
    panels = frame.panels(figure, len(flows), "Congestion window", "segments")
    timeouts = False
    for panel, flow in zip(panels, flows, strict=True):
        timeouts |= _flow(frame, panel, table.where(flow=flow), _segment_bytes(frame, flow))
        panel.set_title(flow, pad=9)
    handles: list[Artist] = [
        line(BLUE, "cwnd"),
        line(PURPLE, "ssthresh", linestyle="--"),
        Patch(color=GREY, alpha=0.45, linewidth=0, label="in flight"),
    ]
    handles += [Patch(color=colour, label=phase) for phase, colour in PHASES.items()]
    if timeouts:
        handles.append(line(BLACK, "timeout", marker="v", markersize=6, linestyle="none"))
    frame.legend(figure, handles)


def _segment_bytes(frame: Frame, flow: str) -> float:
    scenario = frame.run.scenario
    for group in scenario["flows"]:
        if any(flow in route["flows"] for route in group["routes"]):
            return float(scenario["tcp"][group["tcp"]]["mss_bytes"])
    raise ValueError(f"the scenario has no flow {flow}")


def _flow(frame: Frame, panel: Axes, rows: Table, segment: float) -> bool:
    """Draw one flow; whether it had a timeout in sight."""
    times, timeouts = rows.seconds, rows.numbers("timeouts")
    expired = times[1:][np.diff(timeouts.astype(np.int64)) > 0]
    expired = expired[(expired >= frame.start_s) & (expired <= frame.end_s)]
    seen = frame.visible(times, before=True)
    times, phases = times[seen], rows.texts("phase")[seen]
    if not len(times):
        return False
    # The last values hold until the end.
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
    panel.plot(expired, np.full(len(expired), 0.94 * top), "v", color=BLACK, markersize=6, linestyle="none")
    _strip(frame, panel, times, phases)
    return bool(len(expired))


def _strip(frame: Frame, panel: Axes, times: NDArray[np.float64], phases: list[str]) -> None:
    """Draw the phases as a strip of colours above the panel."""
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
