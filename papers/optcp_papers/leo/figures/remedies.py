"""What each way takes from the cost of a shorter path."""

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
"""Of axes that are linear from -1 to 1."""
APART = 0.24
"""By how much marks of one way stand apart."""


@draws("leo/remedies")
def remedies(result: Result) -> list[Figure]:
    """A panel a metric, ways below each other."""
    ways = [one for one in WAYS if one != BASE]
    caption = (
        "A path that becomes much shorter, three segments' transmission or more: what each way saves against NewReno "
        "with SACK, change by change, with 95 % intervals."
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
                panel.set_xticks(TICKS, [str(one) for one in TICKS])
        made.panel.set_yticks(range(len(ways)), ways)
        made.panel.invert_yaxis()
        made.legend(len(RATES_MBPS), "outside upper center")
    return made.drawn
