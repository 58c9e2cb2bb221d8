"""What an exhibit is: one table or figure of a paper as a value, and what it finds in the runs of its set-up."""

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
"""Every unstated parameter's value, by name."""
Parts = Sequence[Part]
Differences = Mapping[str, "NDArray[np.float64]"]


@dataclass(frozen=True)
class Setup:
    """Worlds that exhibits share, under the unstated parameters of their paper.

    Attributes
    ----------
    paper
        Who wrote it and what it is called.
    runs
        The paper's own number of random cases; None where it has no such experiment, or does not state it.
    grids
        From chosen values to the grids of worlds, by a name of their own, such as an interpretation.
    seeds
        How many seeds the grid of a name has at a size; :func:`runs_of` makes the usual ones.
    assumed
        The unstated parameters.
    long_runs
        From chosen values and seeds to runs of hours whose outcome is stored with the project.
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
    """Seeds of each grid: ``runs``, or of a quick look ``quick``, and none where that is 0.

    Parameters
    ----------
    others
        Of grids whose names begin so: two numbers of their own, or the one that they always have.
    """

    def seeds(grid: str, size: Size) -> int:
        own = next((own for name, own in (others or {}).items() if grid.startswith(name)), (runs, quick))
        if isinstance(own, int):
            return own
        return 0 if size.is_quick and not own[1] else size.of(*own)

    return seeds


def once(_grid: str, _size: Size) -> int:
    """Seeds of each grid where nothing is drawn: one, whatever is asked for."""
    return 1


def one_grid(
    scenario: Path, axes: Axes, assumed: tuple[Assumed, ...] = ()
) -> Callable[[Chosen, Options], dict[str, Grid]]:
    """The grids of a set-up that has one: a scenario's file over axes (:meth:`optcp.study.grid.Grid.grid`)."""

    def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
        return {scenario.stem: options.grid(scenario, overrides(assumed, chosen), axes, scenario.stem)}

    return grids


@dataclass(frozen=True)
class Found:
    """What an exhibit is made from.

    Attributes
    ----------
    chosen
        The unstated parameters' values.
    done
        The finished runs of each grid, by its name.
    changed
        Whether ``--set`` changed the world from the one that the paper's values are compared with.
    """

    chosen: Chosen
    done: Mapping[str, StudyResult]
    changed: bool

    def number(self, name: str) -> float:
        """An unstated parameter that is a number."""
        return float(self.chosen[name])

    @property
    def only(self) -> StudyResult:
        """The runs of a set-up that has one grid."""
        (done,) = self.done.values()
        return done


@dataclass(frozen=True)
class Findings:
    """What an exhibit finds.

    Attributes
    ----------
    rows
        Values compared with printed ones; :func:`rows` makes them from estimates.
    claims
        The id of each of the exhibit's statements, to the parts of its judgement, or to those under each
        interpretation. ``paper/exhibit/id`` is a statement about another exhibit.
    series
        Curves and histograms.
    notes
        What a reader must know beside the numbers.
    kept
        Of each run that is stored with the project and was read in place of a new one: where its outcome comes from.
    """

    rows: list[Row]
    claims: Mapping[str, Parts | Mapping[str, Parts]] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Evaluation:
    """What an exhibit makes of its finished studies: findings whose claims are judged."""

    rows: list[Row]
    claims: list[Claim]
    series: list[Series]
    notes: list[str] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)
    """Of each run that is stored with the project and was read in place of a new one: where its outcome comes from."""


@dataclass(frozen=True)
class Exhibit:
    """One table or figure of a paper.

    Attributes
    ----------
    id
        ``<paper>/<exhibit>``.
    title, where
        What it shows, and its place in the paper.
    setup
        The worlds that it is made from.
    find
        From their finished runs to rows, claims and curves.
    conclusions
        From the same to the paper's conclusions as differences that are above zero on average if the paper is right:
        name, with its unit, to a value a seed (where failures are what is drawn, a value a failure), shape (n,). None
        where no conclusion is a plain difference.
    figures
        From the result to its figures, such as :func:`optcp.plots.registry.curves`. None where a module registers what
        draws it.
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
        """Who wrote the paper and what it is called."""
        return self.setup.paper

    @property
    def paper_runs(self) -> int | None:
        """The paper's own number of random cases."""
        return self.setup.runs

    @property
    def assumed(self) -> tuple[Assumed, ...]:
        """The unstated parameters."""
        return self.setup.assumed

    def studies(self, chosen: Chosen, options: Options) -> dict[str, Grid]:
        """The grids that it needs, by name."""
        return self.setup.grids(chosen, options)

    def seeds(self, grid: str, size: Size) -> int:
        """How many seeds a grid has at a size."""
        return self.setup.seeds(grid, size)

    def found(self, chosen: Chosen, done: Mapping[str, StudyResult]) -> Found:
        """What it is made from."""
        changed = any(chosen[parameter.name] != parameter.default for parameter in self.assumed)
        return Found(chosen, done, changed)

    def evaluate(self, chosen: Chosen, done: Mapping[str, StudyResult]) -> Evaluation:
        """Rows, judged claims and curves from the finished runs.

        Raises
        ------
        LookupError
            If a statement of the paper is not judged, or there is none of an id.
        """
        findings = self.find(self.found(chosen, done))
        # A judgement without interpretations is under the TCP that was chosen.
        reading = str(chosen.get("profile", "as assumed"))
        by_id = {
            id_: parts if isinstance(parts, Mapping) else {reading: parts} for id_, parts in findings.claims.items()
        }
        own = {id_: readings for id_, readings in by_id.items() if "/" not in id_}
        claims = judge.judge_each(self.id, own) + [_of_another(id_, by_id[id_]) for id_ in by_id if id_ not in own]
        return Evaluation(findings.rows, claims, findings.series, findings.notes, findings.kept)

    def contrasts(self, chosen: Chosen, done: Mapping[str, StudyResult]) -> Differences:
        """See ``conclusions``."""
        return self.conclusions(self.found(chosen, done)) if self.conclusions else {}

    def long_runs(self, chosen: Chosen, seeds: Sequence[int]) -> list[LongRun]:
        """Runs of hours, whose outcome is stored with the project; ``--paper-scale`` makes those that are missing."""
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
    """A row a cell and metric, cell by cell.

    Parameters
    ----------
    metrics
        Estimates by metric, in its unit, all over the same axes.
    printed
        By metric the printed values, nested lists of the axes' shape (None: lost); a metric may be missing.
    why
        What is known about a difference, for all rows or from a row's key.
    key
        What each row's key has in front of the axes' values; or, from these, the whole key.

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
    """Of :func:`rows` the ``key`` that has something behind the axes' values."""
    return lambda here: {**here, **more}


def key_value(axis: Axis, place: int) -> str | int | float:
    """What the key of a row or curve has of an axis: a plain number as such, anything else as written."""
    if axis.numbers is None or axis.unit:
        return axis.values[place]
    number = axis.numbers[place]
    return int(number) if number.is_integer() else number


def defined(cells: Cells, what: str) -> Cells:
    """The cells themselves.

    Raises
    ------
    RunFailed
        If a value is undefined, with what that means.
    """
    if (cells.values != cells.values).any():
        raise RunFailed(what)
    return cells
