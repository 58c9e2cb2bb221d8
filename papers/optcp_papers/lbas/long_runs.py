"""Long runs at the paper's own scale: list, stored outcomes, and notes."""

import functools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optcp.papers.kept import LongRun
from optcp.papers.kit import Chosen, RunFailed
from optcp.scenarios.scenario import written
from optcp.stats.autocorrelation import lag_one
from optcp_papers.lbas import outcome
from optcp_papers.lbas.outcome import Measured
from optcp_papers.lbas.paper import CELLS, FEWER, SCENARIO, Cell, changed, directory, length, overrides, reading


def long_run(cell: Cell, chosen: Chosen, seed: int) -> LongRun:
    """Return the long run of a parameter combination, with the path of its stored outcome."""
    settings = tuple(written({**overrides(chosen), **length(chosen), **cell.settings}))
    file = directory(chosen) / f"{cell.name}-seed-{seed}.json"
    return LongRun(file, SCENARIO, settings, seed, outcome.to_json, outcome.METRICS)


@dataclass(frozen=True)
class Stored:
    """Long runs that are stored with the project.

    Attributes
    ----------
    chosen
        Values of the unstated parameters.
    runs
        Parameter combinations and file contents, by combination and seed.
    """

    chosen: Chosen
    runs: list[tuple[Cell, dict[str, Any]]]

    @property
    def reading(self) -> str:
        """Name of the interpretation."""
        return reading(self.chosen)

    @functools.cached_property
    def measured(self) -> Measured:
        """Outcomes of the runs."""
        cells: dict[Cell, dict[int, outcome.Batches]] = {}
        for cell, content in self.runs:
            cells.setdefault(cell, {})[content["seed"]] = outcome.from_json(content["outcome"])
        return Measured(cells)

    @property
    def origin(self) -> list[dict[str, Any]]:
        """Origin of each run."""
        names = ("seed", "version", "git", "scenario_sha256", "metrics_sha256", "cpu_seconds")
        return [
            {"reading": self.reading, "cell": cell.name, **{name: content[name] for name in names}}
            for cell, content in self.runs
        ]

    def note(self) -> str:
        """Describe the stored combinations, the length of their runs, and the quality of their intervals."""
        settings_, cells = length(self.chosen), self.measured.cells
        missing = [cell.name for cell in (*CELLS, *FEWER) if cell not in cells]
        names = "all" if not cells else ", ".join(missing)
        settings = "".join(f" --set {shlex.quote(f'{name}={self.chosen[name]}')}" for name in changed(self.chosen))
        text = (
            f"{self.reading}: long runs that are stored with the project ({settings_['stop']}, the first "
            f"{settings_['parameters.warm_up']} left out, means of {settings_['parameters.batch']}), "
            f"{sum(cell in cells for cell in CELLS)} of {len(CELLS)} cells."
        )
        more = f" Missing: {names}; `optcp reproduce lbas{settings} --paper-scale` makes them." if missing else ""
        return text + more + (_intervals(self.measured) if cells else "")


def stored(chosen: Chosen, cells: Sequence[Cell] = (*CELLS, *FEWER)) -> Stored:
    """Return all stored runs of some combinations for these values."""
    runs = []
    for cell in cells:
        files = directory(chosen).glob(f"{cell.name}-seed-*.json")
        for seed in sorted(map(_seed, files)):
            content = long_run(cell, chosen, seed).read()
            runs += [(cell, content)] if content else []
    return Stored(chosen, runs)


def _seed(file: Path) -> int:
    digits = file.stem.rpartition("-")[2]
    if not (digits.isascii() and digits.isdigit()):
        raise RunFailed(f"{file}: its name does not end with a seed; give it another name or place")
    return int(digits)


def not_committed(kept: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a note on runs of :attr:`Stored.origin` whose program is not in any commit."""
    dirty: dict[str, list[str]] = {}
    for item in kept:
        if item["git"].endswith(".dirty"):
            dirty.setdefault(item["reading"], []).append(f"{item['cell']} (seed {item['seed']})")
    if not dirty:
        return []
    names = "; ".join(f"{reading}: {', '.join(cells)}" for reading, cells in dirty.items())
    number = sum(len(cells) for cells in dirty.values())
    return [f"{number} of {len(kept)} stored runs made from a tree with changes that were not committed: {names}."]


def _intervals(measured: Measured) -> str:
    """Describe the samples of the intervals, and the correlation of batches."""
    seeds = sorted({len(of_cell) for of_cell in measured.cells.values()})
    number = " to ".join(str(end) for end in dict.fromkeys((seeds[0], seeds[-1])))
    found = {
        (round(lag_one(item["throughput_gbps"]), 2), f"{cell.name}, seed {seed}")
        for cell, of_cell in measured.cells.items()
        for seed, item in of_cell.items()
    }
    (low, at_low), (high, at_high) = min(found), max(found)
    return (
        f" Seeds of a cell: {number}. Where there are fewer than {outcome.ENOUGH_SEEDS}, intervals and tests are over "
        f"batches of single runs. These are not independent: the lag-1 correlation of their throughput is from "
        f"{low:+.2f} ({at_low}) to {high:+.2f} ({at_high}). Intervals and tests are widened for it."
    )
