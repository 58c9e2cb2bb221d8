"""The figure of one flow: how long it is silent over how long its path is."""

from optcp.papers.model import Result
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

COLOURS = {10: "#0072B2", 20: "#009E73", 40: "#E69F00", 80: "#D55E00"}
SAID_MS = 50


@draws("outage/staircase")
def staircase(result: Result) -> list[Figure]:
    """A curve a round trip: the outage of the flow over that of its path, with 50 ms marked."""
    caption = (
        "How long a CUBIC flow gets nothing, less its usual gap, over how long its path does not work, by round trip."
        " The failure is in the middle. Dotted: 50 ms. Dashed: as long as the path's own outage."
    )
    with canvas(6.4, 3.6) as figure:
        panel = figure.subplots()
        for curve in result.series:
            rtt_ms = int(curve.key["rtt_ms"])
            x, y = ([1000 * one for one in values] for values in (curve.x, curve.y))
            panel.plot(x, y, color=COLOURS[rtt_ms], drawstyle="steps-mid", label=f"{rtt_ms} ms")
        reach = max((1000 * curve.x[-1] for curve in result.series), default=400)
        panel.plot([0, reach], [0, reach], "--", color="#888888", linewidth=0.8)
        panel.axvline(SAID_MS, linestyle=":", color="#888888", linewidth=0.8)
        panel.set_xlabel("outage of the path (ms)")
        panel.set_ylabel("outage of the flow (ms)")
        panel.set_xlim(0, reach)
        panel.set_ylim(bottom=0)
        panel.legend(title="round trip")
        return [Figure(caption, render(figure, result.exhibit, caption))]
