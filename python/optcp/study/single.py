"""``optcp run``: one scenario file, its sweep if it has one, some seeds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import _core, stats
from optcp.files import replacing, write_text
from optcp.study.runner import Done, Task, execute
from optcp.study.spec import Study
from optcp.study.store import RunData, Store, write_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from optcp.study.runner import Progress


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
    """

    study: Study
    seeds: tuple[int, ...]
    overrides: tuple[tuple[str, str], ...]

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.study.branches) * len(self.seeds)

    def directory(self, branch: int, seed: int) -> str:
        """Name of a run's directory."""
        cell = f"cell-{branch + 1}-" if len(self.study.branches) > 1 else ""
        return f"{cell}seed-{seed}"


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
    """

    goodput: list[Goodput]
    drops: list[tuple[dict[str, str], dict[str, float]]]


def plan(
    path: Path, overrides: Sequence[tuple[str, str]], first_seed: int, runs: int, *, digest: bool, fork: bool
) -> Plan:
    """Read the scenario and check every cell of its grid; an override of an axis takes the axis' place.

    Raises
    ------
    optcp._core.ScenarioError
        If the file or an override is wrong.
    """
    fixed = {name for name, _ in overrides}
    axes = [
        (name, values) for name, values in _core.Scenario.load(str(path), list(overrides)).axes if name not in fixed
    ]
    study = Study.grid(path, overrides, axes, digest=digest, fork=fork)
    return Plan(study, tuple(range(first_seed, first_seed + runs)), tuple(overrides))


def simulate(planned: Plan, out: Path, jobs: int, progress: Progress) -> Summary:
    """Run what is missing; write ``out/<run>/meta.json`` and ``series.npz`` as each seed ends.

    Raises
    ------
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.runner`.
    """
    store = Store(out / "runs")

    def write(study: Study, seed: int) -> None:
        for index, run in enumerate(store.load(study, seed)):
            _write_run(planned, index, run, out / planned.directory(index, seed))

    (done,) = execute([Task(planned.study, planned.seeds)], store, jobs, progress, write)
    return summarise(done)


def _write_run(planned: Plan, index: int, run: RunData, directory: Path) -> None:
    with replacing(directory / "series.npz") as file:
        write_runs(file, [run])
    write_text(directory / "meta.json", json.dumps(_meta(planned, index, run), indent=1, ensure_ascii=False) + "\n")


def _meta(planned: Plan, index: int, run: RunData) -> dict[str, Any]:
    branch = planned.study.branches[index]
    return {
        "scenario": json.loads(branch.scenario.resolved()),
        "scenario_sha256": run.scenario_sha256,
        "set": [f"{name}={value}" for name, value in planned.overrides],
        "cell": branch.key,
        "seed": run.seed,
        "version": _core.version(),
        "records_sha256": run.records_sha256,
        "metrics_sha256": run.metrics_sha256,
        "counts": run.counts,
        "packet_hops": run.counts["packet_hops"],
        "drops": run.drops,
        "forked_at_s": run.forked_at_s,
        # All cells of a seed are run by one call, which may share their warm-up: there is no time of one cell.
        "cpu_seconds": round(run.cpu_s, 6),
        "cpu_seconds_of_cells": len(planned.study.branches),
        "series": {
            name: {part: value for part, value in content.items() if not isinstance(value, np.ndarray)}
            for name, content in run.series.items()
        },
    }


def summarise(done: Done) -> Summary:
    """Reduce the stored runs to what a terminal can show."""
    rates: dict[tuple[int, str], list[float]] = {}
    drops: list[dict[str, int]] = [{} for _ in done.study.branches]
    for _, runs in done:
        for index, run in enumerate(runs):
            for reason, count in run.drops.items():
                drops[index][reason] = drops[index].get(reason, 0) + count
            for group, bps in _goodput_bps(run).items():
                rates.setdefault((index, group), []).append(bps)
    cells = [branch.key for branch in done.study.branches]
    goodput = [Goodput(cells[index], group, stats.mean(values)) for (index, group), values in sorted(rates.items())]
    means = [
        (cell, {reason: count / len(done.seeds) for reason, count in sorted(one.items())})
        for cell, one in zip(cells, drops, strict=True)
    ]
    return Summary(goodput, means)


def _goodput_bps(run: RunData) -> dict[str, float]:
    """Goodput by group over the whole run; where two observers watch one group, the first counts."""
    found: dict[str, float] = {}
    for content in run.series.values():
        if content["kind"] == "goodput":
            span_s = content["interval_s"] * content["bytes"].shape[1]
            for group, total in zip(content["groups"], content["bytes"].sum(axis=1), strict=True):
                found.setdefault(group, float(total) * 8 / span_s)
    return found
