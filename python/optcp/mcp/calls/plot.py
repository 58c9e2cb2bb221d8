"""Tool ``plot``: a metric of a study, or a trace of one run, as an image."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from optcp.data.labelled import optional
from optcp.errors import InputError
from optcp.mcp import numbers, studies
from optcp.scenarios import warned
from optcp.study import choose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from optcp.mcp.report import Report
    from optcp.study.done import StudyResult

MOST_BYTES = 4_000_000


def call(
    report: Report,  # noqa: ARG001 - all tools have one
    *,
    directory: str,
    metric: str | None,
    x: str | None,
    by: str | None,
    at: Mapping[str, str],
    minus: Mapping[str, str],
    kind: str | None,
    cell: Mapping[str, str],
    seed: int | None,
    names: Sequence[str],
    start: str | None,
    end: str | None,
) -> dict[str, Any]:
    """Draw a metric over a swept parameter, or an observation of a run over time."""
    optional("matplotlib")
    if (metric is None) == (kind is None):
        raise InputError("expected `metric` (a study over a swept parameter) or `kind` (a run over time), not both")
    done = studies.stored(directory)
    folder = done.store.written("plots")
    if metric is not None:
        path = _metric(done, folder, (metric, x, by), at, names, minus)
        digest = numbers.Digests(done).every()[: numbers.SHORT]
    else:
        path, digest = _trace(done, folder, str(kind), cell, seed, names, (start, end))
    content = path.read_bytes()
    if len(content) > MOST_BYTES:
        raise InputError(f"{path}: the image has {len(content)} bytes, more than {MOST_BYTES}; draw a shorter period")
    return {
        "warnings": numbers.warnings(warned.of_done(done)),
        "file": str(path),
        "seeds": len(done.seeds) if metric is not None else 1,
        "digest": digest,
        "png": base64.b64encode(content).decode(),
    }


def _metric(
    done: StudyResult, folder: Path, axes: tuple[str, str | None, str | None], at: Mapping[str, str],
    names: Sequence[str], minus: Mapping[str, str],
) -> Path:  # fmt: skip
    from optcp.plots.study import Request, write

    metric, *shown = axes
    x, by = (None if name is None else studies.axis(done, name) for name in shown)
    fixed, reference = studies.short(done, at), studies.short(done, minus)
    return write(done, Request(metric, x, by, fixed, tuple(names), reference), folder / f"mcp-{metric}.png")


def _trace(
    done: StudyResult, folder: Path, kind: str, cell: Mapping[str, str], seed: int | None, names: Sequence[str],
    period: tuple[str | None, str | None],
) -> tuple[Path, str]:  # fmt: skip
    from optcp.plots.trace.draw import KINDS, check, draw
    from optcp.plots.trace.request import Request, seconds

    flows = tuple(names) if KINDS.get(kind) and KINDS[kind].panel == "flow" else ()
    ports = tuple(names) if KINDS.get(kind) and KINDS[kind].panel == "port" else ()
    asked = Request((kind,), flows, ports, seconds(period[0], "start"), seconds(period[1], "end"))
    check(asked, None, "png")
    run = choose.one(done, tuple(cell.items()), seed)
    paths = [path for path, _ in draw(run, asked, folder, None, "png")]
    return paths[0], str(run.metrics_sha256)[: numbers.SHORT]
