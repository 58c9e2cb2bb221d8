"""What a study runs: branches of one scenario, the same seeds for each."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.scenario import KERNELS

if TYPE_CHECKING:
    from collections.abc import Sequence

STORE_FORMAT = 3
"""Part of a study's hash; raise it when the form of stored runs changes."""


@dataclass(frozen=True)
class Branch:
    """One cell of a study's grid.

    Attributes
    ----------
    key
        Axis (a key path of the scenario) to the value as written.
    scenario
        The world with these values in it.
    """

    key: dict[str, str]
    scenario: _core.Scenario


@dataclass(frozen=True)
class Study:
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
    """

    title: str
    branches: tuple[Branch, ...]
    digest: bool = False
    fork: bool = True
    kernel: str = KERNELS[0]

    @classmethod
    def grid(
        cls,
        path: Path,
        overrides: Sequence[tuple[str, str]] = (),
        axes: Sequence[tuple[str, Sequence[str]]] = (),
        *,
        title: str | None = None,
        digest: bool = False,
        fork: bool = True,
        kernel: str = KERNELS[0],
    ) -> Study:
        """Every combination of the axes' values, each on top of ``overrides``.

        Raises
        ------
        optcp._core.ScenarioError
            If the file, an override or an axis is wrong; every branch is checked before anything runs.
        """
        names = [name for name, _ in axes]
        cells = [dict(zip(names, values, strict=True)) for values in itertools.product(*(values for _, values in axes))]
        return cls.of_cells(path, cells, overrides, title=title, digest=digest, fork=fork, kernel=kernel)

    @classmethod
    def of_cells(
        cls,
        path: Path,
        cells: Sequence[dict[str, str]],
        overrides: Sequence[tuple[str, str]] = (),
        *,
        title: str | None = None,
        digest: bool = False,
        fork: bool = True,
        kernel: str = KERNELS[0],
    ) -> Study:
        """One branch a cell, its settings on top of ``overrides``: for cells in which several settings change together.

        Raises
        ------
        optcp._core.ScenarioError
            If the file, an override or a cell is wrong; every branch is checked before anything runs.
        """
        branches: list[Branch] = []
        for cell in cells:
            # The file is read once where each cell sets what the first one does.
            if branches and branches[0].key.keys() == cell.keys():
                world = branches[0].scenario.override(list(cell.items()))
            else:
                world = _core.Scenario.load(str(path), [*overrides, *cell.items()])
            branches.append(Branch(cell, world))
        return cls(title or path.stem, tuple(branches), digest, fork, kernel)

    @functools.cached_property
    def hash(self) -> str:
        """SHA-256 of all that a stored run depends on: worlds, digest, fork, kernel, and the compiled simulator."""
        parts: list[Any] = [STORE_FORMAT, extension_sha256(), self.digest, self.fork, self.kernel]
        parts += [branch.scenario.sha256 for branch in self.branches]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@functools.cache
def extension_sha256() -> str:
    """SHA-256 of the file of the compiled simulator: another build never reads this one's stored runs."""
    file = _core.__file__
    if file is None:
        raise RuntimeError("the compiled simulator has no file")
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
