"""Evaluation of an exhibit at many settings of unstated parameters.

All settings use the same seeds (common random numbers). Runs are stored in the place of ``optcp reproduce``, and an
interrupted study continues there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from optcp.common.plurals import count_noun
from optcp.errors import InputError, RunFailed
from optcp.papers import assume
from optcp.papers.options import Options, Size
from optcp.papers.sensitivity.answer import SettingResult
from optcp.papers.sensitivity.design import design
from optcp.study import Study, execute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.exhibit import Exhibit
    from optcp.papers.sensitivity.design import Design
    from optcp.papers.sensitivity.space import Space
    from optcp.study.pool import Jobs, Progress


@dataclass(frozen=True)
class Request:
    """Request of ``optcp sensitivity``.

    Attributes
    ----------
    exhibit
        Exhibit.
    space
        Varied parameters.
    samples
        Size N of the design, a power of two.
    seeds
        Number of seeds per setting, counted from 1; at least two, unless the exhibit itself uses one.
    settings
        Other changed parameters (``--set``).
    """

    exhibit: Exhibit
    space: Space
    samples: int
    seeds: int
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Finished:
    """Study with all runs finished.

    Attributes
    ----------
    request, design
        Request, and settings of its design.
    answers
        Results by setting.
    a, b, ab
        Indices of the design; samples that could not be evaluated are replaced by the next complete one.
    left_out
        Settings that could not be evaluated, with reasons.
    runs
        Number of distinct runs.
    metrics_sha256
        Digests of the runs of every setting, in order.
    """

    request: Request
    design: Design
    answers: list[SettingResult | None]
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    ab: NDArray[np.int64]
    left_out: list[tuple[dict[str, Value], str]]
    runs: int
    metrics_sha256: list[str]


def run(request: Request, out: Path, jobs: Jobs, progress: Progress, say: Callable[[str], None]) -> Finished:
    """Perform missing runs below ``out/runs``, and evaluate the exhibit at every setting.

    Parameters
    ----------
    say
        Function that receives progress lines for steps other than runs.

    Raises
    ------
    InputError
        If a setting is invalid, before anything runs.
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.runner.execute`; and if no sample can be evaluated.
    """
    if request.seeds < 2 and not _has_one_seed(request.exhibit):
        raise InputError(
            "--seeds 1: expected 2 or more, because one seed has no interval to compare with the published values"
        )
    planned = design(request.space, request.samples)
    if planned.idle:
        say(
            f"warning: --samples {request.samples} are too few to vary {' and '.join(planned.idle)}; their effects "
            "will be zero"
        )
    found = evaluate(request, planned.settings, range(1, request.seeds + 1), out, jobs, progress, say)
    a, b, ab = _replace(planned, np.array([answer is not None for answer in found.answers]))
    return Finished(request, planned, found.answers, a, b, ab, found.left_out, found.runs, found.metrics_sha256)


def _has_one_seed(exhibit: Exhibit) -> bool:
    """Whether the exhibit uses one seed, with intervals over something else."""
    grids = exhibit.studies(assume.values(exhibit.assumed, {}), Options(check=False))
    return all(exhibit.seeds(name, Size("default")) == 1 for name in grids)


@dataclass
class Evaluated:
    """Results of an exhibit at some settings, with attributes as in :class:`Finished`."""

    answers: list[SettingResult | None] = field(default_factory=list)
    left_out: list[tuple[dict[str, Value], str]] = field(default_factory=list)
    runs: int = 0
    metrics_sha256: list[str] = field(default_factory=list)


def evaluate(
    request: Request,
    settings: Sequence[dict[str, Value]],
    seeds: range,
    out: Path,
    jobs: Jobs,
    progress: Progress,
    say: Callable[[str], None],
) -> Evaluated:
    """Perform missing runs of some settings, and evaluate the exhibit at each; see :func:`run`."""
    exhibit = request.exhibit
    say(f"checking {count_noun(len(settings), 'setting')}")
    base = assume.values(exhibit.assumed, request.settings)
    chosen = [{**base, **setting} for setting in settings]
    tasks = []
    for setting, one in zip(settings, chosen, strict=True):
        with assume.named(request.settings, setting):
            studies = exhibit.studies(one, Options())
        tasks.append({name: Study(study, seeds=tuple(seeds)) for name, study in studies.items()})
    flat = [task for one in tasks for task in one.values()]
    finished = execute(flat, out / "runs", jobs, progress)
    say("evaluating the exhibit at each setting")
    found = Evaluated(runs=len(seeds) * sum({task.grid.hash: len(task.grid.branches) for task in flat}.values()))
    # Release the reduced data of each setting, because all settings together exceed the memory.
    finished.reverse()
    for setting, values, names in zip(settings, chosen, tasks, strict=True):
        done = {name: finished.pop() for name in names}
        found.metrics_sha256 += [digest for one in done.values() for digest in one.digests("metrics_sha256")]
        try:
            evaluation = exhibit.evaluate(values, done)
            found.answers.append(SettingResult.of(evaluation, exhibit.contrasts(values, done), request.space.names))
        except RunFailed as error:
            found.answers.append(None)
            found.left_out.append((setting, str(error)))
    return found


def _replace(
    planned: Design, there: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Replace incomplete samples by the next complete one, because the estimators need a power of two."""
    whole = there[planned.a] & there[planned.b] & there[planned.ab].all(axis=0)
    if not whole.any():
        raise RunFailed("no sample of the design could be evaluated; narrow the ranges with --over")
    use = np.flatnonzero(whole)
    chosen = use[np.searchsorted(use, np.arange(planned.samples)) % use.size]
    return planned.a[chosen], planned.b[chosen], planned.ab[:, chosen]
