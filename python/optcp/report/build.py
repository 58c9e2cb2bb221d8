"""Report of a directory: ``report/index.html`` from the JSON files of experiments, or from a study."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, TypeVar

from optcp.common import terminal
from optcp.common.files import need_directory, refuse_links, write_text
from optcp.common.plurals import count_noun
from optcp.data.labelled import missing
from optcp.errors import RunFailed
from optcp.papers import results as found
from optcp.papers import show
from optcp.papers.judge import word
from optcp.papers.model import Result
from optcp.papers.sensitivity.result import Result as Study
from optcp.report.exhibit import shown, slug
from optcp.report.findings import HOLDS, MARKS, claims, counted, lead, overall, papers, printed, tone
from optcp.web import playground
from optcp.web.packed import Files
from optcp.web.templating import templates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from optcp.plots import Figure

R = TypeVar("R", Result, Study)

PLAYGROUND = "playground.html"
"""Name of the simulator page next to the report."""

MOST_FINDINGS = 4
"""Number of visible findings per paper; the others are folded."""


def write_report(directory: Path, simulator: bytes | None) -> Path:
    """Write the report of the experiments and sensitivity studies in a directory, or of the study that it is.

    Parameters
    ----------
    directory
        Directory of results.
    simulator
        WebAssembly module from :func:`optcp.web.playground.simulator`, or None. With it, ``playground.html`` is written
        next to a report of experiments, which links their small scenarios to it.

    Returns
    -------
    Path
        File of the report.
    """
    from optcp.report import study
    from optcp.study.done import StudyResult
    from optcp.study.form import IDENTITY

    need_directory(directory)
    refuse_links(directory, ("report",))
    page = directory / "report" / "index.html"
    studies = found.sensitivities(directory)
    if (directory / IDENTITY).is_file() and not studies and not found.files(directory):
        return study.write(StudyResult.open(directory), page)
    results = list(found.exhibits(directory).values()) if found.files(directory) or not studies else []
    text = render(results, studies, playground=simulator is not None)
    if simulator is not None and results:
        write_text(page.with_name(PLAYGROUND), playground.page(playground.starts(), simulator))
    write_text(page, text)
    return page


def render(results: Sequence[Result], studies: Sequence[Study] = (), *, playground: bool = False) -> str:
    """Return the page; equal results give equal bytes.

    Parameters
    ----------
    results
        Results of experiments.
    studies
        Results of sensitivity studies.
    playground
        Whether ``playground.html`` is next to the page.
    """
    environment = templates()
    files = Files()
    found = papers(results)
    ordered = [result for paper in found for result in paper.results]
    environment.filters |= {
        "number": terminal.number,
        "measured": show.measured,
        "word": word,
        "slug": slug,
        "bounds": terminal.bounds,
    }
    environment.globals |= {
        "size_text": show.size_text,
        "ended_text": show.ended_text,
        "bare": missing("matplotlib"),
        "figures": functools.partial(_drawn, "optcp.plots.registry", "the result of"),
        "study_figures": functools.partial(_drawn, "optcp.plots.sensitivity", "the sensitivity study of"),
        "shown": functools.partial(shown, files=files, playground=playground),
        "playground": PLAYGROUND,
        "count_noun": count_noun,
        "overall": overall,
        "tone_of": tone,
        "counted_in": lambda result: _counted([result]),
        "holds": HOLDS,
        "marks": MARKS,
    }
    return environment.get_template("index.html.j2").render(
        results=ordered,
        studies=studies,
        papers=found,
        summary=" ".join(filter(None, [lead(ordered), _counted(ordered)])),
        version=_versions([*results, *studies]),
        most_findings=MOST_FINDINGS,
        files=files,
    )


def _counted(results: Sequence[Result]) -> str:
    return counted([tone(claim) for claim in claims(results)], printed(results))


def _drawn(module: str, what: str, result: R) -> list[Figure]:
    """Draw the figures of a result, or none without matplotlib, which is imported late for this reason.

    Raises
    ------
    RunFailed
        If the result lacks rows or curves of the figures, as results of older versions may.
    """
    if missing("matplotlib"):
        return []
    draw: Callable[[R], list[Figure]] = importlib.import_module(module).figures
    try:
        return draw(result)
    except (LookupError, ValueError, TypeError, ArithmeticError, StopIteration) as error:
        raise RunFailed(
            f"{what} {result.exhibit} lacks data of its figures ({error!r}); delete its file and run again"
        ) from error


def _versions(results: Sequence[Result | Study]) -> str:
    versions = (f"{result.provenance['version']} (git {result.provenance['git']})" for result in results)
    return ", ".join(dict.fromkeys(versions))
