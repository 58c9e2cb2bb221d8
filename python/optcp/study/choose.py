"""Selection of runs of a study by parameter values and seed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from optcp.data.axes import Axis
from optcp.errors import InputError, listed, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.scenarios.branch import Branch
    from optcp.scenarios.run import Run
    from optcp.study.done import StudyResult

MOST_VALUES = 12
"""Maximum number of values in a message."""


def part(done: StudyResult, cells: Sequence[tuple[str, str]] = (), seed: int | None = None) -> StudyResult:
    """Return the selected part of a study.

    Parameters
    ----------
    cells
        Swept parameters, by name or key path, with one value each.
    seed
        Seed of the runs; None for all seeds.

    Raises
    ------
    InputError
        If a parameter, value or seed does not exist, or no combination has all values.
    """
    branches = list(done.grid.branches)
    for name, value in cells:
        place, axis = _axis(done, name)
        try:
            wanted = axis.values[axis.index(value)]
        except InputError as error:
            raise InputError(f"--cell {name}={value}: {error}") from error
        branches = [branch for branch in branches if _written(done, branch)[place] == wanted]
    if not branches:
        there = "; ".join(", ".join(f"{key}={value}" for key, value in branch.key.items()) for branch in _first(done))
        raise InputError(f"no parameter combination has all of these values; the first ones are: {there}")
    if seed is not None and seed not in done.seeds:
        raise InputError(f"--seed {seed}: the study has no such seed; seeds: {_seeds(done.seeds)}")
    seeds = done.seeds if seed is None else (seed,)
    return replace(done, grid=replace(done.grid, branches=tuple(branches), named=None), seeds=seeds)


def one(done: StudyResult, cells: Sequence[tuple[str, str]] = (), seed: int | None = None) -> Run:
    """Return the selected run.

    Raises
    ------
    InputError
        As for :func:`part`, or if several runs remain; the message lists their differences.
    """
    left = part(done, cells, seed)
    branches, seeds = left.grid.branches, left.seeds
    if len(branches) * len(seeds) > 1:
        lines = []
        for place, (axis, _) in enumerate(_axes(done)):
            values = list(dict.fromkeys(_written(done, branch)[place] for branch in branches))
            if len(values) > 1:
                shown = listed([value or "(as in the file)" for value in values], MOST_VALUES)
                lines.append(f"  --cell {axis.name}=...: {shown}")
        if len(seeds) > 1:
            lines.append(f"  --seed N: {_seeds(seeds)}")
        raise InputError(
            f"{done.store.root}: the study has {len(branches) * len(seeds)} runs; select one with\n" + "\n".join(lines)
        )
    return left.run(branches[0], seeds[0])


def _axes(done: StudyResult) -> list[tuple[Axis, str | None]]:
    """Return the axes, each with its key path if it has one."""
    grid = done.grid
    if grid.named is not None:
        return [(axis, None) for axis in grid.named]
    found: list[tuple[Axis, str | None]] = list(zip(grid.axes, grid.keys, strict=True))
    # Without a full grid, a combination may have no value that identifies it.
    return found if done.axes == grid.axes else [*found, (Axis("cell", tuple(one.id for one in grid.branches)), None)]


def _axis(done: StudyResult, name: str) -> tuple[int, Axis]:
    """Return the axis of a name or key path, and its index."""
    axes = _axes(done)
    for place, (axis, key) in enumerate(axes):
        if name in (axis.name, key):
            return place, axis
    if not axes:
        raise InputError(f"--cell {name}: the study sweeps no parameter")
    raise InputError(
        f"--cell {name}: the study does not sweep this parameter; {nearest(name, [axis.name for axis, _ in axes])}"
    )


def _written(done: StudyResult, branch: Branch) -> list[str]:
    """Return the values of a combination on these axes, as written."""
    return [*done.grid.written(branch), branch.id]


def _first(done: StudyResult) -> tuple[Branch, ...]:
    return done.grid.branches[:MOST_VALUES]


def _seeds(seeds: Sequence[int]) -> str:
    """Return the sorted seeds as text, ranges as ``1 to 9``."""
    parts: list[list[int]] = []
    for seed in sorted(seeds):
        if parts and seed == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], seed]
        else:
            parts.append([seed])
    shown = [f"{ends[0]} to {ends[-1]}" if len(ends) > 1 else str(ends[0]) for ends in parts]
    return ", ".join(shown[:MOST_VALUES]) + (", ..." if len(shown) > MOST_VALUES else "")
