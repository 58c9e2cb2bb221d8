"""Plot of the RTT between two places over moving satellites."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from optcp.plots.registry import COLOURS
from optcp.plots.svg import canvas, save

if TYPE_CHECKING:
    from optcp.constellation import Paths


def draw(found: Paths, file: IO[bytes], form: str = "svg") -> None:
    """Draw the RTT over time: one line per path, labelled with its number of satellites; bands mark outages."""
    begin_s = float(found.seconds[0])
    rtt = found.rtt_ms
    with canvas(7.2, 2.8) as figure:
        panel = figure.subplots()
        for at, one in enumerate(found.stretches()):
            start, end = one.start_s - begin_s, one.end_s - begin_s
            if not one.satellites:
                panel.axvspan(start, end, color="0.85", linewidth=0)
                continue
            inside = (found.seconds >= one.start_s) & (found.seconds < one.end_s)
            panel.plot(found.seconds[inside] - begin_s, rtt[inside], color=COLOURS[at % 2], linewidth=1.6)
            if end - start > (found.end_s - begin_s) / 40:
                where, height = (start + end) / 2, rtt[inside][inside.sum() // 2]
                text = str(len(one.satellites))
                panel.annotate(text, (where, height), (0, 4), textcoords="offset points", ha="center")
        panel.set_xlim(0, found.end_s - begin_s)
        panel.margins(y=0.15)
        panel.set_xlabel("time (s)")
        panel.set_ylabel("RTT (ms)")
        panel.set_title(f"{found.names[0]} to {found.names[1]} over {found.over}: number of satellites on the path")
        save(figure, file, form)
