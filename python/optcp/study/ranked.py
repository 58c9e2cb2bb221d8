"""Terminal output for many parameter combinations: quantiles of each metric, and the worst combinations."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np
from rich.measure import Measurement
from rich.table import Table

from optcp.common.plurals import count_noun
from optcp.common.terminal import WIDEST, show_table
from optcp.data.labelled import censored
from optcp.stats.quantiles import sample_quantile
from optcp.study.show import MOST, value_text, with_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from optcp.data.cells import Cells
    from optcp.stats import Interval
    from optcp.study.done import StudyResult

    Floats = NDArray[np.float64]

SUMMED = (
    "goodput_bps",
    "active_goodput_bps",
    "completion_mean_s",
    "unfinished_flows",
    "aborted_flows",
    "utilisation",
    "drop_share",
)
"""Metrics whose quantiles over the combinations are printed."""

LESS_IS_WORSE = frozenset({"goodput_bps", "active_goodput_bps", "completed_flows"})
"""Metrics whose smallest values are the worst."""

LABEL = "group, port or reason"
"""Head of the column with the label of a metric."""

WORST = 10
"""Default number of worst combinations."""

WORST_SHARE = 0.1
"""Share of combinations in the worst part, whose boundary is printed."""


def ranking(done: StudyResult, by: str | None) -> str:
    """Return the metric to sort by: ``by`` if any run has a value, else completion times, else goodput."""
    known = [name for name in done.metrics if done.metrics[name].axes[: len(done.axes)] == done.axes]
    wanted = ("completion_mean_s", "goodput_bps") if by is None else (by, "completion_mean_s", "goodput_bps")
    return next((name for name in wanted if name in known), known[0])


def show_ranked(console: Console, done: StudyResult, by: str | None, top: int) -> None:
    """Print quantiles of each metric over the combinations, and the ``top`` worst combinations."""
    chosen = ranking(done, by)
    if by not in (None, chosen):
        console.print(f"--by {by}: no run has a value for this metric")
    summed = dict.fromkeys([*(name for name in SUMMED if name in done.metrics), chosen])
    table = Table(box=None, pad_edge=False)
    for name in ("metric", LABEL):
        table.add_column(name)
    for name in ("median", "worst tenth", "worst"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("worst combination")
    for name in summed:
        means = _means(done, name)
        for label, cells in means.items():
            values, least = _values(cells)
            if not np.isnan(values).all() and (name == chosen or np.nanmax(np.abs(values)) > 0):
                worst = _order(name, values, least)[0]
                table.add_row(name, label, *_quantiles(name, values, least), _cell(done, worst))
    console.print(
        f"means over seeds, by quantile over {count_noun(len(done.grid.branches), 'combination')}", style="bold"
    )
    show_table(console, table)
    _show_worst(console, done, chosen, top)


def _show_worst(console: Console, done: StudyResult, name: str, top: int) -> None:
    means = _means(done, name)
    most = dict(sorted(means.items(), key=lambda item: -_most(item[1]))[:MOST])
    values, least = (np.array(each) for each in zip(*map(_values, most.values()), strict=True))
    # Rank a combination by the worst of its groups.
    as_bad = np.fmin.reduce if name in LESS_IS_WORSE else np.fmax.reduce
    worst, least = as_bad(values, axis=0), as_bad(least, axis=0)
    order = [place for place in _order(name, worst, least) if not math.isnan(worst[place])][:top]
    heads = [axis.name for axis in done.axes]
    whole = _table(heads, name)
    for place in order:
        for label, cells in most.items():
            whole.add_row(*_shown(done, place), label, *with_interval(name, cells[place]))
    console.print(f"the {len(order)} worst of {count_noun(len(worst), 'combination')} by {name}", style="bold")
    if Measurement.get(console, console.options.update(width=WIDEST), whole).maximum <= console.width:
        show_table(console, whole)
        return
    # On a narrow terminal, print the combination as a heading.
    for place in order:
        part = _table([], name)
        for label, cells in most.items():
            part.add_row(label, *with_interval(name, cells[place]))
        console.print(_cell(done, place), style="bold")
        show_table(console, part)


def _table(keys: list[str], name: str) -> Table:
    """Return a table for a metric whose texts are not wrapped."""
    table = Table(box=None, pad_edge=False)
    for key in keys:
        table.add_column(key, justify="right", no_wrap=True)
    table.add_column(LABEL, no_wrap=True)
    for head in (name, "95 % interval", "n"):
        table.add_column(head, justify="right", no_wrap=True)
    return table


def _means(done: StudyResult, name: str) -> dict[str, list[Interval]]:
    """Return the estimates of a metric by label (group, port, reason), one per combination."""
    cells: Cells = done.metrics[name]
    labels = cells.axes[len(done.axes) :]
    found = [interval for _, interval in cells.mean()]
    names = labels[0].shown if labels else ("",)
    return {each: found[place :: len(names)] for place, each in enumerate(names)}


def _most(cells: list[Interval]) -> float:
    return max((one.estimate for one in cells if one.n), default=-math.inf)


def _values(cells: list[Interval]) -> tuple[Floats, Floats]:
    """Return the estimates, NaN if undefined, and their lower bounds, which differ for infinite estimates only."""
    values = np.array([one.estimate if one.n else math.nan for one in cells])
    return values, np.array(
        [value if one.at_least is None else one.at_least for value, one in zip(values, cells, strict=True)]
    )


def _order(name: str, values: Floats, least: Floats) -> list[int]:
    """Return the indices of values, worst first, infinite ones by lower bound and undefined ones last."""
    sign = 1 if name in LESS_IS_WORSE else -1
    key = np.where(np.isnan(values), np.inf, sign * values)
    return [int(place) for place in np.lexsort((sign * least, key))]


def _quantiles(name: str, values: Floats, least: Floats) -> list[str]:
    """Return the texts of the median, the worst tenth and the worst value; infinite values show their lower bound."""
    tail = WORST_SHARE if name in LESS_IS_WORSE else 1 - WORST_SHARE
    known = ~np.isnan(values)
    values, least = values[known], least[known]
    worst = np.min if name in LESS_IS_WORSE else np.max
    shown = [[sample_quantile(each, share) for share in (0.5, tail)] + [float(worst(each))] for each in (values, least)]
    text = functools.partial(value_text, name)
    return [censored(value, bound, text) for value, bound in zip(*shown, strict=True)]


def _shown(done: StudyResult, place: int) -> list[str]:
    at = np.unravel_index(place, [len(axis) for axis in done.axes])
    return [axis.shown[i] for axis, i in zip(done.axes, at, strict=True)]


def _cell(done: StudyResult, place: int) -> str:
    return ", ".join(_shown(done, place))
