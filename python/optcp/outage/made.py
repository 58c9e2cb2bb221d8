"""Runs the study of an outage query and reduces its results."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from optcp.outage.asked import RATES_NOT_READ, TOPOLOGY_FILE
from optcp.outage.result import Result, grid_of
from optcp.outage.world import matrix_of
from optcp.scenarios import topologies
from optcp.study import Study, StudyResult
from optcp.study.runner import run_missing
from optcp.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from optcp.outage.asked import OutageQuery
    from optcp.scenarios.warned import ScenarioWarning
    from optcp.study.pool import Jobs, Progress

DEMANDS = "demands.csv"
"""File in the study's directory: demands between the hosts of short flows, for a network without its own demands."""


def make(
    asked: OutageQuery, directory: Path, where: Jobs, progress: Progress, *,
    warn: Callable[[Iterable[ScenarioWarning]], None], force: bool = False,
) -> Result:  # fmt: skip
    """Make the missing runs and reduce all results.

    Parameters
    ----------
    where
        Number of threads, or an executor.
    warn
        Receives the warnings, including default assumptions, before the first run.
    force
        Whether to replace another study in the directory.

    Raises
    ------
    InputError
        If a scenario is invalid, or the directory holds another study; then nothing is written.
    Interrupted, RunFailed
        See :func:`optcp.study.runner.execute`.
    """
    matrix = None if asked.own_demands else directory / DEMANDS
    with contextlib.ExitStack() as open_:
        if matrix is not None:
            # Scenarios are checked before the file is written.
            files = {str(matrix): matrix_of(asked.network).encode()}
            if asked.network.kind == "file":
                files[asked.network.reference] = Path(asked.network.reference).read_bytes()
            open_.enter_context(topologies.use_files(files))
        study = Study(grid_of(asked, None if matrix is None else str(matrix)), seeds=1)
    store = Store(directory)
    store.open(study.grid, force=force, beside={} if matrix is None else {DEMANDS: matrix_of(asked.network).encode()})
    # OutageQuery reports these itself.
    other = [one for one in study.warnings if one.name not in (RATES_NOT_READ, TOPOLOGY_FILE)]
    warn([*asked.exclusions(), *asked.default_assumptions(), *asked.of_file(), *other])
    run_missing([(study, store)], where, progress)
    return Result.of(asked, StudyResult(study.grid, study.seeds, store))
