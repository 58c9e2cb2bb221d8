"""What runs with a core of burst switches report: how many bursts found no wavelength, fibre by fibre."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.study import saved

#: The row of all fibres of an observation together.
ALL = "all"


@dataclass(frozen=True)
class Contention:
    """What bursts asked of one fibre in one cell.

    Attributes
    ----------
    fibre
        The name of the fibre, or ``ALL``.
    bursts
        Bursts that asked for a wavelength, in all runs.
    lost
        The mean over runs of the share that got none, 0 to 1; None if nothing was asked in some run.
    utilisation
        The mean over runs of the share of time that wavelengths were reserved, 0 to 1. For ``ALL`` the mean over
        fibres too.
    """

    cell: dict[str, str]
    fibre: str
    bursts: int
    lost: stats.Interval | None
    utilisation: stats.Interval


def contention_of_cell(cell: dict[str, str], runs: Sequence[saved.SavedRun]) -> list[Contention]:
    """Contention in one cell by fibre, over its runs; empty if the scenario observes no fibres."""
    if not runs:
        return []
    found = []
    for entry in runs[0].scenario["observe"]:
        if entry["kind"] != "fibres":
            continue
        tables = [run.table(entry["name"]) for run in runs]
        for fibre in (ALL, *entry["fibres"]):
            rows = tables if fibre == ALL else [table.where(fibre=fibre) for table in tables]
            asked = [int(table.numbers("bursts").sum()) for table in rows]
            lost = [int(table.numbers("lost").sum()) for table in rows]
            shares = [none / all_ for none, all_ in zip(lost, asked, strict=True) if all_]
            busy = [float(table.numbers("utilisation").mean()) for table in rows]
            interval = stats.mean(shares) if len(shares) == len(runs) else None
            found.append(Contention(cell, fibre, sum(asked), interval, stats.mean(busy)))
    return found
