"""What an experiment is, what its result holds, and the registry of all of them."""

from __future__ import annotations

import abc
import hashlib
import importlib
import json
import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NotRequired, TypedDict, TypeVar

from optcp import _core, stats, stored
from optcp.errors import InputError, nearest
from optcp.evidence import outside
from optcp.shipped import scenarios
from optcp.study import Branch, Grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from optcp.study import Done
    from optcp.study.pool import Progress

MODULES = (
    "conformance",
    "packetdrill",
    "loss",
    "delayed_ack",
    "cubic",
    "controls",
    "bbr_states",
    "buffer",
    "share",
    "friendliness",
    "bbr_share",
)
"""Modules of this package that register experiments, in the order of the page."""
MOST_DIGITS = 15
"""A figure has no more decimals than this."""


@dataclass(frozen=True)
class Compared:
    """An outside figure beside one of ours."""

    source: str
    text: str
    verdict: str


@dataclass(frozen=True)
class Row:
    """One figure of ours.

    Attributes
    ----------
    key
        What it is of.
    value, ci95
        The figure and its 95 % interval; no interval for a count, open ends where one run is not enough.
    n
        Runs or cases behind it.
    outside
        What it is compared with; empty where nothing outside is known.
    """

    key: dict[str, str]
    value: float
    ci95: tuple[float | None, float | None] | None
    n: int
    outside: list[Compared] = field(default_factory=list)


class Cell(TypedDict):
    """What is read of a cell in a result's provenance."""

    seeds: tuple[int, int]


class Provenance(TypedDict):
    """What is read of a result's provenance: of runs, or of cases."""

    version: str
    cells: NotRequired[list[Cell]]
    metrics_sha256: NotRequired[str]
    cases_sha256: NotRequired[str]
    failed: NotRequired[list[str]]


@dataclass(frozen=True)
class Result:
    """What an experiment found, as it is stored (``<name>.json``).

    Attributes
    ----------
    experiment, title
        Its name and what it is about.
    about
        Paragraphs: the world, what counts, what is known of differences.
    value, unit_n
        Headings of the columns of figures and of their number.
    digits
        Decimals that are shown.
    rows
        The figures.
    provenance
        Version, seeds, digests, and each cell with the settings that make it again.
    """

    experiment: str
    title: str
    about: list[str]
    value: str
    unit_n: str
    digits: int
    rows: list[Row]
    provenance: Annotated[dict[str, Any], Provenance]

    def to_json(self) -> str:
        """Write it for a file."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        ValueError
            If the text is no experiment's result.
        """
        result = stored.one(cls, stored.table(text))
        if not 0 <= result.digits <= MOST_DIGITS:
            raise ValueError(f"`digits` is not between 0 and {MOST_DIGITS}")
        digest = "metrics_sha256" if "cells" in result.provenance else "cases_sha256"
        stored.need(result.provenance, [digest], "provenance.")
        if result.provenance.get("cells") == []:
            raise ValueError("`provenance.cells` is empty")
        if result.experiment == "packetdrill":
            stored.need(result.provenance, ["failed"], "provenance.")
        return result


@dataclass(frozen=True)
class Setting:
    """How experiments are run.

    Attributes
    ----------
    seeds
        Runs of each cell; None for the experiment's own number.
    root
        Where finished runs are and go.
    jobs
        Threads.
    progress
        Notified of progress.
    """

    seeds: int | None
    root: Path
    jobs: int
    progress: Progress


class Experiment(abc.ABC):
    """Something that is compared with evidence from outside; made once, by :func:`experiment`."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[tuple[str, ...]]
    value: ClassVar[str]
    unit_n: ClassVar[str] = "runs"
    digits: ClassVar[int] = 3

    @abc.abstractmethod
    def run(self, setting: Setting) -> Result:
        """Run it and compare.

        Raises
        ------
        optcp.errors.Interrupted, optcp.errors.RunFailed
            See :func:`optcp.study.runner.execute`.
        """

    def result(self, rows: list[Row], provenance: dict[str, Any]) -> Result:
        """Put rows and provenance into the form that is stored."""
        return Result(
            self.name,
            self.title,
            list(self.about),
            self.value,
            self.unit_n,
            self.digits,
            rows,
            {"version": _core.version(), **provenance},
        )

    def row(self, key: dict[str, str], ours: stats.Interval, more: Sequence[outside.Figure] = ()) -> Row:
        """Compare one figure with all that is known of it outside, and with ``more``."""
        compared = [
            Compared(figure.source, figure.text, figure.verdict(ours))
            for figure in (*outside.figures(self.name, key), *more)
        ]
        return Row(key, round(ours.estimate, 6), (_end(ours.low), _end(ours.high)), ours.n, compared)


def _end(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def cells(scenario: str, settings: Iterable[Sequence[tuple[str, str]]], title: str) -> Grid:
    """Make a study of a shipped scenario from cells, each the overrides that make it."""
    path = str(scenarios()[scenario])
    branches = [Branch(dict(pairs), _core.Scenario.load(path, list(pairs))) for pairs in settings]
    return Grid(title, tuple(branches))


def provenance(scenario: str, done: Mapping[str, Done]) -> dict[str, Any]:
    """Say where figures come from.

    ``metrics_sha256`` is over the digests of all runs in (study, cell, seed) order; each cell has that of its first
    seed, so that a single run shows whether a figure still holds.
    """
    everything = hashlib.sha256()
    listed = []
    for study in done.values():
        runs = [of_seed for _, of_seed in study]
        for index, branch in enumerate(study.grid.branches):
            digests = [of_seed[index].metrics_sha256 for of_seed in runs]
            everything.update(b"".join(bytes.fromhex(digest) for digest in digests))
            listed.append(
                {
                    "set": [f"{name}={value}" for name, value in branch.key.items()],
                    "seeds": [study.seeds[0], study.seeds[-1]],
                    "metrics_sha256": digests[0],
                }
            )
    return {"scenario": scenario, "metrics_sha256": everything.hexdigest(), "cells": listed}


_registry: dict[str, Experiment] = {}

E = TypeVar("E", bound=type[Experiment])


def experiment(cls: E) -> E:
    """Register an experiment (class decorator)."""
    if cls.name in _registry:
        raise ValueError(f"two experiments are called {cls.name}")
    _registry[cls.name] = cls()
    return cls


def experiments() -> dict[str, Experiment]:
    """Every experiment by name, in the order of the page."""
    modules = [importlib.import_module(f"optcp.evidence.{module}").__name__ for module in MODULES]
    # Whoever imports one of them first must not change the order.
    return dict(sorted(_registry.items(), key=lambda item: modules.index(type(item[1]).__module__)))


def select(names: Sequence[str]) -> list[Experiment]:
    """The experiments of these names; all without a name.

    Raises
    ------
    InputError
        If a name is unknown.
    """
    known = experiments()
    for name in names:
        if name not in known:
            raise InputError(f"there is no experiment {name!r}; {nearest(name, known)}")
    return [known[name] for name in names or known]
