"""Figure of leo/remedies: reduction of the cost of a shorter path by each way."""

from optcp.papers.model import Result
from optcp.plots.intervals import marks_across
from optcp.plots.panels import GREY, page, where
from optcp.plots.registry import COLOURS, Figure, draws
from optcp_papers.leo.remedies import BASE, RATES_MBPS, WAYS

PANELS = {
    "needless_fewer": "fewer needless segments",
    "recoveries_fewer": "fewer reductions",
    "gained_ms": "more capacity used (ms)",
}
TICKS = (-100, -10, -1, 0, 1, 10)
"""Ticks of axes that are linear from -1 to 1."""
APART = 0.24
"""Distance between the markers of one way."""


@draws("leo/remedies")
def remedies(result: Result) -> list[Figure]:
    """Draw one panel per metric, with remedies from top to bottom."""
    ways = [way for way in WAYS if way != BASE]
    caption = (
        "Path that becomes much shorter, by at least three transmissions of a segment: reduction by each way relative "
        "to NewReno with SACK, paired by change, with 95 % intervals."
    )
    with page(result, caption, (8.6, 3.8), 1, len(PANELS), sharey=True) as made:
        for panel, (metric, label) in zip(made.all, PANELS.items(), strict=True):
            for number, rate_mbps in enumerate(RATES_MBPS):
                mine = where(result.rows, metric, rate_mbps=rate_mbps)
                places = [ways.index(str(row.key["way"])) + APART * (number - 0.5) for row in mine]
                marks_across(panel, mine, places, COLOURS[number], f"{rate_mbps} Mb/s")
            panel.axvline(0, color=GREY, linewidth=0.8)
            panel.set_xlabel(label)
            if metric != "gained_ms":
                panel.set_xscale("symlog", linthresh=1)
                panel.set_xticks(TICKS, [str(tick) for tick in TICKS])
        made.panel.set_yticks(range(len(ways)), ways)
        made.panel.invert_yaxis()
        made.legend(len(RATES_MBPS), "outside upper center")
    return made.drawn
