"""What the three tables share: their runs, short or stored, their rows, and ways to judge all cells."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from optcp.papers import judge
from optcp.papers.base import Evaluation, Exhibit
from optcp.papers.lbas import outcome
from optcp.papers.lbas.long_runs import by_cell, kept_runs, long_run, not_committed, provenance_of, what_is_kept
from optcp.papers.lbas.outcome import Measured
from optcp.papers.lbas.paper import (
    ASSUMED,
    BUNDLING_DEGREES,
    CELLS,
    FEWER,
    PAPER,
    QUICK_CELLS,
    QUICK_LENGTH,
    READINGS,
    SCENARIO,
    Cell,
    overrides,
    reading,
)
from optcp.papers.model import Series
from optcp.papers.printed import tables
from optcp.papers.verdict import row
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.judge import Part, Side
    from optcp.papers.kept import LongRun
    from optcp.papers.model import Row
    from optcp.study import Done

UNITS = {"gbps": "Gb/s", "mbps": "Mb/s", "mb": "MB"}
ABOUT_POINTS = 2.0
"""What "about 18 %" and "about 15 %" leave open: the text is in whole per cent, and its own tables give 17.5 and 15.5.
Two points are about a tenth of the value."""
MODES = {True: "with anycast", False: "without"}
BY_NAME = {cell.name: cell for cell in (*CELLS, *FEWER)}


class Lbas(Exhibit):
    """A table of the paper, from one set of runs."""

    paper = PAPER
    paper_runs = 1
    assumed = ASSUMED
    printed: ClassVar[Mapping[str, str]]
    """Metric to the table of ``tables.toml`` that prints it."""
    metrics: ClassVar[tuple[str, ...]]
    why: ClassVar[str]

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """Short runs of few cells; none at the default size, which reads the stored outcomes of the long ones."""
        if not is_short(options.size):
            return {}
        common = [*overrides(chosen), *QUICK_LENGTH.items()]
        return {
            cell.name: Grid.grid(
                SCENARIO,
                [*common, *cell.overrides()],
                title=f"lbas, {cell.name}",
                digest=options.digest,
                fork=options.fork,
            )
            for cell in QUICK_CELLS
        }

    def seeds(self, study: str, size: Size) -> int:
        """One, as the paper; more if they are asked for."""
        del study
        return size.of(1, 1)

    def long_runs(self, chosen: Mapping[str, Value], seeds: Sequence[int]) -> list[LongRun]:
        """The 30 cells, and two with another K, for 600 s each; of an interpretation beside the default for 330 s.

        Row by row of the tables, so that large and small bundles take turns: what is left is then soon known.
        """
        by_row = sorted(CELLS, key=lambda cell: (cell.flows, not cell.anycast))
        return [long_run(cell, chosen, seed) for seed in seeds for cell in (*by_row, *FEWER)]

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows and curves of all cells that there are, and the paper's statements."""
        short = {BY_NAME[name]: study.once(outcome.of_study) for name, study in done.items() if name in BY_NAME}
        if short:
            return self._of({reading(chosen): Measured(short)}, [_length_of_short(short)], [], done)
        readings = self._readings(chosen)
        kept = {reading(values): kept_runs(values) for values in readings}
        of_chosen = reading(chosen)
        there = {name: Measured(by_cell(runs)) for name, runs in kept.items() if runs or name == of_chosen}
        notes = [what_is_kept(there[reading(values)], values) for values in readings if reading(values) in there]
        origin = [one for name in there for one in provenance_of(name, kept[name])]
        return self._of(there, [*notes, *not_committed(origin)], origin, done)

    def _readings(self, chosen: Mapping[str, Value]) -> list[Mapping[str, Value]]:
        """The values under which the statements are judged: those chosen, or all interpretations of the default."""
        return [chosen] if self.changed(chosen) else list(READINGS)

    def _of(
        self,
        there: Mapping[str, Measured],
        notes: list[str],
        kept: list[dict[str, Any]],
        done: Mapping[str, Done],
    ) -> Evaluation:
        """Rows, curves and statements of what is measured under each interpretation; the first one is the chosen."""
        rows = [
            one
            for name, measured in there.items()
            for cell in CELLS
            if cell in measured.cells
            for one in self._rows(cell, measured, name)
        ]
        judges: dict[str, dict[str, list[Part]]] = {}
        for name, measured in there.items():
            for opening, parts in self.judges(measured).items():
                # Runs that have not left their first slow start say nothing about 600 s, either way.
                judged = parts if kept else [_tentative(part) for part in parts]
                judges.setdefault(opening, {})[name] = judged
        first = next(iter(there))
        for opening, parts in self.judges_beside(done).items():
            judges[opening] = {first: parts}
        series = [one for name in there for one in self._curves(name, rows)]
        rows += self.rows_beside()
        return Evaluation(rows, judge.judge_each(self.id, judges), series, [*notes, *self.notes(done)], kept)

    @abc.abstractmethod
    def judges(self, measured: Measured) -> dict[str, list[Part]]:
        """The parts of each statement about the cells, by the beginning of its text."""

    def judges_beside(self, done: Mapping[str, Done]) -> dict[str, list[Part]]:
        """The parts of statements about other runs."""
        del done
        return {}

    def rows_beside(self) -> list[Row]:
        """Rows that no run is behind."""
        return []

    def notes(self, done: Mapping[str, Done]) -> list[str]:
        """What a reader must know beside the numbers."""
        del done
        return []

    def combined(self, cell: Cell, measured: Measured) -> dict[str, Any]:
        """Further metrics of a cell that are made of several: intervals by name."""
        del cell, measured
        return {}

    def _rows(self, cell: Cell, measured: Measured, profile: str) -> list[Row]:
        intervals = {metric: measured.interval(metric, cell) for metric in self.metrics}
        intervals |= self.combined(cell, measured)
        key = cell.key(profile)
        return [
            row(key, metric, printed(self.printed[metric], cell) if metric in self.printed else None, one, self.why)
            for metric, one in intervals.items()
        ]

    def _curves(self, profile: str, rows: Sequence[Row]) -> list[Series]:
        """The first metric over the bundling degree, a curve for each number of flows and mode."""
        metric = self.metrics[0]
        name, _, unit = metric.rpartition("_")
        points: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
        for one in rows:
            if one.metric == metric and one.key["profile"] == profile and one.measured is not None:
                curve = (one.key["flows_per_lightpath"], one.key["anycast"])
                points.setdefault(curve, []).append((float(one.key["bundling_degree"]), one.measured))
        name = name.replace("_", " ")
        return [
            Series(
                name,
                {"flows_per_lightpath": flows, "anycast": anycast, "profile": profile},
                "bundling degree",
                "",
                name,
                UNITS[unit],
                [x for x, _ in curve],
                [y for _, y in curve],
            )
            for (flows, anycast), curve in points.items()
        ]


def is_short(size: Size) -> bool:
    """Whether a size makes short runs of its own."""
    return size.is_quick or size.seeds is not None


def printed(table: str, cell: Cell) -> float:
    """The printed value of a cell."""
    mode = "with" if cell.anycast else "without"
    values: list[float] = tables("lbas")[table][f"{mode}_{cell.flows}"]
    return values[BUNDLING_DEGREES.index(cell.bundling_degree)]


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


def missing_part(measured: Measured, groups: Sequence[Sequence[Cell]]) -> list[Part]:
    """Parts that leave a statement undecided while cells are missing, or have no seed in common with those beside them.

    Parameters
    ----------
    groups
        Cells that are compared with each other.
    """
    cells = dict.fromkeys(cell for group in groups for cell in group)
    missing = [cell for cell in cells if cell not in measured.cells]
    apart = [group for group in groups if not measured.has(group) and not set(missing) & set(group)]
    parts = []
    if missing:
        parts.append(judge.Part(f"{len(missing)} of {len(cells)} cells have not been run", "undecided", not_run=True))
    if apart:
        text = f"{len(apart)} of {len(groups)} comparisons are of cells without a common seed"
        parts.append(judge.Part(text, "undecided", not_run=True))
    return parts


def pairs() -> list[tuple[Cell, Cell]]:
    """The 15 pairs of cells, with anycast switching and without."""
    return list(zip(CELLS[::2], CELLS[1::2], strict=True))


def largest_part(found: Mapping[Cell, NDArray[np.float64]], what: str, stated: str, *, batches: bool) -> list[Part]:
    """The largest of the paper's 15 pairs is about that of its text; undecided until that is shown, or its opposite.

    Parameters
    ----------
    found
        By the cell with anycast switching, all of them.
    what
        Of what it is the largest.
    stated
        Its name in ``tables.toml``.
    batches
        Whether its values are of batches.
    """
    largest = max(found, key=lambda cell: float(found[cell].mean()))
    value = float(tables("lbas")["text"][stated])
    name = f"largest {what}, at b_D = {largest.bundling_degree} and {largest.flows} flows, minus {value:g} %"
    return [judge.equivalence_part(name, found[largest] - value, ABOUT_POINTS, "points", batches=batches)]


def together(
    measured: Measured,
    metric: str,
    of: Sequence[tuple[Cell, Cell]],
    change: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
) -> dict[Cell, NDArray[np.float64]]:
    """Changes within several pairs of cells that are compared with each other, value by value of the same seeds.

    Parameters
    ----------
    of
        Pairs of cells, with anycast switching and without.
    change
        From the values with and without to their change.

    Returns
    -------
    dict
        By the cell with anycast switching.
    """
    values = measured.values(metric, [cell for pair in of for cell in pair])
    return {one: change(*values[2 * place : 2 * place + 2]) for place, (one, _) in enumerate(of)}


def mode_parts(
    measured: Measured, metric: Callable[[Sequence[Cell]], list[NDArray[np.float64]]], side: Side, unit: str
) -> list[Part]:
    """With minus without, on one side in every pair."""
    parts = missing_part(measured, pairs())
    for one, other in pairs():
        if measured.has((one, other)):
            first, second = metric((one, other))
            name = f"b_D = {one.bundling_degree}, {one.flows} flows, with minus without"
            parts.append(judge.paired_part(name, first, second, side, unit, batches=measured.batched((one, other))))
    return parts


def trends(
    measured: Measured, metric: str, over: Literal["flows", "degree"], anycast: bool, way: Literal["up", "down"]
) -> list[Part]:
    """TREND over the flows for each bundling degree, or over the degrees for each number of flows."""
    unit = UNITS[metric.rpartition("_")[2]]
    of_mode = [cell for cell in CELLS if cell.anycast == anycast]
    series: dict[str, list[Cell]] = {}
    steps = {}
    for cell in of_mode:
        degree, flows = f"b_D = {cell.bundling_degree}", f"{cell.flows} flows"
        fixed, steps[cell] = (degree, flows) if over == "flows" else (flows, degree)
        series.setdefault(f"{fixed}, {MODES[anycast]}", []).append(cell)
    parts = missing_part(measured, list(series.values()))
    for name, cells in series.items():
        if measured.has(cells):
            values = measured.values(metric, cells)
            named = [steps[cell] for cell in cells]
            parts += judge.trend_parts(name, named, values, way, unit, batches=measured.batched(cells))
    return parts
