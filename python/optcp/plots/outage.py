"""Figure of the costs of failures by mechanism: data lost and flow stalls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from optcp.plots.registry import COLOURS, Figure
from optcp.plots.svg import canvas, render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from optcp.stats import Interval

PANELS = {"lost_mb": "data lost per failure (MB)", "outage_p50_ms": "median stall (ms)"}


def draw(values: Mapping[str, Mapping[str, Interval]]) -> Figure:
    """Draw one panel per metric and one line per mechanism; ``values`` are by mechanism and metric."""
    caption = (
        "Mean data lost per failure, and median stall of affected long flows, by mechanism, with 95 % intervals over "
        "failures."
    )
    with canvas(7.2, 1.4 + 0.32 * len(values)) as figure:
        panels(figure.subplots(1, len(PANELS), sharey=True), values)
        return Figure(caption, render(figure, "outage", caption))


def draw_day(by_time: Mapping[str, Mapping[str, Mapping[str, Interval]]]) -> Figure:
    """Draw one panel per metric over the day, and one line per mechanism; ``by_time`` has values as in :func:`draw`."""
    caption = "Mean data lost per failure, and median stall of affected long flows, by mechanism and time of day."
    hours = [int(time[:2]) + int(time[3:]) / 60 for time in by_time]
    mechanisms = next(iter(by_time.values()))
    with canvas(7.2, 3.2) as figure:
        for panel, (metric, label) in zip(figure.subplots(1, len(PANELS)), PANELS.items(), strict=True):
            for at, name in enumerate(mechanisms):
                known = (values[name].get(metric) for values in by_time.values())
                heights = [math.nan if one is None else one.estimate for one in known]
                # The last time applies until the first one.
                line = {"color": COLOURS[at % len(COLOURS)], "linestyle": "-" if at < len(COLOURS) else "--"}
                panel.step([0, *hours, 24], [heights[-1], *heights, heights[-1]], where="post", label=name, **line)
            panel.set_xlabel("time of day (h)")
            panel.set_ylabel(label)
            panel.set_xlim(0, 24)
            panel.set_xticks(range(0, 25, 6))
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return Figure(caption, render(figure, "outage", caption))


def panels(axes: Sequence[Axes], values: Mapping[str, Mapping[str, Interval]]) -> None:
    """Draw the panels; ``values`` as in :func:`draw`."""
    for panel, (metric, label), colour in zip(axes, PANELS.items(), COLOURS, strict=False):
        known = {name: metrics[metric] for name, metrics in values.items() if metric in metrics}
        _points(panel, [known.get(name) for name in values], colour)
        panel.set_xlabel(label)
        panel.set_yticks(range(len(values)), list(values))
        panel.set_ylim(len(values) - 0.5, -0.5)
        panel.grid(axis="y", linewidth=0.3)


def _points(panel: Axes, found: list[Interval | None], colour: str) -> None:
    """Draw values with intervals, one below the other; the axis is logarithmic if all are above zero."""
    for height, one in enumerate(found):
        if one is not None:
            low, high = (end if math.isfinite(end) else one.estimate for end in (one.low, one.high))
            ends = [[max(one.estimate - low, 0.0)], [max(high - one.estimate, 0.0)]]
            panel.errorbar(one.estimate, height, xerr=ends, fmt="o", color=colour, markersize=4, capsize=2)
    if all(one.low > 0 for one in found if one is not None):
        panel.set_xscale("log")
