"""Figures of section 5 of the GMPLS paper."""

from optcp.papers.model import Result, Series
from optcp.plots.panels import GREY, bands, distinct, each, events, marks, page, places, printed, where, zero
from optcp.plots.registry import COLOURS, Figure, draws

CLASSES = {"switched": "#0072B2", "fixed": "#D55E00", "total": "#009E73"}
FAILURE_S = 5.0


@draws("gmpls/fig7")
def fig7(result: Result) -> list[Figure]:
    """Draw one figure per (interpretation, kind of curve), with one panel per delay."""
    drawn = []
    for reading in distinct(result.series, "flows"):
        of_reading = where(result.series, flows=reading)
        for name in dict.fromkeys(curve.name for curve in of_reading):
            curves = where(of_reading, name)
            caption = f"{reading} flows, {name}: goodput in 10 ms intervals in % of the backbone bandwidth"
            if any(curve.ci95 for curve in curves):
                caption += ", shaded: 95 % interval"
            caption += ". Dashed: the failure at 5 s; dotted: the switchover."
            drawn += _by_delay(result, curves, f"{reading}-{name}", caption)
    return drawn


def _by_delay(result: Result, curves: list[Series], part: str, caption: str) -> list[Figure]:
    delays = distinct(curves, "delta_ms")
    size = (8.2, 1.45 * len(delays) + 0.6)
    with page(result, caption, size, len(delays), part=part, sharex=True, sharey=True) as made:
        for panel, delay in zip(made.all, delays, strict=True):
            bands(panel, where(curves, delta_ms=delay), "class", CLASSES, width=0.8)
            events(panel, FAILURE_S)
            panel.axvline(FAILURE_S + delay / 1000, color=GREY, linestyle=":", linewidth=1.2)
            panel.set_title(f"δ = {delay} ms")
            panel.set_ylim(bottom=0)
        made.panel.set_xlim(curves[0].x[0], curves[0].x[-1])
        made.label(x="time (s)", y="goodput (% of backbone bandwidth)", middle=True)
        made.legend(3)
    return made.drawn


@draws("gmpls/fig8")
def fig8(result: Result) -> list[Figure]:
    """Draw histograms as markers and their normal fits as curves, one panel per interpretation."""
    readings, delays = (distinct(result.series, name) for name in ("flows", "delta_ms"))
    caption = (
        "Histograms of f(δ) with a resolution of 5 % (a marker at x stands for [x, x + 5 %)) and their normal fits."
    )
    with page(result, caption, (8.2, 3.4), 1, len(readings), sharey=True) as made:
        for panel, reading in zip(made.all, readings, strict=True):
            colours = dict(zip(delays, COLOURS, strict=False))
            for delay, colour, curves in each(where(result.series, flows=reading), "delta_ms", colours):
                for curve in curves:
                    if curve.name == "histogram":
                        panel.plot(curve.x, curve.y, "o", markersize=4, color=colour, label=f"δ = {delay} ms")
                    else:
                        panel.plot(curve.x, curve.y, color=colour)
            panel.set_title(f"{reading} flows")
            panel.set_xlabel("f(δ) (%)")
        made.label(y="share of runs (%)")
        made.all[-1].legend()
    return made.drawn


@draws("gmpls/table3")
def table3(result: Result) -> list[Figure]:
    """Draw published and simulated values with their intervals, one panel per metric."""
    titles = {
        "rel_goodput_pct": "goodput gain (%)",
        "worse_than_zero_pct": "runs worse than δ = 0 (%)",
        "best_pct": "runs in which δ is best (%)",
    }
    caption = "Table 3: published values, and simulated values with 95 % intervals."
    readings = dict(zip(distinct(result.rows, "flows"), COLOURS, strict=False))
    with page(result, caption, (8.2, 3.2), 1, len(titles)) as made:
        for panel, (metric, title) in zip(made.all, titles.items(), strict=True):
            rows = where(result.rows, metric)
            printed(panel, where(rows, flows=next(iter(readings))))
            marks(panel, rows, "flows", readings, apart=0.22, aside=0.11)
            zero(panel)
            places(panel, distinct(rows, "delta_ms"), "δ (ms)")
            panel.set_title(title)
        made.legend(1 + len(readings))
    return made.drawn
