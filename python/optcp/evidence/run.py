"""Running experiments, and keeping what they found: what ``optcp evidence`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.evidence import page as pages
from optcp.evidence.base import Setting
from optcp.files import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from optcp.evidence.base import Experiment, Result
    from optcp.study.pool import Progress


def evidence(chosen: Sequence[Experiment], seeds: int | None, out: Path, jobs: int, progress: Progress) -> list[Result]:
    """Run what is missing of each experiment and write ``out/<name>.json``; stored runs are below ``out/runs``.

    Raises
    ------
    optcp.errors.Interrupted, optcp.errors.RunFailed
        See :func:`optcp.study.runner.execute`.
    """
    setting = Setting(seeds, out / "runs", jobs, progress)
    results = []
    for one in chosen:
        result = one.run(setting)
        write_text(out / f"{one.name}.json", result.to_json())
        results.append(result)
    return results


def write_page(page: Path, results: Sequence[Result]) -> None:
    """Store the results beside the page and write the page from all that are stored there."""
    folder = page.parent / pages.FOLDER
    for result in results:
        write_text(folder / f"{result.experiment}.json", result.to_json())
    write_text(page, pages.render(pages.read_results(folder)))
