"""``optcp run``: one scenario file, its sweep if it has one, some seeds."""

from __future__ import annotations

import functools
import json
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from optcp import _core, stats
from optcp.errors import Damaged, InputError
from optcp.scenario import KERNELS, check_seed
from optcp.study import fibres, saved, traffic
from optcp.study.grid import Grid, extension_sha256
from optcp.study.pool import Job, run_jobs
from optcp.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from optcp.study.pool import Progress

MOST_CELLS_A_CALL = 8
"""Cells that are run by one call share their warm-up; more of them gain little and lose more on Ctrl-C."""


@dataclass(frozen=True)
class Plan:
    """What a command line asks for, checked but not run.

    Attributes
    ----------
    study
        The grid of the scenario's ``[sweep]``; one branch without one.
    seeds
        One run a branch and seed.
    overrides
        The ``--set`` pairs.
    out
        Where the runs' directories are or will be.
    """

    study: Grid
    seeds: tuple[int, ...]
    overrides: tuple[tuple[str, str], ...]
    out: Path

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.grid.branches) * len(self.seeds)

    def directory(self, branch: int, seed: int) -> Path:
        """Where a run is or will be."""
        cell = f"cell-{branch + 1}-" if len(self.grid.branches) > 1 else ""
        return self.out / f"{cell}seed-{seed}"

    def has(self, branch: int, seed: int) -> bool:
        """Whether a run is there: of this world and seed, by this build of the simulator, with the digest if asked."""
        return self.lack(branch, seed) is None

    def lack(self, branch: int, seed: int) -> str | None:
        """Why a run has to be made: empty if it is not there, else what is wrong with it; None if it need not."""
        try:
            run = saved.read(self.directory(branch, seed))
            if run is None:
                return ""
            meta = run.meta
            if meta["scenario_sha256"] != self.grid.branches[branch].scenario.sha256 or meta["seed"] != seed:
                return "of another scenario or seed"
            if meta["extension_sha256"] != extension_sha256():
                return "made by another build of the simulator"
            if meta["records_sha256"] is None and self.study.digest:
                return "without the digest of all records"
            for file in meta["files"]:
                run.content(file)
        except Damaged as error:
            return error.what
        return None

    def notes(self, missing: dict[int, list[int]]) -> list[str]:
        """Say which of the missing runs are there but of no use, and why; and what is in the directory beside them.

        A reader of all runs in it together would mix two scenarios.
        """
        wrong: dict[str, list[str]] = {}
        for branch, seed in ((branch, seed) for seed, branches in missing.items() for branch in branches):
            if why := self.lack(branch, seed):
                wrong.setdefault(why, []).append(self.directory(branch, seed).name)
        notes = [f"{self.out}: made again: {_few(names)}: {why}" for why, names in wrong.items()]
        own = {self.directory(branch, seed) for branch in range(len(self.grid.branches)) for seed in self.seeds}
        worlds = {branch.scenario.sha256 for branch in self.grid.branches}
        others = [path.parent for path in sorted(self.out.glob(f"*/{saved.META}")) if path.parent not in own]
        if strange := [path.name for path in others if _world(path) not in worlds]:
            notes.append(f"{self.out}: there are also runs of other scenarios: {_few(strange)}")
        return notes

    def missing(self) -> dict[int, list[int]]:
        """For each seed, the branches whose runs are not there."""
        branches = range(len(self.grid.branches))
        return {seed: [branch for branch in branches if not self.has(branch, seed)] for seed in self.seeds}


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f", ... ({len(names)} runs)" if len(names) > 3 else "")


def _world(directory: Path) -> str | None:
    """The digest of the scenario of a run; None if it cannot be read."""
    try:
        run = saved.read(directory)
    except Damaged:
        return None
    return None if run is None else run.meta["scenario_sha256"]


@dataclass(frozen=True)
class Goodput:
    """Mean goodput of one group in one cell, in bits a second over the whole run."""

    cell: dict[str, str]
    group: str
    bps: stats.Interval


@dataclass(frozen=True)
class Summary:
    """What the terminal shows of the runs.

    Attributes
    ----------
    goodput
        One entry a (cell, group); empty if the scenario observes no goodput.
    drops
        For each cell, mean dropped packets a run by reason.
    spare
        For each cell, what its protections need (:meth:`optcp._core.Scenario.spare`).
    coverage
        For each cell with routing, what fast reroute protects (:meth:`optcp._core.Scenario.coverage`).
    completions
        One entry a (cell, group) of flows that are to end; empty if the scenario observes no completions.
    contention
        One entry a (cell, fibre); empty if the scenario observes no fibres.
    """

    goodput: list[Goodput]
    drops: list[tuple[dict[str, str], dict[str, float]]]
    spare: list[tuple[dict[str, str], list[dict[str, Any]]]]
    coverage: list[tuple[dict[str, str], dict[str, int]]]
    completions: list[traffic.Completions]
    contention: list[fibres.Contention]


@dataclass(frozen=True)
class Estimate:
    """What one probe run took.

    Attributes
    ----------
    limit_s
        The probe was given so many seconds.
    seconds, bytes
        CPU time and size of its results on disk; None if it took longer than that.
    """

    limit_s: float
    seconds: float | None
    bytes: int | None


def plan(
    path: Path,
    overrides: Sequence[tuple[str, str]],
    first_seed: int,
    runs: int,
    out: Path,
    *,
    digest: bool,
    fork: bool,
    kernel: str = KERNELS[0],
) -> Plan:
    """Read the scenario and check every cell of its grid; an override of an axis takes the axis' place.

    A scenario that observes packets has its records digested too.

    Raises
    ------
    optcp._core.ScenarioError
        If the file or an override is wrong.
    InputError
        If there is no such seed, or results cannot go where they should.
    """
    check_seed(first_seed + runs - 1)
    axes = _core.Scenario.load(str(path), list(overrides)).axes
    study = Grid.grid(path, overrides, axes, digest=digest, fork=fork, kernel=kernel)
    if any(one["kind"] == "packets" for one in json.loads(study.branches[0].scenario.resolved())["observe"]):
        study = replace(study, digest=True)
    planned = Plan(study, tuple(range(first_seed, first_seed + runs)), tuple(overrides), out)
    for seed in planned.seeds:
        for branch in range(len(study.branches)):
            place = planned.directory(branch, seed)
            if saved.occupied(place):
                raise InputError(f"{place}: this is there and is no run; move it away or choose another --out")
    return planned


def simulate(planned: Plan, threads: int, progress: Progress, say: Callable[[str], None] = lambda _: None) -> Summary:
    """Run what is missing; each run's directory appears whole once the run has ended.

    ``say`` is given a line about each thing in the directory that the user should know of (:meth:`Plan.notes`).

    Raises
    ------
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.pool.run_jobs`.
    """
    missing = planned.missing()
    for note in planned.notes(missing):
        say(note)
    total = sum(len(branches) for branches in missing.values())
    size = min(MOST_CELLS_A_CALL, max(1, -(-total // threads))) if planned.study.fork else 1
    jobs = [
        _job(planned, seed, branches[first : first + size])
        for seed, branches in missing.items()
        for first in range(0, len(branches), size)
    ]
    run_jobs(jobs, threads, progress, planned.runs)
    return summarise(planned)


def _job(planned: Plan, seed: int, branches: list[int]) -> Job:
    return Job(
        label=f"{planned.study.title}, seed {seed}",
        runs=len(branches),
        work=functools.partial(_run, planned, seed, branches),
        stored=lambda: sum(planned.has(branch, seed) for branch in branches),
    )


def _run(planned: Plan, seed: int, branches: list[int], cancel: _core.Cancel) -> None:
    study = planned.study
    scenarios = [study.branches[branch].scenario for branch in branches]
    began = time.thread_time()
    runs = _core.run_branches(scenarios, seed, fork=study.fork, digest=study.digest, kernel=study.kernel, cancel=cancel)
    cpu_s = time.thread_time() - began
    for branch, run in zip(branches, runs, strict=True):
        files = observed(study.branches[branch].scenario, run)
        meta = _meta(planned, branch, run, files)
        # Cells of one call may share their warm-up: there is no time of one run, only its share.
        meta |= {"cpu_seconds": round(cpu_s / len(branches), 6), "cpu_shared_by": len(branches)}
        saved.write(planned.directory(branch, seed), saved.contents(meta, files.items()))


def observed(scenario: _core.Scenario, run: _core.Run) -> dict[str, bytes]:
    """Every observation of a run as a Parquet file, by its name."""
    return {name: run.to_parquet(name) for name in scenario.summary()["observe"]}


def _meta(planned: Plan, branch: int, run: _core.Run, files: dict[str, bytes]) -> dict[str, Any]:
    cell = planned.grid.branches[branch]
    resolved = json.loads(cell.scenario.resolved())
    return {
        "scenario": resolved,
        "scenario_sha256": run.scenario_sha256,
        "set": [f"{name}={value}" for name, value in planned.overrides],
        "cell": cell.key,
        "seed": run.seed,
        "version": _core.version(),
        "extension_sha256": extension_sha256(),
        "kernel": planned.study.kernel,
        "records_sha256": run.records_sha256,
        "metrics_sha256": run.metrics_sha256,
        "counts": run.counts,
        "packet_hops": run.counts["packet_hops"],
        "drops": run.drops,
        "goodput_bps": _goodput_bps(resolved, files),
        "completions": traffic.completions_of(resolved, files),
        "hurst": traffic.hurst_of(resolved, files),
        "forked_at_s": run.forked_at_s,
        "switches": run.switches,
        "spare": cell.scenario.spare(),
        "routing": run.routing,
        "arrived": run.arrived,
        "coverage": cell.scenario.coverage(),
    }


def _goodput_bps(resolved: dict[str, Any], files: dict[str, bytes]) -> dict[str, float]:
    """Goodput by group over the whole run; where two observations watch one group, the first counts."""
    found: dict[str, float] = {}
    for entry in resolved["observe"]:
        if entry["kind"] == "goodput":
            _, columns = _core.read_parquet(files[entry["name"]])
            table = Table(columns)
            for group in entry["groups"]:
                of_group = table.where(group=group)
                span_s = of_group.seconds[-1] if len(of_group) else 0.0
                if span_s:
                    found.setdefault(group, float(of_group.numbers("bytes").sum()) * 8 / span_s)
    return found


def summarise(planned: Plan) -> Summary:
    """Reduce the stored runs to what a terminal can show."""
    goodput, drops, completions, contention = [], [], [], []
    for index, branch in enumerate(planned.grid.branches):
        rates: dict[str, list[float]] = {}
        reasons: dict[str, int] = {}
        runs = [saved.one(planned.directory(index, seed)) for seed in planned.seeds]
        completions += traffic.completions_of_cell(branch.key, runs)
        contention += fibres.contention_of_cell(branch.key, runs)
        for meta in (run.meta for run in runs):
            for reason, count in meta["drops"].items():
                reasons[reason] = reasons.get(reason, 0) + count
            for group, bps in meta["goodput_bps"].items():
                rates.setdefault(group, []).append(bps)
        goodput += [Goodput(branch.key, group, stats.mean(values)) for group, values in sorted(rates.items())]
        means = {reason: count / len(planned.seeds) for reason, count in sorted(reasons.items())}
        drops.append((branch.key, means))
    spare = [(branch.key, branch.scenario.spare()) for branch in planned.grid.branches]
    covered = [(branch.key, branch.scenario.coverage()) for branch in planned.grid.branches]
    coverage = [(key, coverage) for key, coverage in covered if coverage]
    return Summary(goodput, drops, spare, coverage, completions, contention)


def probe(planned: Plan, limit_s: float = 3.0) -> Estimate:
    """Make the first missing run, write nothing, and give up after ``limit_s`` seconds."""
    seed, branches = next((seed, branches) for seed, branches in planned.missing().items() if branches)
    scenario = planned.grid.branches[branches[0]].scenario
    cancel = _core.Cancel()
    timer = threading.Timer(limit_s, cancel.cancel)
    timer.start()
    began = time.thread_time()
    try:
        run = scenario.run(seed, digest=planned.study.digest, kernel=planned.study.kernel, cancel=cancel)
    except _core.Cancelled:
        return Estimate(limit_s, None, None)
    finally:
        timer.cancel()
    files = observed(scenario, run)
    took_s = time.thread_time() - began
    written = saved.contents(_meta(planned, branches[0], run, files), files.items())
    return Estimate(limit_s, took_s, sum(len(content) for content in written.values()))
