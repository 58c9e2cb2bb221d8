"""Figures of gmpls/aqm: a protection switch under queues that drop or mark by a control law."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.plots import intervals
from optcp.plots.registry import COLOURS, Figure, draws
from optcp.plots.svg import canvas, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from optcp.papers.model import Result, Row

GREY = "#888888"
MESH = "germany50"
SECTION5_METRICS = {
    "goodput_pct": "goodput (% of the backbone)",
    "cost_minus_drop_tail_points": "cost less drop-tail's (points)",
    "queue_after_ms": "mean queue behind the switch (ms)",
}
MESH_METRICS = {
    "cost_minus_drop_tail_points": "cost less drop-tail's (points)",
    "extra_p95_ms": "95th percentile longer by (ms)",
    "queue_after_ms": "mean queue behind the switch (ms)",
}


@draws("gmpls/aqm")
def aqm(result: Result) -> list[Figure]:
    """One figure for section 5's world, a row of panels an interpretation, and one for the mesh."""
    worlds = list(dict.fromkeys(str(row.key["world"]) for row in result.rows))
    section5 = [world for world in worlds if world != MESH]
    return [
        _figure(
            result,
            section5,
            SECTION5_METRICS,
            "section 5",
            "Section 5's world in the first 1.5 s after the failure: goodput of all flows; what the failure costs "
            "against the same world without it, less the same with drop-tail; and the mean queue at L5->L6, by δ, with "
            "95 % intervals.",
        ),
        _figure(
            result,
            [MESH],
            MESH_METRICS,
            MESH,
            "germany50, δ = 50 ms: what the cut costs in goodput of the first 1.5 s, less the same with drop-tail; how "
            "much longer flows take by their 95th percentile; the mean queue at Kassel->Fulda; 95 % intervals.",
        ),
    ]


def _figure(result: Result, worlds: list[str], metrics: dict[str, str], name: str, caption: str) -> Figure:
    with canvas(8.2, 0.9 + 2.3 * len(worlds)) as figure:
        lines = figure.subplots(len(worlds), len(metrics), sharey=True, sharex="col", squeeze=False)
        for line, world in zip(lines, worlds, strict=True):
            of_world = [row for row in result.rows if row.key["world"] == world and "delta_ms" in row.key]
            for panel, metric in zip(line, metrics, strict=True):
                _panel(panel, [row for row in of_world if row.metric == metric])
            line[1].set_title(world if len(worlds) > 1 else "")
        for panel, label in zip(lines[-1], metrics.values(), strict=True):
            panel.set_xlabel(label)
        marks, labels = lines[0][0].get_legend_handles_labels()
        if len(labels) > 1:
            figure.legend(marks, labels, loc="outside upper right", ncols=len(labels))
        return Figure(caption, render(figure, f"{result.exhibit}-{name}", caption))


def _panel(panel: Axes, rows: list[Row]) -> None:
    """A line of marks a queue, the first one on top, a colour a delay."""
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
