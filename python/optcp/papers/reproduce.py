"""Runs the studies of exhibits and writes the result of each exhibit as JSON."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from optcp import _core
from optcp.common import stored
from optcp.common.files import write_text
from optcp.errors import InputError, nearest
from optcp.papers import assume
from optcp.papers.kept import make_missing
from optcp.papers.model import Provenance, Result
from optcp.papers.options import Options, Size
from optcp.study import Study, StudyResult, execute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from optcp.papers.assume import Value
    from optcp.papers.exhibit import Evaluation, Exhibit
    from optcp.papers.kept import LongRun
    from optcp.study.pool import Jobs, Progress


@dataclass(frozen=True)
class Request:
    """Arguments of ``optcp reproduce``.

    Attributes
    ----------
    exhibits
        Exhibits to reproduce, in order.
    size
        Number of runs.
    first_seed
        Seeds are ``first_seed``, ``first_seed + 1``, ...
    settings
        Values of ``--set`` by assumed parameter.
    """

    exhibits: Sequence[Exhibit]
    size: Size
    first_seed: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)
    options: Options = field(default_factory=Options)


def check_settings(request: Request) -> None:
    """Check that each setting is an assumed parameter of an exhibit.

    Raises
    ------
    InputError
        If not; the message suggests a similar name.
    """
    known = {parameter.name for exhibit in request.exhibits for parameter in exhibit.assumed}
    for name in request.settings:
        if name not in known:
            raise InputError(f"--set {name}: unknown assumed parameter; {nearest(name, known)}")


def reproduce(request: Request, out: Path, jobs: Jobs, progress: Progress) -> list[Result]:
    """Make missing runs, evaluate every exhibit, and write ``out/<paper>/<exhibit>.json``.

    Runs are stored below ``out/runs``. Exhibits that need the same study share its runs.

    Raises
    ------
    InputError, optcp._core.ScenarioError
        If a setting is invalid; raised before the first run.
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.runner`.
    """
    results = []
    for result in evaluated(planned(request), request, runs_in(out), jobs, progress):
        write(result, out)
        results.append(result)
    return results


@dataclass(frozen=True)
class Planned:
    """An exhibit with its assumed values and its studies by name."""

    exhibit: Exhibit
    chosen: dict[str, Value]
    tasks: dict[str, Study]


def planned(request: Request) -> list[Planned]:
    """Create the studies of each exhibit of a request.

    Raises
    ------
    InputError, optcp._core.ScenarioError
        If a setting is invalid.
    """
    check_settings(request)
    options = replace(request.options, size=request.size)
    plans = []
    for exhibit in request.exhibits:
        chosen = assume.values(exhibit.assumed, request.settings)
        tasks = {
            name: Study(study, seeds=_seeds(request, exhibit.seeds(name, request.size)))
            for name, study in exhibit.studies(chosen, options).items()
        }
        plans.append(Planned(exhibit, chosen, tasks))
    return plans


def evaluated(
    plans: Sequence[Planned], request: Request, root: Path, jobs: Jobs, progress: Progress
) -> Iterator[Result]:
    """Run missing simulations, then evaluate each exhibit in turn.

    Raises
    ------
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.runner`.
    """
    flat = [task for plan in plans for task in plan.tasks.values()]
    finished = iter(execute(flat, root, jobs, progress))
    for plan in plans:
        done = {name: next(finished) for name in plan.tasks}
        yield _result(plan.exhibit, request, plan.chosen, done, plan.exhibit.evaluate(plan.chosen, done))


def runs_in(out: Path) -> Path:
    """Directory in which runs of exhibits are stored."""
    return out / "runs"


def write(result: Result, out: Path) -> None:
    """Write ``out/<paper>/<exhibit>.json``."""
    write_text(out / f"{result.exhibit}.json", stored.with_checksum(result.to_json()))


def _seeds(request: Request, count: int) -> tuple[int, ...]:
    return tuple(range(request.first_seed, request.first_seed + count))


def _result(
    exhibit: Exhibit,
    request: Request,
    chosen: Mapping[str, Value],
    done: Mapping[str, StudyResult],
    evaluation: Evaluation,
) -> Result:
    defaults = {parameter.name: parameter.default for parameter in exhibit.assumed}
    return Result(
        exhibit=exhibit.id,
        title=exhibit.title,
        source={"paper": exhibit.paper, "where": exhibit.where},
        size={
            "name": request.size.name,
            "seeds": {name: len(study.seeds) for name, study in done.items()},
            "paper_runs": exhibit.paper_runs,
        },
        assumed=dict(chosen),
        changed={name: default for name, default in defaults.items() if chosen[name] != default},
        rows=evaluation.rows,
        claims=evaluation.claims,
        notes=evaluation.notes,
        provenance=provenance(done, evaluation.kept),
        series=evaluation.series,
    )


def make_long_runs(request: Request, seeds: int, jobs: Jobs, progress: Progress) -> list[LongRun]:
    """Make the missing long runs of the exhibits, ``seeds`` of each; they are stored with the project.

    Returns
    -------
    list
        Runs that another process is making.

    Raises
    ------
    InputError, optcp._core.ScenarioError
        If a setting is invalid; raised before the first run.
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.pool.run_jobs`.
    """
    check_settings(request)
    runs = [
        run
        for exhibit in request.exhibits
        for run in exhibit.long_runs(assume.values(exhibit.assumed, request.settings), _seeds(request, seeds))
    ]
    return make_missing(runs, jobs, progress) if runs else []


def provenance(done: Mapping[str, StudyResult], kept: Sequence[dict[str, Any]] = ()) -> Provenance:
    """Describe the provenance of a result.

    ``records_sha256`` and ``metrics_sha256`` are SHA-256 over the concatenated digests (32 bytes each) of all runs in
    (cell, seed) order. With several cells, ``scenario_sha256`` is the same over cells; ``cells`` has the digest of each
    scenario. Long runs that are stored with the project follow the others, and ``kept`` gives the program that made
    each of them. ``seeds`` is None without runs. ``git`` is the part of the version after ``+``, or "unknown".
    """
    records = [digest or None for study in done.values() for digest in study.digests("records_sha256")]
    cells = [
        {"study": name, **branch.key, "scenario_sha256": branch.scenario.sha256}
        for name, study in done.items()
        for branch in study.grid.branches
    ]
    scenarios = [cell["scenario_sha256"] for cell in [*cells, *kept]]
    seeds = [seed for study in done.values() for seed in study.seeds] + [one["seed"] for one in kept]
    metrics = [digest for study in done.values() for digest in study.digests("metrics_sha256")] + [
        one["metrics_sha256"] for one in kept
    ]
    version, _, git = _core.version().partition("+")
    made: Provenance = {
        "version": version,
        "git": git or "unknown",
        "scenario_sha256": scenarios[0] if len(scenarios) == 1 else _hash(scenarios),
        # A list, as when read from JSON.
        "seeds": cast("tuple[int, int]", [min(seeds), max(seeds)]) if seeds else None,
        "records_sha256": None if None in records or kept else _hash(digest for digest in records if digest),
        "metrics_sha256": _hash(metrics),
        "cells": cells,
    }
    if kept:
        made["kept"] = list(kept)
    return made


def _hash(digests: Iterable[str]) -> str:
    return hashlib.sha256(b"".join(bytes.fromhex(digest) for digest in digests)).hexdigest()
