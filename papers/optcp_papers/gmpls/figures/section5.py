"""Figures of section 5 of the GMPLS paper."""

from typing import Any

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row, Series
from optcp.plots import intervals
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

COLOURS = {"switched": "#0072B2", "fixed": "#D55E00", "total": "#009E73"}
READING_COLOURS = ("#0072B2", "#D55E00", "#009E73")
DELAY_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
FAILURE_S = 5.0


def _readings(items: list[Series] | list[Row]) -> list[str]:
    return list(dict.fromkeys(str(item.key["flows"]) for item in items))


def _delays(items: list[Series] | list[Row]) -> list[Any]:
    return list(dict.fromkeys(item.key["delta_ms"] for item in items))


@draws("gmpls/fig7")
def fig7(result: Result) -> list[Figure]:
    """One figure an (interpretation, kind of curve), one panel a delay."""
    drawn = []
    for reading in _readings(result.series):
        of_reading = [curve for curve in result.series if curve.key["flows"] == reading]
        for name in dict.fromkeys(curve.name for curve in of_reading):
            curves = [curve for curve in of_reading if curve.name == name]
            caption = f"{reading} flows, {name}: goodput in 10 ms intervals in % of the backbone bandwidth"
            if any(curve.ci95 for curve in curves):
                caption += ", shaded: 95 % interval"
            caption += ". Dashed: the failure at 5 s; dotted: the protection switch."
            drawn.append(Figure(caption, _fig7_panels(curves, f"{result.exhibit}-{reading}-{name}", caption)))
    return drawn


def _fig7_panels(curves: list[Series], name: str, caption: str) -> str:
    delays = _delays(curves)
    with canvas(8.2, 1.45 * len(delays) + 0.6) as figure:
        panels = figure.subplots(len(delays), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for panel, delay in zip(panels, delays, strict=True):
            for curve in (curve for curve in curves if curve.key["delta_ms"] == delay):
                of_class = str(curve.key["class"])
                intervals.band(panel, curve, COLOURS[of_class], of_class, width=0.8)
            panel.axvline(FAILURE_S, color="#888888", linestyle="--", linewidth=0.8)
            panel.axvline(FAILURE_S + delay / 1000, color="#888888", linestyle=":", linewidth=1.2)
            panel.set_title(f"δ = {delay} ms")
            panel.set_ylim(bottom=0)
        panels[0].set_xlim(curves[0].x[0], curves[0].x[-1])
        panels[-1].set_xlabel("time (s)")
        panels[len(delays) // 2].set_ylabel("goodput (% of backbone bandwidth)")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=3)
        return render(figure, name, caption)


@draws("gmpls/fig8")
def fig8(result: Result) -> list[Figure]:
    """One panel an interpretation: histograms as markers and their normal fits as curves, as the paper draws them."""
    readings = _readings(result.series)
    caption = (
        "Histograms of f(δ) with a resolution of 5 % (a marker at x stands for [x, x + 5 %)) and their normal fits."
    )
    with canvas(8.2, 3.4) as figure:
        panels = figure.subplots(1, len(readings), sharey=True, squeeze=False)[0]
        for panel, reading in zip(panels, readings, strict=True):
            curves = [curve for curve in result.series if curve.key["flows"] == reading]
            for colour, delay in zip(DELAY_COLOURS, _delays(curves), strict=False):
                for curve in (curve for curve in curves if curve.key["delta_ms"] == delay):
                    _fig8_curve(panel, curve, colour, delay)
            panel.set_title(f"{reading} flows")
            panel.set_xlabel("f(δ) (%)")
        panels[0].set_ylabel("share of runs (%)")
        panels[-1].legend()
        return [Figure(caption, render(figure, result.exhibit, caption))]


def _fig8_curve(panel: Axes, curve: Series, colour: str, delay: int) -> None:
    if curve.name == "histogram":
        panel.plot(curve.x, curve.y, "o", markersize=4, color=colour, label=f"δ = {delay} ms")
    else:
        panel.plot(curve.x, curve.y, color=colour)


@draws("gmpls/table3")
def table3(result: Result) -> list[Figure]:
    """One panel a metric: printed values and both interpretations with their intervals."""
    titles = {
        "rel_goodput_pct": "goodput gain (%)",
        "worse_than_zero_pct": "runs worse than δ = 0 (%)",
        "best_pct": "runs in which δ is best (%)",
    }
    caption = "Table 3: printed values and measured ones with 95 % intervals."
    delays = _delays(result.rows)
    readings = _readings(result.rows)
    with canvas(8.2, 3.2) as figure:
        panels = figure.subplots(1, len(titles), squeeze=False)[0]
        for panel, (metric, title) in zip(panels, titles.items(), strict=True):
            rows = [row for row in result.rows if row.metric == metric]
            printed = {row.key["delta_ms"]: row.paper for row in rows}
            panel.plot(range(len(delays)), [printed[delay] for delay in delays], "D", color="#888888", label="printed")
            for number, reading in enumerate(readings):
                offset = 0.22 * (number - (len(readings) - 1) / 2) + 0.11
                _points(panel, [row for row in rows if row.key["flows"] == reading], offset, number)
            panel.axhline(0, color="#888888", linewidth=0.6)
            panel.set_xticks(range(len(delays)), [str(delay) for delay in delays])
            panel.set_xlabel("δ (ms)")
            panel.set_title(title)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=1 + len(readings))
        return [Figure(caption, render(figure, result.exhibit, caption))]


def _points(panel: Axes, rows: list[Row], offset: float, number: int) -> None:
    """Measured values with error bars."""
    colour = READING_COLOURS[number % len(READING_COLOURS)]
    x = [index + offset for index in range(len(rows))]
    intervals.marks(panel, x, rows, colour, str(rows[0].key["flows"]))
