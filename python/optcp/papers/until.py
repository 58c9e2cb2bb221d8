"""Adding seeds in stages until every claim and every value of the exhibits is decided, or a bound is reached.

The looks are fixed before the first run, and each has its share of the 5 % (:mod:`optcp.stats.sequential`). What a look
decides about a claim under an interpretation stays; further looks are for what is still undecided. A claim stays
undecided where its interpretations disagree, each of them decided, which no run can change; where its exhibit has no
seeds to add, or a look with more seeds finds the very same; or where it is open at the bound.

A value is undecided while its interval is wider than the tolerance. It takes no share of the 5 %: when to stop follows
from the width, and the interval keeps its level as runs become many (Y. S. Chow, H. Robbins, Ann. Math. Statist. 36
(1965) 457-462).
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
    """The size of a look at ``times`` the default number of seeds, of at most ``most`` times."""
    return Size(f"until-decided, most={most}", times=times)


def reproduce(
    request: Request, most: int, out: Path, jobs: Jobs, progress: Progress, say: Callable[[str], object]
) -> list[Result]:
    """Look at the exhibits with more and more seeds; write each one's result once nothing is left to decide.

    Parameters
    ----------
    request
        Its size is not used.
    most
        The last look is at this many times the default number of seeds, >= 2.
    say
        Gets a line before each look, with the CPU time that it takes.

    Raises
    ------
    InputError, optcp._core.ScenarioError
        Before anything runs, if a setting is wrong.
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
    """The CPU time of the runs that are not stored yet, if all of a study cost what its stored ones did."""
    studies = {task.grid.hash: task.grid for one in plans for task in one.tasks.values() if task.seeds}
    seeds = {(task.grid.hash, seed) for one in plans for task in one.tasks.values() for seed in task.seeds}
    left_s = 0.0
    for hash_, study in studies.items():
        store = opened(study, root)
        wanted = [(branch, seed) for of, seed in seeds if of == hash_ for branch in study.branches]
        left_s += store.cpu_s_a_run * sum(not store.has(*run) for run in wanted)
    return left_s / 3600


def grows(now: Planned, later: Planned) -> bool:
    """Whether any study of an exhibit has more seeds at a later look."""
    return any(task.seeds != later.tasks[name].seeds for name, task in now.tasks.items())


@dataclass(frozen=True)
class LookState:
    """An exhibit after a look.

    Attributes
    ----------
    result
        Values and curves of this look, and each claim as far as it is decided.
    ended
        The claims about which further seeds decide nothing, by id.
    is_open
        Whether further seeds may decide a claim or a value.
    """

    result: Result
    ended: dict[str, Ended]
    is_open: bool

    def ended_as(self, stage: Stage, looks: Sequence[int], level: float) -> Result:
        """The result, in which all claims that have not ended do so at this stage."""
        seeds = most_seeds(self.result)
        claims = {claim.id: self.ended.get(claim.id, {"stage": stage, "seeds": seeds}) for claim in self.result.claims}
        until: UntilDecided = {"looks": list(looks), "level": level, "claims": claims}
        return replace(self.result, size=self.result.size | {"until_decided": until})


def after_look(before: LookState | None, now: Result) -> LookState:
    """What is decided after a look; what an earlier one decided stays.

    Parameters
    ----------
    before
        The exhibit after the look before, if there was one.
    now
        Its result with the seeds of this look, judged at the level of a look.
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
    # A value that more seeds leave as it is does not depend on them.
    values = before.result.rows if before else []
    wide = [row for row in now.rows if row.verdict == "undecided" and row not in values]
    return LookState(replace(now, claims=claims), ended, bool(wide) or len(ended) < len(claims))


def _stage(before: Claim | None, now: Claim) -> Stage | None:
    """How a claim has ended, if it has."""
    if now.holds != "undecided":
        return "decided"
    if now.disagrees:
        return "interpretations disagree"
    return "the same with more seeds" if now == before else None


def joined(before: Claim | None, now: Claim) -> Claim:
    """A claim of two looks: each interpretation has what the earlier one decided, else what the later one says."""
    decided = {name: holds for name, holds in before.readings.items() if holds != "undecided"} if before else {}
    if before is None or not decided:
        return now
    lines = zip(now.readings, before.evidence.split("\n"), now.evidence.split("\n"), strict=True)
    evidence = "\n".join(first if name in decided else later for name, first, later in lines)
    readings = now.readings | decided
    answers = set(readings.values())
    return replace(now, holds=answers.pop() if len(answers) == 1 else "undecided", evidence=evidence, readings=readings)


def most_seeds(result: Result) -> int:
    """The seeds of the study that has most; 0 without any study."""
    return max(result.size["seeds"].values(), default=0)
