"""Tool ``plan``: runs of a study and their estimated cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcp.mcp import numbers, studies
from optcp.mcp.parts import part, plain
from optcp.scenarios import warned
from optcp.study import single

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.mcp.report import Report


def call(
    report: Report,  # noqa: ARG001 - all tools have one
    *,
    scenario: str,
    settings: Mapping[str, object] | None,
    seed: int,
    runs: int,
    directory: str | None,
    skip: int,
    most: int | None,
) -> dict[str, Any]:
    """Return the parameter combinations of a study, the number of missing runs and their estimated cost."""
    asked = studies.asked(scenario, settings, seed, runs, directory)
    study, store = asked.study, asked.store
    store.look(study.grid)
    missing = single.missing(study, store)
    estimate = single.probe(study, store)
    measured = estimate is not None and estimate.runs > 0
    branches = study.grid.branches
    combinations, left = part([dict(branch.key) for branch in branches], skip, most)
    return {
        "warnings": numbers.warnings([*study.warnings, *warned.few(study.grid, runs)]),
        "directory": str(store.root),
        "combinations": combinations,
        "left_out": left,
        "seeds": len(study.seeds),
        "runs": len(branches) * len(study.seeds),
        "missing_runs": missing,
        "probed_runs": estimate.runs if estimate else 0,
        "cpu_s_per_run": plain(estimate.seconds) if measured and estimate else None,
        "cpu_s": plain(estimate.seconds * missing) if measured and estimate else None,
        "disk_bytes": estimate.bytes if measured and estimate else None,
        "cpu_s_per_run_at_least": estimate.limit_s if estimate and not measured else None,
    }
