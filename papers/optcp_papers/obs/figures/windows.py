"""Figures of the OBS paper that show a window or packets over time: 3 to 7, and 11 to 13."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from optcp.papers.model import Result, Series
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

SENDERS = {"reno": ("#0072B2", "Reno"), "sack": ("#D55E00", "SACK")}
POINT = "#009E73"
NUMBER_AT = {
    "reno": {1: (-7, 4), 2: (8, -4), 3: (9, -3), 4: (8, -4), 5: (-9, 4)},
    "sack": {1: (-7, 4), 2: (-2, -10), 3: (0, 10), 4: (8, -10)},
}
"""Offset of a point's number, in points. The window of SACK is constant from point 2 to point 4."""
WINDOW_TICKS = (1, 2, 5, 10, 22, 44, 100, 500)
MARGIN = 0.15
"""Margin of the enlarged panel around the points, as a share of their time span."""


def _name(result: Result) -> str:
    senders = dict.fromkeys(str(curve.key["recovery"]) for curve in result.series if curve.name == "cwnd")
    return " and ".join(SENDERS[sender][1] for sender in senders)


@draws("obs/fig3")
@draws("obs/fig4")
@draws("obs/fig6")
def window(result: Result) -> list[Figure]:
    """Draw the whole transfer, and the time around the loss with the paper's points."""
    return [_window(result)]


@draws("obs/fig5")
def fig5(result: Result) -> list[Figure]:
    """Draw the window with its points, and the windows for which Reno needs an RTO."""
    return [_window(result), _timeouts(result)]


def _window(result: Result) -> Figure:
    (cwnd,) = (curve for curve in result.series if curve.name == "cwnd")
    points = [curve for curve in result.series if curve.name == "point"]
    caption = (
        f"Congestion window of {_name(result)}: left the whole transfer, right the time around the loss, with the "
        "points that the paper numbers."
    )
    with canvas(9.2, 3.0) as figure:
        whole, near = figure.subplots(1, 2)
        colour = SENDERS[str(cwnd.key["recovery"])][0]
        for panel in (whole, near):
            panel.plot(cwnd.x, cwnd.y, drawstyle="steps-post", color=colour)
            panel.set_xlabel("time (s)")
        whole.set_ylim(bottom=0)
        whole.set_ylabel("congestion window (segments)")
        whole.set_title("whole transfer")
        _numbers(near, points)
        near.set_title("around the loss")
        return Figure(caption, render(figure, result.exhibit, caption))


def _numbers(panel: Axes, points: Sequence[Series]) -> None:
    for curve in points:
        number = int(curve.key["point"])
        panel.plot(curve.x, curve.y, "o", color=POINT, markersize=4 if number != 3 else 2.2)
        # If a number stands for many points, label the middle one.
        place = len(curve.x) // 2
        panel.annotate(
            str(number),
            (curve.x[place], curve.y[place]),
            xytext=NUMBER_AT[str(curve.key["recovery"])][number],
            textcoords="offset points",
            ha="center",
            va="center",
            color=POINT,
            fontweight="bold",
        )
    first, last = points[0].x[0], points[-1].x[-1]
    panel.set_xlim(first - MARGIN * (last - first), last + 2 * MARGIN * (last - first))
    panel.set_yscale("log")
    panel.set_ylim(0.8, 900)
    panel.set_yticks(WINDOW_TICKS, [str(tick) for tick in WINDOW_TICKS])
    panel.minorticks_off()


def _timeouts(result: Result) -> Figure:
    curves = [curve for curve in result.series if curve.name == "timeout" and curve.key["recover_check"] == "no"]
    limits = list(dict.fromkeys(int(curve.key["receiver_window"]) for curve in curves))
    caption = (
        "RTOs of Reno without a recover check, by the window at the loss and the number of consecutive lost segments. "
        "Grey: the rule of Fall and Floyd for two losses."
    )
    with canvas(9.2, 2.6) as figure:
        panels = figure.subplots(1, len(limits), sharey=True, squeeze=False)[0]
        for panel, limit in zip(panels, limits, strict=True):
            panel.axvspan(3.5, 9.5, ymin=0, ymax=0.14, color="#888888", alpha=0.3, linewidth=0)
            if limit < max(curves[0].x) + 3:
                panel.axvspan(limit - 2.5, limit + 0.5, ymin=0, ymax=0.14, color="#888888", alpha=0.3, linewidth=0)
            for curve in (curve for curve in curves if curve.key["receiver_window"] == limit):
                for out, marker, colour in ((1.0, "x", "#D55E00"), (0.0, "o", "#0072B2")):
                    x = [window for window, late in zip(curve.x, curve.y, strict=True) if late == out]
                    y = [int(curve.key["lost"])] * len(x)
                    panel.plot(x, y, marker, color=colour, markersize=3.5, linestyle="none")
            panel.set_title(f"receiver's window {limit}")
            panel.set_xlabel("window at the loss (segments)")
            panel.set_ylim(1.5, 8.5)
        panels[0].set_ylabel("segments lost")
        handles = [
            panels[0].plot([], [], marker, color=colour, linestyle="none", label=label)[0]
            for marker, colour, label in (("x", "#D55E00", "timeout"), ("o", "#0072B2", "no timeout"))
        ]
        figure.legend(handles=handles, loc="outside upper right", ncols=2)
        return Figure(caption, render(figure, f"{result.exhibit}-timeouts", caption))


@draws("obs/fig7")
def fig7(result: Result) -> list[Figure]:
    """Draw both senders over the whole transfer and around the loss; their curves coincide."""
    curves = [curve for curve in result.series if curve.name == "cwnd"]
    caption = "Congestion windows of Reno and SACK, which coincide: left the whole transfer, right around the loss."
    with canvas(9.2, 3.0) as figure:
        panels = figure.subplots(1, 2)
        lost_s = next(x for x, y in zip(curves[0].x, curves[0].y, strict=True) if y == 1 and x > curves[0].x[5])
        for panel in panels:
            for curve, width in zip(curves, (2.6, 1.0), strict=True):
                colour, label = SENDERS[str(curve.key["recovery"])]
                panel.plot(curve.x, curve.y, drawstyle="steps-post", color=colour, linewidth=width, label=label)
            panel.set_xlabel("time (s)")
            panel.set_ylim(bottom=0)
        panels[0].set_title("whole transfer")
        panels[0].set_ylabel("congestion window (segments)")
        panels[1].set_title("around the loss")
        panels[1].set_xlim(lost_s - 2, lost_s + 2)
        panels[1].set_ylim(0, 60)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("obs/fig11")
@draws("obs/fig12")
def packets(result: Result) -> list[Figure]:
    """Draw segments over time at the start and end of a file, and the number of bursts per round."""
    traces = {str(curve.key["part"]): curve for curve in result.series if curve.name == "sent"}
    (rounds,) = (curve for curve in result.series if curve.name == "bursts per round")
    caption = (
        "Segments as the sender sends them, at the start and end of one file, and number of bursts per round at full "
        "window."
    )
    with canvas(9.2, 2.9) as figure:
        panels = figure.subplots(1, 3)
        for panel, (part, curve) in zip(panels, traces.items(), strict=False):
            panel.plot(curve.x, curve.y, ".", markersize=1.6, color="#0072B2")
            panel.set_title(part)
            panel.set_xlabel("time since the first packet (s)")
        panels[0].set_ylabel("segment")
        panels[2].plot(rounds.x, rounds.y, ".", markersize=2.5, color="#D55E00")
        panels[2].set_ylim(0, max(4.0, 1.1 * max(rounds.y)))
        panels[2].yaxis.set_major_locator(MaxNLocator(integer=True))
        panels[2].set_title("bursts per round trip")
        panels[2].set_xlabel(rounds.x_label)
        panels[2].set_ylabel("bursts")
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("obs/fig13")
def fig13(result: Result) -> list[Figure]:
    """Draw the moving average over the bursts of a file."""
    (average,) = (curve for curve in result.series if curve.name == "moving average")
    caption = "Moving average over 50 bursts of the segments of the flow in each, mean over the files."
    with canvas(8.2, 2.8) as figure:
        panel = figure.subplots()
        panel.plot(average.x, average.y, color="#0072B2")
        panel.set_xlabel("bursts that carry segments of the flow")
        panel.set_ylabel("segments per burst")
        panel.set_ylim(bottom=0)
        return [Figure(caption, render(figure, result.exhibit, caption))]
