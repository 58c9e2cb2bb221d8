"""What the three tables share: their runs, short or stored, their rows, and ways to judge all cells."""

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
"""What "about 18 %" and "about 15 %" leave open: the text is in whole per cent, and its own tables give 17.5 and 15.5.
Two points are about a tenth of the value."""
MODES = {True: "with anycast", False: "without"}
PAIRS = tuple((cell, cell.without) for cell in CELLS if cell.anycast)
"""The 15 pairs of cells, with anycast switching and without."""


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Short runs of few cells; none at the default size, which reads the stored outcomes of the long ones."""
    if not (options.size.is_quick or options.size.seeds):
        return {}
    common = {**overrides(chosen), **QUICK_LENGTH}
    return {
        cell.name: options.grid(SCENARIO, {**common, **cell.settings}, {}, f"lbas, {cell.name}") for cell in QUICK_CELLS
    }


def long_runs(chosen: Chosen, seeds: Sequence[int]) -> list[LongRun]:
    """The 30 cells, and two with another K, for 600 s each; of an interpretation beside the default for 330 s.

    Row by row of the tables, so that large and small bundles take turns: what is left is then soon known.
    """
    by_row = sorted(CELLS, key=lambda cell: (cell.flows, not cell.anycast))
    return [long_run(cell, chosen, seed) for seed in seeds for cell in (*by_row, *FEWER)]


SETUP = Setup(PAPER, 1, grids, runs_of(1, 1), ASSUMED, long_runs)


@dataclass(frozen=True)
class Shown:
    """The runs that a table is made from.

    Attributes
    ----------
    measured
        What is known of the cells under each interpretation; the first one is the chosen.
    notes
        What there is, and what it is worth.
    kept
        Where stored runs come from; none if the runs are short ones.
    """

    measured: Mapping[str, Measured]
    notes: list[str]
    kept: list[dict[str, Any]]

    def rows(
        self, intervals: Callable[[Measured, Cell], Mapping[str, Interval]], printed: Mapping[str, str], why: str
    ) -> list[Row]:
        """Rows of all cells that there are.

        Parameters
        ----------
        intervals
            From a cell to its metrics.
        printed
            Metric to the table of ``tables.toml`` that prints it.
        why
            What is known about a difference.
        """
        return [
            row(cell.key(name), metric, cell.printed(printed[metric]) if metric in printed else None, interval, why)
            for name, measured in self.measured.items()
            for cell in CELLS
            if cell in measured.cells
            for metric, interval in intervals(measured, cell).items()
        ]

    def judged(self, judges: Mapping[str, Callable[[Measured], list[Part]]]) -> dict[str, dict[str, list[Part]]]:
        """The parts of each statement under each interpretation."""
        found = {id_: {name: judged(one) for name, one in self.measured.items()} for id_, judged in judges.items()}
        if self.kept:
            return found
        # Runs that have not left their first slow start say nothing about 600 s, either way.
        return {id_: {name: list(map(_tentative, parts)) for name, parts in one.items()} for id_, one in found.items()}

    def of_chosen(self, parts: list[Part]) -> dict[str, list[Part]]:
        """Parts that other runs than those of the cells are behind."""
        return {next(iter(self.measured)): parts}


def shown(found: Found) -> Shown:
    """Short runs, or else those that are stored: for the chosen values, or all interpretations of the default."""
    by_name = {cell.name: cell for cell in QUICK_CELLS}
    short = {by_name[name]: done.once(outcome.of_study)[0] for name, done in found.done.items() if name in by_name}
    if short:
        return Shown({reading(found.chosen): Measured(short)}, [_length_of_short(short)], [])
    first, *others = map(stored, [found.chosen] if found.changed else READINGS)
    there = [first, *(one for one in others if one.runs)]
    kept = [one for runs in there for one in runs.origin]
    notes = [*(runs.note() for runs in there), *not_committed(kept)]
    return Shown({runs.reading: runs.measured for runs in there}, notes, kept)


def _tentative(part: Part) -> Part:
    """A comparison that decides nothing; exact statements stand."""
    return part if part.p is None else judge.Part(f"{part.text} (short runs)", "undecided")


def _length_of_short(cells: Mapping[Cell, object]) -> str:
    short = f"{QUICK_LENGTH['stop']} with {QUICK_LENGTH['parameters.warm_up']} of warm-up"
    number = sum(cell in cells for cell in CELLS)
    return (
        f"Short runs of {number} of the {len(CELLS)} cells: {short} in place of 600 s with 60 s. The flows are still "
        "in their first slow start and what follows it."
    )


def curves(rows: Iterable[Row], metric: str) -> list[Series]:
    """A metric over the bundling degree, a curve for each number of flows, mode and interpretation."""
    name, _, unit = metric.rpartition("_")
    label = name.replace("_", " ")
    mine = [one for one in rows if one.metric == metric]
    found = curves_over(mine, "bundling_degree", Axis("bundling degree", ""), Axis(label, UNITS[unit]))
    return [replace(curve, ci95=[]) for curve in found]


def missing_part(measured: Measured, groups: Sequence[Sequence[Cell]]) -> list[Part]:
    """Parts that leave a statement undecided while cells are missing, or have no seed in common with those beside them.

    Parameters
    ----------
    groups
        Cells that are compared with each other.
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
    """With minus without of a metric, or of a sum of several, on one side in every pair."""
    parts = missing_part(measured, PAIRS)
    for pair in PAIRS:
        if both := measured.together(pair):
            (one,), (other,) = both.sides(*metrics)
            name = f"b_D = {pair[0].bundling_degree}, {pair[0].flows} flows, with minus without"
            parts.append(judge.paired_part(name, one, other, side, unit, batches=both.batches))
    return parts


def lines(over: Over) -> dict[str, dict[str, tuple[int, int]]]:
    """Each line through a table, over the flows or over the degrees: its steps, each a bundling degree and flows."""
    if over == "flows":
        return {f"b_D = {b}": {f"{flows} flows": (b, flows) for flows in FLOWS} for b in BUNDLING_DEGREES}
    return {f"{flows} flows": {f"b_D = {b}": (b, flows) for b in BUNDLING_DEGREES} for flows in FLOWS}


def trends(measured: Measured, metric: str, over: Over, ways: Mapping[bool, Way]) -> list[Part]:
    """TREND along each line, with anycast switching and without.

    Parameters
    ----------
    ways
        Whether with anycast switching, to the direction.
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
    """The largest of the paper's 15 pairs is about that of its text, once all of them have been run.

    Parameters
    ----------
    change
        From pairs to their changes in per cent.
    what
        Of what it is the largest.
    stated
        Its name in ``tables.toml``.
    """
    together = measured.together([cell for pair in PAIRS for cell in pair])
    of_pairs = largest_part(change(together), what, stated, batches=together.batches) if together else []
    return [*missing_part(measured, [CELLS]), *of_pairs]


def largest_part(found: Sequence[NDArray[np.float64]], what: str, stated: str, *, batches: bool) -> list[Part]:
    """The largest is about that of the text; undecided until that is shown, or its opposite.

    Parameters
    ----------
    found
        Of each of the 15 pairs.
    batches
        Whether its values are of batches.
    """
    at = max(range(len(PAIRS)), key=lambda place: float(found[place].mean()))
    value = float(tables("lbas")["text"][stated])
    cell = PAIRS[at][0]
    name = f"largest {what}, at b_D = {cell.bundling_degree} and {cell.flows} flows, minus {value:g} %"
    return [judge.equivalence_part(name, found[at] - value, ABOUT_POINTS, "points", batches=batches)]


def change_trends(measured: Measured, change: Change, what: str, over: Over, way: Way) -> list[Part]:
    """TREND of the change from without to with anycast switching, along each line."""
    parts = []
    for name, steps in lines(over).items():
        if line := measured.together([Cell(*at, anycast) for at in steps.values() for anycast in (True, False)]):
            title = f"{what} at {name}"
            parts += judge.trend_parts(title, list(steps), change(line), way, "points", batches=line.batches)
    return parts
