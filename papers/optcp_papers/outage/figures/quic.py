"""Figure of outage/quic: stall of one flow over the outage of its path, with TCP and QUIC."""

from optcp.papers.model import Result
from optcp.plots.intervals import decades
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

COLOURS = {"tcp": "#0072B2", "quic": "#D55E00"}
NAMES = {"tcp": "TCP (linux-6)", "quic": "QUIC"}


@draws("outage/quic")
def quic(result: Result) -> list[Figure]:
    """Draw the flow stall over the path outage on logarithmic scales."""
    caption = (
        "Stall of a CUBIC flow, minus its usual gap, over the outage of its path, with TCP and QUIC."
        " The RTT is 40 ms. Dashed: stall equal to the path outage."
    )
    with canvas(6.4, 3.6) as figure:
        panel = figure.subplots()
        for curve in result.series:
            sender = str(curve.key["sender"])
            panel.plot(curve.x, curve.y, ".", markersize=3, color=COLOURS[sender], label=NAMES[sender])
        ends = [min(curve.x[0] for curve in result.series), max(curve.x[-1] for curve in result.series)]
        panel.plot(ends, ends, "--", color="#888888", linewidth=0.8)
        panel.set_xscale("log")
        panel.set_yscale("log")
        decades(panel.xaxis)
        decades(panel.yaxis)
        panel.set_xlabel("path outage (s)")
        panel.set_ylabel("flow stall (s)")
        panel.legend()
        return [Figure(caption, render(figure, result.exhibit, caption))]
