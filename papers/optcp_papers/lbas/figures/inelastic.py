"""Figures of a single bundle under inelastic traffic."""

from optcp.papers.model import Result
from optcp.plots import intervals
from optcp.plots.panels import page, where
from optcp.plots.registry import Figure, draws
from optcp_papers.lbas.figures.tables import LABELS

STYLES = {"yes": "-", "no": "--"}
TRAFFIC_COLOURS = {"Poisson": "#555555", "H = 0.7": "#0072B2", "H = 0.9": "#D55E00"}
PANELS = {"lightpaths": "lightpaths", "load_pct": "load of each of 10 lightpaths (%)"}
SHOWN_PACKETS = (0.01, 1000)


@draws("lbas/inelastic")
def inelastic(result: Result) -> list[Figure]:
    """Draw the mean wait over lightpaths and over loads, one curve per traffic and mode."""
    caption = (
        "Mean wait of inelastic traffic with 95 % intervals, over the number of lightpaths for the traffic of eight, "
        "and over the load of ten: with anycast switching (lines) and without bundling (dashes)."
    )
    with page(result, caption, (9.2, 3.8), 1, len(PANELS), sharey=True) as made:
        for panel, (axis, label) in zip(made.all, PANELS.items(), strict=True):
            for curve in (one for one in result.series if one.x_label == axis.removesuffix("_pct")):
                traffic, anycast = str(curve.key["traffic"]), str(curve.key["anycast"])
                text = f"{traffic}, {LABELS[anycast]}"
                intervals.line(panel, curve, TRAFFIC_COLOURS[traffic], STYLES[anycast], text)
            targets = [row.key["target_packets"] for row in where(result.rows, "fewer_pct", traffic="Poisson")]
            for target in targets:
                panel.axhline(float(target), color="#bbbbbb", linewidth=0.6, zorder=0)
            panel.set_xlabel(label)
            panel.set_yscale("log")
        made.panel.set_ylim(*SHOWN_PACKETS)
        intervals.decades(made.panel.yaxis)
        made.label(y="mean wait (packet times)")
        made.legend(3)
    return made.drawn
