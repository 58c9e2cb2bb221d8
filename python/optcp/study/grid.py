"""Grids of scenarios over swept parameters, with the same seeds in each combination."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from optcp import _core
from optcp.data.axes import Axis
from optcp.scenarios.branch import Branch, UncheckedBranch
from optcp.scenarios.scenario import ENGINES, Settings, as_written, written
from optcp.study import room

Values = Sequence[Any] | Mapping[Any, Settings]
"""Values of an axis: values of its key path, or settings by name."""
Axes = Mapping[str, Any]
""":data:`Values` by key path or name."""


@dataclass(frozen=True)
class Grid:
    """Scenario with overrides and axes.

    Attributes
    ----------
    title
        Title in progress lines.
    branches
        All parameter combinations, the last axis fastest.
    digest
        Whether runs also compute ``records_sha256``.
    fork
        Whether branches share their warm-up; results are equal either way.
    engine
        Simulation engine, "fast" or "reference"; results are equal either way.
    named
        Axes with given names and values; None if they follow from the keys of the branches.
    """

    title: str
    branches: tuple[Branch, ...]
    digest: bool = False
    fork: bool = True
    engine: str = ENGINES[0]
    named: tuple[Axis, ...] | None = None

    @classmethod
    def grid(
        cls,
        world: Path | _core.Scenario,
        overrides: Settings | None = None,
        axes: Axes | None = None,
        *,
        title: str | None = None,
        digest: bool = False,
        fork: bool = True,
        engine: str = ENGINES[0],
        check: bool = True,
    ) -> Grid:
        """Create the grid of all combinations of axis values, with ``overrides`` applied first.

        Parameters
        ----------
        world
            A scenario, or its file.
        axes
            Each a key path and its values; or a name, and for each of its values the settings that it stands for.
        check
            Whether every branch is made now; else but for the first one when it is asked for.

        Raises
        ------
        optcp._core.ScenarioError
            If the file, an override or an axis is wrong; every branch is checked before anything runs.
        """
        axes = axes or {}
        points = [
            list(values.values()) if isinstance(values, Mapping) else [{name: value} for value in values]
            for name, values in axes.items()
        ]
        # An axis refuses a value that is there twice.
        named = [Axis(name, tuple(map(as_written, values))) for name, values in axes.items()]
        room.check_count(math.prod(len(one) for one in points), room.CELL, "cells")
        cells = [dict(itertools.chain(*(one.items() for one in cell))) for cell in itertools.product(*points)]
        made = cls.of_cells(world, cells, overrides, title=title, digest=digest, fork=fork, engine=engine, check=check)
        if not any(isinstance(values, Mapping) for values in axes.values()):
            return made
        short = short_names(list(axes))
        return replace(made, named=tuple(replace(axis, name=short[axis.name]) for axis in named))

    @classmethod
    def of_cells(
        cls,
        world: Path | _core.Scenario,
        cells: Sequence[Settings],
        overrides: Settings | None = None,
        *,
        title: str | None = None,
        digest: bool = False,
        fork: bool = True,
        engine: str = ENGINES[0],
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
        common = written(overrides or {})
        for cell in (dict(written(one)) for one in cells):
            # A file is parsed once: a cell overrides what the first one has on the axes.
            alike = branches and branches[0].key.keys() == cell.keys()
            settings = list(cell.items()) if alike else [*common, *cell.items()]
            base = branches[0].scenario if alike else world
            make = functools.partial(_made, base, settings)
            branches.append(Branch(cell, make()) if check or not branches else UncheckedBranch(cell, make))
            growth.check(len(branches))
        name = world.stem if isinstance(world, Path) else world.summary()["title"]
        return cls(title or name, tuple(branches), digest, fork, engine)

    @functools.cached_property
    def firsts(self) -> tuple[int, ...]:
        """Index of the first branch with an equal scenario, per branch; only this one is run and stored."""
        places: dict[str, int] = {}
        return tuple(places.setdefault(branch.id, at) for at, branch in enumerate(self.branches))

    @functools.cached_property
    def distinct(self) -> tuple[int, ...]:
        """Indices of branches that do not repeat an earlier scenario."""
        return tuple(sorted(set(self.firsts)))

    @functools.cached_property
    def axes(self) -> tuple[Axis, ...]:
        """Axes of the grid, with the shortest distinct names."""
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
        """Names of the axes in tables."""
        return tuple(axis.column for axis in self.axes)

    @functools.cached_property
    def _places(self) -> dict[str, int]:
        return {branch.id: place for place, branch in enumerate(self.branches)}

    def written(self, branch: Branch) -> list[str]:
        """Return the values of a branch on each axis, as written; empty if unchanged."""
        if self.named is None:
            return [branch.key.get(key, "") for key in self.keys]
        at = np.unravel_index(self._places[branch.id], [len(axis) for axis in self.axes])
        return [axis.values[place] for axis, place in zip(self.axes, at, strict=True)]

    def values(self, branch: Branch) -> list[float | str]:
        """Return the values of a branch for table columns: quantities in SI units, NaN if unchanged."""

        def one(text: str, axis: Axis, known: dict[str, float | str]) -> float | str:
            return known.get(text, math.nan if axis.numbers else "")

        texts = self.written(branch)
        return [one(text, axis, known) for text, axis, known in zip(texts, self.axes, self._coordinates, strict=True)]

    @functools.cached_property
    def _coordinates(self) -> list[dict[str, float | str]]:
        """Table values by value as written, per axis."""
        return [dict(zip(axis.values, axis.coordinates, strict=True)) for axis in self.axes]

    @functools.cached_property
    def hash(self) -> str:
        """SHA-256 of all that determines stored runs.

        These are scenarios with the names of their cells, axes, digest, fork, engine, and the compiled simulator.
        """
        parts: list[Any] = [extension_sha256(), self.digest, self.fork, self.engine, *self.columns]
        parts += [[branch.id, branch.scenario.sha256] for branch in self.branches]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _made(base: Path | _core.Scenario, settings: list[tuple[str, str]]) -> _core.Scenario:
    return _core.Scenario.load(str(base), settings) if isinstance(base, Path) else base.override(settings)


def short_names(keys: Sequence[str]) -> Mapping[str, str]:
    """Return names from the last parts of key paths, as short as distinct names allow, and different from columns."""
    columns = _core.columns()
    names = {}
    for key in keys:
        parts = key.split(".")
        for taken in range(1, len(parts) + 1):
            end = parts[-taken:]
            name = "_".join(end)
            alone = sum(other.split(".")[-taken:] == end for other in keys) == 1
            if alone and name not in columns and not name.isdigit():
                break
        names[key] = f"axis_{name}" if name in columns else name
    return names


@functools.cache
def extension_sha256() -> str:
    """Return the SHA-256 of the compiled simulator, so that builds never mix their stored runs."""
    file = _core.__file__
    if file is None:
        raise RuntimeError("the compiled simulator has no file")
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
