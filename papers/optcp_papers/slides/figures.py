"""Figures of the slides."""

from typing import Any

from matplotlib.axes import Axes

from optcp.papers.model import Result, Series
from optcp.plots import intervals
from optcp.plots.panels import GREY, distinct, page, places, printed, where, zero
from optcp.plots.registry import Figure, draws

CLASS_COLOURS = {"switched": "#0072B2", "fixed": "#D55E00"}
PORTS = {
    "A->L0": ("access of the switched flows, A-L0", "#0072B2"),
    "C->L4": ("access of the fixed flows, C-L4", "#D55E00"),
    "L5->L2": ("shared backbone, L5-L2", "#009E73"),
    "L1->L2": ("failing backbone, L1-L2", "#CC79A7"),
}
DELAY_COLOURS = {0: "#0072B2", 50: "#D55E00", 250: "#CC79A7", 500: "#E69F00", 1000: "#009E73"}
FAILURE_S, REPAIR_S = 10.0, 20.0
SHOWN_S = (8.0, 24.0)
EVENT_STYLES: dict[str, dict[str, Any]] = {
    "sent": {"marker": ".", "color": "#0072B2", "markersize": 3, "label": "packet sent"},
    "resent": {"marker": "^", "color": "#E69F00", "markersize": 4.5, "label": "packet retransmitted"},
    "ack": {
        "color": "#009E73",
        "linewidth": 0.9,
        "drawstyle": "steps-post",
        "label": "ACKs received (next segment wanted)",
    },
    "data lost": {"marker": "x", "color": "#D55E00", "markersize": 4.5, "label": "packet lost (at its loss)"},
    "ACK lost": {"marker": "+", "color": "#CC79A7", "markersize": 5, "label": "ACK lost"},
    "timeout": {"marker": "v", "color": "#888888", "markersize": 7, "label": "timer expired", "zorder": 1.5},
}


def _mark(panel: Axes, delay: int) -> None:
    """Mark the outage of the link and the switchover."""
    panel.axvspan(FAILURE_S, REPAIR_S, color=GREY, alpha=0.13, linewidth=0)
    panel.axvline(FAILURE_S + delay / 1000, color=GREY, linestyle=":", linewidth=1.2)


@draws("slides/queues")
def queues(result: Result) -> list[Figure]:
    """Draw one run and the means: one column per delay, with rows for bandwidth, queue and window."""
    names = sorted({curve.name.partition(", ")[2] for curve in result.series})
    return [figure for name in names for figure in _queues_page(result, name)]


def _queues_page(result: Result, name: str) -> list[Figure]:
    curves = [curve for curve in result.series if curve.name.endswith(name)]
    delays = distinct(curves, "delta_ms")
    caption = (
        f"Bandwidth, queue and congestion window over time, {name}. Grey: the link is down, from its failure at 10 s "
        "to its repair at 20 s; dotted: the switchover. Bandwidth and queue are means over 100 ms. Dashed: the "
        "window limit, above which cwnd has no effect."
    )
    labels = {"load": "bandwidth (% of rate)", "queue": "queue (packets)", "cwnd": "cwnd (segments)"}
    with page(result, caption, (8.8, 6.6), 3, len(delays), part=name, sharex=True, sharey="row") as made:
        for column, delay in zip(made.panels.T, delays, strict=True):
            for panel, label in zip(column, labels, strict=True):
                _mark(panel, delay)
                for curve in where(curves, delta_ms=delay):
                    if label in curve.name.partition(",")[0]:
                        _queues_curve(panel, curve)
                panel.set_ylim(0, _top(curves, label))
            column[2].axhline(float(result.assumed["window_packets"]), color=GREY, linestyle="--", linewidth=0.8)
            column[0].set_title(f"switchover after {delay} ms")
            column[0].set_xlim(*SHOWN_S)
        made.label(x="time (s)")
        for panel, label in zip(made.panels[:, 0], labels.values(), strict=True):
            panel.set_ylabel(label)
        made.legend(2, "outside upper left")
    return made.drawn


def _top(curves: list[Series], label: str) -> float:
    """Return a little more than the maximum in the shown time."""
    shown = [
        y for c in curves if label in c.name.partition(",")[0] for x, y in zip(c.x, c.y, strict=True) if x <= SHOWN_S[1]
    ]
    return 1.05 * max([1.0, *shown])


def _queues_curve(panel: Axes, curve: Series) -> None:
    if "port" in curve.key:
        label, colour = PORTS[str(curve.key["port"])]
        panel.plot(curve.x, curve.y, color=colour, linewidth=0.9, label=label)
    else:
        panel.plot(curve.x, curve.y, color=CLASS_COLOURS[str(curve.key["class"])], linewidth=0.8)


@draws("slides/goodput")
def goodput(result: Result) -> list[Figure]:
    """Draw the curves of the three delays by class, and the gain of the first second."""
    curves = [curve for curve in result.series if "class" in curve.key]
    gain = next(curve for curve in result.series if "class" not in curve.key)
    names = dict.fromkeys(curve.name for curve in curves)
    return [*(figure for name in names for figure in _goodput_page(result, curves, name)), *_gain(result, gain)]


def _goodput_page(result: Result, curves: list[Series], name: str) -> list[Figure]:
    of_name = where(curves, name)
    classes = distinct(of_name, "class")
    caption = (
        f"Goodput in intervals of 100 ms by class, {name}"
        + (", shaded: 95 % interval" if of_name[0].ci95 else "")
        + ". Grey: the link is down (10 s to 20 s); dotted, in the curve's colour: its switchover."
    )
    with page(result, caption, (8.2, 6.2), len(classes), part=name, sharex=True) as made:
        for panel, class_ in zip(made.all, classes, strict=True):
            panel.axvspan(FAILURE_S, REPAIR_S, color=GREY, alpha=0.13, linewidth=0)
            for curve in where(of_name, **{"class": class_}):
                delay = int(curve.key["delta_ms"])
                colour = DELAY_COLOURS[delay]
                intervals.band(panel, curve, colour, f"switchover after {delay} ms", width=0.9)
                panel.axvline(FAILURE_S + delay / 1000, color=colour, linestyle=":", linewidth=1)
            panel.set_title(class_ if class_ == "total" else f"{class_} flows")
            panel.set_ylim(bottom=0)
        made.panel.set_xlim(9, 22)
        made.label(x="time (s)", y="goodput (Mb/s)")
        made.legend(3)
    return made.drawn


def _gain(result: Result, curve: Series) -> list[Figure]:
    values = {row.metric: row for row in result.rows if row.metric.startswith(("gain_", "one_run"))}
    mean, median = values["one_run_gain_pct"], values["gain_median_pct"]
    caption = (
        "Total goodput of (10 s, 11 s] with 50 ms over that with 0 ms: distribution of the gain over start times, "
        "and the published value of the slides' one run. Shaded: 5th to 95th percentile."
    )
    low, high = (values[f"gain_{end}_pct"].value for end in ("p05", "p95"))
    with page(result, caption, (8.2, 2.9), part="gain") as made:
        panel = made.panel
        width = curve.x[1] - curve.x[0] if len(curve.x) > 1 else 10.0
        panel.axvspan(low, high, color=GREY, alpha=0.13, linewidth=0)
        panel.bar(curve.x, curve.y, width=width, align="edge", color="#56B4E9", edgecolor="#0072B2", linewidth=0.6)
        panel.axvline(mean.value, color="#0072B2", label=f"mean {mean.value:+.1f} %")
        panel.axvline(median.value, color="#009E73", linestyle="--", label=f"median {median.value:+.1f} %")
        panel.axvline(
            mean.paper or 0, color="#D55E00", linestyle=":", linewidth=1.6, label=f"printed {mean.paper:+.2f} %"
        )
        made.label(x="gain of 50 ms over 0 ms in the first second (%)", y="share of runs (%)")
        made.legend(3)
    return made.drawn


@draws("slides/traces")
def traces(result: Result) -> list[Figure]:
    """Draw sequence numbers over time, one row per delay and one column per source."""
    delays, flows = (distinct(result.series, name) for name in ("delta_ms", "flow"))
    caption = (
        "Sequence number over time around the failure at 10 s (grey: the link is down; dotted: the switchover): "
        "packets sent and retransmitted, ACKs received, packets and ACKs lost, RTOs. The panels differ in scale."
    )
    with page(result, caption, (8.8, 7.4), len(delays), len(flows), sharex=True) as made:
        for line, delay in zip(made.panels, delays, strict=True):
            for panel, flow in zip(line, flows, strict=True):
                _mark(panel, delay)
                for curve in where(result.series, delta_ms=delay, flow=flow):
                    line_style = "-" if curve.name == "ack" else "none"
                    panel.plot(curve.x, curve.y, linestyle=line_style, **EVENT_STYLES[curve.name])
                panel.set_title(f"switchover after {delay} ms, source {flow}")
        starts, ends = zip(*((min(c.x), max(c.x)) for c in result.series if c.x), strict=True)
        made.panel.set_xlim(min(starts), max(ends))
        made.label(x="time (s)", y="sequence number (segments)")
        made.legend(3, "outside upper left")
    return made.drawn


@draws("slides/best-delay")
def best_delay(result: Result) -> list[Figure]:
    """Draw the histograms, and the simulated and published mean gains."""
    caption = (
        "Left: histograms of f(x) = Good(x) / Good(0) in bins of 5 % (a marker at y stands for "
        "[y, y + 5 %)). Right: mean gains, published and simulated with 95 % intervals."
    )
    with page(result, caption, (8.2, 3.4), 1, 2, width_ratios=(3, 2)) as made:
        left, right = made.all
        for curve in result.series:
            delay = int(curve.key["delta_ms"])
            style: dict[str, Any] = {"marker": "o", "markersize": 3, "linewidth": 0.9}
            left.plot(curve.x, curve.y, color=DELAY_COLOURS[delay], label=f"{delay} ms", **style)
        left.axvline(100, color=GREY, linestyle="--", linewidth=0.8)
        left.set(xlabel="f(x): goodput in % of that without delay", ylabel="share of runs (%)")
        left.legend()
        intervals.marks(right, range(len(result.rows)), result.rows, "#0072B2", "measured")
        printed(right, result.rows)
        zero(right)
        places(right, [row.key["delta_ms"] for row in result.rows], "switch delay (ms)")
        right.set_ylabel("mean goodput gain (%)")
        right.legend(loc="lower left")
    return made.drawn
