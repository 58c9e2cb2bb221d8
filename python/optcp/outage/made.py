"""Runs the studies of outage queries and reduces their results."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from optcp.outage.asked import RATES_NOT_READ, TOPOLOGY_FILE
from optcp.outage.result import Result, grid_of
from optcp.outage.world import matrix_of
from optcp.scenarios import topologies
from optcp.study import Study, StudyResult
from optcp.study.runner import run_missing
from optcp.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from optcp.outage.asked import OutageQuery
    from optcp.scenarios.warned import ScenarioWarning
    from optcp.study.pool import Jobs, Progress

DEMANDS = "demands.csv"
"""File in the study's directory: demands between the hosts of short flows, for a network without its own demands."""


def make(
    asked: Mapping[Path, OutageQuery], where: Jobs, progress: Progress, *,
    warn: Callable[[Iterable[ScenarioWarning]], None], force: bool = False,
) -> list[Result]:  # fmt: skip
    """Make the missing runs of queries and reduce all results.

    Parameters
    ----------
    asked
        Queries by the directory of their runs.
    where
        Number of threads, or an executor.
    warn
        Receives the warnings, including default assumptions, before the first run.
    force
        Whether to replace another study in a directory.

    Raises
    ------
    InputError
        If a scenario is invalid, or a directory holds another study; then nothing is simulated.
    Interrupted, RunFailed
        See :func:`optcp.study.runner.execute`.
    """
    studies = [_study(one, directory) for directory, one in asked.items()]
    stores = [Store(directory) for directory in asked]
    for one, study, store in zip(asked.values(), studies, stores, strict=True):
        beside = {} if one.own_demands else {DEMANDS: matrix_of(one.network).encode()}
        store.open(study.grid, force=force, beside=beside)
    # OutageQuery reports these itself.
    other = [one for study in studies for one in study.warnings if one.name not in (RATES_NOT_READ, TOPOLOGY_FILE)]
    of_queries = [[*one.exclusions(), *one.default_assumptions(), *one.of_file()] for one in asked.values()]
    warn(dict.fromkeys([*itertools.chain.from_iterable(of_queries), *other]))
    run_missing(list(zip(studies, stores, strict=True)), where, progress)
    return [
        Result.of(one, StudyResult(study.grid, study.seeds, store))
        for one, study, store in zip(asked.values(), studies, stores, strict=True)
    ]


def _study(asked: OutageQuery, directory: Path) -> Study:
    """Return the study of a query; its scenarios are checked before the file of the demands is written."""
    if asked.own_demands:
        return Study(grid_of(asked), seeds=1)
    matrix = str(directory / DEMANDS)
    files = {matrix: matrix_of(asked.network).encode()}
    with topologies.record_files(files):
        asked.network.topology()
    with topologies.use_files(files):
        return Study(grid_of(asked, matrix), seeds=1)
