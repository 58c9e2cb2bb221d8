"""Runs that take hours: the outcome of each is stored with the project, one small JSON file a run.

``optcp reproduce --paper-scale`` makes those that are missing; exhibits read them at the default size.
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
    """What every file has; there may be more."""

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
    """A run whose outcome is stored.

    Attributes
    ----------
    file
        Where the outcome is, or will be.
    scenario, overrides
        The world: a scenario's file, and what is changed in it.
    seed
        The seed.
    reduce
        From the finished run to what is stored of it, as JSON has it.
    metrics
        Names that the outcome must have, each with a list of numbers, all equally long.
    """

    file: Path
    scenario: Path
    overrides: tuple[tuple[str, str], ...]
    seed: int
    reduce: Callable[[Run], Outcome]
    metrics: tuple[str, ...] = ()

    @property
    def lock(self) -> Path:
        """The file that a process holds while it makes the run."""
        return self.file.with_name(f".{self.file.name}.lock")

    def read(self) -> dict[str, Any] | None:
        """What is stored of this run; None if there is nothing, or it is of other settings.

        Raises
        ------
        RunFailed
            If the file is not what :meth:`make` writes.
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
        """Whether it is stored, of the very world that the scenario describes now."""
        kept = self.read()
        return kept is not None and kept["scenario_sha256"] == self._load().sha256

    def make(self, cancel: _core.Cancel) -> bool:
        """Run it and write its file, whole or not at all, unless another process has done so meanwhile.

        Returns
        -------
        bool
            False if another process is making it now.
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
        """See :class:`optcp.study.pool.RemoteJob`; no other run takes as long as this one."""
        return (str(self.file),)

    def task(self) -> Callable[[], dict[str, Any]]:
        """What makes it in another process."""
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
    """Make a run; what is stored of it but for its settings."""
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


def make_missing(runs: Sequence[LongRun], jobs: Jobs, progress: Progress) -> list[LongRun]:
    """Make what is not stored yet, in order; finished runs are stored also when the others are interrupted.

    Returns
    -------
    list
        Runs that other processes are making.

    Raises
    ------
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.pool.run_jobs`; before the first run, if the outcome could not be stored, or a file is
        there that is not a stored outcome.
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
