"""Tool ``run``: simulate the missing runs of a study and return its metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcp.mcp import studies
from optcp.mcp.limits import threads
from optcp.scenarios import warned
from optcp.study.asked import check_observed
from optcp.study.done import StudyResult
from optcp.study.runner import run_missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.mcp.report import Report


def call(
    report: Report,
    *,
    scenario: str,
    settings: Mapping[str, object] | None,
    seed: int,
    runs: int,
    directory: str | None,
    metrics: Sequence[str],
    where: Mapping[str, str],
    skip: int,
    most: int | None,
    force: bool,
) -> dict[str, Any]:
    """Make the missing runs and return means with intervals."""
    asked = studies.asked(scenario, settings, seed, runs, directory)
    study, store = asked.study, asked.store
    for name in metrics:
        check_observed(study.grid, name, "metrics")
    store.open(study.grid, force=force, beside=asked.beside)
    run_missing([(study, store)], threads(), report)
    done = StudyResult(study.grid, study.seeds, store)
    return studies.result(done, [*study.warnings, *warned.of_done(done)], metrics, where, skip, most)
