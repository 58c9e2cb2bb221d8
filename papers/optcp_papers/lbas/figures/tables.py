"""Figures of the LBAS paper: each table over the bundling degree."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row
from optcp.plots import intervals
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

COLOURS = {"yes": "#0072B2", "no": "#D55E00"}
LABELS = {"yes": "with anycast switching", "no": "without"}
TABLES = {
    "lbas/table1": ("throughput_gbps", "throughput of a lightpath (Gb/s)"),
    "lbas/table2": ("drop_mbps", "drops of a lightpath (Mb/s)"),
    "lbas/table3": ("queue_mb", "queue of a port (MB)"),
}


@draws("lbas/table1")
@draws("lbas/table2")
@draws("lbas/table3")
def table(result: Result) -> list[Figure]:
    """One figure an interpretation: a panel for each number of flows, measured and printed values over the degree."""
    metric, label = TABLES[result.exhibit]
    rows = [row for row in result.rows if row.metric == metric]
    readings = list(dict.fromkeys(str(row.key["profile"]) for row in rows))
    return [
        _figure(f"{result.exhibit}-{number}", reading, label, [row for row in rows if row.key["profile"] == reading])
        for number, reading in enumerate(readings)
    ]


def _figure(name: str, reading: str, label: str, rows: Sequence[Row]) -> Figure:
    flows = list(dict.fromkeys(row.key["flows_per_lightpath"] for row in rows))
    degrees = sorted({int(row.key["bundling_degree"]) for row in rows})
    caption = (
        f"{reading}: measured values with 95 % intervals (filled), and printed values (hollow), over the "
        "bundling degree, by flows a lightpath."
    )
    with canvas(9.2, 3.2) as figure:
        panels = figure.subplots(1, len(flows), sharey=True, squeeze=False)[0]
        for panel, number in zip(panels, flows, strict=True):
            _panel(panel, degrees, [row for row in rows if row.key["flows_per_lightpath"] == number])
            panel.set_title(f"{number} flows")
            panel.set_xlabel("bundling degree")
            panel.set_xticks(range(len(degrees)), [str(degree) for degree in degrees])
            # Also where a panel has few of them.
            panel.set_xlim(-0.3, len(degrees) - 0.7)
        panels[0].set_ylabel(label)
        panels[0].set_ylim(bottom=0)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
        return Figure(caption, render(figure, name, caption))


def _panel(panel: Axes, degrees: Sequence[int], rows: Sequence[Row]) -> None:
    for anycast, colour in COLOURS.items():
        of_mode = [row for row in rows if row.key["anycast"] == anycast]
        x = [degrees.index(int(row.key["bundling_degree"])) for row in of_mode]
        printed = [row.paper for row in of_mode if row.paper is not None]
        intervals.marks(panel, x, of_mode, colour, LABELS[anycast], "o-")
        panel.plot(x, printed, "o--", color=colour, markerfacecolor="none", markersize=5, linewidth=0.7)
