"""Addition of seeds in stages until all claims and values are decided, or a bound is reached.

The interim looks are fixed before the first run and divide the 5 % (:mod:`optcp.stats.sequential`). A decision on a
claim under an interpretation is final, and later looks concern undecided claims only. A claim stays undecided if its
decided interpretations disagree or if its exhibit has no seeds to add. It also does if more seeds change nothing, or at
the bound.

A value is undecided while its interval is wider than the tolerance. Values need no share of the 5 %: the stopping rule
depends only on the width, so the interval keeps its level asymptotically (Y. S. Chow, H. Robbins, Ann. Math. Statist.
36 (1965) 457-462).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from optcp.papers import judge
from optcp.papers.options import Size
from optcp.papers.reproduce import evaluated, planned, runs_in, write
from optcp.stats import sequential
from optcp.study import Study, execute
from optcp.study.runner import opened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from optcp.papers.exhibit import Exhibit
    from optcp.papers.model import Claim, Ended, Result, Stage, UntilDecided
    from optcp.papers.reproduce import Planned, Request
    from optcp.study.pool import Jobs, Progress


def size(most: int, times: int = 1) -> Size:
    """Return the size of a look at ``times`` the default number of seeds, with ``most`` as the maximum."""
    return Size(f"until-decided, most={most}", times=times)


def reproduce(
    request: Request, most: int, out: Path, jobs: Jobs, progress: Progress, say: Callable[[str], object]
) -> list[Result]:
    """Reproduce exhibits with increasing numbers of seeds; write each result once it is decided.

    Parameters
    ----------
    request
        Request; its size is ignored.
    most
        Multiple of the default number of seeds at the last look, >= 2.
    say
        Function that receives a line with the CPU time before each look.

    Raises
    ------
    InputError, optcp._core.ScenarioError
        If a setting is invalid, before anything runs.
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.runner`.
    """
    looks = sequential.looks(most)
    level = sequential.level(len(looks))
    root = runs_in(out)

    def plan(times: int, exhibits: Sequence[Exhibit]) -> list[Planned]:
        return planned(replace(request, exhibits=exhibits, size=size(most, times)))

    bound = plan(most, request.exhibits)
    first = [Study(task.grid, seeds=task.seeds[:1]) for one in bound for task in one.tasks.values()]
    execute(first, root, jobs, progress)
    say(f"{len(looks)} looks at a level of {100 * level:.3g} % each: {cpu_hours(bound, root):.2g} CPU hours at most")

    standings: dict[str, LookState] = {}
    results: dict[str, Result] = {}
    plans = plan(looks[0], request.exhibits)
    for times, later in zip(looks, [*looks[1:], None], strict=True):
        hours = cpu_hours(plans, root)
        say(f"{times} x the default seeds: {len(plans)} of {len(bound)} exhibits, {hours:.2g} CPU hours")
        with judge.at_level(level):
            for result in evaluated(plans, replace(request, size=size(most)), root, jobs, progress):
                standings[result.exhibit] = after_look(standings.get(result.exhibit), result)
        still = [one.exhibit for one in plans if standings[one.exhibit.id].is_open]
        more = {one.exhibit.id: one for one in plan(later, still)} if later else {}
        grown = {one.exhibit.id for one in plans if one.exhibit.id in more and grows(one, more[one.exhibit.id])}
        for id_ in [one.exhibit.id for one in plans if one.exhibit.id not in grown]:
            results[id_] = standings[id_].ended_as("no seeds to add" if later else "bound reached", looks, level)
            write(results[id_], out)
        plans = [one for id_, one in more.items() if id_ in grown]
        if not plans:
            break
    return [results[exhibit.id] for exhibit in request.exhibits]


def cpu_hours(plans: Sequence[Planned], root: Path) -> float:
    """Return the estimated CPU hours of missing runs, from the mean of the stored runs of each study."""
    studies = {task.grid.hash: task.grid for one in plans for task in one.tasks.values() if task.seeds}
    seeds = {(task.grid.hash, seed) for one in plans for task in one.tasks.values() for seed in task.seeds}
    left_s = 0.0
    for hash_, study in studies.items():
        store = opened(study, root)
        wanted = [(branch, seed) for owner, seed in seeds if owner == hash_ for branch in study.branches]
        left_s += store.cpu_s_a_run * sum(not store.has(*run) for run in wanted)
    return left_s / 3600


def grows(now: Planned, later: Planned) -> bool:
    """Whether any study of an exhibit has more seeds at the later look."""
    return any(task.seeds != later.tasks[name].seeds for name, task in now.tasks.items())


@dataclass(frozen=True)
class LookState:
    """State of an exhibit after an interim look.

    Attributes
    ----------
    result
        Values and curves of this look, and claims with all decisions so far.
    ended
        Claims that further seeds cannot change, by id.
    is_open
        Whether further seeds may decide a claim or value.
    """

    result: Result
    ended: dict[str, Ended]
    is_open: bool

    def ended_as(self, stage: Stage, looks: Sequence[int], level: float) -> Result:
        """Return the result, in which all open claims end with this stage."""
        seeds = most_seeds(self.result)
        claims = {claim.id: self.ended.get(claim.id, {"stage": stage, "seeds": seeds}) for claim in self.result.claims}
        until: UntilDecided = {"looks": list(looks), "level": level, "claims": claims}
        return replace(self.result, size=self.result.size | {"until_decided": until})


def after_look(before: LookState | None, now: Result) -> LookState:
    """Return the state after a look; earlier decisions stay.

    Parameters
    ----------
    before
        State after the previous look, or None.
    now
        Result with the seeds of this look, judged at the level of a look.
    """
    ended = dict(before.ended) if before else {}
    earlier = {claim.id: claim for claim in before.result.claims} if before else {}
    claims = []
    for claim in now.claims:
        known = earlier.get(claim.id)
        kept = known if known and claim.id in ended else joined(known, claim)
        claims.append(kept)
        if claim.id not in ended and (stage := _stage(known, kept)):
            ended[claim.id] = {"stage": stage, "seeds": most_seeds(now)}
    # A value that more seeds do not change is independent of seeds.
    values = before.result.rows if before else []
    wide = [row for row in now.rows if row.verdict == "undecided" and row not in values]
    return LookState(replace(now, claims=claims), ended, bool(wide) or len(ended) < len(claims))


def _stage(before: Claim | None, now: Claim) -> Stage | None:
    """Return the reason why a claim has ended, or None."""
    if now.holds != "undecided":
        return "decided"
    if now.disagrees:
        return "interpretations disagree"
    return "the same with more seeds" if now == before else None


def joined(before: Claim | None, now: Claim) -> Claim:
    """Merge the claims of two looks: per interpretation the earlier decision, else the later verdict."""
    decided = {name: holds for name, holds in before.readings.items() if holds != "undecided"} if before else {}
    if before is None or not decided:
        return now
    lines = zip(now.readings, before.evidence.split("\n"), now.evidence.split("\n"), strict=True)
    evidence = "\n".join(first if name in decided else later for name, first, later in lines)
    readings = now.readings | decided
    answers = set(readings.values())
    return replace(now, holds=answers.pop() if len(answers) == 1 else "undecided", evidence=evidence, readings=readings)


def most_seeds(result: Result) -> int:
    """Return the number of seeds of the largest study; 0 without studies."""
    return max(result.size["seeds"].values(), default=0)
