"""``optcp run``: the study of one scenario file, and an estimate of its cost."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp import _core
from optcp.scenarios.scenario import ENGINES, Scenario, check_seed
from optcp.study.form import described
from optcp.study.runner import Block, blocks, groups_of
from optcp.study.study import Study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from optcp.study.runner import Todo
    from optcp.study.store import Store


@dataclass(frozen=True)
class Estimate:
    """Cost of a study, estimated from a probe.

    Attributes
    ----------
    limit_s
        Time limit of the probe in seconds.
    runs
        Runs that the probe completed; 0 if not even one ended in time.
    seconds
        CPU time of a run; wall time with several threads.
    bytes
        Size of all files of the missing runs.
    blocks
        Number of calls that the missing runs take.
    """

    limit_s: float
    runs: int
    seconds: float = 0.0
    bytes: int = 0
    blocks: int = 0


def study(
    path: Path,
    overrides: Sequence[tuple[str, str]],
    first_seed: int,
    runs: int,
    *,
    digest: bool,
    fork: bool,
    engine: str = ENGINES[0],
) -> Study:
    """Read the scenario and check every cell of its grid. An override of a swept key replaces the axis.

    If the scenario observes packets, the runs include the digest of all records.

    Raises
    ------
    optcp._core.ScenarioError
        If the file or an override is wrong.
    InputError
        If a seed is out of range.
    """
    check_seed(first_seed + runs - 1)
    world = Scenario(_core.Scenario.load(str(path), list(overrides)))
    return Study(
        world,
        seeds=range(first_seed, first_seed + runs),
        # A file name may be invalid UTF-8.
        title=world.core.summary()["title"] or path.stem.encode(errors="replace").decode(),
        digest=digest or any(one["kind"] == "packets" for one in world.resolved["observe"]),
        fork=fork,
        engine=engine,
    )


def missing(study: Study, store: Store) -> int:
    """Number of runs that are not stored."""
    return sum(not store.has(branch, seed) for branch in study.grid.branches for seed in study.seeds)


def probe(study: Study, store: Store, threads: int = 1, limit_s: float = 3.0) -> Estimate | None:
    """Make some of the missing runs without storing them; None if none is missing.

    It makes one run, then one seed of a block, then two seeds, four, and so on, for up to ``limit_s`` seconds. Several
    sizes are needed because a file has a fixed part that all its runs share.
    """
    seeds = tuple(sorted(study.seeds))
    groups = (Block(study.grid, cells, seeds) for cells in groups_of(study.grid))
    block, todo = next(((one, todo) for one in groups if (todo := one.missing(store))), (None, []))
    if block is None:
        return None
    cancel = _core.Cancel()
    timer = threading.Timer(limit_s, cancel.cancel)
    timer.start()
    # The CPU time of several threads does not say how long the runs take.
    clock = time.thread_time if threads == 1 else time.monotonic
    began, took_s, made, hops = time.monotonic(), 0.0, [], 0.0
    try:
        for some in _more(todo):
            first = clock()
            files = block.make(some, None, cancel, threads=threads)
            took_s = clock() - first
            made.append((_runs(some), _parts(files)))
            manifests = [json.loads(content) for path, content in files if path.startswith("parts/")]
            hops = sum(one["packet_hops"] for one in manifests) / _runs(some)
            # The next step takes about twice as long.
            if time.monotonic() - began > limit_s / 3 or len(made[-1][1]) > 1:
                break
    except _core.Cancelled:
        pass
    finally:
        timer.cancel()
    if not made:
        return Estimate(limit_s, 0)
    described_bytes = sum(len(described(branch).encode()) for branch in study.grid.branches)
    cut = blocks(study.grid, seeds, lambda branches, seed: store.hops_a_run(branches, seed) or hops)
    left = [_runs(todo) for stage in cut for one in stage if (todo := one.missing(store))]
    written = described_bytes + sum(_bytes(made, runs) for runs in left)
    return Estimate(limit_s, made[-1][0], took_s / made[-1][0], round(written), len(left))


def _more(todo: Todo) -> list[Todo]:
    """The steps of a probe: the first run, the first seed, two seeds, four, ..., all."""
    found = [[(todo[0][0], todo[0][1][:1])], todo[:1]]
    while len(found[-1]) < len(todo):
        found.append(todo[: 2 * len(found[-1])])
    return found if len(todo[0][1]) > 1 else found[1:]


def _runs(todo: Todo) -> int:
    return sum(len(places) for _, places in todo)


def _parts(files: list[tuple[str, bytes]]) -> list[int]:
    """The size of each part in bytes, in the order of writing: a manifest ends a part."""
    found = [0]
    for path, content in files:
        found[-1] += len(content)
        if path.startswith("parts/"):
            found.append(0)
    return found[:-1]


def _bytes(made: list[tuple[int, list[int]]], runs: int) -> float:
    """Estimated size of a block with so many runs, extrapolated from the probe."""
    most, parts = made[-1]
    if len(parts) > 1 or len(made) == 1:
        return sum(parts) * runs / most
    least, fewer = made[0]
    a_run = (sum(parts) - sum(fewer)) / (most - least)
    return sum(parts) + a_run * (runs - most)
