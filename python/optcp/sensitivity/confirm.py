"""The settings nearest to the print, run again with as many random cases as the paper had.

# Models
Few seeds a setting leave wide intervals, and of many settings some come near the print by chance. The nearest ones are
therefore run again with the paper's own number of random cases, on seeds of which none has been used to choose them,
and compared with the print by the same rule.

# Source
The second wave of history matching (I. Vernon, M. Goldstein, R. G. Bower, Bayesian Anal. 5 (2010) 619-670, section 3).

# Parameters
How many settings; the paper's number of random cases.

# Limits
Only settings of the design are run again: a better one may lie between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.sensitivity import compatible
from optcp.sensitivity.study import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from optcp.papers.assume import Value
    from optcp.papers.model import Row
    from optcp.sensitivity.compatible import Fit
    from optcp.sensitivity.study import Finished
    from optcp.study.pool import Progress


@dataclass(frozen=True)
class Again:
    """One setting, run again.

    Attributes
    ----------
    setting
        What was varied.
    first, fit
        How it lay to the print when it was chosen, and how it does with the paper's number of random cases; None where
        it could not be evaluated.
    rows
        The compared values by response, as measured again.
    """

    setting: dict[str, Value]
    first: Fit
    fit: Fit | None
    rows: dict[str, Row]


@dataclass(frozen=True)
class Confirmed:
    """The settings that were run again, with their number of runs and the digests of these."""

    settings: list[Again]
    runs: int
    metrics_sha256: list[str]


def confirm(
    finished: Finished, count: int, out: Path, jobs: int, progress: Progress, say: Callable[[str], None]
) -> Confirmed:
    """Run the ``count`` settings nearest to the print again; see :func:`optcp.sensitivity.study.run`.

    The seeds are those that follow the design's own, the same for all settings.
    """
    request = finished.request
    paper_runs = request.exhibit.paper_runs
    nearest = list(compatible.fits(finished.answers, paper_runs).items())[:count]
    settings = [finished.design.settings[index] for index, _ in nearest]
    seeds = range(request.seeds + 1, request.seeds + paper_runs + 1)
    found = evaluate(request, settings, seeds, out, jobs, progress, say)
    again = []
    for setting, (_, first), answer in zip(settings, nearest, found.answers, strict=True):
        if answer is None:
            again.append(Again(setting, first, None, {}))
            continue
        roundings = compatible.compared([answer])
        fit = compatible.fit(answer, roundings, paper_runs)
        again.append(Again(setting, first, fit, {name: answer.rows[name] for name in roundings}))
    return Confirmed(again, found.runs, found.metrics_sha256)
