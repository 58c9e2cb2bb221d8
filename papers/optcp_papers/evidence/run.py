"""Execution of experiments and storage of their results, for ``optcp evidence``."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from optcp import _core
from optcp.common.files import write_text
from optcp.errors import InputError, nearest
from optcp.stats import Interval
from optcp.study import StudyResult, execute
from optcp.study.pool import Jobs, Progress
from optcp_papers.evidence import EXPERIMENTS, outside, summary
from optcp_papers.evidence import page as pages
from optcp_papers.evidence.base import Compared, Experiment, Provenance, Result, Row, Runs


def select(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments of these names; all without a name.

    Raises
    ------
    InputError
        If a name is unknown.
    """
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    for name in names:
        if name not in known:
            raise InputError(f"there is no experiment {name!r}; {nearest(name, known)}")
    return [known[name] for name in names or known]


def evidence(
    chosen: Sequence[Experiment], seeds: int | None, out: Path, jobs: Jobs, progress: Progress
) -> list[Result]:
    """Run missing runs of each experiment and write ``out/<name>.json``; runs are stored below ``out/runs``.

    Parameters
    ----------
    seeds
        Number of runs per combination; None for the experiments' own numbers.

    Raises
    ------
    optcp.errors.Interrupted, optcp.errors.RunFailed
        Raised by :func:`optcp.study.runner.execute`.
    """
    results = []
    for item in chosen:
        if isinstance(item.source, Runs):
            wanted = item.source.studies(seeds)
            done = dict(zip(wanted, execute(list(wanted.values()), out / "runs", jobs, progress), strict=True))
            rows = [_row(item.name, *figure) for figure in item.source.find(done)]
            origin = {"scenario": item.source.scenario, **_cells(done.values())}
        else:
            rows, origin = item.source()
        made = cast(Provenance, {"version": _core.version(), **origin})
        about = list(item.about)
        result = Result(item.name, item.title, about, item.value, item.unit_n, item.digits, rows, made, item.interval)
        write_text(out / f"{item.name}.json", result.to_json())
        results.append(result)
    return results


def _row(experiment: str, key: dict[str, str], ours: Interval, *beside: outside.Figure) -> Row:
    """Compare one figure with all its external figures."""
    figures = (*outside.figures(experiment, key), *beside)
    low, high = (round(end, 6) if math.isfinite(end) else None for end in (ours.low, ours.high))
    compared = [Compared(figure.source, figure.text, figure.verdict(ours), figure.is_sharp(ours)) for figure in figures]
    return Row(key, round(ours.estimate, 6), (low, high), ours.n, compared)


def _cells(studies: Iterable[StudyResult]) -> dict[str, Any]:
    """Return the settings that reproduce each combination.

    ``metrics_sha256`` is over the digests of all runs in (study, combination, seed) order. Each combination also has
    the digest of its first seed, so a single run shows whether a figure is still valid.
    """
    everything = hashlib.sha256()
    cells = []
    for study in studies:
        digests = study.digests("metrics_sha256")
        everything.update(bytes.fromhex("".join(digests)))
        for branch, first in zip(study.grid.branches, digests[:: len(study.seeds)], strict=True):
            cells.append(
                {
                    "set": [f"{name}={value}" for name, value in branch.key.items()],
                    "seeds": [study.seeds[0], study.seeds[-1]],
                    "metrics_sha256": first,
                }
            )
    return {"metrics_sha256": everything.hexdigest(), "cells": cells}


def write_page(page: Path, results: Sequence[Result]) -> None:
    """Store the results next to the page, and render the summary and the details from all stored results."""
    folder = page.parent / pages.FOLDER
    for result in results:
        write_text(folder / f"{result.experiment}.json", result.to_json())
    everything = pages.read_results(folder)
    write_text(page, summary.render(everything))
    write_text(page.with_stem(f"{page.stem}-details"), pages.render(everything))
