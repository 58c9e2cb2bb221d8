"""The paper's cells at its own scale: which long runs there are, what is kept of them, and what to say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcp.papers.kept import LongRun
from optcp.papers.lbas import outcome
from optcp.papers.lbas.paper import CELLS, FEWER, SCENARIO, directory, length, overrides

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.papers.assume import Value
    from optcp.papers.lbas.outcome import Measured
    from optcp.papers.lbas.paper import Cell


def long_run(cell: Cell, chosen: Mapping[str, Value], seed: int) -> LongRun:
    """The run of a cell with these values, and where it is kept."""
    settings = (*overrides(chosen), *length(chosen).items(), *cell.overrides())
    file = directory(chosen) / f"{cell.name}-seed-{seed}.json"
    return LongRun(file, SCENARIO, settings, seed, outcome.to_json, outcome.METRICS)


def kept_runs(chosen: Mapping[str, Value]) -> list[tuple[Cell, dict[str, Any]]]:
    """Everything that is kept for these values: cells and contents of files, cell by cell and by seed."""
    found = []
    for cell in (*CELLS, *FEWER):
        files = directory(chosen).glob(f"{cell.name}-seed-*.json")
        for seed in sorted(int(file.stem.rpartition("-")[2]) for file in files):
            content = long_run(cell, chosen, seed).read()
            found += [(cell, content)] if content else []
    return found


def by_cell(kept: Sequence[tuple[Cell, dict[str, Any]]]) -> dict[Cell, dict[int, outcome.Batches]]:
    """What :func:`kept_runs` found, by cell and seed."""
    cells: dict[Cell, dict[int, outcome.Batches]] = {}
    for cell, content in kept:
        cells.setdefault(cell, {})[content["seed"]] = outcome.from_json(content["outcome"])
    return cells


def provenance_of(reading: str, kept: Sequence[tuple[Cell, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Where each kept run comes from."""
    names = ("seed", "version", "git", "scenario_sha256", "metrics_sha256", "cpu_seconds")
    return [
        {"reading": reading, "cell": cell.name, **{name: content[name] for name in names}} for cell, content in kept
    ]


def what_is_kept(measured: Measured, of: Mapping[str, str]) -> str:
    """Say which cells there are, and how long their runs are."""
    missing = [cell.name for cell in CELLS if cell not in measured.cells]
    names = "all" if len(missing) == len(CELLS) else ", ".join(missing)
    text = (
        f"long runs that are kept with the project ({of['stop']}, the first {of['parameters.warm_up']} left out, "
        f"means of {of['parameters.batch']}), "
        f"{len(CELLS) - len(missing)} of {len(CELLS)} cells."
    )
    more = f" Missing: {names}; `optcp reproduce lbas --paper-scale` makes them." if missing else ""
    return text + more + f" Intervals are over batches where there are fewer than {outcome.ENOUGH_SEEDS} seeds."
