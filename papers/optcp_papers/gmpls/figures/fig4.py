"""Figure 4 of the GMPLS paper: new segments per round trip of recovery, and the burst from which a restart wins."""

from typing import Any

from matplotlib.axes import Axes

from optcp.papers.model import Result, Series
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

COLOURS = ("#0072B2", "#D55E00", "#009E73")
CURVE_STYLES: dict[str, dict[str, Any]] = {
    "runs, no wait": {"color": "#0072B2", "marker": "o", "markersize": 3, "linewidth": 0.8},
    "runs, with the RTO": {"color": "#D55E00", "marker": "s", "markersize": 3, "linewidth": 0.8},
    "equation 3 as published": {"color": "#009E73", "linestyle": "--"},
    "equation 3 over mbz round trips": {"color": "#CC79A7", "linestyle": ":"},
    "maximum possible burst": {"color": "#888888", "linewidth": 0.8},
}


def _values(curves: list[Series], name: str) -> list[str]:
    return list(dict.fromkeys(str(curve.key[name]) for curve in curves if name in curve.key))


@draws("gmpls/fig4")
def fig4(result: Result) -> list[Figure]:
    """Draw the law in two panels with one row per profile, and the crossing burst in one panel per profile."""
    law = [curve for curve in result.series if "panel" in curve.key]
    crossings = [curve for curve in result.series if "panel" not in curve.key]
    return [_law(law, result.exhibit), _crossing(crossings, result.exhibit)]


def _law(curves: list[Series], name: str) -> Figure:
    profiles, panels = _values(curves, "profile"), _values(curves, "panel")
    window = _values(curves, "window")[0]
    caption = (
        f"New segments sent in each round trip of fast recovery, W = {window} segments in flight of which B are lost "
        f"(ssthresh = {int(window) // 2}). Markers: runs; lines: equation 1 and the text after it."
    )
    with canvas(8.2, 2.5 * len(profiles) + 0.3) as figure:
        axes = figure.subplots(len(profiles), len(panels), sharey=True, squeeze=False)
        for line, profile in zip(axes, profiles, strict=True):
            for axis, panel in zip(line, panels, strict=True):
                shown = [curve for curve in curves if (curve.key["profile"], curve.key["panel"]) == (profile, panel)]
                _law_panel(axis, shown)
                axis.set_title(f"{profile}, {panel}")
            line[0].set_ylabel("new segments per RTT")
        for axis in axes[-1]:
            axis.set_xlabel("round trip of recovery (RTT)")
        return Figure(caption, render(figure, f"{name}-law", caption))


def _law_panel(axis: Axes, curves: list[Series]) -> None:
    # Draw smaller markers on top of larger ones, so that equal values of several bursts are visible.
    for colour, size, burst in zip(COLOURS, (7, 5, 3), _values(curves, "burst"), strict=False):
        for curve in (curve for curve in curves if str(curve.key["burst"]) == burst):
            if curve.name == "law":
                axis.plot(curve.x, curve.y, color=colour, linewidth=0.9)
            else:
                axis.plot(curve.x, curve.y, "o", color=colour, markersize=size, label=f"B = {burst}")
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=-0.3)
    short = str(curves[0].key["panel"]).startswith("B <")
    axis.legend(loc="lower right" if short else "upper left")


def _crossing(curves: list[Series], name: str) -> Figure:
    profiles = _values(curves, "profile")
    caption = (
        "Largest burst for which fast recovery has reached at least as far as a restart in slow start, after as many "
        "round trips as the burst has segments. On the grey line recovery is never behind: longer bursts leave fewer "
        "than three duplicate ACKs."
    )
    with canvas(8.2, 3.6) as figure:
        axes = figure.subplots(1, len(profiles), sharey=True, squeeze=False)[0]
        for axis, profile in zip(axes, profiles, strict=True):
            for curve in (curve for curve in curves if curve.key["profile"] == profile):
                axis.plot(curve.x, curve.y, label=curve.name, **CURVE_STYLES[curve.name])
            axis.set_title(profile)
            axis.set_xlabel("segments in flight, W")
        axes[0].set_ylabel("largest burst (segments)")
        axes[0].set_ylim(0, 40)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
        return Figure(caption, render(figure, f"{name}-crossing", caption))
