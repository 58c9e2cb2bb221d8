"""Figures of what failures of a network cost: what is lost and how long flows are silent, by mechanism."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from optcp.plots.registry import COLOURS, Figure
from optcp.plots.svg import canvas, render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from optcp.stats import Interval

PANELS = {"lost_mb": "lost (MB a failure)", "outage_p50_ms": "median outage (ms)"}


def draw(values: Mapping[str, Mapping[str, Interval]]) -> Figure:
    """A panel a metric, a line a mechanism; ``values`` by mechanism and metric."""
    caption = (
        "What a failure costs on average, and the median time for which a long flow that was hit gets nothing, by "
        "mechanism, with 95 % intervals over failures."
    )
    with canvas(7.2, 1.4 + 0.32 * len(values)) as figure:
        panels = figure.subplots(1, len(PANELS), sharey=True)
        for panel, (metric, label), colour in zip(panels, PANELS.items(), COLOURS, strict=False):
            known = {name: of[metric] for name, of in values.items() if metric in of}
            _points(panel, [known.get(name) for name in values], colour)
            panel.set_xlabel(label)
            panel.set_yticks(range(len(values)), list(values))
            panel.grid(axis="y", linewidth=0.3)
        panels[0].invert_yaxis()
        return Figure(caption, render(figure, "outage", caption))


def _points(panel: Axes, found: list[Interval | None], colour: str) -> None:
    """Values with their intervals, one below the other, on a logarithmic axis where all are above zero."""
    for height, one in enumerate(found):
        if one is not None:
            low, high = (end if math.isfinite(end) else one.estimate for end in (one.low, one.high))
            ends = [[max(one.estimate - low, 0.0)], [max(high - one.estimate, 0.0)]]
            panel.errorbar(one.estimate, height, xerr=ends, fmt="o", color=colour, markersize=4, capsize=2)
    if all(one.low > 0 for one in found if one is not None):
        panel.set_xscale("log")
