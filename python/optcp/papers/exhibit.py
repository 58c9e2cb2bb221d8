"""Exhibits: tables and figures of papers, with the studies that they need and their evaluation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from optcp.errors import RunFailed
from optcp.papers import judge
from optcp.papers.assume import Value, overrides
from optcp.papers.judge import Part
from optcp.papers.printed import statements_of
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from optcp.data.axes import Axis
    from optcp.data.cells import Cells
    from optcp.data.estimates import Estimates
    from optcp.papers.assume import Assumed
    from optcp.papers.kept import LongRun
    from optcp.papers.model import Claim, Key, Result, Row, Series
    from optcp.papers.options import Options, Size
    from optcp.plots import Figure
    from optcp.study import Grid, StudyResult
    from optcp.study.grid import Axes

Chosen = Mapping[str, Value]
"""Values of all unstated parameters, by name."""
Parts = Sequence[Part]
Differences = Mapping[str, "NDArray[np.float64]"]


@dataclass(frozen=True)
class Setup:
    """Studies that exhibits share, depending on the unstated parameters of their paper.

    Attributes
    ----------
    paper
        Authors and title of the paper.
    runs
        Number of runs of the paper; None if it has no such experiment or does not state the number.
    grids
        Function from parameter values to grids, by names such as an interpretation.
    seeds
        Function that returns the number of seeds of a named grid at a size; see :func:`runs_of`.
    assumed
        Unstated parameters.
    long_runs
        Function from parameter values and seeds to long runs whose outcome is stored with the project.
    """

    paper: str
    runs: int | None
    grids: Callable[[Chosen, Options], dict[str, Grid]]
    seeds: Callable[[str, Size], int]
    assumed: tuple[Assumed, ...] = ()
    long_runs: Callable[[Chosen, Sequence[int]], list[LongRun]] | None = None


def runs_of(
    runs: int, quick: int, others: Mapping[str, int | tuple[int, int]] | None = None
) -> Callable[[str, Size], int]:
    """Return a function with the number of seeds of each grid: ``runs``, or ``quick`` at the quick size.

    Parameters
    ----------
    others
        Exceptions by prefix of the grid name: (runs, quick), or one fixed number.
    """

    def seeds(grid: str, size: Size) -> int:
        own = next((own for name, own in (others or {}).items() if grid.startswith(name)), (runs, quick))
        if isinstance(own, int):
            return own
        return 0 if size.is_quick and not own[1] else size.of(*own)

    return seeds


def once(_grid: str, _size: Size) -> int:
    """Return 1, the number of seeds of grids without random draws."""
    return 1


def one_grid(
    scenario: Path, axes: Axes, assumed: tuple[Assumed, ...] = ()
) -> Callable[[Chosen, Options], dict[str, Grid]]:
    """Return the ``grids`` function of a set-up with one scenario file over axes."""

    def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
        return {scenario.stem: options.grid(scenario, overrides(assumed, chosen), axes, scenario.stem)}

    return grids


@dataclass(frozen=True)
class Found:
    """Inputs of the evaluation of an exhibit.

    Attributes
    ----------
    chosen
        Values of the unstated parameters.
    done
        Finished study of each grid, by name.
    changed
        Whether ``--set`` changed a parameter from its default, which published values are compared with.
    """

    chosen: Chosen
    done: Mapping[str, StudyResult]
    changed: bool

    def number(self, name: str) -> float:
        """Return the value of a numeric unstated parameter."""
        return float(self.chosen[name])

    @property
    def only(self) -> StudyResult:
        """Finished study of a set-up with one grid."""
        (done,) = self.done.values()
        return done


@dataclass(frozen=True)
class Findings:
    """Findings of an exhibit before claims are judged.

    Attributes
    ----------
    rows
        Values compared with published ones; :func:`rows` creates them from estimates.
    claims
        Parts of the verdict by statement id, or by id and interpretation. ``paper/exhibit/id`` names a statement about
        another exhibit.
    series
        Curves and histograms.
    notes
        Remarks for readers.
    kept
        Origin of each stored long run that was read.
    """

    rows: list[Row]
    claims: Mapping[str, Parts | Mapping[str, Parts]] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Evaluation:
    """Findings of an exhibit with judged claims."""

    rows: list[Row]
    claims: list[Claim]
    series: list[Series]
    notes: list[str] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)
    """Origin of each stored long run that was read."""


@dataclass(frozen=True)
class Exhibit:
    """Table or figure of a paper.

    Attributes
    ----------
    id
        ``<paper>/<exhibit>``.
    title, where
        Title, and place in the paper.
    setup
        Studies that it needs.
    find
        Function from the finished studies to rows, claims and curves.
    conclusions
        Function from the finished studies to conclusions of the paper: name with unit to values per seed (or per
        failure), shape (n,). The values are differences that are above zero on average if the paper is right. None
        without such conclusions.
    figures
        Function from the result to figures, such as :func:`optcp.plots.registry.curves`. None if a module registers
        one.
    """

    id: str
    title: str
    where: str
    setup: Setup
    find: Callable[[Found], Findings]
    conclusions: Callable[[Found], Differences] | None = None
    figures: Callable[[Result], list[Figure]] | None = None

    @property
    def paper(self) -> str:
        """Authors and title of the paper."""
        return self.setup.paper

    @property
    def paper_runs(self) -> int | None:
        """Number of runs of the paper."""
        return self.setup.runs

    @property
    def assumed(self) -> tuple[Assumed, ...]:
        """Unstated parameters."""
        return self.setup.assumed

    def studies(self, chosen: Chosen, options: Options) -> dict[str, Grid]:
        """Return the grids that it needs, by name."""
        return self.setup.grids(chosen, options)

    def seeds(self, grid: str, size: Size) -> int:
        """Return the number of seeds of a grid at a size."""
        return self.setup.seeds(grid, size)

    def found(self, chosen: Chosen, done: Mapping[str, StudyResult]) -> Found:
        """Return the inputs of the evaluation."""
        changed = any(chosen[parameter.name] != parameter.default for parameter in self.assumed)
        return Found(chosen, done, changed)

    def evaluate(self, chosen: Chosen, done: Mapping[str, StudyResult]) -> Evaluation:
        """Return rows, judged claims and curves from the finished studies.

        Raises
        ------
        LookupError
            If a statement of the paper is not judged, or an id does not exist.
        """
        findings = self.find(self.found(chosen, done))
        # A verdict without interpretations applies to the chosen TCP profile.
        reading = str(chosen.get("profile", "as assumed"))
        by_id = {
            id_: parts if isinstance(parts, Mapping) else {reading: parts} for id_, parts in findings.claims.items()
        }
        own = {id_: readings for id_, readings in by_id.items() if "/" not in id_}
        claims = judge.judge_each(self.id, own) + [_of_another(id_, by_id[id_]) for id_ in by_id if id_ not in own]
        return Evaluation(findings.rows, claims, findings.series, findings.notes, findings.kept)

    def contrasts(self, chosen: Chosen, done: Mapping[str, StudyResult]) -> Differences:
        """Return the differences of ``conclusions``."""
        return self.conclusions(self.found(chosen, done)) if self.conclusions else {}

    def long_runs(self, chosen: Chosen, seeds: Sequence[int]) -> list[LongRun]:
        """Return the long runs, of which ``--paper-scale`` performs the missing ones."""
        return self.setup.long_runs(chosen, seeds) if self.setup.long_runs else []


def _of_another(id_: str, readings: Mapping[str, Parts]) -> Claim:
    exhibit, _, name = id_.rpartition("/")
    statement = next(one for one in statements_of(exhibit) if one.id == name)
    return judge.claim(statement, readings)


def rows(
    metrics: Mapping[str, Estimates],
    printed: Mapping[str, Any] | None = None,
    why: str | Callable[[Key], str] = "",
    key: Key | Callable[[Key], Key] | None = None,
) -> list[Row]:
    """Return one row per cell and metric.

    Parameters
    ----------
    metrics
        Estimates by metric, in its unit, over the same axes.
    printed
        Published values by metric, nested lists of the shape of the axes (None: unknown); metrics may be missing.
    why
        Explanation of differences, for all rows or as a function of the key.
    key
        Leading part of each key before the axis values, or a function from these to the key.

    Examples
    --------
    >>> from optcp.data.axes import Axis
    >>> from optcp.data.cells import Cells
    >>> gain = Cells([[0, 2], [0, 4]], (Axis("delta_ms", ("0", "50")),), (1, 2))
    >>> [(row.key, row.measured) for row in rows({"gain_pct": gain.mean()})]
    [({'delta_ms': 0}, 0.0), ({'delta_ms': 50}, 3.0)]
    """
    axes = next(iter(metrics.values())).axes
    found = []
    for at in itertools.product(*(range(len(axis)) for axis in axes)):
        here: Key = {axis.name: key_value(axis, i) for axis, i in zip(axes, at, strict=True)}
        here = key(here) if callable(key) else {**(key or {}), **here}
        for metric, estimates in metrics.items():
            value: Any = (printed or {}).get(metric)
            for i in at:
                value = None if value is None else value[i]
            found.append(row(here, metric, value, estimates.interval(at), why(here) if callable(why) else why))
    return found


def behind(more: Key) -> Callable[[Key], Key]:
    """Return a ``key`` function for :func:`rows` that appends a constant part."""
    return lambda here: {**here, **more}


def key_value(axis: Axis, place: int) -> str | int | float:
    """Return the value of an axis for keys: a plain number, or else the text as written."""
    if axis.numbers is None or axis.unit:
        return axis.values[place]
    number = axis.numbers[place]
    return int(number) if number.is_integer() else number


def defined(cells: Cells, what: str) -> Cells:
    """Return the cells if all values are defined.

    Raises
    ------
    RunFailed
        With the message ``what`` if a value is undefined.
    """
    if (cells.values != cells.values).any():
        raise RunFailed(what)
    return cells
