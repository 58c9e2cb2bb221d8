"""Studies of tool calls, and their directories."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcp.constellation import beside
from optcp.mcp import known, numbers
from optcp.mcp.fence import inside
from optcp.mcp.parts import part
from optcp.mcp.scenarios import confined, find, pairs
from optcp.scenarios.topologies import record_files
from optcp.study import single
from optcp.study.done import StudyResult
from optcp.study.runner import directory as named_directory
from optcp.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.scenarios.warned import ScenarioWarning
    from optcp.study.study import Study

RESULTS = Path("results")
SHOWN = (
    "goodput_bps", "active_goodput_bps", "completion_mean_s", "completion_p50_s", "completion_p95_s",
    "completion_p99_s", "completed_flows", "unfinished_flows", "aborted_flows", "operation_mean_s", "operation_p99_s",
    "unfinished_operations", "hit_flows", "outage_p50_s", "outage_longest_s", "utilisation", "queue_mean_packets",
    "queue_max_packets", "sojourn_mean_s", "sojourn_longest_s", "burst_loss", "wavelength_utilisation", "drop_share",
    "drops", "marked",
)  # fmt: skip
"""Metrics of a result without a selection, as ``optcp run`` prints them."""


@dataclass(frozen=True)
class Asked:
    """Study that a client asks for, and its directory.

    Attributes
    ----------
    study
        The study.
    store
        Its directory, not opened.
    beside
        Contents of the files to copy into the directory, by name.
    """

    study: Study
    store: Store
    beside: Mapping[str, bytes]


def asked(scenario: str, settings: Mapping[str, object] | None, seed: int, runs: int, directory: str | None) -> Asked:
    """Return the study of a scenario; without a directory, one that is named by title and hash.

    Raises
    ------
    InputError
        If an argument is invalid or leaves the directory of the server.
    """
    path = find(scenario)
    root = None if directory is None else inside(directory, "directory")
    named: dict[str, bytes] = {}
    with confined(path), record_files(named):
        study = single.study(path, pairs(settings), seed, runs, digest=False, fork=True)
    store = Store(named_directory(RESULTS, study.grid) if root is None else root)
    inside(str(store.root), "directory")
    return Asked(study, store, beside.copies(path.parent, named, store.names(study.grid)))


def stored(directory: str) -> StudyResult:
    """Open a stored study below the directory of the server, by any name of :func:`optcp.mcp.known.find`."""
    return StudyResult.open(known.find(directory))


def short(done: StudyResult, values: Mapping[str, str]) -> dict[str, str]:
    """Return values by the short names of axes, for values by short names or key paths."""
    return {axis(done, name): value for name, value in values.items()}


def axis(done: StudyResult, name: str) -> str:
    """Return the short name of an axis that is given by this name or its key path; other names stay."""
    grid = done.grid
    by_key = {} if grid.named is not None else dict(zip(grid.keys, (one.name for one in grid.axes), strict=True))
    return by_key.get(name, name)


def result(
    done: StudyResult, warned: Sequence[ScenarioWarning], metrics: Sequence[str], where: Mapping[str, str],
    skip: int, most: int | None,
) -> dict[str, Any]:  # fmt: skip
    """Return warnings, means and digests of a study."""
    names = [done.metric(name).name for name in metrics] or [name for name in SHOWN if name in done.metrics]
    found, left = part(numbers.estimates(done, names, short(done, where)), skip, most)
    digests = numbers.Digests(done)
    return {
        "warnings": numbers.warnings(warned),
        "directory": str(done.store.root),
        "title": done.grid.title,
        "seeds": len(done.seeds),
        "combinations": len(done.grid.branches),
        "numbers": found,
        "left_out": left,
        "other_metrics": [name for name in done.metrics if name not in names],
        "digest": digests.every(),
        "runs": digests.listed(),
    }
