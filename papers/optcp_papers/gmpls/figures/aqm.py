"""Figures of gmpls/aqm: a protection switchover with AQM queues."""

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row
from optcp.plots import intervals
from optcp.plots.registry import COLOURS, Figure, draws
from optcp.plots.svg import canvas, render

GREY = "#888888"
MESH = "germany50"
QUEUE = "queue_after_ms"
METRICS = {
    "cost_minus_drop_tail_points": "cost minus drop-tail cost (points)",
    QUEUE: "queue after switchover (ms)",
}
MESH_METRICS = {
    "cost_minus_drop_tail_points": "cost minus drop-tail cost (points)",
    "extra_p95_minus_drop_tail_ms": "increase of 95th percentile minus drop-tail's (ms)",
    QUEUE: "queue after switchover (ms)",
}


@draws("gmpls/aqm")
def aqm(result: Result) -> list[Figure]:
    """Draw one figure for section 5's network, with one column per variant, and one for the mesh."""
    worlds = [world for world in dict.fromkeys(str(row.key["world"]) for row in result.rows) if world != MESH]
    # Quick runs may omit section 5's network.
    return [*([_section5(result, worlds)] if worlds else []), _mesh(result)]


def _section5(result: Result, worlds: list[str]) -> Figure:
    caption = (
        "Section 5's network: goodput lost to the failure in the first 1.5 s, relative to the same run without it, "
        "minus the drop-tail value; and mean queue at L5->L6; by δ, with 95 % intervals."
    )
    with canvas(8.2, 5.6) as figure:
        panels = figure.subplots(len(METRICS), len(worlds), sharey=True, sharex="row", squeeze=False)
        for line, (metric, label) in zip(panels, METRICS.items(), strict=True):
            for panel, world in zip(line, worlds, strict=True):
                if metric == QUEUE:
                    panel.set_xscale("log")
                _panel(panel, _rows(result, world, metric))
                if metric == QUEUE:
                    panel.set_xticks([1, 10, 100], ["1", "10", "100"])
                    panel.set_xticks([], minor=True)
            # Centred under all panels, whose number may be even.
            line[(len(worlds) - 1) // 2].set_xlabel(label, x=0.5 if len(worlds) % 2 else 1.1)
        for panel, world in zip(panels[0], worlds, strict=True):
            panel.set_title(world.removeprefix("section 5, ").replace(", ", ",\n"))
        marks, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(marks, labels, loc="outside upper right", ncols=len(labels))
        return Figure(caption, render(figure, f"{result.exhibit}-section 5", caption))


def _mesh(result: Result) -> Figure:
    caption = (
        "germany50, δ = 50 ms, with 95 % intervals: goodput lost to the failure in the first 1.5 s, and increase of "
        "the 95th percentile of completion times, each minus the drop-tail value; mean queue at Kassel->Fulda."
    )
    with canvas(8.2, 3.2) as figure:
        panels = figure.subplots(1, len(MESH_METRICS), sharey=True, squeeze=False)[0]
        for panel, (metric, label) in zip(panels, MESH_METRICS.items(), strict=True):
            _panel(panel, _rows(result, MESH, metric))
            panel.set_xlabel(label)
        return Figure(caption, render(figure, f"{result.exhibit}-{MESH}", caption))


def _rows(result: Result, world: str, metric: str) -> list[Row]:
    return [row for row in result.rows if (row.key["world"], row.metric) == (world, metric) and "delta_ms" in row.key]


def _panel(panel: Axes, rows: list[Row]) -> None:
    """Draw one line of markers per queue, the first on top, and one colour per delay."""
    queues = list(dict.fromkeys(str(row.key["queue"]) for row in rows))
    delays = list(dict.fromkeys(row.key["delta_ms"] for row in rows))
    for number, (delay, colour) in enumerate(zip(delays, COLOURS, strict=False)):
        mine = [row for row in rows if row.key["delta_ms"] == delay]
        y = [queues.index(str(row.key["queue"])) + 0.24 * (number - (len(delays) - 1) / 2) for row in mine]
        intervals.marks_across(panel, mine, y, colour, f"δ = {delay} ms")
    panel.set_yticks(range(len(queues)), queues)
    panel.set_ylim(len(queues) - 0.5, -0.5)
    low, high = panel.get_xlim()
    if low < 0 < high:
        panel.axvline(0, color=GREY, linewidth=0.6)
    panel.grid(visible=True, axis="y", linewidth=0.3)
