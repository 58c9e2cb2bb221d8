"""Figures of the worlds that section 5 of the GMPLS paper mentions beside its own."""

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row, Series
from optcp.plots import intervals
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

FLOWS_COLOURS = {"5+5": "#CC79A7", "10+10": "#D55E00", "20+20": "#E69F00", "50+50": "#009E73", "100+100": "#0072B2"}
CLASS_COLOURS = {"switched": "#0072B2", "fixed": "#D55E00"}
NEUTRAL = "#888888"


@draws("gmpls/section5.2")
def section52(result: Result) -> list[Figure]:
    """Gain over the delay by load and by number of flows; settling times."""
    return [_gains(result), _settling(result)]


def _gains(result: Result) -> Figure:
    caption = (
        "Goodput in (5 s, 6.5 s] against δ = 0 over δ, mean with 95 % interval. Left: access at 90 % (full lines) and "
        "at 60 % (dashed); right: numbers of flows a class, access at 90 %."
    )
    with canvas(8.2, 3.6) as figure:
        left, right = figure.subplots(1, 2)
        lower = {str(curve.key["flows"]) for curve in result.series if curve.key["access_pct"] == 60}
        for curve in sorted(result.series, key=lambda curve: list(FLOWS_COLOURS).index(str(curve.key["flows"]))):
            if str(curve.key["flows"]) in lower:
                _gain(left, curve, f"{curve.key['flows']}, {curve.key['access_pct']} %")
            if curve.key["access_pct"] == 90:
                _gain(right, curve, str(curve.key["flows"]))
        for panel in (left, right):
            panel.axhline(0, color=NEUTRAL, linewidth=0.6)
            panel.set_xscale("symlog", linthresh=10)
            panel.set_xticks(result.series[0].x, [f"{x:g}" for x in result.series[0].x], rotation=45)
            panel.set_xticks([], minor=True)
            panel.set_xlim(left=-1)
            panel.set_xlabel("δ (ms)")
            panel.legend()
        left.set_ylabel("goodput against δ = 0 (%)")
        return Figure(caption, render(figure, f"{result.exhibit}-gain", caption))


def _gain(panel: Axes, curve: Series, label: str) -> None:
    colour = FLOWS_COLOURS[str(curve.key["flows"])]
    line = "--" if curve.key["access_pct"] == 60 else "-"
    intervals.band(panel, curve, colour, label, f"o{line}", size=3, width=1.5)


def _settling(result: Result) -> Figure:
    caption = (
        "Time from the switch until the flows have settled, δ = 50 ms, with 95 % bootstrap intervals, by flows a class "
        "and by access delays as multiples of 10 to 100 ms."
    )
    rows = [row for row in result.rows if row.metric == "settle_s"]
    by_flows = [row for row in rows if row.key["access_delay_scale"] == 1]
    by_flows.sort(key=lambda row: list(FLOWS_COLOURS).index(str(row.key["flows"])))
    readings = list(dict.fromkeys(str(row.key["flows"]) for row in rows if row.key["access_delay_scale"] != 1))
    with canvas(8.2, 3.0) as figure:
        panels = figure.subplots(
            1, 1 + len(readings), sharey=True, squeeze=False, width_ratios=[1.8, *(1 for _ in readings)]
        )[0]
        _by(panels[0], by_flows, "flows", "flows a class")
        for panel, flows in zip(panels[1:], readings, strict=True):
            scaled = [row for row in rows if row.key["flows"] == flows]
            scaled.sort(key=lambda row: float(row.key["access_delay_scale"]))
            _by(panel, scaled, "access_delay_scale", f"access delays, {flows} flows")
        panels[0].set_ylabel("settled after (s)")
        panels[0].set_ylim(bottom=0)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
        return Figure(caption, render(figure, f"{result.exhibit}-settling", caption))


def _by(panel: Axes, rows: list[Row], name: str, label: str) -> None:
    """One place a value of the key `name`, one mark a class."""
    values = list(dict.fromkeys(row.key[name] for row in rows))
    for number, (of_class, colour) in enumerate(CLASS_COLOURS.items()):
        mine = [row for row in rows if row.key["class"] == of_class]
        x = [index + 0.2 * (number - 0.5) for index in range(len(mine))]
        intervals.marks(panel, x, mine, colour, of_class)
    panel.set_xticks(range(len(values)), [str(value) for value in values])
    panel.set_xlabel(label)


@draws("gmpls/section5.3")
def section53(result: Result) -> list[Figure]:
    """Left: goodput over the delay; right: which delay is best, printed and measured."""
    caption = (
        "A link that is down for δ. Left: goodput in (5 s, 6.5 s] against δ = 0; right: runs in which δ is best, "
        "printed and measured; 95 % intervals."
    )
    readings = list(dict.fromkeys(str(row.key["flows"]) for row in result.rows))
    with canvas(8.2, 3.2) as figure:
        panels = figure.subplots(1, 2)
        for panel, metric in zip(panels, ("rel_goodput_pct", "best_pct"), strict=True):
            for number, flows in enumerate(readings):
                rows = [row for row in result.rows if row.metric == metric and row.key["flows"] == flows]
                x = [index + 0.22 * (number - (len(readings) - 1) / 2) for index in range(len(rows))]
                intervals.marks(panel, x, rows, FLOWS_COLOURS.get(flows, NEUTRAL), flows)
            printed = [(index, row.paper) for index, row in enumerate(rows) if row.paper is not None]
            panel.plot([at for at, _ in printed], [value for _, value in printed], "D", color=NEUTRAL, label="printed")
            panel.set_xticks(range(len(rows)), [str(row.key["delta_ms"]) for row in rows])
            panel.set_xlabel("δ (ms)")
        panels[0].set_ylabel("goodput against δ = 0 (%)")
        panels[1].set_ylabel("runs in which δ is best (%)")
        figure.legend(*panels[1].get_legend_handles_labels(), loc="outside upper right", ncols=1 + len(readings))
        return [Figure(caption, render(figure, result.exhibit, caption))]
