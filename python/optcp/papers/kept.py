"""Long runs (hours), whose outcomes are stored with the project as one small JSON file per run.

``optcp reproduce --paper-scale`` performs the missing ones; exhibits read them at the default size.
"""

from __future__ import annotations

import functools
import json
import math
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from filelock import FileLock, Timeout

from optcp import _core
from optcp.common import stored
from optcp.common.files import write_text
from optcp.errors import RunFailed
from optcp.scenarios.run import FreshRun
from optcp.scenarios.scenario import Scenario
from optcp.study.pool import Job, run_jobs
from optcp.study.remote import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from optcp.study import Run
    from optcp.study.pool import Jobs, Progress

Outcome = dict[str, Any]


class LongRunFile(TypedDict):
    """Required keys of a stored long run; there may be more."""

    set: list[str]
    seed: int
    version: str
    git: str
    scenario_sha256: str
    metrics_sha256: str
    cpu_seconds: float
    outcome: dict[str, Any]


@dataclass(frozen=True)
class LongRun:
    """Long run whose outcome is stored.

    Attributes
    ----------
    file
        File of the outcome.
    scenario, overrides
        Scenario file and changed settings.
    seed
        Seed.
    reduce
        Function from the finished run to the stored outcome (JSON).
    metrics
        Required keys of the outcome, each with a list of numbers of equal length.
    """

    file: Path
    scenario: Path
    overrides: tuple[tuple[str, str], ...]
    seed: int
    reduce: Callable[[Run], Outcome]
    metrics: tuple[str, ...] = ()

    @property
    def lock(self) -> Path:
        """Lock file of the process that performs the run."""
        return self.file.with_name(f".{self.file.name}.lock")

    def read(self) -> dict[str, Any] | None:
        """Return the stored outcome, or None if it is missing or has other settings.

        Raises
        ------
        RunFailed
            If the file does not have the form of :meth:`make`.
        """
        if not self.file.is_file():
            return None
        content = stored.load(self.file, self._parse, seal=False)  # version control shows changes
        return content if content["set"] == self._settings() else None

    def _parse(self, text: str) -> dict[str, Any]:
        content = stored.shaped(LongRunFile, stored.table(text))
        found = content["outcome"]
        if bad := [name for name in self.metrics if not _are_numbers(found.get(name))]:
            raise ValueError(f"{', '.join(bad)} of `outcome` missing or no list of numbers")
        if len({len(found[name]) for name in self.metrics}) > 1:
            raise ValueError("lists of `outcome` that are not equally long")
        return content

    def is_current(self) -> bool:
        """Whether an outcome of the current scenario is stored."""
        kept = self.read()
        return kept is not None and kept["scenario_sha256"] == self._load().sha256

    def make(self, cancel: _core.Cancel) -> bool:
        """Perform the run and write its file atomically, unless another process has done so.

        Returns
        -------
        bool
            False if another process is performing the run.
        """
        self.lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.lock, blocking=False):
                if not self.is_current():
                    self._make(cancel)
        except Timeout:
            return False
        return True

    def _make(self, cancel: _core.Cancel) -> None:
        self.keep(_made(self._load(), self.seed, self.reduce, cancel))

    @property
    def kind(self) -> tuple[str, ...]:
        """Key as in :class:`optcp.study.pool.RemoteJob`; durations of long runs are not comparable."""
        return (str(self.file),)

    def task(self) -> Callable[[], dict[str, Any]]:
        """Return the function that performs the run in another process."""
        return functools.partial(_made_there, World.of(self._load()), self.seed, self.reduce)

    def keep(self, made: Mapping[str, Any]) -> int:
        """Write its file, whole or not at all; how many bytes that is."""
        text = _lines({"set": self._settings(), **made}) + "\n"
        write_text(self.file, text)
        return len(text)

    def _settings(self) -> list[str]:
        return [f"{name}={value}" for name, value in self.overrides]

    def _load(self) -> _core.Scenario:
        return _core.Scenario.load(str(self.scenario), list(self.overrides))


def _made(
    scenario: _core.Scenario, seed: int, reduce: Callable[[Run], Outcome], cancel: _core.Cancel
) -> dict[str, Any]:
    """Perform a run and return its stored form without settings."""
    began = time.thread_time()
    (made,) = _core.run_branches([scenario], seed, cancel=cancel)
    cpu_s = time.thread_time() - began
    run = FreshRun(Scenario(scenario), made)
    version, _, git = _core.version().partition("+")
    return {
        "seed": seed,
        "version": version,
        "git": git or "unknown",
        "scenario_sha256": run.scenario_sha256,
        "metrics_sha256": run.metrics_sha256,
        "cpu_seconds": round(cpu_s, 1),
        "counts": run.counts,
        "drops": run.drops,
        "outcome": reduce(run),
    }


def _made_there(world: World, seed: int, reduce: Callable[[Run], Outcome]) -> dict[str, Any]:
    return _made(world.scenario(), seed, reduce, _core.Cancel())


def _are_numbers(values: object) -> bool:
    if not isinstance(values, list) or not values:
        return False
    return all(isinstance(value, int | float) and math.isfinite(value) for value in values)


def _lines(content: dict[str, Any]) -> str:
    """Return JSON with one line per key, also in nested tables, so that diffs are readable."""

    def table(entries: dict[str, Any], depth: int) -> str:
        pad = " " * depth
        lines = (
            f"{pad}{json.dumps(name)}: "
            + (table(value, depth + 1) if isinstance(value, dict) and value else json.dumps(value))
            for name, value in entries.items()
        )
        return "{\n" + ",\n".join(lines) + "\n" + pad[:-1] + "}"

    return table(content, 1)


def make_missing(runs: Sequence[LongRun], jobs: Jobs, progress: Progress) -> list[LongRun]:
    """Perform missing runs in order; finished runs stay stored after an interruption.

    Returns
    -------
    list
        Runs that other processes are performing.

    Raises
    ------
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.pool.run_jobs`. Also before the first run, if outcomes cannot be stored or an existing
        file is not a stored outcome.
    """
    wanted = {run.file: run for run in runs}
    missing = [run for run in wanted.values() if not run.is_current()]
    _check_writable({run.file.parent for run in missing})
    left: list[LongRun] = []
    run_jobs([_job(run, left) for run in missing], jobs, progress, len(wanted))
    return left


def _job(run: LongRun, left: list[LongRun]) -> Job:
    def work(cancel: _core.Cancel) -> None:
        if not run.make(cancel):
            left.append(run)

    return Job(run.file.stem, 1, work, lambda: int(run.is_current()), run)


def _check_writable(directories: Iterable[Path]) -> None:
    for directory in directories:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                pass
        except OSError as error:
            raise RunFailed(f"{directory}: outcomes of long runs cannot be stored there ({error})") from error
