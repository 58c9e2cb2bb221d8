"""Figures of a sensitivity study: ranked effects, and slices of the responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.files import replacing
from optcp.plots.svg import canvas, save

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from optcp.sensitivity.result import Bounds, Response, Result

MAIN, TOTAL, PRINTED = "#0072B2", "#D55E00", "#888888"
PANELS = 12
"""At most so many responses have slices drawn: those that vary most."""


def draw(result: Result, folder: Path, stem: str) -> list[Path]:
    """Write ``<stem>-effects.svg`` and ``<stem>-slices.svg`` into a folder."""
    effects, curves = folder / f"{stem}-effects.svg", folder / f"{stem}-slices.svg"
    _effects(result, effects)
    _slices(result, curves)
    return [effects, curves]


def _effects(result: Result, path: Path) -> None:
    """Bars, greatest total effect on top: the mean over all responses with its 95 % interval."""
    ranked = result.ranking[::-1]
    with canvas(6.4, 0.42 * len(ranked) + 1.2) as figure, replacing(path) as file:
        panel = figure.subplots()
        for offset, colour, label, values in (
            (0.2, TOTAL, "total effect", [one.total for one in ranked]),
            (-0.2, MAIN, "main effect", [one.main for one in ranked]),
        ):
            places = [index + offset for index in range(len(ranked))]
            centre = [_value(one) for one in values]
            panel.barh(places, centre, height=0.36, color=colour, label=label)
            panel.errorbar(centre, places, xerr=_lengths(values), fmt="none", ecolor="#333333", capsize=2)
        panel.set_yticks(range(len(ranked)), [one.parameter for one in ranked])
        panel.set_xlabel("share of the variance over the space, mean over all responses")
        panel.axvline(0, color=PRINTED, linewidth=0.6)
        panel.legend(loc="lower right")
        save(figure, file, "svg")


def _slices(result: Result, path: Path) -> None:
    """A row a response, a column a parameter: the mean over everything else, by part of the range."""
    shown = sorted(result.responses, key=lambda one: -one.deviation)[:PANELS]
    shown = [one for one in result.responses if one in shown]
    names = [one.parameter for one in result.ranking]
    with canvas(1.35 * len(names) + 0.8, 1.3 * len(shown) + 1.0) as figure, replacing(path) as file:
        panels = figure.subplots(len(shown), len(names), sharey="row", squeeze=False)
        for row, response in zip(panels, shown, strict=True):
            for panel, name in zip(row, names, strict=True):
                _slice(panel, response, name)
            # With few points a mean's interval is far wider than the values are.
            ends = [response.low, response.high, *([] if response.paper is None else [response.paper])]
            row[0].set_ylim(min(ends), max(ends))
            row[0].set_ylabel(response.name.replace(" ", "\n"), fontsize=6)
        for panel, name in zip(panels[0], names, strict=True):
            panel.set_title(name, fontsize=8)
        for row in panels[:-1]:
            for panel in row:
                panel.set_xticklabels([])
        save(figure, file, "svg")


def _slice(panel: Axes, response: Response, name: str) -> None:
    parts = response.slices[name]
    known = [(index, bounds) for index, (_, bounds) in enumerate(parts) if bounds]
    bounds = [one for _, one in known]
    panel.errorbar(
        [index for index, _ in known],
        [_value(one) for one in bounds],
        _lengths(bounds),
        fmt="o-",
        color=MAIN,
        capsize=2,
    )
    if response.paper is not None:
        panel.axhline(response.paper, color=PRINTED, linestyle="--", linewidth=0.8)
    panel.set_xticks(range(len(parts)), [part for part, _ in parts], rotation=90, fontsize=6)
    panel.set_xlim(-0.4, len(parts) - 0.6)


def _value(bounds: Bounds) -> float:
    return bounds[0] or 0.0


def _lengths(values: list[Bounds]) -> list[list[float]]:
    """Lengths of error bars below and above; none where an end is unknown."""
    below = [0.0 if low is None else max(0.0, (centre or 0.0) - low) for centre, low, _ in values]
    above = [0.0 if high is None else max(0.0, high - (centre or 0.0)) for centre, _, high in values]
    return [below, above]
