"""The paper's cells at its own scale: which long runs there are, what is stored of them, and what to say about it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from optcp.autocorrelation import lag_one
from optcp.errors import RunFailed
from optcp.papers.kept import LongRun
from optcp.papers.lbas import outcome
from optcp.papers.lbas.paper import CELLS, FEWER, SCENARIO, changed, directory, length, overrides, reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from optcp.papers.assume import Value
    from optcp.papers.lbas.outcome import Measured
    from optcp.papers.lbas.paper import Cell


def long_run(cell: Cell, chosen: Mapping[str, Value], seed: int) -> LongRun:
    """The run of a cell with these values, and where it is stored."""
    settings = (*overrides(chosen), *length(chosen).items(), *cell.overrides())
    file = directory(chosen) / f"{cell.name}-seed-{seed}.json"
    return LongRun(file, SCENARIO, settings, seed, outcome.to_json, outcome.METRICS)


def kept_runs(chosen: Mapping[str, Value]) -> list[tuple[Cell, dict[str, Any]]]:
    """Everything that is stored for these values: cells and contents of files, cell by cell and by seed."""
    found = []
    for cell in (*CELLS, *FEWER):
        files = directory(chosen).glob(f"{cell.name}-seed-*.json")
        for seed in sorted(map(_seed, files)):
            content = long_run(cell, chosen, seed).read()
            found += [(cell, content)] if content else []
    return found


def _seed(file: Path) -> int:
    digits = file.stem.rpartition("-")[2]
    if not (digits.isascii() and digits.isdigit()):
        raise RunFailed(f"{file}: its name does not end with a seed; give it another name or place")
    return int(digits)


def by_cell(kept: Sequence[tuple[Cell, dict[str, Any]]]) -> dict[Cell, dict[int, outcome.Batches]]:
    """What :func:`kept_runs` found, by cell and seed."""
    cells: dict[Cell, dict[int, outcome.Batches]] = {}
    for cell, content in kept:
        cells.setdefault(cell, {})[content["seed"]] = outcome.from_json(content["outcome"])
    return cells


def provenance_of(reading: str, kept: Sequence[tuple[Cell, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Where each stored run comes from."""
    names = ("seed", "version", "git", "scenario_sha256", "metrics_sha256", "cpu_seconds")
    return [
        {"reading": reading, "cell": cell.name, **{name: content[name] for name in names}} for cell, content in kept
    ]


def not_committed(kept: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the runs of :func:`provenance_of` whose program no commit has."""
    dirty: dict[str, list[str]] = {}
    for one in kept:
        if one["git"].endswith(".dirty"):
            dirty.setdefault(one["reading"], []).append(f"{one['cell']} (seed {one['seed']})")
    if not dirty:
        return []
    names = "; ".join(f"{reading}: {', '.join(cells)}" for reading, cells in dirty.items())
    number = sum(len(cells) for cells in dirty.values())
    return [f"{number} of {len(kept)} stored runs made from a tree with changes that were not committed: {names}."]


def what_is_kept(measured: Measured, chosen: Mapping[str, Value]) -> str:
    """Say which cells there are with these values, how long their runs are, and what their intervals are worth."""
    of = length(chosen)
    missing = [cell.name for cell in (*CELLS, *FEWER) if cell not in measured.cells]
    names = "all" if not measured.cells else ", ".join(missing)
    settings = "".join(f" --set {shlex.quote(f'{name}={chosen[name]}')}" for name in changed(chosen))
    text = (
        f"{reading(chosen)}: long runs that are stored with the project ({of['stop']}, the first "
        f"{of['parameters.warm_up']} left out, means of {of['parameters.batch']}), "
        f"{sum(cell in measured.cells for cell in CELLS)} of {len(CELLS)} cells."
    )
    more = f" Missing: {names}; `optcp reproduce lbas{settings} --paper-scale` makes them." if missing else ""
    return text + more + (_intervals(measured) if measured.cells else "")


def _intervals(measured: Measured) -> str:
    """What intervals are over, and how far batches are from being independent."""
    seeds = sorted({len(of_cell) for of_cell in measured.cells.values()})
    number = " to ".join(str(end) for end in dict.fromkeys((seeds[0], seeds[-1])))
    found = {
        (round(lag_one(one["throughput_gbps"]), 2), f"{cell.name}, seed {seed}")
        for cell, of_cell in measured.cells.items()
        for seed, one in of_cell.items()
    }
    (low, at_low), (high, at_high) = min(found), max(found)
    return (
        f" Seeds of a cell: {number}. Where there are fewer than {outcome.ENOUGH_SEEDS}, intervals and tests are over "
        f"batches of single runs. These are not independent: the lag-1 correlation of their throughput is from "
        f"{low:+.2f} ({at_low}) to {high:+.2f} ({at_high}). Intervals and tests are widened for it."
    )
