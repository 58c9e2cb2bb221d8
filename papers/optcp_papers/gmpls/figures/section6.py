"""Figures of section 6 of the GMPLS paper: a backup path that is longer by d."""

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row, Series
from optcp.plots import bars, intervals
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render
from optcp_papers.gmpls.figures import histograms
from optcp_papers.gmpls.figures.histograms import LENGTHS

MARKERS = {5: "o", 10: "s", 20: "^", 50: "D", 100: "v"}
"""One a delta, in milliseconds."""
PRINTED = "#888888"
FAILURE_S = 5.0


def _delays(items: list[Series] | list[Row], name: str) -> list[int]:
    return list(dict.fromkeys(int(item.key[name]) for item in items if name in item.key))


@draws("gmpls/fig10")
@draws("gmpls/fig12")
def curves(result: Result) -> list[Figure]:
    """One panel a delta, one curve a d."""
    deltas = _delays(result.series, "delta_ms")
    caption = (
        "Goodput in 100 ms intervals in % of the access bandwidth, mean over seeds, shaded: 95 % interval. "
        "Dashed: the failure at 5 s."
    )
    with canvas(8.2, 2.0 * len(deltas) + 1.2) as figure:
        panels = figure.subplots(len(deltas), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for panel, delta in zip(panels, deltas, strict=True):
            for curve in (one for one in result.series if one.key["delta_ms"] == delta):
                d = int(curve.key["d_ms"])
                intervals.band(panel, curve, LENGTHS[d], f"d = {d} ms")
            panel.axvline(FAILURE_S, color=PRINTED, linestyle="--", linewidth=0.8)
            panel.set_title(f"δ = {delta} ms")
        # Once all are drawn: a shared axis that is fixed at one end grows no more at the other.
        panels[0].set_ylim(bottom=0)
        panels[0].set_xlim(result.series[0].x[0], result.series[0].x[-1])
        panels[-1].set_xlabel("time (s)")
        panels[len(deltas) // 2].set_ylabel("goodput (% of access bandwidth)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(LENGTHS))
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("gmpls/fig11")
def fig11(result: Result) -> list[Figure]:
    """Histograms as markers and their normal fits as curves, as the paper draws them."""
    caption = (
        "Histograms of f(d) with a resolution of 1 % (a marker at x stands for [x, x + 1 %)) and their normal fits."
    )
    with canvas(8.2, 3.4) as figure:
        panel = figure.subplots()
        histograms.draw(panel, result.series)
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("gmpls/fig13")
def fig13(result: Result) -> list[Figure]:
    """A group of bars a delta, a bar a d, with its interval."""
    rows = [row for row in result.rows if row.metric == "best_pct"]
    deltas, lengths = _delays(rows, "delta_ms"), _delays(rows, "d_ms")
    caption = "Share of the runs in which a d has the most goodput in (5 s, 6.5 s], by δ, with 95 % intervals."
    with canvas(8.2, 3.2) as figure:
        panel = figure.subplots()
        for number, d in enumerate(lengths):
            mine = [row for row in rows if row.key["d_ms"] == d]
            bars.group(panel, mine, number, len(lengths), LENGTHS[d], f"d = {d} ms")
        panel.set_xticks(range(len(deltas)), [str(delta) for delta in deltas])
        panel.set_xlabel("δ (ms)")
        panel.set_ylabel("share of runs (%)")
        figure.legend(loc="outside upper right", ncols=len(lengths))
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("gmpls/fig14")
def fig14(result: Result) -> list[Figure]:
    """A curve a delta over d; a mark every simulated d."""
    caption = "Goodput in (5 s, 6.5 s] in % of the access bandwidth over d, by δ, with 95 % intervals."
    with canvas(8.2, 3.6) as figure:
        panel = figure.subplots()
        for (delta, marker), colour in zip(MARKERS.items(), list(LENGTHS.values()), strict=False):
            rows = [row for row in result.rows if row.key["delta_ms"] == delta]
            x = [float(row.key["d_ms"]) for row in rows]
            intervals.marks(panel, x, rows, colour, f"δ = {delta} ms", f"{marker}-")
        panel.set_xscale("log")
        _ticks(panel, _delays(result.rows, "d_ms"))
        panel.set_ylabel("goodput (% of access bandwidth)")
        panel.legend()
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("gmpls/table4")
def table4(result: Result) -> list[Figure]:
    """One panel a metric: printed values and measured ones with their intervals."""
    titles = {
        "rel_goodput_pct": "goodput against d = 1 ms (%)",
        "worse_than_1ms_pct": "runs worse than d = 1 ms (%)",
        "best_pct": "runs in which d is best (%)",
    }
    caption = "Table 4: printed values and measured ones with 95 % intervals, δ = 5 ms."
    with canvas(8.2, 3.2) as figure:
        panels = figure.subplots(1, len(titles), squeeze=False)[0]
        for panel, (metric, title) in zip(panels, titles.items(), strict=True):
            rows = [row for row in result.rows if row.metric == metric and row.paper is not None]
            _compared(panel, rows, LENGTHS[1], "measured")
            panel.set_title(title)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("gmpls/table5")
def table5(result: Result) -> list[Figure]:
    """One panel a delta: printed values and measured ones over d."""
    deltas = _delays(result.rows, "delta_ms")
    caption = "Table 5: printed values and measured ones with 95 % intervals; goodput against d = 1 ms in %."
    with canvas(8.2, 3.2) as figure:
        panels = figure.subplots(1, len(deltas), sharey=True, squeeze=False)[0]
        for panel, delta in zip(panels, deltas, strict=True):
            _compared(panel, [row for row in result.rows if row.key["delta_ms"] == delta], LENGTHS[1], "measured")
            panel.set_title(f"δ = {delta} ms")
        panels[0].set_ylabel("goodput against d = 1 ms (%)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
        return [Figure(caption, render(figure, result.exhibit, caption))]


def _compared(panel: Axes, rows: list[Row], colour: str, label: str) -> None:
    """Printed values as grey diamonds, measured ones beside them with their intervals, one place a d."""
    x = list(range(len(rows)))
    panel.plot(
        x, [row.paper for row in rows if row.paper is not None], "D", color=PRINTED, markersize=4, label="printed"
    )
    intervals.marks(panel, [place + 0.2 for place in x], rows, colour, label)
    panel.set_xticks(x, [str(row.key["d_ms"]) for row in rows])
    panel.set_xlabel("d (ms)")


def _ticks(panel: Axes, lengths: list[int]) -> None:
    panel.set_xticks(lengths, [str(d) for d in lengths])
    panel.set_xticks([], minor=True)
    panel.set_xlabel("d (ms)")
