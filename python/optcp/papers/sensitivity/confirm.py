"""Re-runs of the settings that match the published values, up to the number of runs of the paper.

# Model
Few seeds per setting give wide intervals, so some settings match for lack of runs or by chance. Matching settings are
re-run on new seeds and compared by the same rule. They get an eighth of the number of runs of the paper, then a
quarter, a half and all. A setting that differs significantly is dropped. If none matches, the settings with the
smallest misfit are re-run.

# References
The later waves of history matching (I. Vernon, M. Goldstein, R. G. Bower, Bayesian Anal. 5 (2010) 619-670, section 3).

# Parameters
Number of runs of the paper, their shares, and the level at which a setting is dropped early (99.9 %).

# Limitations
Only settings of the design are re-run; a better one may lie between them. About 5 % of correct settings do not match
at the end, and up to 0.1 % are dropped at each earlier step.
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
"""Successive divisors of the number of runs of the paper."""
EARLY_LEVEL = 0.999
NEAREST = 5
"""Number of re-run settings if none is compatible."""


@dataclass(frozen=True)
class Again:
    """Re-run setting.

    Attributes
    ----------
    setting
        Values of the varied parameters.
    first, fit
        Agreement with the published values before and after the re-run; None if not evaluated.
    rows
        Re-run values by response.
    seeds
        Number of seeds.
    """

    setting: dict[str, Value]
    first: Fit
    fit: Fit | None
    rows: dict[str, Row]
    seeds: int


@dataclass(frozen=True)
class Confirmed:
    """Re-run settings, ordered by their first misfit.

    Attributes
    ----------
    settings
        Results of the re-runs.
    paper_runs
        Number of runs of the paper; settings with fewer seeds were dropped.
    runs, metrics_sha256
        Number of distinct runs, and digests of each step.
    """

    settings: list[Again]
    paper_runs: int
    runs: int
    metrics_sha256: list[str]


def confirm(finished: Finished, out: Path, jobs: Jobs, progress: Progress, say: Callable[[str], None]) -> Confirmed:
    """Re-run every compatible setting; see :func:`optcp.papers.sensitivity.study.run`.

    The seeds follow the seeds of the design and are the same for all settings.
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
