"""Figures of reconfigurable/rotor: completion times with their bounds, and carried load."""

import math
from collections.abc import Iterable

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row
from optcp.plots.intervals import decades, marks
from optcp.plots.panels import page, where
from optcp.plots.registry import COLOURS, Figure, draws
from optcp_papers.reconfigurable.rotor import CLASSES, HOPS, WORKLOADS

LABELS = {"one": "one hop", "pinned": "two hops, one rack per flow", "spread": "two hops, packets over all racks"}
SIZES = {"short": "below 100 kB", "medium": "100 kB to 1 MB", "long": "1 MB and more"}
APART = 0.12
"""Distance between the markers of one load."""


@draws("reconfigurable/rotor")
def rotor(result: Result) -> list[Figure]:
    """Draw completion times by size over load, and the carried load."""
    return [*times(result), *carried(result)]


def times(result: Result) -> list[Figure]:
    """Draw one panel per class of sizes, medians above 99th percentiles."""
    caption = (
        "Flows of web-search by size over the load of the hosts' links: median completion times above, 99th "
        "percentiles below, with 95 % intervals over seeds. Dashed: the bound of flows that have their circuits alone "
        "and send immediately. Quantiles among unfinished flows are omitted."
    )
    with page(result, caption, (8.4, 4.8), 2, len(CLASSES), part="times", sharex=True) as made:
        for line, which, said in zip(made.panels, ("p50", "p99"), ("median", "99th percentile"), strict=True):
            for panel, flows_of in zip(line, CLASSES, strict=True):
                for number, hops in enumerate(HOPS):
                    here = {"sizes": WORKLOADS[0], "flows_of": flows_of, "hops": hops}
                    _curve(panel, where(result.rows, f"fct_{which}_us", **here), number, LABELS[hops])
                    bound = [row.value for row in where(result.rows, f"bound_{which}_us", **here)]
                    panel.plot(range(len(bound)), bound, "--", color=COLOURS[number], linewidth=0.9)
                panel.set_yscale("log")
                low, high = panel.get_ylim()
                panel.set_ylim(10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high)))
                decades(panel.yaxis)
                if which == "p50":
                    panel.set_title(SIZES[flows_of])
            line[0].set_ylabel(f"{said} (us)")
        _loads(made.panels[-1], result)
        made.legend(len(HOPS), "outside upper center")
    return made.drawn


def carried(result: Result) -> list[Figure]:
    """Draw the delivered share of the offered payload."""
    caption = "Delivered payload over offered payload, with 95 % intervals over seeds."
    with page(result, caption, (7.6, 3.0), 1, len(WORKLOADS), part="carried", sharey=True) as made:
        for panel, sizes in zip(made.all, WORKLOADS, strict=True):
            for number, hops in enumerate(HOPS):
                _curve(panel, where(result.rows, "carried_pct", sizes=sizes, hops=hops), number, LABELS[hops])
            panel.set_ylim(0, 105)
            panel.set_title(sizes)
        _loads(made.all, result)
        made.label(y="carried (%)")
        made.legend(len(HOPS), "outside upper center")
    return made.drawn


def _loads(panels: Iterable[Axes], result: Result) -> None:
    loads = list(dict.fromkeys(100 * float(row.key["load"]) for row in result.rows))
    for panel in panels:
        panel.set_xticks(range(len(loads)), [f"{load:g}" for load in loads])
        panel.set_xlim(-0.5, len(loads) - 0.5)
        panel.set_xlabel("load (%)")


def _curve(panel: Axes, rows: list[Row], number: int, label: str) -> None:
    marks(panel, [place + APART * (number - 1) for place in range(len(rows))], rows, COLOURS[number], label, "o-")
