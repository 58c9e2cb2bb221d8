"""Figures of the extensions of the LBAS paper in the smaller copy of its network."""

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row
from optcp.plots import intervals
from optcp.plots.panels import distinct, page, ticks, where
from optcp.plots.registry import Figure, draws
from optcp_papers.lbas.figures.tables import COLOURS, LABELS

MARKERS = ("o", "s", "^", "D")
STYLES = {"yes": "-", "no": "--"}
DEGREE_COLOURS = {1: "#555555", 2: "#56B4E9", 5: "#0072B2", 10: "#D55E00"}
SHARES = {
    "utilisation_pct": "utilisation (%)",
    "dropped_pct": "dropped bytes (%)",
    "queue_pct": "queue (% of the buffer)",
}
TIMES_MS = (100, 200, 500, 1000, 2000, 5000)
SHARES_PCT = (0.1, 1, 10, 100)


@draws("lbas/today")
def today(result: Result) -> list[Figure]:
    """Draw one row per number of flows and one column per quantity, senders side by side."""
    senders, flows = (distinct(result.rows, name) for name in ("profile", "flows_per_lightpath"))
    caption = (
        "Utilisation, dropped bytes and queue with 95 % intervals, by sender and flows per lightpath: with and without "
        "anycast switching, for each bundling degree. Smaller copy of the network."
    )
    with page(result, caption, (9.2, 1.6 + 2.4 * len(flows)), len(flows), len(SHARES), sharex=True) as made:
        for across, number in zip(made.panels, flows, strict=True):
            for panel, (metric, label) in zip(across, SHARES.items(), strict=True):
                _beside_each_other(panel, senders, where(result.rows, metric, flows_per_lightpath=number))
                panel.set_ylabel(label)
                panel.set_title(f"{number} flows")
                if metric == "dropped_pct":
                    panel.set_yscale("log")
        made.legend(2)
    return made.drawn


@draws("lbas/choices")
def choices(result: Result) -> list[Figure]:
    """Draw one panel per quantity and one line per choice."""
    names = distinct(result.rows, "choice")
    caption = (
        "Effect of each unstated parameter at b_D = 2 with 10 flows per lightpath, with 95 % intervals. Smaller copy "
        "of the network."
    )
    with page(result, caption, (9.2, 1.2 + 0.3 * len(names)), 1, len(SHARES), sharey=True) as made:
        for panel, (metric, label) in zip(made.all, SHARES.items(), strict=True):
            for aside, (anycast, colour) in zip((-0.12, 0.12), COLOURS.items(), strict=True):
                rows = where(result.rows, metric, anycast=anycast)
                places = [names.index(row.key["choice"]) + aside for row in rows]
                intervals.marks_across(panel, rows, places, colour, LABELS[anycast])
            panel.set_xlabel(label)
            if metric == "dropped_pct":
                panel.set_xscale("log")
        made.panel.set_yticks(range(len(names)), names)
        made.panel.invert_yaxis()
        made.legend(2)
    return made.drawn


def _beside_each_other(panel: Axes, senders: list[str], rows: list[Row]) -> None:
    """Draw values at the position of their sender, one marker per degree and one colour per mode."""
    degrees = distinct(rows, "bundling_degree")
    kinds = [(anycast, degree) for anycast in COLOURS for degree in degrees]
    for number, (anycast, degree) in enumerate(kinds):
        of_kind = where(rows, anycast=anycast, bundling_degree=degree)
        aside = 0.16 * (number - (len(kinds) - 1) / 2)
        x = [senders.index(str(row.key["profile"])) + aside for row in of_kind]
        label = f"{LABELS[anycast]}, b_D = {degree}"
        intervals.marks(panel, x, of_kind, COLOURS[anycast], label, MARKERS[degrees.index(degree)])
    panel.set_xticks(range(len(senders)), senders, rotation=40, ha="right", rotation_mode="anchor")


@draws("lbas/buffer")
def buffer(result: Result) -> list[Figure]:
    """Draw utilisation over the buffer, one curve per bundling degree and mode."""
    caption = (
        "Utilisation over the buffer per lightpath with 95 % intervals, by bundling degree, with anycast switching "
        "(lines) and without (dashes). 10 flows of inet-2011 per lightpath, smaller copy of the network."
    )
    with page(result, caption, (7.4, 4.2)) as made:
        for curve in result.series:
            degree, anycast = int(curve.key["bundling_degree"]), str(curve.key["anycast"])
            # With one lightpath both modes are the same.
            if degree > 1 or anycast == "no":
                label = f"b_D = {degree}" + (f", {LABELS[anycast]}" if degree > 1 else "")
                intervals.line(made.panel, curve, DEGREE_COLOURS[degree], STYLES[anycast], label)
        made.panel.set_xscale("log")
        ticks(made.panel, "x", result.series[0].x)
        made.label(x="buffer per lightpath (BDP)", y="utilisation (%)")
        made.panel.set_ylim(0, 100)
        made.legend(at="outside right center")
    return made.drawn


@draws("lbas/mix")
def mix(result: Result) -> list[Figure]:
    """Draw the share of short flows with a longer completion time, one panel per sender and load."""
    names = ("profile", "short_flows_pct")
    places = list(dict.fromkeys(tuple(curve.key[name] for name in names) for curve in result.series))
    caption = (
        "Short flows together with long ones and UDP: share of short flows with a longer completion time, with anycast "
        "switching (lines) and without (dashes). Smaller copy of the network."
    )
    across = 2 if len(places) > 1 else 1
    down = -(-len(places) // across)
    with page(result, caption, (9.2, 1.2 + 2.9 * down), down, across, sharex=True, sharey=True) as made:
        for panel, place in zip(made.all, places, strict=True):
            for curve in where(result.series, **dict(zip(names, place, strict=True))):
                degree, anycast = int(curve.key["bundling_degree"]), str(curve.key["anycast"])
                label = f"b_D = {degree}, {LABELS[anycast]}"
                intervals.line(panel, curve, DEGREE_COLOURS[degree], STYLES[anycast], label)
            panel.set_title(f"{place[0]}, short flows {place[1]} % of the rate")
            panel.set_xscale("log")
            panel.set_yscale("log")
            ticks(panel, "x", TIMES_MS)
            ticks(panel, "y", SHARES_PCT)
            panel.set_xlabel("completion time (ms)")
            panel.set_ylabel("flows with longer completion time (%)")
        made.legend(4)
    return made.drawn
