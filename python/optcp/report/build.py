"""From the exhibits' JSON files to ``report/index.html``."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, TypeVar

from optcp import results as found
from optcp import tables
from optcp.errors import RunFailed
from optcp.files import write_text
from optcp.papers.judge import word
from optcp.papers.model import Result
from optcp.plots import figures
from optcp.plots import sensitivity as plots
from optcp.report.templating import templates
from optcp.sensitivity.result import Result as Study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from optcp.plots import Figure

R = TypeVar("R", Result, Study)

VERDICTS = ("match", "near", "differs", "undecided", "claim-only")
JUDGEMENTS = ("true", "false", "undecided")


def write_report(directory: Path) -> Path:
    """Write the report of a directory into it: of its exhibits and sensitivity studies, or else of the study it is.

    Returns
    -------
    Path
        The page.
    """
    from optcp.report import study
    from optcp.study.done import Done
    from optcp.study.store import IDENTITY

    page = directory / "report" / "index.html"
    studies = found.sensitivities(directory)
    if (directory / IDENTITY).is_file() and not studies and not found.files(directory):
        return study.write(Done.open(directory), page)
    results = list(found.exhibits(directory).values()) if found.files(directory) or not studies else []
    write_text(page, render(results, studies))
    return page


def render(results: Sequence[Result], studies: Sequence[Study] = ()) -> str:
    """Make the page; the same bytes for the same results."""
    environment = templates()
    environment.filters |= {"number": tables.number, "word": word, "slug": _slug, "bounds": tables.bounds}
    environment.globals |= {
        "interval": tables.interval,
        "size_text": tables.size_text,
        "ended_text": tables.ended_text,
        "figures": functools.partial(_drawn, figures, "the result of"),
        "study_figures": functools.partial(_drawn, plots.figures, "the sensitivity study of"),
        "keys_of": _keys,
    }
    page = environment.get_template("index.html.j2")
    return page.render(
        results=results,
        studies=studies,
        papers=_summary(results),
        version=_versions([*results, *studies]),
        verdicts=VERDICTS,
        judgements=JUDGEMENTS,
    )


def _drawn(draw: Callable[[R], list[Figure]], what: str, result: R) -> list[Figure]:
    """Draw a result that may be of another version of its exhibit: figures know the rows and curves it has now.

    Raises
    ------
    RunFailed
        If it cannot be drawn.
    """
    try:
        return draw(result)
    except (LookupError, ValueError, TypeError, ArithmeticError, StopIteration) as error:
        raise RunFailed(
            f"{what} {result.exhibit} does not hold what its figures show ({error!r}); delete its file and run again"
        ) from error


def _summary(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Counts of verdicts and judgements by paper."""
    papers: dict[str, list[Result]] = {}
    for result in results:
        papers.setdefault(result.exhibit.partition("/")[0], []).append(result)
    return [
        {
            "name": name,
            "paper": of_paper[0].source["paper"],
            "exhibits": of_paper,
            "rows": _counts([row.verdict for result in of_paper for row in result.rows], VERDICTS),
            "claims": _counts([word(claim.holds) for result in of_paper for claim in result.claims], JUDGEMENTS),
        }
        for name, of_paper in papers.items()
    ]


def _counts(words: Sequence[str], order: Sequence[str]) -> dict[str, int]:
    return {name: words.count(name) for name in order}


def _versions(results: Sequence[Result | Study]) -> str:
    versions = (f"{result.provenance['version']} (git {result.provenance['git']})" for result in results)
    return ", ".join(dict.fromkeys(versions))


def _keys(result: Result) -> list[str]:
    return list(dict.fromkeys(name for row in result.rows for name in row.key))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower())
