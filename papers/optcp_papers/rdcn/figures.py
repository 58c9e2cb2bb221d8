"""Figures of the RDCN paper: utilisation and transit times, simulated and published."""

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row
from optcp.plots.intervals import marks, marks_across
from optcp.plots.panels import GREY, distinct, page, where
from optcp.plots.registry import Figure, draws

TIMES = {"p50_all_us": ("median", "#0072B2"), "p99_all_us": ("99th percentile", "#D55E00")}
COLOURS = ("#0072B2", "#D55E00")
AXES = {"voq": "queue size (packets)", "resize_us": "lead of the queue growth before its day (us)"}
LEADS = {"static": ("16 packets", "#0072B2"), "1200": ("50 packets from 1200 us before the day", "#D55E00")}


def _points(panel: Axes, rows: list[Row], axis: str, colour: str, label: str) -> None:
    """Draw values with their intervals over an axis, and published values as crosses."""
    x = [float(row.key[axis]) for row in rows]
    marks(panel, x, rows, colour, label, "o-")
    printed = [(place, row.paper) for place, row in zip(x, rows, strict=True) if row.paper is not None]
    if printed:
        panel.plot(*zip(*printed, strict=True), "x", color=GREY, markersize=7, label="published", zorder=3)


def _doubling(panel: Axes, rows: list[Row]) -> None:
    """Format a logarithmic axis of queue sizes, with a tick at each value."""
    values = sorted({float(row.key["voq"]) for row in rows})
    panel.set_xscale("log", base=2)
    panel.set_xticks(values, [f"{value:g}" for value in values])


def _sweep(result: Result, axis: str, *, log: bool) -> list[Figure]:
    caption = (
        "Utilisation of the circuit, and transit time of packets through the switch, with 95 % intervals over seeds. "
        "Crosses: published values, of one run each."
    )
    used = where(result.rows, "circuit_util_pct")
    with page(result, caption, (7.6, 3.2), 1, 2) as made:
        util, times = made.all
        _points(util, used, axis, "#0072B2", "measured")
        for name, (label, colour) in TIMES.items():
            _points(times, where(result.rows, name), axis, colour, label)
        for panel in made.all if log else ():
            _doubling(panel, used)
        made.label(x=AXES[axis], y="utilisation of the circuit (%)")
        times.set_ylabel("transit time (us)")
        util.legend()
        handles, labels = times.get_legend_handles_labels()
        known = dict(zip(labels, handles, strict=True))
        times.legend(list(known.values()), list(known))
    return made.drawn


@draws("rdcn/voq")
def voq(result: Result) -> list[Figure]:
    """Draw the results over the queue size."""
    return _sweep(result, "voq", log=True)


@draws("rdcn/resize")
def resize(result: Result) -> list[Figure]:
    """Draw the results over the lead."""
    return _sweep(result, "resize_us", log=False)


def _readings(result: Result, axis: str, by: str, names: dict[str, str]) -> list[Figure]:
    """Draw the results over an axis, one line per interpretation of an unstated parameter."""
    caption = (
        "Utilisation of the circuit with reTCP, and 99th percentile of the transit time through the switch, under both "
        "interpretations of an unstated parameter, with 95 % intervals over seeds."
    )
    labels = {"circuit_util_pct": "utilisation of the circuit (%)", "p99_all_us": "99th percentile (us)"}
    with page(result, caption, (7.6, 3.2), 1, 2) as made:
        for panel, (metric, label) in zip(made.all, labels.items(), strict=True):
            of = where(result.rows, metric)
            for reading, colour in zip(distinct(of, by), COLOURS, strict=False):
                _points(panel, where(of, **{by: reading}), axis, colour, names.get(str(reading), str(reading)))
            if axis == "voq":
                _doubling(panel, of)
            panel.set_ylabel(label)
        made.label(x=AXES[axis])
        made.legend(2, "outside upper center")
    return made.drawn


@draws("rdcn/retcp-voq")
def retcp_voq(result: Result) -> list[Figure]:
    """Draw the results over the queue size."""
    return _readings(
        result, "voq", "static_lead_us", {"600": "marks from 600 us before the day", "0": "marks from its start"}
    )


@draws("rdcn/retcp-resize")
def retcp_resize(result: Result) -> list[Figure]:
    """Draw the results over the lead."""
    names = {"recomputed": "marks end at the switch's next update", "exact": "marks end with the day"}
    return _readings(result, "resize_us", "mark_end", names)


@draws("rdcn/variants")
def variants(result: Result) -> list[Figure]:
    """Draw one line per variant: on the small queue with published values, and on the growing queue."""
    rows = where(result.rows, "circuit_util_pct")
    names = distinct(rows, "tcp")
    caption = (
        "Utilisation of the circuit by TCP variant, on a queue of 16 packets and on one of 50 from 1200 us before "
        "its day, with 95 % intervals over seeds. Crosses: published values on the small queue."
    )
    with page(result, caption, (6.4, 0.26 * len(names) + 1.2)) as made:
        panel = made.panel
        for lead, (label, colour) in LEADS.items():
            these = [row for row in rows if str(row.key["resize_us"]) == lead]
            heights = [names.index(str(item.key["tcp"])) for item in these]
            marks_across(panel, these, heights, colour, label)
            printed = [(row.paper, height) for row, height in zip(these, heights, strict=True) if row.paper is not None]
            if printed:
                panel.plot(*zip(*printed, strict=True), "x", color=GREY, markersize=7, label="printed", zorder=3)
        panel.set_yticks(range(len(names)), names)
        panel.invert_yaxis()
        made.label(x="utilisation of the circuit (%)")
        made.legend(3, "outside upper center")
    return made.drawn
