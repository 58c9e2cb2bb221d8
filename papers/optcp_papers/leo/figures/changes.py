"""What a change of the path costs, change by change and by kind."""

from optcp.papers.model import Result
from optcp.plots.intervals import marks
from optcp.plots.registry import COLOURS, Figure, draws
from optcp.plots.svg import canvas, render
from optcp_papers.leo.changes import CLASSES
from optcp_papers.leo.paper import LABELS

APART = 0.12
"""By how much marks of one kind stand apart."""
LINEAR_MS = 100
"""Up to where an axis of costs is linear; it is logarithmic beyond."""
TICKS_MS = (-10_000, -1000, -100, 0, 100, 1000, 10_000)
PARTS = {"the path is shorter or longer": CLASSES[:-1], "outage": CLASSES[-1:]}


@draws("leo/changes")
def changes(result: Result) -> list[Figure]:
    """Each change, and means by kind."""
    return [each(result), means(result)]


def each(result: Result) -> Figure:
    """A panel a sender: what each change cost over how much longer the way became."""
    caption = (
        "What each change of the path cost in the 10 s behind it, in ms of what a link carries, over how much longer "
        "the way became. Below zero: more came than over the path before."
    )
    with canvas(8.4, 4.6) as figure:
        panels = figure.subplots(2, 3, sharex=True, sharey=True)
        for panel, curve in zip(panels.flat, result.series, strict=False):
            name = str(curve.key["sender"])
            panel.axhline(0, color="#888888", linewidth=0.8)
            panel.plot(curve.x, curve.y, "o", markersize=3, color=COLOURS[list(LABELS).index(name)])
            panel.set_yscale("symlog", linthresh=LINEAR_MS)
            panel.set_yticks(TICKS_MS, [str(one) for one in TICKS_MS])
            panel.set_title(LABELS[name])
        for panel in panels[-1]:
            panel.set_xlabel("longer by, one way (ms)")
        for panel in panels[:, 0]:
            panel.set_ylabel("lost (ms)")
        return Figure(caption, render(figure, f"{result.exhibit}-each", caption))


def means(result: Result) -> Figure:
    """Kinds side by side, outages apart."""
    caption = (
        "What a change of the path cost on average, by kind and sender, with 95 % intervals over changes; right, what "
        "an outage cost from its beginning to 10 s behind its end."
    )
    with canvas(8.0, 3.4) as figure:
        panels = figure.subplots(1, 2, width_ratios=(4, 1.2))
        for panel, kinds in zip(panels, PARTS.values(), strict=True):
            for number, (name, label) in enumerate(LABELS.items()):
                found = {
                    row.key["change"]: row
                    for row in result.rows
                    if row.metric == "lost_ms" and row.key["sender"] == name and row.key["change"] in kinds
                }
                places = [kinds.index(str(kind)) + APART * (number - (len(LABELS) - 1) / 2) for kind in found]
                marks(panel, places, list(found.values()), COLOURS[number], label)
            panel.axhline(0, color="#888888", linewidth=0.8)
            panel.set_xticks(range(len(kinds)), kinds)
            panel.set_xlim(-0.5, len(kinds) - 0.5)
            panel.set_ylabel("lost (ms)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(LABELS))
        return Figure(caption, render(figure, f"{result.exhibit}-means", caption))
