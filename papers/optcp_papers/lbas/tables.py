"""Parts that the three tables share: short or stored runs, rows, and judgements over all combinations."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from optcp.papers.exhibit import Chosen, Found, Setup, runs_of
from optcp.papers.kept import LongRun
from optcp.papers.kit import Grid, Options, Part, Row, Series, Side, curves_over, judge, row, tables
from optcp.papers.over import Axis
from optcp.stats import Interval
from optcp_papers.lbas import outcome
from optcp_papers.lbas.long_runs import long_run, not_committed, stored
from optcp_papers.lbas.outcome import Measured, Together
from optcp_papers.lbas.paper import (
    ASSUMED,
    BUNDLING_DEGREES,
    CELLS,
    FEWER,
    FLOWS,
    PAPER,
    QUICK_CELLS,
    QUICK_LENGTH,
    READINGS,
    SCENARIO,
    Cell,
    overrides,
    reading,
)

Over = Literal["flows", "degree"]
Way = Literal["up", "down"]
Change = Callable[[Together], list[NDArray[np.float64]]]


UNITS = {"gbps": "Gb/s", "mbps": "Mb/s", "mb": "MB"}
ABOUT_POINTS = 2.0
"""Tolerance of "about 18 %" and "about 15 %". The text has whole per cent; its own tables give 17.5 and 15.5.
Two points are about a tenth of the value."""
MODES = {True: "with anycast", False: "without"}
PAIRS = tuple((cell, cell.without) for cell in CELLS if cell.anycast)
"""The 15 pairs of combinations, with and without anycast switching."""


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return short runs of few combinations; none at the default size, which uses the stored long runs."""
    if not (options.size.is_quick or options.size.seeds):
        return {}
    common = {**overrides(chosen), **QUICK_LENGTH}
    return {
        cell.name: options.grid(SCENARIO, {**common, **cell.settings}, {}, f"lbas, {cell.name}") for cell in QUICK_CELLS
    }


def long_runs(chosen: Chosen, seeds: Sequence[int]) -> list[LongRun]:
    """Return the 30 combinations, and two with another K, with 600 s each (330 s for interpretations not the default).

    The order follows the rows of the tables, so that large and small bundles alternate and the remaining time can be
    estimated early.
    """
    by_row = sorted(CELLS, key=lambda cell: (cell.flows, not cell.anycast))
    return [long_run(cell, chosen, seed) for seed in seeds for cell in (*by_row, *FEWER)]


SETUP = Setup(PAPER, 1, grids, runs_of(1, 1), ASSUMED, long_runs)


@dataclass(frozen=True)
class Shown:
    """Runs that a table is made from.

    Attributes
    ----------
    measured
        Outcomes under each interpretation; the first one is the chosen.
    notes
        Notes on the runs and their quality.
    kept
        Origin of stored runs; empty for short runs.
    """

    measured: Mapping[str, Measured]
    notes: list[str]
    kept: list[dict[str, Any]]

    def rows(
        self, intervals: Callable[[Measured, Cell], Mapping[str, Interval]], printed: Mapping[str, str], why: str
    ) -> list[Row]:
        """Return the rows of all simulated combinations.

        Parameters
        ----------
        intervals
            Function from a combination to its metrics.
        printed
            Tables of ``tables.toml`` by metric.
        why
            Known reason for a difference.
        """
        return [
            row(cell.key(name), metric, cell.printed(printed[metric]) if metric in printed else None, interval, why)
            for name, measured in self.measured.items()
            for cell in CELLS
            if cell in measured.cells
            for metric, interval in intervals(measured, cell).items()
        ]

    def judged(self, judges: Mapping[str, Callable[[Measured], list[Part]]]) -> dict[str, dict[str, list[Part]]]:
        """Return the parts of each claim under each interpretation."""
        result = {id_: {name: judged(item) for name, item in self.measured.items()} for id_, judged in judges.items()}
        if self.kept:
            return result
        # Runs that are still in their first slow start say nothing about 600 s.
        return {
            id_: {name: list(map(_tentative, parts)) for name, parts in item.items()} for id_, item in result.items()
        }

    def of_chosen(self, parts: list[Part]) -> dict[str, list[Part]]:
        """Return parts from other runs, under the chosen interpretation."""
        return {next(iter(self.measured)): parts}


def shown(found: Found) -> Shown:
    """Return short runs, or the stored ones: for the chosen values, or for all interpretations of the default."""
    by_name = {cell.name: cell for cell in QUICK_CELLS}
    short = {by_name[name]: done.once(outcome.of_study)[0] for name, done in found.done.items() if name in by_name}
    if short:
        return Shown({reading(found.chosen): Measured(short)}, [_length_of_short(short)], [])
    first, *others = map(stored, [found.chosen] if found.changed else READINGS)
    there = [first, *(item for item in others if item.runs)]
    kept = [item for runs in there for item in runs.origin]
    notes = [*(runs.note() for runs in there), *not_committed(kept)]
    return Shown({runs.reading: runs.measured for runs in there}, notes, kept)


def _tentative(part: Part) -> Part:
    """Return the comparison as undecided; exact statements stay unchanged."""
    return part if part.p is None else judge.Part(f"{part.text} (short runs)", "undecided")


def _length_of_short(cells: Mapping[Cell, object]) -> str:
    short = f"{QUICK_LENGTH['stop']} with {QUICK_LENGTH['parameters.warm_up']} of warm-up"
    number = sum(cell in cells for cell in CELLS)
    return (
        f"Short runs of {number} of the {len(CELLS)} cells: {short} in place of 600 s with 60 s. The flows are still "
        "in their first slow start and what follows it."
    )


def curves(rows: Iterable[Row], metric: str) -> list[Series]:
    """Return curves of a metric over the bundling degree, by number of flows, mode and interpretation."""
    name, _, unit = metric.rpartition("_")
    label = name.replace("_", " ")
    mine = [item for item in rows if item.metric == metric]
    result = curves_over(mine, "bundling_degree", Axis("bundling degree", ""), Axis(label, UNITS[unit]))
    return [replace(curve, ci95=[]) for curve in result]


def missing_part(measured: Measured, groups: Sequence[Sequence[Cell]]) -> list[Part]:
    """Return parts that keep a claim undecided while combinations are missing or compared ones share no seed.

    Parameters
    ----------
    groups
        Combinations that are compared with each other.
    """
    cells = dict.fromkeys(cell for group in groups for cell in group)
    missing = [cell for cell in cells if cell not in measured.cells]
    apart = [group for group in groups if not measured.together(group) and not set(missing) & set(group)]
    parts = []
    if missing:
        parts.append(judge.Part(f"{len(missing)} of {len(cells)} cells have not been run", "undecided", not_run=True))
    if apart:
        text = f"{len(apart)} of {len(groups)} comparisons are of cells without a common seed"
        parts.append(judge.Part(text, "undecided", not_run=True))
    return parts


def mode_parts(measured: Measured, metrics: Sequence[str], side: Side, unit: str) -> list[Part]:
    """Judge that with minus without of a metric, or of a sum of several, has the stated sign in every pair."""
    parts = missing_part(measured, PAIRS)
    for pair in PAIRS:
        if both := measured.together(pair):
            (one,), (other,) = both.sides(*metrics)
            name = f"b_D = {pair[0].bundling_degree}, {pair[0].flows} flows, with minus without"
            parts.append(judge.paired_part(name, one, other, side, unit, batches=both.batches))
    return parts


def lines(over: Over) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the lines through a table, over flows or degrees, with the degree and flows of each step."""
    if over == "flows":
        return {f"b_D = {b}": {f"{flows} flows": (b, flows) for flows in FLOWS} for b in BUNDLING_DEGREES}
    return {f"{flows} flows": {f"b_D = {b}": (b, flows) for b in BUNDLING_DEGREES} for flows in FLOWS}


def trends(measured: Measured, metric: str, over: Over, ways: Mapping[bool, Way]) -> list[Part]:
    """Judge TREND along each line, with and without anycast switching.

    Parameters
    ----------
    ways
        Direction of the trend, by whether anycast switching is used.
    """
    unit, parts = UNITS[metric.rpartition("_")[2]], []
    for anycast, way in ways.items():
        cells = {name: [Cell(*at, anycast) for at in steps.values()] for name, steps in lines(over).items()}
        parts += missing_part(measured, list(cells.values()))
        for name, steps in lines(over).items():
            if line := measured.together(cells[name]):
                title, values = f"{name}, {MODES[anycast]}", line.values(metric)
                parts += judge.trend_parts(title, list(steps), values, way, unit, batches=line.batches)
    return parts


def largest(measured: Measured, change: Change, what: str, stated: str) -> list[Part]:
    """Judge whether the maximum over the paper's 15 pairs is about as its text states, once all have been run.

    Parameters
    ----------
    change
        Function from pairs to their changes in %.
    what
        Name of the quantity.
    stated
        Name of the stated maximum in ``tables.toml``.
    """
    together = measured.together([cell for pair in PAIRS for cell in pair])
    of_pairs = largest_part(change(together), what, stated, batches=together.batches) if together else []
    return [*missing_part(measured, [CELLS]), *of_pairs]


def largest_part(found: Sequence[NDArray[np.float64]], what: str, stated: str, *, batches: bool) -> list[Part]:
    """Judge whether the maximum is about as the text states; undecided unless this or the opposite is significant.

    Parameters
    ----------
    found
        Values of each of the 15 pairs.
    batches
        Whether the values are batches.
    """
    at = max(range(len(PAIRS)), key=lambda place: float(found[place].mean()))
    value = float(tables("lbas")["text"][stated])
    cell = PAIRS[at][0]
    name = f"largest {what}, at b_D = {cell.bundling_degree} and {cell.flows} flows, minus {value:g} %"
    return [judge.equivalence_part(name, found[at] - value, ABOUT_POINTS, "points", batches=batches)]


def change_trends(measured: Measured, change: Change, what: str, over: Over, way: Way) -> list[Part]:
    """Judge TREND of the change from without to with anycast switching, along each line."""
    parts = []
    for name, steps in lines(over).items():
        if line := measured.together([Cell(*at, anycast) for at in steps.values() for anycast in (True, False)]):
            title = f"{what} at {name}"
            parts += judge.trend_parts(title, list(steps), change(line), way, "points", batches=line.batches)
    return parts
