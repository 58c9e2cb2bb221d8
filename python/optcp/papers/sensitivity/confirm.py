"""The settings that are compatible with the printed values, run again with as many random cases as the paper had.

# Models
Few seeds a setting leave wide intervals, so of many settings some agree for want of runs, or by chance.
All that agree are therefore run again on seeds of which none has been used to choose them, and compared by the same
rule: with an eighth of the paper's number of random cases, then a quarter, a half, and all. A setting that is
significantly off goes no further. Where none agrees, the settings with the least misfit are run again.

# Source
The later waves of history matching (I. Vernon, M. Goldstein, R. G. Bower, Bayesian Anal. 5 (2010) 619-670, section 3).

# Parameters
The paper's number of random cases; the shares of them; the level at which a setting is dropped early, 99.9 %.

# Limits
Only settings of the design are run again: a better one may lie between them. Of settings that are right, some 5 % do
not agree at the end, and up to 0.1 % are dropped at each step before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.papers.sensitivity import compatible
from optcp.papers.sensitivity.study import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from optcp.papers.assume import Value
    from optcp.papers.model import Row
    from optcp.papers.sensitivity.compatible import Fit
    from optcp.papers.sensitivity.study import Finished
    from optcp.study.pool import Jobs, Progress

STEPS = (8, 4, 2, 1)
"""The paper's number of random cases is divided by these, one after the other."""
EARLY_LEVEL = 0.999
NEAREST = 5
"""How many settings are run again where none is compatible."""


@dataclass(frozen=True)
class Again:
    """One setting, run again.

    Attributes
    ----------
    setting
        What was varied.
    first, fit
        How near it came to the printed values when it was chosen, and with more random cases; None where it could
        not be evaluated.
    rows
        The compared values by response, as measured again.
    seeds
        How many random cases it was given.
    """

    setting: dict[str, Value]
    first: Fit
    fit: Fit | None
    rows: dict[str, Row]
    seeds: int


@dataclass(frozen=True)
class Confirmed:
    """The settings that were run again, in the order of their first misfit.

    Attributes
    ----------
    settings
        How they did.
    paper_runs
        The paper's number of random cases; who was given fewer is significantly off.
    runs, metrics_sha256
        Number of runs, each counted once, and the digests of each step.
    """

    settings: list[Again]
    paper_runs: int
    runs: int
    metrics_sha256: list[str]


def confirm(finished: Finished, out: Path, jobs: Jobs, progress: Progress, say: Callable[[str], None]) -> Confirmed:
    """Run every compatible setting again; see :func:`optcp.papers.sensitivity.study.run`.

    The seeds are those that follow the design's own, the same for all settings.
    """
    request = finished.request
    paper_runs = request.exhibit.paper_runs
    if paper_runs is None:
        return Confirmed([], 0, 0, [])
    fits = compatible.fits(finished.answers, paper_runs)
    left = [index for index, fit in fits.items() if fit.compatible] or list(fits)[:NEAREST]
    again: dict[int, Again] = {}
    runs, before, digests = 0, 0, []
    for divisor in STEPS:
        count = max(2, paper_runs // divisor)
        settings = [finished.design.settings[index] for index in left]
        seeds = range(request.seeds + 1, request.seeds + count + 1)
        found = evaluate(request, settings, seeds, out, jobs, progress, say)
        runs += found.runs // count * (count - before)
        digests += found.metrics_sha256
        before = count
        for index, answer in zip(left, found.answers, strict=True):
            setting, fit, rows = finished.design.settings[index], None, {}
            if answer is not None:
                roundings = compatible.compared([answer])
                fit = compatible.fit(answer, roundings, paper_runs)
                rows = {name: answer.rows[name] for name in roundings}
            again[index] = Again(setting, fits[index], fit, rows, count)
        left = [index for index in left if not _off(again[index].fit)]
    return Confirmed(list(again.values()), paper_runs, runs, digests)


def _off(fit: Fit | None) -> bool:
    return fit is None or fit.misfit > compatible.bound(fit.values, EARLY_LEVEL)
