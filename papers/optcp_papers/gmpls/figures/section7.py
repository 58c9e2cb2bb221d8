"""Figures of section 7 of the GMPLS paper: behaviour after the repair."""

from optcp.papers.model import Result
from optcp.plots import intervals
from optcp.plots.panels import bands, distinct, events, grouped, page, places, printed, ticks, where, zero
from optcp.plots.registry import Figure, draws
from optcp_papers.gmpls.figures import histograms

STRATEGIES = {"none": "#999999", "electrical": "#0072B2", "optical": "#D55E00", "optical exact": "#E69F00"}
QUEUES = ("#56B4E9", "#0072B2", "#009E73", "#E69F00", "#D55E00")
REPAIR_S = 10.0


@draws("gmpls/fig15")
def fig15(result: Result) -> list[Figure]:
    """Draw one group of bars per d and one bar per strategy, with its interval."""
    caption = "Share of the runs in which a strategy has the most goodput in (10 s, 11.5 s], with 95 % intervals."
    with page(result, caption, (8.2, 3.2)) as made:
        grouped(made.panel, result.rows, "strategy", STRATEGIES)
        places(made.panel, distinct(result.rows, "d_ms"), "d (ms)")
        made.label(y="share of runs (%)")
        made.panel.set_ylim(bottom=0)
        made.legend(len(distinct(result.rows, "strategy")))
    return made.drawn


@draws("gmpls/fig16")
def fig16(result: Result) -> list[Figure]:
    """Draw histograms as markers and their normal fits as curves, as in the paper."""
    caption = (
        "Histograms of f(d), optical over electrical goodput, with a resolution of 1 % (a marker at x stands for "
        "[x, x + 1 %)) and their normal fits."
    )
    with page(result, caption, (8.2, 3.4)) as made:
        histograms.draw(made.panel, result.series)
    return made.drawn


@draws("gmpls/table6")
def table6(result: Result) -> list[Figure]:
    """Draw published values, the emulation, and the exact rule, one panel per metric."""
    titles = {"opt_vs_el_pct": "optical against electrical (%)", "opt_better_pct": "runs with optical better (%)"}
    caption = "Table 6: published values, and simulated values with 95 % intervals."
    with page(result, caption, (8.2, 3.2), 1, len(titles)) as made:
        for panel, (metric, title) in zip(made.all, titles.items(), strict=True):
            emulated = where(result.rows, metric)
            printed(panel, emulated, size=4)
            exact = where(result.rows, f"exact_{metric}")
            for strategy, rows, aside in (("optical", emulated, 0.15), ("optical exact", exact, 0.3)):
                x = [at + aside for at in range(len(rows))]
                intervals.marks(panel, x, rows, STRATEGIES[strategy], strategy)
            zero(panel, 0 if metric == "opt_vs_el_pct" else 50)
            places(panel, distinct(emulated, "d_ms"), "d (ms)")
            panel.set_title(title)
        made.legend(3)
    return made.drawn


@draws("gmpls/section7.2")
def section7_2(result: Result) -> list[Figure]:
    """Draw goodput over time by strategy, one panel per d, and the gain of optical by limit of the merge queue."""
    return [*_goodput(result), *_gains(result)]


def _goodput(result: Result) -> list[Figure]:
    caption = (
        "Goodput in 100 ms intervals in % of the access bandwidth, mean over seeds, shaded: 95 % interval. "
        "Dashed: the repair at 10 s."
    )
    curves = [curve for curve in result.series if "strategy" in curve.key]
    lengths = distinct(curves, "d_ms")
    size, lines = (8.2, 6.6), (len(lengths) + 1) // 2
    with page(result, caption, size, lines, 2, part="goodput", sharex=True, sharey=True) as made:
        for panel, d in zip(made.all, lengths, strict=False):
            bands(panel, where(curves, d_ms=d), "strategy", STRATEGIES)
            events(panel, REPAIR_S)
            panel.set_title(f"d = {d} ms")
        made.label(x="time (s)", y="goodput (% of access bandwidth)", middle=True)
        made.legend(len(STRATEGIES))
    return made.drawn


def _gains(result: Result) -> list[Figure]:
    caption = "Goodput of optical against electrical switch-back over d, by the limit of the queue of L2->L3; mean."
    gains = [curve for curve in result.series if "merge_queue" in curve.key]
    with page(result, caption, (8.2, 3.2), part="queue") as made:
        for curve, colour in zip(gains, QUEUES, strict=True):
            label = f"{curve.key['merge_queue']} packets"
            made.panel.plot(curve.x, curve.y, "o-", markersize=3, color=colour, label=label)
        zero(made.panel)
        made.panel.set_xscale("log")
        ticks(made.panel, "x", gains[0].x)
        made.label(x="d (ms)", y="optical against electrical (%)")
        made.panel.legend()
    return made.drawn
