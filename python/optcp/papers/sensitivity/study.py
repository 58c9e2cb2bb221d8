"""One exhibit at many settings of its paper's unstated parameters.

Every setting runs the same seeds, so that settings differ by nothing else (common random numbers). Runs are stored
where ``optcp reproduce`` stores them; a study that was interrupted continues there.
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
    """What ``optcp sensitivity`` was asked for.

    Attributes
    ----------
    exhibit
        Which.
    space
        What is varied.
    samples
        N of the design, a power of two.
    seeds
        How many seeds each setting runs, 1, 2, ..., the same for all; at least two, for an interval, unless the exhibit
        itself has one.
    settings
        ``--set``: what else is not at its default.
    """

    exhibit: Exhibit
    space: Space
    samples: int
    seeds: int
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Finished:
    """A study whose runs are all there.

    Attributes
    ----------
    request, design
        What was asked for, and the settings that it led to.
    answers
        One a setting.
    a, b, ab
        As the design has them, without the samples of which a point could not be evaluated: each of these is
        represented by the next one that could.
    left_out
        Settings that could not be evaluated, with the reason.
    runs
        How many runs the answers rest on, each counted once.
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
    """Run what is missing below ``out/runs`` and evaluate the exhibit at every setting.

    Parameters
    ----------
    say
        Notified in a line of what takes time beside the runs.

    Raises
    ------
    InputError
        Before anything runs, if a setting makes no sense; it is named with what was varied.
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.runner.execute`; and if no sample can be evaluated.
    """
    if request.seeds < 2 and not _has_one_seed(request.exhibit):
        raise InputError("--seeds 1: one seed has no interval to compare with the printed values; expected 2 or more")
    planned = design(request.space, request.samples)
    if planned.idle:
        say(
            f"warning: --samples {request.samples} are too few to give {' and '.join(planned.idle)} another value at "
            "any point: their effects come out as nothing"
        )
    found = evaluate(request, planned.settings, range(1, request.seeds + 1), out, jobs, progress, say)
    a, b, ab = _replace(planned, np.array([answer is not None for answer in found.answers]))
    return Finished(request, planned, found.answers, a, b, ab, found.left_out, found.runs, found.metrics_sha256)


def _has_one_seed(exhibit: Exhibit) -> bool:
    """Whether the exhibit itself is of one seed: its intervals are over something else."""
    grids = exhibit.studies(assume.values(exhibit.assumed, {}), Options(check=False))
    return all(exhibit.seeds(name, Size("default")) == 1 for name in grids)


@dataclass
class Evaluated:
    """An exhibit at some settings; the attributes are those of :class:`Finished`."""

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
    """Run what is missing of some settings below ``out/runs``, and evaluate the exhibit at each; see :func:`run`."""
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
    say("the exhibit is evaluated at each setting")
    found = Evaluated(runs=len(seeds) * sum({task.grid.hash: len(task.grid.branches) for task in flat}.values()))
    # What was reduced of a setting goes with it: all settings together are too much for memory.
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
    """Let the next whole sample stand for each that has a hole: the estimators need a power of two of them."""
    whole = there[planned.a] & there[planned.b] & there[planned.ab].all(axis=0)
    if not whole.any():
        raise RunFailed("no sample of the design could be evaluated; narrow the ranges with --over")
    use = np.flatnonzero(whole)
    chosen = use[np.searchsorted(use, np.arange(planned.samples)) % use.size]
    return planned.a[chosen], planned.b[chosen], planned.ab[:, chosen]
