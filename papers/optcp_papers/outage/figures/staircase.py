"""Figure of outage/staircase: stall of one flow over the outage of its path."""

from optcp.papers.model import Result
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

COLOURS = {10: "#0072B2", 20: "#009E73", 40: "#E69F00", 80: "#D55E00"}
SAID_MS = 50


@draws("outage/staircase")
def staircase(result: Result) -> list[Figure]:
    """Draw the flow stall over the path outage, one curve per RTT, with 50 ms marked."""
    caption = (
        "Stall of a CUBIC flow, minus its usual gap, over the outage of its path, by RTT."
        " The failure is in the middle. Dotted: 50 ms. Dashed: stall equal to the path outage."
    )
    with canvas(6.4, 3.6) as figure:
        panel = figure.subplots()
        for curve in result.series:
            rtt_ms = int(curve.key["rtt_ms"])
            x, y = ([1000 * value for value in values] for values in (curve.x, curve.y))
            panel.plot(x, y, color=COLOURS[rtt_ms], drawstyle="steps-mid", label=f"{rtt_ms} ms")
        reach = max((1000 * curve.x[-1] for curve in result.series), default=400)
        panel.plot([0, reach], [0, reach], "--", color="#888888", linewidth=0.8)
        panel.axvline(SAID_MS, linestyle=":", color="#888888", linewidth=0.8)
        panel.set_xlabel("path outage (ms)")
        panel.set_ylabel("flow stall (ms)")
        panel.set_xlim(0, reach)
        panel.set_ylim(bottom=0)
        panel.legend(title="round trip")
        return [Figure(caption, render(figure, result.exhibit, caption))]
