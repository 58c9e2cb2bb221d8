"""Figures of the slides."""

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes

from optcp.papers.model import Result, Series
from optcp.plots import intervals
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

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
    "resent": {"marker": "^", "color": "#E69F00", "markersize": 4.5, "label": "packet sent again"},
    "ack": {
        "color": "#009E73",
        "linewidth": 0.9,
        "drawstyle": "steps-post",
        "label": "ACKs received (next one wanted)",
    },
    "data lost": {"marker": "x", "color": "#D55E00", "markersize": 4.5, "label": "packet lost (at its loss)"},
    "ACK lost": {"marker": "+", "color": "#CC79A7", "markersize": 5, "label": "ACK lost"},
    "timeout": {"marker": "v", "color": "#888888", "markersize": 7, "label": "timer expired", "zorder": 1.5},
}


def _delays(curves: Iterable[Series]) -> list[int]:
    return list(dict.fromkeys(int(curve.key["delta_ms"]) for curve in curves))


def _mark(panel: Axes, delay: int) -> None:
    """Mark when the link is down and when the protection switches."""
    panel.axvspan(FAILURE_S, REPAIR_S, color="#888888", alpha=0.13, linewidth=0)
    panel.axvline(FAILURE_S + delay / 1000, color="#888888", linestyle=":", linewidth=1.2)


@draws("slides/queues")
def queues(result: Result) -> list[Figure]:
    """One run and the means: a column a delay, rows bandwidth, queue and window."""
    names = list(dict.fromkeys(curve.name.partition(", ")[2] for curve in result.series))
    return [_queues_page(result, name) for name in sorted(names)]


def _queues_page(result: Result, name: str) -> Figure:
    curves = [curve for curve in result.series if curve.name.endswith(name)]
    delays = _delays(curves)
    caption = (
        f"Bandwidth, queue and congestion window over time, {name}. Grey: the link is down, from its failure at 10 s "
        "to its repair at 20 s; dotted: the protection switch. Bandwidth and queue are means over 100 ms. Dashed: the "
        "window limit; what cwnd grows beyond it is not used."
    )
    with canvas(8.8, 6.6) as figure:
        panels = figure.subplots(3, len(delays), sharex=True, sharey="row", squeeze=False)
        for column, delay in zip(panels.T, delays, strict=True):
            of_delay = [curve for curve in curves if curve.key["delta_ms"] == delay]
            for panel, label in zip(column, ("load", "queue", "cwnd"), strict=True):
                _mark(panel, delay)
                for curve in (curve for curve in of_delay if label in curve.name.partition(",")[0]):
                    _queues_curve(panel, curve)
                panel.set_ylim(0, _top(curves, label))
            column[2].axhline(float(result.assumed["window_packets"]), color="#888888", linestyle="--", linewidth=0.8)
            column[0].set_title(f"switch after {delay} ms")
            column[-1].set_xlabel("time (s)")
            column[0].set_xlim(*SHOWN_S)
        for panel, label in zip(
            panels[:, 0],
            ("bandwidth (% of rate)", "queue (packets)", "cwnd (segments)"),
            strict=True,
        ):
            panel.set_ylabel(label)
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2)
        return Figure(caption, render(figure, f"{result.exhibit}-{name}", caption))


def _top(curves: list[Series], label: str) -> float:
    """A little more than the largest value in the shown time."""
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
    """Curves by class with the three delays together, and the first second's gain."""
    curves = [curve for curve in result.series if "class" in curve.key]
    gain = next(curve for curve in result.series if "class" not in curve.key)
    pages = [_goodput_page(result, curves, name) for name in dict.fromkeys(curve.name for curve in curves)]
    return [*pages, _gain(result, gain)]


def _goodput_page(result: Result, curves: list[Series], name: str) -> Figure:
    of_name = [curve for curve in curves if curve.name == name]
    classes = list(dict.fromkeys(str(curve.key["class"]) for curve in of_name))
    caption = (
        f"Goodput in intervals of 100 ms by class, {name}"
        + (", shaded: 95 % interval" if of_name[0].ci95 else "")
        + ". Grey: the link is down (10 s to 20 s); dotted, in the curve's colour: its protection switch."
    )
    with canvas(8.2, 6.2) as figure:
        panels = figure.subplots(len(classes), 1, sharex=True, squeeze=False)[:, 0]
        for panel, class_ in zip(panels, classes, strict=True):
            panel.axvspan(FAILURE_S, REPAIR_S, color="#888888", alpha=0.13, linewidth=0)
            for curve in (curve for curve in of_name if curve.key["class"] == class_):
                delay = int(curve.key["delta_ms"])
                colour = DELAY_COLOURS[delay]
                intervals.band(panel, curve, colour, f"switch after {delay} ms", width=0.9)
                panel.axvline(FAILURE_S + delay / 1000, color=colour, linestyle=":", linewidth=1)
            panel.set_title(class_ if class_ == "total" else f"{class_} flows")
            panel.set_ylabel("goodput (Mb/s)")
            panel.set_ylim(bottom=0)
        panels[0].set_xlim(9, 22)
        panels[-1].set_xlabel("time (s)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
        return Figure(caption, render(figure, f"{result.exhibit}-{name}", caption))


def _gain(result: Result, curve: Series) -> Figure:
    values = {row.metric: row for row in result.rows if row.metric.startswith(("gain_", "one_run"))}
    mean, median = values["one_run_gain_pct"], values["gain_median_pct"]
    caption = (
        "Total goodput of (10 s, 11 s] with 50 ms over that with 0 ms: how the gain is distributed over start times, "
        "and the printed value of the slides' one run. Shaded: 5th to 95th percentile."
    )
    with canvas(8.2, 2.9) as figure:
        panel = figure.subplots()
        width = curve.x[1] - curve.x[0] if len(curve.x) > 1 else 10.0
        panel.axvspan(
            values["gain_p05_pct"].value, values["gain_p95_pct"].value, color="#888888", alpha=0.13, linewidth=0
        )
        panel.bar(curve.x, curve.y, width=width, align="edge", color="#56B4E9", edgecolor="#0072B2", linewidth=0.6)
        panel.axvline(mean.value, color="#0072B2", label=f"mean {mean.value:+.1f} %")
        panel.axvline(median.value, color="#009E73", linestyle="--", label=f"median {median.value:+.1f} %")
        panel.axvline(
            mean.paper or 0, color="#D55E00", linestyle=":", linewidth=1.6, label=f"printed {mean.paper:+.2f} %"
        )
        panel.set_xlabel("gain of 50 ms over 0 ms in the first second (%)")
        panel.set_ylabel("share of runs (%)")
        figure.legend(*panel.get_legend_handles_labels(), loc="outside upper right", ncols=3)
        return Figure(caption, render(figure, f"{result.exhibit}-gain", caption))


@draws("slides/traces")
def traces(result: Result) -> list[Figure]:
    """Sequence number over time: a row a delay, a column a source."""
    delays, flows = _delays(result.series), list(dict.fromkeys(str(curve.key["flow"]) for curve in result.series))
    caption = (
        "Sequence number over time around the failure at 10 s (grey: the link is down; dotted: the protection switch): "
        "packets sent and sent again, ACKs received, packets and ACKs lost, expired timers. The panels differ in scale."
    )
    with canvas(8.8, 7.4) as figure:
        panels = figure.subplots(len(delays), len(flows), sharex=True, squeeze=False)
        for line, delay in zip(panels, delays, strict=True):
            for panel, flow in zip(line, flows, strict=True):
                _mark(panel, delay)
                shown = [c for c in result.series if c.key["delta_ms"] == delay and c.key["flow"] == flow]
                for curve in shown:
                    line_style = "-" if curve.name == "ack" else "none"
                    panel.plot(curve.x, curve.y, linestyle=line_style, **EVENT_STYLES[curve.name])
                panel.set_title(f"switch after {delay} ms, source {flow}")
            line[0].set_ylabel("sequence number (segments)")
        starts, ends = zip(*((min(c.x), max(c.x)) for c in result.series if c.x), strict=True)
        panels[0, 0].set_xlim(min(starts), max(ends))
        for panel in panels[-1]:
            panel.set_xlabel("time (s)")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("slides/best-delay")
def best_delay(result: Result) -> list[Figure]:
    """The histograms, and the mean gains beside the printed ones."""
    caption = (
        "Left: histograms of f(x) = Good(x) / Good(0) with a resolution of 5 % (a marker at y stands for "
        "[y, y + 5 %)). Right: mean gains, printed and measured with 95 % intervals."
    )
    with canvas(8.2, 3.4) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        for curve in result.series:
            delay = int(curve.key["delta_ms"])
            left.plot(
                curve.x,
                curve.y,
                marker="o",
                markersize=3,
                color=DELAY_COLOURS[delay],
                linewidth=0.9,
                label=f"{delay} ms",
            )
        left.axvline(100, color="#888888", linestyle="--", linewidth=0.8)
        left.set_xlabel("f(x): goodput in % of that without delay")
        left.set_ylabel("share of runs (%)")
        left.legend()
        x = range(len(result.rows))
        intervals.marks(right, x, result.rows, "#0072B2", "measured")
        right.plot(x, [row.paper for row in result.rows], "D", color="#888888", label="printed")
        right.axhline(0, color="#888888", linewidth=0.6)
        right.set_xticks(list(x), [str(row.key["delta_ms"]) for row in result.rows])
        right.set_xlabel("switch delay (ms)")
        right.set_ylabel("mean goodput gain (%)")
        right.legend(loc="lower left")
        return [Figure(caption, render(figure, result.exhibit, caption))]
