"""Grids of worlds made from one scenario: what a study runs, the same seeds in each cell."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from optcp import _core
from optcp.data.axes import Axis
from optcp.scenarios.scenario import KERNELS
from optcp.study import room

# fmt: off
OTHERS = {
    "ack", "acks", "arrived", "bursts", "bytes", "bytes_before", "cause", "cell", "cwnd_bytes", "dropped",
    "dropped_bytes", "dropped_packets", "ecn_reductions", "ended", "entries", "event", "fibre", "finished",
    "flight_segments", "flow", "from", "from_ps", "gap_ps", "group", "longest_ps", "lost", "lost_bytes", "lost_packets",
    "marked", "marking", "max_packets", "mean_bytes", "mean_packets", "mean_ps", "metric", "needless", "node",
    "of", "p50_ps", "p95_ps", "p99_ps", "packets", "phase", "port", "protection", "reason", "resent", "route",
    "router", "sack", "seed", "segments", "seq", "source", "ssthresh_bytes", "start_ps", "time_ps", "timeouts",
    "to", "unit", "until_ps", "usual_gap_ps", "utilisation", "value",
}
# fmt: on
"""Columns of tables, whose names no axis may take."""


MOST_RESOLVED = 16
"""Resolved worlds in memory: those of all cells of a large network would fill it."""


@dataclass(frozen=True)
class Branch:
    """One cell of a grid.

    Attributes
    ----------
    key
        Axis (a key path of the scenario) to the value as written.
    scenario
        The world with these values in it.
    """

    key: dict[str, str]
    scenario: _core.Scenario

    @functools.cached_property
    def id(self) -> str:
        """What the cell is called in files: its values, and the beginning of a hash of its world without the title."""
        values = ",".join(f"{name.rpartition('.')[2]}={value}" for name, value in self.key.items())
        words = re.sub(r"[^A-Za-z0-9._=,+-]+", "", values)[:60] or "cell"
        return f"{words}-{self.scenario.sha256[:8]}"

    @functools.cached_property
    def observe(self) -> tuple[str, ...]:
        """Names of the observations, in the order of the scenario."""
        return tuple(self.scenario.summary()["observe"])

    @property
    def resolved(self) -> dict[str, Any]:
        """The world with every default filled in."""
        return _resolved(self.scenario)

    def silences(self, warning: str) -> bool:
        """Whether the scenario file silences a warning."""
        return self.scenario.silences(warning)


@functools.lru_cache(MOST_RESOLVED)
def _resolved(scenario: _core.Scenario) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(scenario.resolved())
    return found


class UncheckedBranch(Branch):
    """A cell whose world is made when it is asked for: thousands of worlds of a large network take minutes."""

    def __init__(self, key: dict[str, str], make: Callable[[], _core.Scenario]) -> None:
        for name, value in (("key", key), ("_make", make)):
            object.__setattr__(self, name, value)

    @functools.cached_property
    def scenario(self) -> _core.Scenario:
        """The world with these values in it."""
        made: _core.Scenario = self._make()  # type: ignore[attr-defined]
        return made


class StoredBranch(Branch):
    """A cell of a study that is read back: its world is known in its resolved form only, which is read when needed."""

    def __init__(
        self, key: dict[str, str], id_: str, observe: tuple[str, ...], read: Callable[[str], dict[str, Any]]
    ) -> None:
        for name, value in (("key", key), ("id", id_), ("observe", observe), ("_read", read)):
            object.__setattr__(self, name, value)

    @property
    def resolved(self) -> dict[str, Any]:
        """The world with every default filled in."""
        found: dict[str, Any] = self._read(self.id)  # type: ignore[attr-defined]
        return found

    def silences(self, warning: str) -> bool:  # noqa: ARG002 - the resolved form does not say
        """Return False: what reads a study back shows every warning."""
        return False


Values = Sequence[str] | Mapping[str, Mapping[str, str]]
"""Of an axis: texts of its key path, or what each value is called and the settings that it stands for."""


@dataclass(frozen=True)
class Grid:
    """A scenario with overrides and axes, ready to run for any seed.

    Attributes
    ----------
    title
        For progress lines.
    branches
        All cells of the grid, the last axis fastest.
    digest
        Whether runs also compute ``records_sha256``.
    fork
        Whether branches share their warm-up; results are equal either way.
    kernel
        What drives the runs, "fast" or "reference"; results are equal either way.
    named
        The axes where they have names and values of their own; None where they follow from the branches' keys.
    """

    title: str
    branches: tuple[Branch, ...]
    digest: bool = False
    fork: bool = True
    kernel: str = KERNELS[0]
    named: tuple[Axis, ...] | None = None

    @classmethod
    def grid(
        cls,
        world: Path | _core.Scenario,
        overrides: Sequence[tuple[str, str]] = (),
        axes: Sequence[tuple[str, Values]] = (),
        *,
        title: str | None = None,
        digest: bool = False,
        fork: bool = True,
        kernel: str = KERNELS[0],
        check: bool = True,
    ) -> Grid:
        """Every combination of the axes' values, each on top of ``overrides``.

        Parameters
        ----------
        world
            A scenario, or its file.
        axes
            Each a key path and its values as written; or a name, and for each of its values the settings that it
            stands for.
        check
            Whether every branch is made now; else but for the first one when it is asked for.

        Raises
        ------
        optcp._core.ScenarioError
            If the file, an override or an axis is wrong; every branch is checked before anything runs.
        """
        points = [
            list(values.values()) if isinstance(values, Mapping) else [{name: value} for value in values]
            for name, values in axes
        ]
        for name, values in axes:
            # Refuses a value that is there twice.
            Axis(name, tuple(values))
        room.check_count(math.prod(len(one) for one in points), room.CELL, "cells")
        cells = [dict(itertools.chain(*(one.items() for one in cell))) for cell in itertools.product(*points)]
        made = cls.of_cells(world, cells, overrides, title=title, digest=digest, fork=fork, kernel=kernel, check=check)
        if not any(isinstance(values, Mapping) for _, values in axes):
            return made
        short = short_names([name for name, _ in axes])
        return replace(made, named=tuple(Axis(short[name], tuple(values)) for name, values in axes))

    @classmethod
    def of_cells(
        cls,
        world: Path | _core.Scenario,
        cells: Sequence[dict[str, str]],
        overrides: Sequence[tuple[str, str]] = (),
        *,
        title: str | None = None,
        digest: bool = False,
        fork: bool = True,
        kernel: str = KERNELS[0],
        check: bool = True,
    ) -> Grid:
        """One branch a cell, its settings on top of ``overrides``: for cells in which several settings change together.

        Raises
        ------
        optcp._core.ScenarioError
            If the file, an override or a cell is wrong; every branch is checked before anything runs.
        """
        branches: list[Branch] = []
        growth = room.Growth(len(cells), "cells")
        for cell in cells:
            # A file is parsed once: a cell overrides what the first one has on the axes.
            alike = branches and branches[0].key.keys() == cell.keys()
            settings = list(cell.items()) if alike else [*overrides, *cell.items()]
            base = branches[0].scenario if alike else world
            make = functools.partial(_made, base, settings)
            branches.append(Branch(cell, make()) if check or not branches else UncheckedBranch(cell, make))
            growth.check(len(branches))
        name = world.stem if isinstance(world, Path) else world.summary()["title"]
        return cls(title or name, tuple(branches), digest, fork, kernel)

    @functools.cached_property
    def firsts(self) -> tuple[int, ...]:
        """For each cell the place of the first one that is the same world: it is run and stored for all of them."""
        places: dict[str, int] = {}
        return tuple(places.setdefault(branch.id, at) for at, branch in enumerate(self.branches))

    @functools.cached_property
    def distinct(self) -> tuple[int, ...]:
        """Places of cells without those that are the world of an earlier one."""
        return tuple(sorted(set(self.firsts)))

    @functools.cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the grid, by the shortest names that tell them apart."""
        if self.named is not None:
            return self.named
        values = {
            name: tuple(dict.fromkeys(branch.key[name] for branch in self.branches if name in branch.key))
            for name in self.keys
        }
        return tuple(Axis(name, values[key]) for key, name in short_names(self.keys).items())

    @functools.cached_property
    def keys(self) -> tuple[str, ...]:
        """Key paths of the axes."""
        return tuple(dict.fromkeys(name for branch in self.branches for name in branch.key))

    @functools.cached_property
    def columns(self) -> tuple[str, ...]:
        """What the axes are called in tables."""
        return tuple(axis.column for axis in self.axes)

    @functools.cached_property
    def _places(self) -> dict[str, int]:
        return {branch.id: place for place, branch in enumerate(self.branches)}

    def written(self, branch: Branch) -> list[str]:
        """What a branch has on each axis, as written; an empty text where it leaves it as it is."""
        if self.named is None:
            return [branch.key.get(key, "") for key in self.keys]
        at = np.unravel_index(self._places[branch.id], [len(axis) for axis in self.axes])
        return [axis.values[place] for axis, place in zip(self.axes, at, strict=True)]

    def values(self, branch: Branch) -> list[float | str]:
        """The same in the columns of tables: quantities in SI, NaN where it leaves one as it is."""

        def one(text: str, axis: Axis, known: dict[str, float | str]) -> float | str:
            return known.get(text, math.nan if axis.numbers else "")

        texts = self.written(branch)
        return [one(text, axis, known) for text, axis, known in zip(texts, self.axes, self._coordinates, strict=True)]

    @functools.cached_property
    def _coordinates(self) -> list[dict[str, float | str]]:
        """For each axis what tables have for a value as written."""
        return [dict(zip(axis.values, axis.coordinates, strict=True)) for axis in self.axes]

    @functools.cached_property
    def hash(self) -> str:
        """SHA-256 of all that stored runs depend on: worlds, axes, digest, fork, kernel, and the compiled simulator."""
        parts: list[Any] = [extension_sha256(), self.digest, self.fork, self.kernel, *self.columns]
        parts += [branch.scenario.sha256 for branch in self.branches]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _made(base: Path | _core.Scenario, settings: list[tuple[str, str]]) -> _core.Scenario:
    return _core.Scenario.load(str(base), settings) if isinstance(base, Path) else base.override(settings)


def short_names(keys: Sequence[str]) -> Mapping[str, str]:
    """Name axes by the last parts of their key paths, as few as tell them apart and are no column of a table."""
    names = {}
    for key in keys:
        parts = key.split(".")
        for taken in range(1, len(parts) + 1):
            end = parts[-taken:]
            name = "_".join(end)
            alone = sum(other.split(".")[-taken:] == end for other in keys) == 1
            if alone and name not in OTHERS and not name.isdigit():
                break
        names[key] = f"axis_{name}" if name in OTHERS else name
    return names


@functools.cache
def extension_sha256() -> str:
    """SHA-256 of the file of the compiled simulator: another build never reads this one's stored runs."""
    file = _core.__file__
    if file is None:
        raise RuntimeError("the compiled simulator has no file")
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
