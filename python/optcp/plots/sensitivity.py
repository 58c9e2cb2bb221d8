"""Figures of a sensitivity study: ranked effects, conclusions, slices and compatible settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from optcp.common.files import replacing
from optcp.plots.registry import Figure
from optcp.plots.svg import canvas, render, save

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import matplotlib.figure as mpl
    from matplotlib.axes import Axes

    from optcp.papers.sensitivity.result import Bounds, Response, Result

MAIN, TOTAL, PRINTED = "#0072B2", "#D55E00", "#888888"
ABOVE, UNDECIDED, BELOW = "#009E73", "#C8C8C8", "#D55E00"
ROWS = 5
"""Maximum number of responses per metric with slices; those that vary most are drawn."""
COLUMNS = 5
"""Number of panels per row in the figure of compatible settings."""


@dataclass(frozen=True)
class Drawing:
    """Figure that is not drawn yet.

    Attributes
    ----------
    name
        Name, unique among the drawings of a result; suffix of the file name.
    caption
        Caption.
    width_in, height_in
        Size in inches.
    paint
        Function that draws into an empty figure.
    """

    name: str
    caption: str
    width_in: float
    height_in: float
    paint: Callable[[mpl.Figure], None]


def drawings(result: Result) -> list[Drawing]:
    """Return all figures of a study, starting with the ranked effects."""
    count = len(result.ranking)
    found = [
        Drawing(
            "effects",
            "Main and total effect of each parameter, as shares of the variance over the parameter space. Mean over "
            "all responses, with 95 % intervals.",
            6.4,
            0.36 * count + 1.0,
            partial(_effects, result=result),
        )
    ]
    if result.contrasts:
        found.append(
            Drawing(
                "conclusions",
                "Conclusions of the paper as differences that are above zero if the paper is right. Shares of the "
                "parameter space: significantly above zero (green), significantly below (orange), undecided (grey).",
                8.2,
                0.3 * len(result.contrasts) + 1.0,
                partial(_conclusions, result=result),
            )
        )
    for metric in dict.fromkeys(_metric(one) for one in result.responses):
        rows = _most_varied([one for one in result.responses if _metric(one) == metric])
        found.append(
            Drawing(
                f"slices-{metric}",
                f"Slices of {metric}: mean over all other parameters, by part of each parameter's range, with 95 % "
                "intervals over the settings. Dashed: published value.",
                1.2 * count + 0.8,
                1.25 * len(rows) + 1.0,
                partial(_slices, responses=rows, names=[one.parameter for one in result.ranking]),
            )
        )
    if result.print is not None:
        found.append(
            Drawing(
                "compatible",
                "Share of settings that match all published values, by part of each parameter's range, with 95 % "
                "intervals. Dashed: share of the whole parameter space.",
                8.2,
                2.1 * -(-count // COLUMNS),
                partial(_compatible, result=result),
            )
        )
    return found


def figures(result: Result) -> list[Figure]:
    """Return all figures as SVG for a page."""
    drawn = []
    for one in drawings(result):
        with canvas(one.width_in, one.height_in) as figure:
            one.paint(figure)
            drawn.append(Figure(one.caption, render(figure, f"sensitivity-{result.exhibit}-{one.name}", one.caption)))
    return drawn


def draw(result: Result, folder: Path, stem: str) -> list[Path]:
    """Write all figures as ``<stem>-<name>.svg`` into a folder and return the paths."""
    paths = []
    for one in drawings(result):
        paths.append(folder / f"{stem}-{one.name}.svg")
        with canvas(one.width_in, one.height_in) as figure, replacing(paths[-1]) as file:
            one.paint(figure)
            save(figure, file, "svg")
    return paths


def _metric(response: Response) -> str:
    return response.name.rpartition(" ")[2]


def _most_varied(responses: Sequence[Response]) -> list[Response]:
    """Return the responses with the largest deviation, in their own order."""
    chosen = sorted(responses, key=lambda one: -one.deviation)[:ROWS]
    return [one for one in responses if one in chosen]


def _effects(figure: mpl.Figure, result: Result) -> None:
    """Draw bars, the largest total effect on top."""
    ranked = result.ranking[::-1]
    panel = figure.subplots()
    for offset, colour, label, values in (
        (0.2, TOTAL, "total effect", [one.total for one in ranked]),
        (-0.2, MAIN, "main effect", [one.main for one in ranked]),
    ):
        places = [index + offset for index in range(len(ranked))]
        centre = [_value(one) for one in values]
        panel.barh(places, centre, height=0.36, color=colour, label=label)
        panel.errorbar(centre, places, xerr=_lengths(values), fmt="none", ecolor=PRINTED, capsize=2)
    panel.set_yticks(range(len(ranked)), [one.parameter for one in ranked])
    panel.set_xlabel("share of variance")
    panel.axvline(0, color=PRINTED, linewidth=0.6)
    panel.legend(loc="lower right")


def _conclusions(figure: mpl.Figure, result: Result) -> None:
    """Draw one stacked bar per difference."""
    shown = result.contrasts[::-1]
    panel = figure.subplots()
    starts = [0.0] * len(shown)
    counts: dict[str, list[int]] = {name: [one[name] for one in shown] for name in ("above", "undecided", "below")}
    for part, colour, label in (
        ("above", ABOVE, "significantly as published"),
        ("undecided", UNDECIDED, "undecided"),
        ("below", BELOW, "significantly the opposite"),
    ):
        shares = [100 * one / sum(all_) for one, *all_ in zip(counts[part], *counts.values(), strict=True)]
        panel.barh(range(len(shown)), shares, left=starts, height=0.7, color=colour, label=label)
        starts = [start + share for start, share in zip(starts, shares, strict=True)]
    panel.set_yticks(range(len(shown)), [one["name"] for one in shown])
    panel.set_xlim(0, 100)
    panel.set_xlabel("share of parameter space (%)")
    panel.grid(visible=False, axis="y")
    figure.legend(*panel.get_legend_handles_labels(), loc="outside upper right", ncols=3)


def _slices(figure: mpl.Figure, responses: Sequence[Response], names: Sequence[str]) -> None:
    """Draw one row per response and one column per parameter."""
    panels = figure.subplots(len(responses), len(names), sharey="row", squeeze=False)
    for row, response in zip(panels, responses, strict=True):
        for panel, name in zip(row, names, strict=True):
            _slice(panel, response, name)
        row[0].set_ylim(*_ends(response))
        row[0].set_ylabel("\n".join(response.name.split(" ")[:-1]), fontsize=7)
    for panel, name in zip(panels[0], names, strict=True):
        panel.set_title(name, fontsize=7)
    for row in panels[:-1]:
        for panel in row:
            panel.set_xticklabels([])


def _slice(panel: Axes, response: Response, name: str) -> None:
    parts = response.slices[name]
    known = [(index, bounds) for index, (_, bounds) in enumerate(parts) if bounds]
    bounds = [one for _, one in known]
    places = [index for index, _ in known]
    centre = [_value(one) for one in bounds]
    panel.errorbar(places, centre, _lengths(bounds), fmt="o-", markersize=3, color=MAIN, capsize=2)
    if response.paper is not None:
        panel.axhline(response.paper, color=PRINTED, linestyle="--", linewidth=0.8)
    panel.set_xticks(range(len(parts)), [part for part, _ in parts], rotation=90, fontsize=6)
    panel.set_xlim(-0.4, len(parts) - 0.6)


def _ends(response: Response) -> tuple[float, float]:
    """Return the axis limits of slices: intervals of means over few points are cut at the range of the values."""
    known = [bounds for parts in response.slices.values() for _, bounds in parts if bounds]
    lows = [max(response.low, low) for _, low, _ in known if low is not None]
    highs = [min(response.high, high) for _, _, high in known if high is not None]
    printed = [] if response.paper is None else [response.paper]
    low, high = min([*lows, *printed, response.mean]), max([*highs, *printed, response.mean])
    margin = 0.05 * (high - low)
    return low - margin, high + margin


def _compatible(figure: mpl.Figure, result: Result) -> None:
    """Draw one panel per parameter."""
    found = result.print
    if found is None:
        return
    names = [one.parameter for one in result.ranking]
    rows = -(-len(names) // COLUMNS)
    panels = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False)
    for panel, name in zip(panels.flat, names, strict=False):
        parts = found["profile"][name]
        bounds: list[Bounds] = [_per_cent(one["share"]) for one in parts]
        known = [index for index, one in enumerate(bounds) if one[0] is not None]
        centre = [_value(bounds[index]) for index in known]
        panel.errorbar(known, centre, _lengths([bounds[index] for index in known]), fmt="o", markersize=4, capsize=2)
        panel.axhline(_value(_per_cent(found["share"])), color=PRINTED, linestyle="--", linewidth=0.8)
        panel.set_xticks(range(len(parts)), [one["part"] for one in parts], rotation=30, fontsize=6, ha="right")
        panel.set_xlim(-0.4, len(parts) - 0.6)
        panel.set_ylim(bottom=0)
        panel.set_title(name, fontsize=8)
    for panel in panels.flat[len(names) :]:
        panel.set_axis_off()
    for row in panels:
        row[0].set_ylabel("compatible (%)", fontsize=8)


def _per_cent(bounds: Sequence[float | None]) -> Bounds:
    centre, low, high = (None if one is None else 100 * one for one in bounds)
    return centre, low, high


def _value(bounds: Bounds) -> float:
    return bounds[0] or 0.0


def _lengths(values: Sequence[Bounds]) -> list[list[float]]:
    """Return the lengths of error bars below and above; zero if an end is unknown."""
    below = [0.0 if low is None else max(0.0, (centre or 0.0) - low) for centre, low, _ in values]
    above = [0.0 if high is None else max(0.0, high - (centre or 0.0)) for centre, _, high in values]
    return [below, above]
