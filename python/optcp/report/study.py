"""Report page of a finished study: scenario, metrics with figures and paired comparisons, provenance."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import _core
from optcp.common import spreadsheet
from optcp.common.files import write_text
from optcp.common.plurals import count_noun
from optcp.common.terminal import digits, p_text
from optcp.data.labelled import cells_of, censored, missing, prefixed, words
from optcp.plots.network import of_world
from optcp.plots.registry import Figure
from optcp.report import worlds
from optcp.report.compared import differences, values
from optcp.report.words import capital
from optcp.scenarios import warned
from optcp.scenarios.topologies import own_names, places
from optcp.study.study import described
from optcp.web.packed import Files
from optcp.web.templating import templates

if TYPE_CHECKING:
    from pathlib import Path

    from optcp.data.cells import Cells
    from optcp.data.compare import Compared, Comparison
    from optcp.data.estimates import Estimates
    from optcp.study.done import StudyResult

MOST_ROWS = 12
"""Number of visible rows per metric; the others are folded."""


REPRODUCE = "command"
"""Key of the command in the provenance."""


def write(done: StudyResult, path: Path) -> Path:
    """Write the page to a file and return its path."""
    write_text(path, page(done))
    return path


def page(done: StudyResult) -> str:
    """Return the page; equal studies give equal bytes."""
    reference = {axis.name: axis.values[0] for axis in done.axes} if len(done.grid.branches) > 1 else {}
    comparison = done.compare(at=reference) if reference else None
    compared: dict[str, dict[tuple[str, ...], Compared]] = {}
    for row in comparison.rows if comparison else ():
        compared.setdefault(row.metric, {})[tuple(row.cell.values())] = row
    summary, findings = differences(comparison.rows, reference) if comparison else ("", values(done.metrics))
    # Warnings start with a lower-case letter.
    same = [f"{text[0].upper()}{text[1:]}." for text in (one.message for one in warned.identical(done))]
    summary = " ".join([*same, *([summary] if summary else [])])
    summaries = {one["name"]: one["summary"] for one in _core.metrics()}
    world = done.grid.branches[0].resolved
    about = provenance(done)
    settings = done.store.read_identity()["settings"]
    return (
        templates()
        .get_template("runs.html.j2")
        .render(
            title=done.grid.title,
            about=described(done.grid, done.seeds),
            summary=summary,
            findings=findings,
            world=_world(world),
            map=of_world(world, places(settings, ""), called=own_names(settings, "")),
            failing=any("link" in failure for failure in world["failures"]),
            axes=[(axis.name, ", ".join(axis.shown)) for axis in done.axes],
            settings=settings,
            metrics=[_metric(cells, summaries[name], compared.get(name, {})) for name, cells in done.metrics.items()],
            reference=", ".join(f"{name} = {value}" for name, value in reference.items()),
            provenance=about,
            command=about.pop(REPRODUCE),
            files=_files(done, comparison),
            bare=missing("matplotlib"),
            most=MOST_ROWS,
        )
    )


def _files(done: StudyResult, comparison: Comparison | None) -> Files:
    """Return the files in the page: means of all metrics, comparison and scenario."""
    files = Files()
    names = list(dict.fromkeys(axis.name for cells in done.metrics.values() for axis in cells.axes))
    rows: list[list[object]] = [["metric", "unit", *names, "mean", "low", "high", "n", "at_least"]]
    for name, cells in done.metrics.items():
        for cell, one in cells.mean():
            ends = ["" if np.isnan(value) else value for value in (one.estimate, one.low, one.high)]
            bound = "" if one.at_least is None else one.at_least
            rows.append([name, cells.unit, *(cell.get(axis, "") for axis in names), *ends, one.n, bound])
    files.add("metrics.csv", spreadsheet.written(rows))
    if comparison:
        files.add("comparison.csv", comparison.csv())
    # Older studies do not contain their scenario.
    if toml := done.store.cell(done.grid.branches[0].id).get("toml"):
        files.add("scenario.toml", worlds.toml(done.grid, toml))
    return files


def _world(world: dict[str, Any]) -> str:
    flows = sum(
        drawn["count"] * drawn["per_source"]
        if (drawn := group.get("drawn"))
        else sum(len(route["flows"]) for route in group.get("routes", ()))
        for group in world["flows"]
    )
    # Exclude circuits of backup paths, routes of bursts and virtual output queues.
    links = sum("circuit_over" not in link and "served" not in link for link in world["links"])
    parts = [count_noun(len(world["nodes"]), "node"), count_noun(links, "link")]
    parts.append(count_noun(flows, "configured flow"))
    return ", ".join(parts) + f"; duration {world['stop_ps'] / 1e12:g} s"


def _metric(cells: Cells, summary: str, compared: dict[tuple[str, ...], Compared]) -> dict[str, Any]:
    means = cells.mean()
    largest = means.largest
    factor, unit = prefixed(largest, cells.unit)

    def shown(*values: float) -> list[str]:
        return [digits(value / factor, largest / factor) for value in values]

    rows = []
    for at, cell in cells_of(means.axes):
        one = means.interval(at)
        mean = censored(one.estimate, one.at_least, lambda value: shown(value)[0])
        low, high = shown(one.low, one.high)
        against = ["reference", "", "", "", ""] if compared else []
        if (row := compared.get(tuple(cell.values()))) is not None:
            gap, least, most = shown(row.difference, row.low, row.high)
            against = [gap, _ends(least, most), digits(row.relative_pct, 100), p_text(row.p), str(row.n)]
        rows.append(
            {"cell": cell.values(), "mean": mean, "interval": _ends(low, high), "n": means.n[at], "against": against}
        )
    return {
        "name": cells.name,
        "words": words(cells.name, cells.unit),
        "unit": unit,
        "summary": capital(summary),
        "axes": [axis.name for axis in cells.axes],
        "rows": rows,
        "figure": _figure(cells, means),
    }


def _ends(low: str, high: str) -> str:
    """Return the text of an interval, "-" for a single seed."""
    return "-" if low == high == "-" else f"[{low}, {high}]"


def _figure(cells: Cells, means: Estimates) -> Figure | None:
    """Draw the metric over the first numeric parameter; None if all values are equal or matplotlib is missing."""
    known = means.estimate[np.isfinite(means.estimate)]
    if not known.size or np.ptp(known) == 0 or missing("matplotlib"):
        return None
    from optcp.plots.estimates import IEEE_WIDTH_IN, MAX_CURVES, draw
    from optcp.plots.study import HEIGHT_IN, first_axis
    from optcp.plots.svg import canvas, render

    x = first_axis(cells.axes)
    others = [axis for axis in cells.axes if axis.name != x and len(axis) > 1]
    by, remarks = None, []
    if others:
        axis = others.pop()
        by = axis.name
        if len(axis) > MAX_CURVES:
            cells = cells.part(**{by: axis.values[:MAX_CURVES]})
            remarks.append(f"the first {MAX_CURVES} of {len(axis)} curves")
    cells = cells.at(**{axis.name: axis.values[0] for axis in cells.axes if axis.name not in (x, by)})
    remarks += [f"{axis.name} = {axis.values[0]}" for axis in others]
    caption = "; ".join(
        [
            f"{words(cells.name, cells.unit)} over {x}: mean and 95 % interval of "
            f"{count_noun(len(cells.seeds), 'seed')}",
            *remarks,
        ]
    )
    with canvas(IEEE_WIDTH_IN[2], HEIGHT_IN + 0.4) as figure:
        draw(cells.mean(), x, by, 2, figure.add_subplot())
        return Figure(f"{caption}.", render(figure, cells.name, caption))


def provenance(done: StudyResult) -> dict[str, str]:
    """Return the provenance; ``metrics_sha256`` covers the digests of all runs in (combination, seed) order."""
    about = done.store.read_identity()
    digests = done.digests("metrics_sha256")
    first, count = done.seeds[0], len(done.seeds)
    whole = done.seeds == tuple(range(first, first + count))
    start = f" --seed {first}" if first != 1 else ""
    again = f"optcp run SCENARIO.toml --runs {count}{start} --out {done.store.root}"
    return {
        "version": about["version"],
        "simulator (sha256)": about["extension_sha256"],
        "cells": ", ".join(about["cells"]),
        "seeds": f"{first} to {done.seeds[-1]}" if whole else ", ".join(map(str, done.seeds)),
        "runs": str(len(digests)),
        "metrics_sha256": hashlib.sha256(bytes.fromhex("".join(digests))).hexdigest(),
        REPRODUCE: again if whole and done.grid.named is None else "optcp.Study(scenario, over, seeds=...).run(...)",
    }
