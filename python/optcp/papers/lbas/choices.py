"""Which of the paper's unstated parameters moves its numbers most: one at a time, in the smaller copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.papers.base import Evaluation, exhibit
from optcp.papers.lbas import smaller
from optcp.papers.lbas.rows import both_modes, columns
from optcp.papers.lbas.smaller import Smaller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.study import Done, Grid

RUNS = 8
NAME = "choices"
CHOICES: dict[str, dict[str, str]] = {
    "as assumed": {},
    "profile = rfc": smaller.SENDERS["rfc"],
    "profile = rfc, timeout_basis = flight-size": smaller.SENDERS["rfc, timeout_basis = flight-size"],
    # Windows are a tenth of the paper's here: 5 segments stand for the 45 of an older INET.
    "initial_ssthresh_segments = 5": {"parameters.initial_ssthresh": "5"},
    "start_spread_s = 6": {"parameters.start": "uniform(0 s, 6 s)"},
    "delay_80_to_120_ms = one-way": {"parameters.source_delay": "uniform(80 ms, 120 ms)"},
    "lightpath_delay_ms = 10": {"parameters.lightpath_delay": "10 ms"},
    "buffer = 83 packets": {"parameters.buffer": "83 packets"},
    "far_buffer = unlimited": {"parameters.far_buffer": "unlimited"},
    "K = 2": {"parameters.K": "2", "parameters.hosts": "5"},
}
"""An interpretation to what it changes; buffers and windows are those of the copy."""
QUICK_CHOICES = tuple(CHOICES)[:3]


@exhibit
class Choices(Smaller):
    """The first cell under each interpretation of an unstated parameter."""

    id = "lbas/choices"
    title = "What each unstated parameter changes, smaller copy of the network"
    runs = RUNS

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """With anycast switching and without, one change at a time."""
        cells = [
            {**dict(cell.overrides()), **CHOICES[name]}
            for name in (QUICK_CHOICES if smaller.is_quick(options) else CHOICES)
            for cell in smaller.QUICK_CELLS
        ]
        return {NAME: smaller.study("lbas, choices", cells, chosen, options)}

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows by interpretation."""
        del chosen
        measured = done[NAME].once(_measured)
        rows = [
            one
            for name, modes in measured.items()
            for one in both_modes({"choice": name}, {mode: columns(runs) for mode, runs in modes.items()})
        ]
        return Evaluation(rows, [], [], [NOTE])


NOTE = (
    "b_D = 2, 10 flows a lightpath; one unstated parameter at a time differs from the assumed value. Windows and "
    "buffers are those of the copy: an initial ssthresh of 5 segments stands for 45."
)


def _measured(done: Done) -> dict[str, dict[str, list[dict[str, float]]]]:
    names = list(CHOICES)[: len(done.grid.branches) // 2]
    found: dict[str, dict[str, list[dict[str, float]]]] = {name: {"yes": [], "no": []} for name in names}
    for _, runs in done:
        for place, run in enumerate(runs):
            found[names[place // 2]]["no" if place % 2 else "yes"].append(smaller.measure(run))
    return found
