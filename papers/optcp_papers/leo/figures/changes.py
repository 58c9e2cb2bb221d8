"""Figures of leo/changes: cost of a path change, by change and by kind."""

from optcp.papers.model import Result
from optcp.plots.intervals import marks
from optcp.plots.panels import GREY, distinct, page, places, where
from optcp.plots.registry import COLOURS, Figure, draws
from optcp_papers.leo.changes import CLASSES
from optcp_papers.leo.paper import LABELS

APART = 0.12
"""Distance between the markers of one kind."""
LINEAR_MS = 100
"""Limit of the linear part of a cost axis; it is logarithmic beyond."""
TICKS_MS = (-10_000, -1000, -100, 0, 100, 1000, 10_000)
PARTS = {"the path is shorter or longer": CLASSES[:-1], "outage": CLASSES[-1:]}


@draws("leo/changes")
def changes(result: Result) -> list[Figure]:
    """Draw each change, and means by kind."""
    return [*each(result), *means(result)]


def each(result: Result) -> list[Figure]:
    """Draw the cost of each change over its delay increase, one panel per sender."""
    caption = (
        "Cost of each path change in the 10 s after it, in ms of the link rate, over the increase of the "
        "one-way delay. Negative: more data arrived than over the previous path."
    )
    with page(result, caption, (8.4, 4.6), 2, 3, part="each", sharex=True, sharey=True) as made:
        for panel, curve in zip(made.all, result.series, strict=False):
            name = str(curve.key["sender"])
            panel.axhline(0, color=GREY, linewidth=0.8)
            panel.plot(curve.x, curve.y, "o", markersize=3, color=COLOURS[list(LABELS).index(name)])
            panel.set_yscale("symlog", linthresh=LINEAR_MS)
            panel.set_yticks(TICKS_MS, [str(ticks_m) for ticks_m in TICKS_MS])
            panel.set_title(LABELS[name])
        made.label(x="one-way delay increase (ms)", y="lost (ms)")
    return made.drawn


def means(result: Result) -> list[Figure]:
    """Draw the kinds of changes side by side, outages separately."""
    caption = (
        "Mean cost of a path change, by kind and sender, with 95 % intervals over changes; right, cost of "
        "an outage from its start to 10 s after its end."
    )
    with page(result, caption, (8.0, 3.4), 1, 2, part="means", width_ratios=(4, 1.2)) as made:
        for panel, kinds in zip(made.all, PARTS.values(), strict=True):
            for number, (name, label) in enumerate(LABELS.items()):
                rows = [row for row in where(result.rows, "lost_ms", sender=name) if row.key["change"] in kinds]
                shift = APART * (number - (len(LABELS) - 1) / 2)
                x = [kinds.index(kind) + shift for kind in distinct(rows, "change")]
                marks(panel, x, rows, COLOURS[number], label)
            panel.axhline(0, color=GREY, linewidth=0.8)
            places(panel, kinds)
            panel.set_xlim(-0.5, len(kinds) - 0.5)
            panel.set_ylabel("lost (ms)")
        made.legend(len(LABELS), "outside upper center")
    return made.drawn
