"""Figures of the variants of section 5 of the GMPLS paper."""

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row
from optcp.plots import intervals
from optcp.plots.panels import GREY, distinct, marks, page, places, printed, where, zero
from optcp.plots.registry import Figure, draws

FLOWS = {"5+5": "#CC79A7", "10+10": "#D55E00", "20+20": "#E69F00", "50+50": "#009E73", "100+100": "#0072B2"}
CLASSES = {"switched": "#0072B2", "fixed": "#D55E00"}


@draws("gmpls/section5.2")
def section52(result: Result) -> list[Figure]:
    """Draw the gain over the delay by load and number of flows, and settling times."""
    return [*_gains(result), *_settling(result)]


def _gains(result: Result) -> list[Figure]:
    caption = (
        "Goodput in (5 s, 6.5 s] against δ = 0 over δ, mean with 95 % interval. Left: access at 90 % (full lines) and "
        "at 60 % (dashed); right: numbers of flows per class, access at 90 %."
    )
    with page(result, caption, (8.2, 3.6), 1, 2, part="gain") as made:
        left, right = made.all
        lower = distinct(where(result.series, access_pct=60), "flows")
        for curve in sorted(result.series, key=lambda curve: list(FLOWS).index(str(curve.key["flows"]))):
            flows, access = str(curve.key["flows"]), curve.key["access_pct"]
            style = "o--" if access == 60 else "o-"
            if flows in lower:
                intervals.band(left, curve, FLOWS[flows], f"{flows}, {access} %", style, size=3, width=1.5)
            if access == 90:
                intervals.band(right, curve, FLOWS[flows], flows, style, size=3, width=1.5)
        for panel in made.all:
            zero(panel)
            panel.set_xscale("symlog", linthresh=10)
            panel.set_xticks(result.series[0].x, [f"{x:g}" for x in result.series[0].x], rotation=45)
            panel.set_xticks([], minor=True)
            panel.set_xlim(left=-1)
            panel.legend()
        made.label(x="δ (ms)", y="goodput against δ = 0 (%)")
    return made.drawn


def _settling(result: Result) -> list[Figure]:
    caption = (
        "Settling time after the switchover, δ = 50 ms, with 95 % bootstrap intervals, by flows per class and by "
        "access delays as multiples of 10 to 100 ms."
    )
    rows = where(result.rows, "settle_s")
    by_flows = sorted(where(rows, access_delay_scale=1), key=lambda row: list(FLOWS).index(str(row.key["flows"])))
    readings = distinct([row for row in rows if row.key["access_delay_scale"] != 1], "flows")
    ratios, columns = [1.8, *(1 for _ in readings)], 1 + len(readings)
    with page(result, caption, (8.2, 3.0), 1, columns, part="settling", sharey=True, width_ratios=ratios) as made:
        _by(made.panel, by_flows, "flows", "flows per class")
        for panel, flows in zip(made.all[1:], readings, strict=True):
            scaled = sorted(where(rows, flows=flows), key=lambda row: float(row.key["access_delay_scale"]))
            _by(panel, scaled, "access_delay_scale", f"access delays, {flows} flows")
        made.label(y="settling time (s)")
        made.panel.set_ylim(bottom=0)
        made.legend(2)
    return made.drawn


def _by(panel: Axes, rows: list[Row], name: str, label: str) -> None:
    """Draw one marker per class at each value of the key `name`."""
    marks(panel, rows, "class", CLASSES)
    places(panel, distinct(rows, name), label)


@draws("gmpls/section5.3")
def section53(result: Result) -> list[Figure]:
    """Draw goodput over the delay (left) and the best delay, published and simulated (right)."""
    caption = (
        "A link that is down for δ. Left: goodput in (5 s, 6.5 s] against δ = 0; right: runs in which δ is best, "
        "published and simulated; 95 % intervals."
    )
    readings = distinct(result.rows, "flows")
    labels = {"rel_goodput_pct": "goodput against δ = 0 (%)", "best_pct": "runs in which δ is best (%)"}
    with page(result, caption, (8.2, 3.2), 1, 2) as made:
        for panel, (metric, label) in zip(made.all, labels.items(), strict=True):
            rows = where(result.rows, metric)
            marks(panel, rows, "flows", {flows: FLOWS.get(flows, GREY) for flows in readings}, apart=0.22)
            printed(panel, where(rows, flows=readings[-1]))
            places(panel, distinct(rows, "delta_ms"), "δ (ms)")
            panel.set_ylabel(label)
        made.legend(1 + len(readings), of=made.all[1])
    return made.drawn
