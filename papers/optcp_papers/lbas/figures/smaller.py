"""Figures of what goes beyond the LBAS paper, in the smaller copy of its network."""

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row
from optcp.plots import intervals
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render
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
    """A row for each number of flows, a column for each quantity; senders side by side."""
    senders = list(dict.fromkeys(str(row.key["profile"]) for row in result.rows))
    flows = list(dict.fromkeys(row.key["flows_per_lightpath"] for row in result.rows))
    caption = (
        "Utilisation, dropped bytes and queue with 95 % intervals, by sender: with anycast switching and without, for "
        "each bundling degree; by flows a lightpath. Smaller copy of the network."
    )
    with canvas(9.2, 1.6 + 2.4 * len(flows)) as figure:
        panels = figure.subplots(len(flows), len(SHARES), sharex=True, squeeze=False)
        for across, number in zip(panels, flows, strict=True):
            for panel, (metric, label) in zip(across, SHARES.items(), strict=True):
                rows = [row for row in result.rows if row.metric == metric and row.key["flows_per_lightpath"] == number]
                _beside_each_other(panel, senders, rows)
                panel.set_ylabel(label)
                panel.set_title(f"{number} flows")
                if metric == "dropped_pct":
                    panel.set_yscale("log")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("lbas/choices")
def choices(result: Result) -> list[Figure]:
    """A panel for each quantity; a line for each choice."""
    names = list(dict.fromkeys(str(row.key["choice"]) for row in result.rows))
    caption = (
        "What each unstated parameter changes at b_D = 2 with 10 flows a lightpath, with 95 % intervals. Smaller copy "
        "of the network."
    )
    with canvas(9.2, 1.2 + 0.3 * len(names)) as figure:
        panels = figure.subplots(1, len(SHARES), sharey=True)
        for panel, (metric, label) in zip(panels, SHARES.items(), strict=True):
            for aside, (anycast, colour) in zip((-0.12, 0.12), COLOURS.items(), strict=True):
                rows = [row for row in result.rows if (row.metric, row.key["anycast"]) == (metric, anycast)]
                places = [names.index(str(row.key["choice"])) + aside for row in rows]
                intervals.marks_across(panel, rows, places, colour, LABELS[anycast])
            panel.set_xlabel(label)
            if metric == "dropped_pct":
                panel.set_xscale("log")
        panels[0].set_yticks(range(len(names)), names)
        panels[0].invert_yaxis()
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
        return [Figure(caption, render(figure, result.exhibit, caption))]


def _beside_each_other(panel: Axes, senders: list[str], rows: list[Row]) -> None:
    """Values at the place of their sender, a marker for each degree, a colour for each mode."""
    degrees = list(dict.fromkeys(row.key["bundling_degree"] for row in rows))
    kinds = [(anycast, degree) for anycast in COLOURS for degree in degrees]
    for number, (anycast, degree) in enumerate(kinds):
        of_kind = [row for row in rows if (row.key["anycast"], row.key["bundling_degree"]) == (anycast, degree)]
        aside = 0.16 * (number - (len(kinds) - 1) / 2)
        x = [senders.index(str(row.key["profile"])) + aside for row in of_kind]
        label = f"{LABELS[anycast]}, b_D = {degree}"
        intervals.marks(panel, x, of_kind, COLOURS[anycast], label, MARKERS[degrees.index(degree)])
    panel.set_xticks(range(len(senders)), senders, rotation=40, ha="right", rotation_mode="anchor")


@draws("lbas/buffer")
def buffer(result: Result) -> list[Figure]:
    """Utilisation over the buffer, a curve for each bundling degree and mode."""
    caption = (
        "Utilisation over the buffer of a lightpath with 95 % intervals, by bundling degree, with anycast switching "
        "(lines) and without (dashes). 10 flows of inet-2011 a lightpath, smaller copy of the network."
    )
    with canvas(7.4, 4.2) as figure:
        panel = figure.subplots()
        for curve in result.series:
            degree, anycast = int(curve.key["bundling_degree"]), str(curve.key["anycast"])
            # One lightpath leaves nothing to choose.
            if degree > 1 or anycast == "no":
                label = f"b_D = {degree}" + (f", {LABELS[anycast]}" if degree > 1 else "")
                intervals.line(panel, curve, DEGREE_COLOURS[degree], STYLES[anycast], label)
        panel.set_xscale("log")
        ticks = result.series[0].x
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
        panel.set_xlabel("buffer of a lightpath (C RTT)")
        panel.set_ylabel("utilisation (%)")
        panel.set_ylim(0, 100)
        figure.legend(*panel.get_legend_handles_labels(), loc="outside right center")
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("lbas/mix")
def mix(result: Result) -> list[Figure]:
    """A panel for each sender and load: which share of the short flows takes longer."""
    names = ("profile", "short_flows_pct")
    places = list(dict.fromkeys(tuple(curve.key[name] for name in names) for curve in result.series))
    caption = (
        "Short flows beside long ones and UDP: which share of them takes longer than a time, with anycast switching "
        "(lines) and without (dashes). Smaller copy of the network."
    )
    across = 2 if len(places) > 1 else 1
    with canvas(9.2, 1.2 + 2.9 * -(-len(places) // across)) as figure:
        panels = figure.subplots(-(-len(places) // across), across, sharex=True, sharey=True, squeeze=False)
        for panel, place in zip(panels.flat, places, strict=True):
            for curve in result.series:
                if tuple(curve.key[name] for name in names) == place:
                    degree, anycast = int(curve.key["bundling_degree"]), str(curve.key["anycast"])
                    intervals.line(
                        panel, curve, DEGREE_COLOURS[degree], STYLES[anycast], f"b_D = {degree}, {LABELS[anycast]}"
                    )
            panel.set_title(f"{place[0]}, short flows {place[1]} % of the rate")
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_xticks(TIMES_MS, [str(time) for time in TIMES_MS])
            panel.set_yticks(SHARES_PCT, [f"{share:g}" for share in SHARES_PCT])
            panel.minorticks_off()
            panel.set_xlabel("completion time (ms)")
            panel.set_ylabel("take longer (%)")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=4)
        return [Figure(caption, render(figure, result.exhibit, caption))]
