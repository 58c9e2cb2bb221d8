"""Makes the runs of a question to a network, in a study's directory."""

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
"""Beside the runs: the demands of a network that comes without, between the hosts that short flows begin and end at."""


def make(
    asked: OutageQuery, directory: Path, where: Jobs, progress: Progress, *,
    warn: Callable[[Iterable[ScenarioWarning]], None], force: bool = False,
) -> Result:  # fmt: skip
    """Make the runs that are not stored yet, and reduce them.

    Parameters
    ----------
    where
        Threads, or an executor.
    warn
        Gets what stands on a default and what is hardly meant, before anything runs.
    force
        Whether another study in the directory gives way.

    Raises
    ------
    InputError
        If a world is impossible, or another study is in the directory; nothing is written then.
    Interrupted, RunFailed
        See :func:`optcp.study.runner.execute`.
    """
    matrix = None if asked.own_demands else directory / DEMANDS
    with contextlib.ExitStack() as open_:
        if matrix is not None:
            # Worlds are checked before the file is there.
            files = {str(matrix): matrix_of(asked.network).encode()}
            if asked.network.kind == "file":
                files[asked.network.reference] = Path(asked.network.reference).read_bytes()
            open_.enter_context(topologies.use_files(files))
        study = Study(grid_of(asked, None if matrix is None else str(matrix)), seeds=1)
    store = Store(directory)
    store.open(study.grid, force=force, beside={} if matrix is None else {DEMANDS: matrix_of(asked.network).encode()})
    # OutageQuery says it once, with the words of this verb.
    other = [one for one in study.warnings if one.name not in (RATES_NOT_READ, TOPOLOGY_FILE)]
    warn([*asked.exclusions(), *asked.default_assumptions(), *asked.of_file(), *other])
    run_missing([(study, store)], where, progress)
    return Result.of(asked, StudyResult(study.grid, study.seeds, store))
