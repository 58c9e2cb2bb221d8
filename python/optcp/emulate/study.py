"""Several runs in real time, stored as a study, and their simulated counterparts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import _core
from optcp.common.files import write_bytes, write_text
from optcp.emulate.one import once
from optcp.errors import Interrupted, RunFailed
from optcp.scenarios.scenario import Scenario
from optcp.study.grid import Grid
from optcp.study.study import Study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from optcp.emulate.kernel import Kernel
    from optcp.emulate.one import Emulated, Task
    from optcp.scenarios.branch import Branch
    from optcp.study.pool import Progress
    from optcp.study.store import Store

HOSTS = "hosts"
"""Axis of the study: whether packets of the chosen nodes are real or simulated."""
REAL, SIMULATED = "real", "simulated"
FOLDER = "real"
"""Folder of captures and sockets in the study's directory."""


@dataclass(frozen=True)
class Report:
    """Stored values of a run, next to its results; see :class:`optcp.emulate.one.Emulated`."""

    packets: int
    median_s: float
    p999_s: float
    max_s: float
    ended_s: float
    status: int | None


def study(path: Path, overrides: Sequence[tuple[str, str]], seeds: range, task: Task, *, compare: bool) -> Study:
    """Return the study: all combinations of the swept parameters, each with real and, to compare, simulated hosts."""
    scenario = Scenario(_core.Scenario.load(str(path), list(overrides)))
    title = scenario.core.summary()["title"] or path.stem
    what = f" ({' '.join(task.command)})" if task.command else ""
    real = f"{title}, with real packets of {' and '.join(task.nodes)}{what}"
    # The titles distinguish the scenarios, whose results differ.
    kinds = {REAL: {"title": json.dumps(real)}}
    if compare:
        kinds[SIMULATED] = {"title": json.dumps(title)}
    return Study(Grid.grid(scenario.core, {}, {**scenario.axes, HOSTS: kinds}, title=title), seeds=list(seeds))


def emulate_missing(
    study: Study, store: Store, task: Task, progress: Progress, kernel: Kernel | None = None
) -> list[Report]:
    """Execute the missing runs with real packets in turn, each in its own ``kernel`` if given, and store each.

    Raises
    ------
    RunFailed
        If a run is not valid; it is not stored.
    Interrupted
        If the user interrupts it. The runs before are stored.
    """
    grid = study.grid
    cells = real(grid)
    todo = [(cell, seed) for cell in range(len(cells)) for seed in study.seeds if not store.has(cells[cell], seed)]
    total = len(cells) * len(study.seeds)
    done: list[Report] = []
    progress.start(total, total - len(todo))
    try:
        for cell, seed in todo:
            if kernel is None:
                execute(grid, store, cell, seed, task)
            else:
                kernel.execute(cell, seed)
                store.scan()
            stored = _place(store, grid, cell, seed).with_suffix(".json")
            done.append(Report(**json.loads(stored.read_text(encoding="utf-8"))))
            progress.advance(1)
    except (_core.Cancelled, KeyboardInterrupt):
        raise Interrupted(total - len(todo) + len(done), total) from None
    finally:
        progress.stop()
    return done


def real(grid: Grid) -> list[Branch]:
    """Return the cells with real packets."""
    return [branch for branch in grid.branches if REAL in grid.written(branch)]


def execute(grid: Grid, store: Store, cell: int, seed: int, task: Task) -> None:
    """Execute a run with real packets, and store it.

    Raises
    ------
    RunFailed
        If the run is not valid; it is not stored.
    """
    branch = real(grid)[cell]
    place = _place(store, grid, cell, seed)
    place.parent.mkdir(parents=True, exist_ok=True)
    found = once(branch.scenario, seed, task, place.with_suffix(".pcapng"))
    if found.fault is not None:
        raise RunFailed(f"the run of seed {seed} is not valid: {found.fault}")
    _store(store, grid, branch, found, place)


def _store(store: Store, grid: Grid, branch: Branch, found: Emulated, place: Path) -> None:
    cell = (branch.id, grid.values(branch), branch.scenario)
    manifest = _core.store_run(list(grid.columns), cell, found.run, str(store.root))
    store.take([manifest.removeprefix("parts/")], check=False)
    report = Report(**{name: getattr(found, name) for name in Report.__dataclass_fields__})
    write_text(place.with_suffix(".json"), json.dumps(asdict(report), indent=1) + "\n")
    if found.sockets:
        columns: dict[str, Any] = {name: [one[name] for one in found.sockets] for name in found.sockets[0]}
        for name, values in columns.items():
            if not isinstance(values[0], str):
                columns[name] = np.array(values)
        write_bytes(place.with_name(f"{place.name}-tcp.parquet"), _core.write_parquet(columns, {}))


def _place(store: Store, grid: Grid, cell: int, seed: int) -> Path:
    """Return the path of a run's files without suffix."""
    prefix = f"cell-{cell}-" if len(real(grid)) > 1 else ""
    return store.root / FOLDER / f"{prefix}seed-{seed}"
