"""Figures of section 6 of the GMPLS paper: a backup path that is longer by d."""

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row
from optcp.plots import intervals
from optcp.plots.panels import bands, distinct, each, events, grouped, page, places, printed, ticks, where
from optcp.plots.registry import Figure, draws
from optcp_papers.gmpls.figures import histograms
from optcp_papers.gmpls.figures.histograms import LENGTHS

MARKERS = {5: "o", 10: "s", 20: "^", 50: "D", 100: "v"}
"""Marker of each delta, in ms."""
FAILURE_S = 5.0


@draws("gmpls/fig10")
@draws("gmpls/fig12")
def curves(result: Result) -> list[Figure]:
    """Draw one panel per delta, with one curve per d."""
    deltas = distinct(result.series, "delta_ms")
    caption = (
        "Goodput in 100 ms intervals in % of the access bandwidth, mean over seeds, shaded: 95 % interval. "
        "Dashed: the failure at 5 s."
    )
    size = (8.2, 2.0 * len(deltas) + 1.2)
    with page(result, caption, size, len(deltas), sharex=True, sharey=True) as made:
        for panel, delta in zip(made.all, deltas, strict=True):
            bands(panel, where(result.series, delta_ms=delta), "d_ms", LENGTHS, "d = {} ms")
            events(panel, FAILURE_S)
            panel.set_title(f"δ = {delta} ms")
        # Set the limit after all panels are drawn: a shared axis stops autoscaling once one of its ends is fixed.
        made.panel.set_ylim(bottom=0)
        made.panel.set_xlim(result.series[0].x[0], result.series[0].x[-1])
        made.label(x="time (s)", y="goodput (% of access bandwidth)", middle=True)
        made.legend(len(LENGTHS))
    return made.drawn


@draws("gmpls/fig11")
def fig11(result: Result) -> list[Figure]:
    """Draw histograms as markers and their normal fits as curves, as in the paper."""
    caption = (
        "Histograms of f(d) with a resolution of 1 % (a marker at x stands for [x, x + 1 %)) and their normal fits."
    )
    with page(result, caption, (8.2, 3.4)) as made:
        histograms.draw(made.panel, result.series)
    return made.drawn


@draws("gmpls/fig13")
def fig13(result: Result) -> list[Figure]:
    """Draw one group of bars per delta and one bar per d, with its interval."""
    rows = where(result.rows, "best_pct")
    caption = "Share of the runs in which a d has the most goodput in (5 s, 6.5 s], by δ, with 95 % intervals."
    with page(result, caption, (8.2, 3.2)) as made:
        grouped(made.panel, rows, "d_ms", LENGTHS, "d = {} ms")
        places(made.panel, distinct(rows, "delta_ms"), "δ (ms)")
        made.label(y="share of runs (%)")
        made.legend(len(LENGTHS))
    return made.drawn


@draws("gmpls/fig14")
def fig14(result: Result) -> list[Figure]:
    """Draw one curve per delta over d, with a marker at every simulated d."""
    caption = "Goodput in (5 s, 6.5 s] in % of the access bandwidth over d, by δ, with 95 % intervals."
    with page(result, caption, (8.2, 3.6)) as made:
        for (delta, marker, rows), colour in zip(
            each(result.rows, "delta_ms", MARKERS), LENGTHS.values(), strict=False
        ):
            x = [float(row.key["d_ms"]) for row in rows]
            intervals.marks(made.panel, x, rows, colour, f"δ = {delta} ms", f"{marker}-")
        made.panel.set_xscale("log")
        ticks(made.panel, "x", distinct(result.rows, "d_ms"))
        made.label(x="d (ms)", y="goodput (% of access bandwidth)")
        made.panel.legend()
    return made.drawn


@draws("gmpls/table4")
def table4(result: Result) -> list[Figure]:
    """Draw published and simulated values with their intervals, one panel per metric."""
    titles = {
        "rel_goodput_pct": "goodput against d = 1 ms (%)",
        "worse_than_1ms_pct": "runs worse than d = 1 ms (%)",
        "best_pct": "runs in which d is best (%)",
    }
    caption = "Table 4: published values, and simulated values with 95 % intervals, δ = 5 ms."
    with page(result, caption, (8.2, 3.2), 1, len(titles)) as made:
        for panel, (metric, title) in zip(made.all, titles.items(), strict=True):
            _compared(panel, [row for row in where(result.rows, metric) if row.paper is not None])
            panel.set_title(title)
        made.legend(2)
    return made.drawn


@draws("gmpls/table5")
def table5(result: Result) -> list[Figure]:
    """Draw published and simulated values over d, one panel per delta."""
    deltas = distinct(result.rows, "delta_ms")
    caption = "Table 5: published values, and simulated values with 95 % intervals; goodput against d = 1 ms in %."
    with page(result, caption, (8.2, 3.2), 1, len(deltas), sharey=True) as made:
        for panel, delta in zip(made.all, deltas, strict=True):
            _compared(panel, where(result.rows, delta_ms=delta))
            panel.set_title(f"δ = {delta} ms")
        made.label(y="goodput against d = 1 ms (%)")
        made.legend(2)
    return made.drawn


def _compared(panel: Axes, rows: list[Row]) -> None:
    """Draw published values as grey diamonds and simulated ones next to them with intervals, by d."""
    printed(panel, rows, size=4)
    intervals.marks(panel, [at + 0.2 for at in range(len(rows))], rows, LENGTHS[1], "simulated")
    places(panel, [row.key["d_ms"] for row in rows], "d (ms)")
