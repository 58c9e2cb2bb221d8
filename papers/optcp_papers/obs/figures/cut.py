"""Figure of the cost of a fibre cut over the assembly timer."""

from optcp.papers.model import Result
from optcp.plots import intervals
from optcp.plots.panels import page, where
from optcp.plots.registry import Figure, draws

COLOURS = {"none": "#555555", "1:1": "#E69F00", "deflection": "#0072B2", "1+1": "#009E73"}
ROUTER_STYLES = {"none": ":", "convergence": "--", "ti-lfa": "-."}
LABELS = {"none": "no reaction", "ti-lfa": "TI-LFA"}


@draws("obs/cut")
def cut(result: Result) -> list[Figure]:
    """Draw the cost by protection of bursts, and of routers as horizontal lines."""
    caption = (
        "Data lost by a fibre cut of 0.5 s, in % of the data received in the 2 s after its start without it, with 95 % "
        "intervals. Lines without points: IP routers."
    )
    with page(result, caption, (7.2, 4.0)) as made:
        panel = made.panel
        for protection, colour in COLOURS.items():
            label = f"bursts, {LABELS.get(protection, protection)}"
            for curve in where(result.series, protection=protection):
                intervals.line(panel, curve, colour, "-", label, "o")
        for item in result.rows:
            if item.metric == "lost_pct" and item.key["core"] == "routers" and item.measured is not None:
                name = str(item.key["protection"])
                label = f"routers, {LABELS.get(name, name)}"
                panel.axhline(item.measured, color="black", linestyle=ROUTER_STYLES[name], linewidth=1, label=label)
        panel.set_xscale("log")
        timers_s = result.series[0].x
        panel.set_xticks(timers_s, [f"{1e3 * timer_s:g}" for timer_s in timers_s])
        panel.minorticks_off()
        panel.set_ylim(bottom=0)
        made.label(x="assembly timer (ms)", y="data lost (%)")
        made.legend(2)
    return made.drawn
