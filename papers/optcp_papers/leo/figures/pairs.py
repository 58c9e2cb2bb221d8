"""Figures of leo/pairs: goodput of each sender on each pair, and its RTTs over time."""

from optcp.papers.model import Result
from optcp.plots.panels import GREY, marks, page, places, where
from optcp.plots.registry import COLOURS, Figure, draws
from optcp_papers.leo.paper import LABELS
from optcp_papers.leo.windows import PAIRS

OVER_TIME = ("newreno", "vegas", "bbr", "bbr3")
"""Senders whose RTTs are drawn; Linux's RTTs are close to NewReno's."""
PANELS = {"goodput_mbps": "goodput (Mb/s)", "rtt_mean_ms": "mean RTT (ms)", "needless": "spurious retransmissions"}
APART = 0.12
"""Distance between the markers of one pair."""


@draws("leo/pairs")
def pairs(result: Result) -> list[Figure]:
    """Draw the results over a day, and over time."""
    return [*day(result), *over_time(result)]


def day(result: Result) -> list[Figure]:
    """Draw one panel per metric, pairs side by side."""
    caption = (
        "Goodput, mean RTT and segments received twice, by pair and sender, over windows of 200 s in a day, "
        "with 95 % intervals. The payload of 10 Mb/s is 9.62 Mb/s."
    )
    colours = dict(zip(LABELS, COLOURS, strict=True))
    with page(result, caption, (8.6, 3.2), 1, len(PANELS), part="day") as made:
        for panel, (metric, label) in zip(made.all, PANELS.items(), strict=True):
            marks(panel, where(result.rows, metric, window="day"), "sender", colours, LABELS.__getitem__, apart=APART)
            places(panel, [pair.capitalize() for pair in PAIRS])
            panel.set_ylabel(label)
            panel.set_ylim(bottom=0)
        made.legend(len(LABELS), "outside upper center")
    return made.drawn


def over_time(result: Result) -> list[Figure]:
    """Draw RTTs in the published window, one panel per pair."""
    caption = (
        "RTTs over the published 200 s, means of 1 s, with the RTT of the path without queues. Gaps are "
        "the outage and the time until the next RTO."
    )
    with page(result, caption, (8.0, 4.8), 2, 2, part="time", sharex=True) as made:
        for panel, (pair, ends) in zip(made.all, PAIRS.items(), strict=True):
            for number, name in enumerate(("path", *OVER_TIME)):
                colour = GREY if name == "path" else COLOURS[list(LABELS).index(name)]
                for curve in where(result.series, "round trip", pair=pair, sender=name):
                    x, y = gaps(curve.x, curve.y)
                    label = "path alone" if name == "path" else LABELS[name]
                    panel.plot(x, y, color=colour, linewidth=1.6 if not number else 1.0, label=label)
            panel.set_title(" - ".join(ends))
            panel.set_ylim(bottom=0)
        made.label(x="time (s)", y="round trip (ms)")
        made.legend(1 + len(OVER_TIME), "outside upper center")
    return made.drawn


def gaps(x: list[float], y: list[float]) -> tuple[list[float], list[float]]:
    """Return a curve that is interrupted at missing points."""
    found_x, found_y = [x[0]], [y[0]]
    for before, at, value in zip(x, x[1:], y[1:], strict=False):
        if at - before > 1.5:
            found_x.append(before)
            found_y.append(float("nan"))
        found_x.append(at)
        found_y.append(value)
    return found_x, found_y
