"""Figures of section 7 of the GMPLS paper: what follows the repair of the link."""

from optcp.papers.model import Result, Row, Series
from optcp.plots import bars, intervals
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render
from optcp_papers.gmpls.figures import histograms

STRATEGIES = {"none": "#999999", "electrical": "#0072B2", "optical": "#D55E00", "optical exact": "#E69F00"}
QUEUES = ("#56B4E9", "#0072B2", "#009E73", "#E69F00", "#D55E00")
PRINTED = "#888888"
REPAIR_S = 10.0


def _lengths(items: list[Series] | list[Row]) -> list[int]:
    return list(dict.fromkeys(int(item.key["d_ms"]) for item in items if "d_ms" in item.key))


@draws("gmpls/fig15")
def fig15(result: Result) -> list[Figure]:
    """A group of bars a d, a bar a strategy, with its interval."""
    lengths = _lengths(result.rows)
    strategies = list(dict.fromkeys(str(row.key["strategy"]) for row in result.rows))
    caption = "Share of the runs in which a strategy has the most goodput in (10 s, 11.5 s], with 95 % intervals."
    with canvas(8.2, 3.2) as figure:
        panel = figure.subplots()
        for number, strategy in enumerate(strategies):
            mine = [row for row in result.rows if row.key["strategy"] == strategy]
            bars.group(panel, mine, number, len(strategies), STRATEGIES[strategy], strategy)
        panel.set_xticks(range(len(lengths)), [str(d) for d in lengths])
        panel.set_xlabel("d (ms)")
        panel.set_ylabel("share of runs (%)")
        panel.set_ylim(bottom=0)
        figure.legend(loc="outside upper right", ncols=len(strategies))
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("gmpls/fig16")
def fig16(result: Result) -> list[Figure]:
    """Histograms as markers and their normal fits as curves, as the paper draws them."""
    caption = (
        "Histograms of f(d), optical over electrical goodput, with a resolution of 1 % (a marker at x stands for "
        "[x, x + 1 %)) and their normal fits."
    )
    with canvas(8.2, 3.4) as figure:
        panel = figure.subplots()
        histograms.draw(panel, result.series)
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("gmpls/table6")
def table6(result: Result) -> list[Figure]:
    """One panel a metric: printed values, the emulation, and the exact rule."""
    titles = {"opt_vs_el_pct": "optical against electrical (%)", "opt_better_pct": "runs with optical better (%)"}
    caption = "Table 6: printed values and measured ones with 95 % intervals."
    with canvas(8.2, 3.2) as figure:
        panels = figure.subplots(1, len(titles), squeeze=False)[0]
        for panel, (metric, title) in zip(panels, titles.items(), strict=True):
            rows = [row for row in result.rows if row.metric == metric]
            panel.plot(
                range(len(rows)),
                [row.paper for row in rows if row.paper is not None],
                "D",
                color=PRINTED,
                markersize=4,
                label="printed",
            )
            exact = [row for row in result.rows if row.metric == f"exact_{metric}"]
            for strategy, of_strategy, aside in (("optical", rows, 0.15), ("optical exact", exact, 0.3)):
                x = [index + aside for index in range(len(of_strategy))]
                intervals.marks(panel, x, of_strategy, STRATEGIES[strategy], strategy)
            panel.axhline(0 if metric == "opt_vs_el_pct" else 50, color=PRINTED, linewidth=0.6)
            panel.set_xticks(range(len(rows)), [str(row.key["d_ms"]) for row in rows])
            panel.set_xlabel("d (ms)")
            panel.set_title(title)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("gmpls/section7.2")
def section7_2(result: Result) -> list[Figure]:
    """Goodput over time by strategy, a panel a d; gain of optical over d by the limit of the merge queue."""
    curves = [curve for curve in result.series if "strategy" in curve.key]
    gains = [curve for curve in result.series if "merge_queue" in curve.key]
    return [_goodput(curves, f"{result.exhibit}-goodput"), _gains(gains, f"{result.exhibit}-queue")]


def _goodput(curves: list[Series], name: str) -> Figure:
    caption = (
        "Goodput in 100 ms intervals in % of the access bandwidth, mean over seeds, shaded: 95 % interval. "
        "Dashed: the repair at 10 s."
    )
    lengths = _lengths(curves)
    with canvas(8.2, 6.6) as figure:
        panels = figure.subplots((len(lengths) + 1) // 2, 2, sharex=True, sharey=True, squeeze=False)
        for panel, d in zip(panels.flat, lengths, strict=False):
            for curve in (one for one in curves if one.key["d_ms"] == d):
                strategy = str(curve.key["strategy"])
                intervals.band(panel, curve, STRATEGIES[strategy], strategy)
            panel.axvline(REPAIR_S, color=PRINTED, linestyle="--", linewidth=0.8)
            panel.set_title(f"d = {d} ms")
        for panel in panels[-1]:
            panel.set_xlabel("time (s)")
        panels[len(panels) // 2, 0].set_ylabel("goodput (% of access bandwidth)")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper right", ncols=len(STRATEGIES))
        return Figure(caption, render(figure, name, caption))


def _gains(gains: list[Series], name: str) -> Figure:
    caption = "Goodput of optical against electrical switch-back over d, by the limit of the queue of L2->L3; mean."
    with canvas(8.2, 3.2) as figure:
        panel = figure.subplots()
        for curve, colour in zip(gains, QUEUES, strict=True):
            panel.plot(curve.x, curve.y, "o-", markersize=3, color=colour, label=f"{curve.key['merge_queue']} packets")
        panel.axhline(0, color=PRINTED, linewidth=0.6)
        panel.set_xscale("log")
        panel.set_xticks(gains[0].x, [f"{d:g}" for d in gains[0].x])
        panel.set_xticks([], minor=True)
        panel.set_xlabel("d (ms)")
        panel.set_ylabel("optical against electrical (%)")
        panel.legend()
        return Figure(caption, render(figure, name, caption))
