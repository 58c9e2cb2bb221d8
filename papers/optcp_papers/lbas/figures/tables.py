"""Figures of the LBAS paper: each table over the bundling degree."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row
from optcp.plots import intervals
from optcp.plots.panels import distinct, page, places, where
from optcp.plots.registry import Figure, draws

COLOURS = {"yes": "#0072B2", "no": "#D55E00"}
LABELS = {"yes": "with anycast switching", "no": "without"}
TABLES = {
    "lbas/table1": ("throughput_gbps", "throughput per lightpath (Gb/s)"),
    "lbas/table2": ("drop_mbps", "drops per lightpath (Mb/s)"),
    "lbas/table3": ("queue_mb", "queue per port (MB)"),
}


@draws("lbas/table1")
@draws("lbas/table2")
@draws("lbas/table3")
def table(result: Result) -> list[Figure]:
    """Draw one figure per interpretation, one panel per number of flows, published and simulated values."""
    metric, label = TABLES[result.exhibit]
    drawn = []
    for number, reading in enumerate(distinct(where(result.rows, metric), "profile")):
        drawn += _figure(result, str(number), reading, label, where(result.rows, metric, profile=reading))
    return drawn


def _figure(result: Result, part: str, reading: str, label: str, rows: Sequence[Row]) -> list[Figure]:
    flows = distinct(rows, "flows_per_lightpath")
    degrees = sorted({int(row.key["bundling_degree"]) for row in rows})
    caption = (
        f"{reading}: simulated values with 95 % intervals (filled), and published values (hollow), over the "
        "bundling degree, by flows per lightpath."
    )
    with page(result, caption, (9.2, 3.2), 1, len(flows), part=part, sharey=True) as made:
        for panel, number in zip(made.all, flows, strict=True):
            _panel(panel, degrees, where(rows, flows_per_lightpath=number))
            panel.set_title(f"{number} flows")
            places(panel, degrees, "bundling degree")
            # Set the range even for panels with few degrees.
            panel.set_xlim(-0.3, len(degrees) - 0.7)
        made.label(y=label)
        made.panel.set_ylim(bottom=0)
        made.legend(2)
    return made.drawn


def _panel(panel: Axes, degrees: Sequence[int], rows: Sequence[Row]) -> None:
    for anycast, colour in COLOURS.items():
        of_mode = where(rows, anycast=anycast)
        x = [degrees.index(int(row.key["bundling_degree"])) for row in of_mode]
        printed = [row.paper for row in of_mode if row.paper is not None]
        intervals.marks(panel, x, of_mode, colour, LABELS[anycast], "o-")
        panel.plot(x, printed, "o--", color=colour, markerfacecolor="none", markersize=5, linewidth=0.7)
