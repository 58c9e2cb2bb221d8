"""Runs that take hours: what came out of each is kept with the project, one small JSON file a run.

``optcp reproduce --paper-scale`` makes those that are missing; exhibits read them at the default size.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.files import write_text
from optcp.study.pool import Job, run_jobs
from optcp.study.store import RunData

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from optcp.study.pool import Progress

Outcome = dict[str, Any]


@dataclass(frozen=True)
class LongRun:
    """A run whose outcome is kept.

    Attributes
    ----------
    file
        Where the outcome is, or will be.
    scenario, overrides
        The world: a scenario's file, and what is changed in it.
    seed
        The seed.
    reduce
        From the finished run to what is kept of it, as JSON has it.
    """

    file: Path
    scenario: Path
    overrides: tuple[tuple[str, str], ...]
    seed: int
    reduce: Callable[[RunData], Outcome]

    def read(self) -> dict[str, Any] | None:
        """What is kept of this run; None if there is nothing, or it is of other settings."""
        if not self.file.is_file():
            return None
        content: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8"))
        return content if content["set"] == self._settings() else None

    def is_current(self) -> bool:
        """Whether it is kept, of the very world that the scenario describes now."""
        kept = self.read()
        return kept is not None and kept["scenario_sha256"] == self._load().sha256

    def make(self, cancel: _core.Cancel) -> None:
        """Run it and write its file, whole or not at all."""
        scenario = self._load()
        began = time.thread_time()
        (run,) = _core.run_branches([scenario], self.seed, cancel=cancel)
        cpu_s = time.thread_time() - began
        version, _, git = _core.version().partition("+")
        content = {
            "set": self._settings(),
            "seed": self.seed,
            "version": version,
            "git": git or "unknown",
            "scenario_sha256": run.scenario_sha256,
            "metrics_sha256": run.metrics_sha256,
            "cpu_seconds": round(cpu_s, 1),
            "counts": run.counts,
            "drops": run.drops,
            "outcome": self.reduce(RunData.of(run, cpu_s)),
        }
        write_text(self.file, _lines(content) + "\n")

    def _settings(self) -> list[str]:
        return [f"{name}={value}" for name, value in self.overrides]

    def _load(self) -> _core.Scenario:
        return _core.Scenario.load(str(self.scenario), list(self.overrides))


def _lines(content: dict[str, Any]) -> str:
    """JSON with a line for each key, and in tables inside one for each of theirs: differences stay readable."""

    def table(entries: dict[str, Any], depth: int) -> str:
        pad = " " * depth
        lines = (
            f"{pad}{json.dumps(name)}: "
            + (table(value, depth + 1) if isinstance(value, dict) and value else json.dumps(value))
            for name, value in entries.items()
        )
        return "{\n" + ",\n".join(lines) + "\n" + pad[:-1] + "}"

    return table(content, 1)


def make_missing(runs: Sequence[LongRun], threads: int, progress: Progress) -> None:
    """Make what is not kept yet, in order; finished runs are kept also when the others are interrupted.

    Raises
    ------
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.pool.run_jobs`.
    """
    wanted = {run.file: run for run in runs}
    missing = [run for run in wanted.values() if not run.is_current()]
    run_jobs([_job(run) for run in missing], threads, progress, len(wanted))


def _job(run: LongRun) -> Job:
    return Job(label=run.file.stem, runs=1, work=run.make, stored=lambda: int(run.read() is not None))
