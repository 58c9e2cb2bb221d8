"""Terminal tables of a sensitivity study."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from optcp.common.plurals import count_noun
from optcp.common.terminal import bounds, number, show_table
from optcp.papers.sensitivity.indices import FEWEST

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from rich.console import Console

    from optcp.papers.sensitivity.result import Fit, Print, Result

LISTED = 5
"""Number of re-run settings in the table, those with the most seeds first."""


def show(console: Console, result: Result) -> None:
    """Print the ranked parameters, the settings that match the published values, and the statements."""
    counts = result.design
    console.print()
    console.print(Text(f"{result.exhibit}  {result.title}", style="bold"))
    console.print(
        Text(
            f"{count_noun(counts['samples'], 'sample')}, {count_noun(counts['points'], 'point')}, "
            f"{count_noun(counts['settings'], 'different setting')}, {count_noun(counts['seeds'], 'seed')}, "
            f"{count_noun(counts['runs'], 'run')}",
            style="dim",
        )
    )
    _ranking(console, result)
    _responses(console, result)
    if result.print is not None:
        _print(console, result.print)
    if result.contrasts:
        _contrasts(console, result)
    if result.claims:
        console.print("statements of the paper over the parameter space", style="bold")
        table = _table(["holds"], ["true", "false", "undecided"], ["statement"])
        for one in result.claims:
            cells = [str(one[name]) for name in ("holds", "fails", "undecided")]
            table.add_row(one["word"], *cells, Text(one["text"]))
        console.print(table)
    for left in result.left_out:
        console.print(Text(f"not evaluated: {_setting(left['setting'])}: {left['why']}", style="dim"))


def _ranking(console: Console, result: Result) -> None:
    console.print("most influential parameters: share of variance, mean over all responses", style="bold")
    table = _table(["parameter", "range"], ["total effect", "main effect"], [])
    for one in result.ranking:
        table.add_row(one.parameter, result.space[one.parameter]["range"], bounds(one.total), bounds(one.main))
    show_table(console, table)
    if result.design["samples"] < FEWEST:
        text = f"{result.design['samples']} samples are too few for effects: use --samples {FEWEST} or more"
        console.print(Text(text, style="dim"))


def _responses(console: Console, result: Result) -> None:
    console.print(
        "responses: range over the parameter space, and parameter with the largest total effect", style="bold"
    )
    table = _table(["response"], ["published", "minimum", "maximum", "> 0", "< 0", "seeds", "total effect"], [])
    table.add_column("parameter")
    for one in result.responses:
        first = max((e for e in result.effects if e.response == one.name), key=lambda effect: effect.total[0] or 0.0)
        table.add_row(
            Text(one.name),
            "-" if one.paper is None else f"{one.paper:.2f}",
            *(f"{value:.2f}" for value in (one.low, one.high)),
            str(one.above),
            str(one.below),
            f"{100 * one.seeds_share:.0f} %",
            number(first.total[0]),
            "-" if first.total[0] is None else first.parameter,
        )
    show_table(console, table)
    text = (
        "> 0, < 0: number of points of A and B with a significant sign; seeds: maximum share of variance due to seeds"
    )
    console.print(Text(text, style="dim"))


def _contrasts(console: Console, result: Result) -> None:
    console.print("conclusions of the paper, as differences that are above zero if it is right", style="bold")
    counted = ["significantly > 0", "significantly < 0", "undecided"]
    table = _table([], ["mean over the space", "share positive", *counted], ["difference"])
    for one in result.contrasts:
        counts = [str(one[name]) for name in ("above", "below", "undecided")]
        table.add_row(bounds(one["mean"]), bounds(one["positive"]), *counts, Text(one["name"]))
    console.print(table)


def _print(console: Console, found: Print) -> None:
    console.print("settings that match the published values", style="bold")
    console.print(
        f"compatible (misfit at most {found['bound']:.2f} over {found['values']} values): {found['compatible']} "
        f"settings; share of the space {bounds(found['share'])}",
        soft_wrap=True,
    )
    table = _table([], ["misfit", "within 95 %"], ["setting", "worst"])
    for one in found["best"]:
        misfit = "inf" if one["misfit"] is None else f"{one['misfit']:.2f}"
        table.add_row(
            misfit, f"{one['within']} of {found['values']}", Text(_setting(one["setting"])), Text(one["worst"])
        )
    console.print(table)
    table = _table(["parameter", "part"], ["minimum misfit", "compatible share"], [])
    for parameter, parts in found["profile"].items():
        for part in parts:
            misfit = "-" if part["misfit"] is None else f"{part['misfit']:.2f}"
            table.add_row(parameter, part["part"], misfit, bounds(part["share"]))
    show_table(console, table)
    if found["confirmed"]:
        _confirmed(console, found)


def _confirmed(console: Console, found: Print) -> None:
    agree = sum(one["compatible"] for one in found["confirmed"])
    console.print(
        f"{len(found['confirmed'])} of them re-run with more seeds, up to the number of the paper: {agree} compatible",
        soft_wrap=True,
    )
    table = _table([], ["misfit before", "misfit re-run", "seeds", "within 95 %"], ["setting", "worst"])
    order = sorted(found["confirmed"], key=lambda one: (-one["seeds"], _misfit(one["again"])))
    for one in order[:LISTED]:
        again = one["again"] or {"misfit": None, "within": 0, "worst": "not evaluated"}
        misfits = ["inf" if value is None else f"{value:.2f}" for value in (one["first"], again["misfit"])]
        within = f"{again['within']} of {found['values']}"
        table.add_row(*misfits, str(one["seeds"]), within, Text(_setting(one["setting"])), Text(again["worst"]))
    console.print(table)


def _misfit(fit: Fit | None) -> float:
    return math.inf if fit is None or fit["misfit"] is None else float(fit["misfit"])


def _table(left: Sequence[str], right: Sequence[str], folded: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, no_wrap=True, justify="right")
    for name in folded:
        table.add_column(name, overflow="fold")
    return table


def _setting(setting: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in setting.items())
