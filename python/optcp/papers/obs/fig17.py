"""Figure 17: the delay penalty of assembly, F_delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp.papers import judge
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.model import Series
from optcp.papers.obs.lossless import CELLS, NAME, lossless, measured
from optcp.papers.obs.paper import (
    ACKS,
    BACKGROUND,
    PAPER,
    PAPER_RUNS,
    PS,
    QUICK_RUNS,
    SEGMENT_BYTES,
    TIMERS_S,
    WINDOW,
    WORLD,
    Cell,
    equation_5,
    rtt0_s,
    study,
)
from optcp.papers.obs.rows import curves, frozen, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.judge import Part
    from optcp.study import Done, Grid, RunData

ROUND_TRIPS = "round trips"
ALONE = tuple(Cell(timer, "no") for timer in TIMERS_S)
PACKETS = (
    ("parameters.loss_probability", "0"),
    ("parameters.size", "1 MB"),
    ("observe", '[{ name = "packets", kind = "packets" }]'),
)
"""A shorter file, every packet of which is listed."""
NO_HARM_S = 5e-3


@exhibit
class Fig17(Exhibit):
    """Goodput without losses at each timer against that at the lowest one."""

    id = "obs/fig17"
    title = "Figure of merit of the delay penalty over the assembly timer"
    paper = PAPER
    where = "section IV.C, Fig. 17, equations 4 and 5"
    paper_runs = PAPER_RUNS
    assumed = WORLD

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The lossless transfers, shared with figure 14, and short ones whose packets are listed."""
        return {
            NAME: lossless(chosen, options),
            ROUND_TRIPS: study("obs, round trips", ALONE, PACKETS, chosen, options),
        }

    def seeds(self, study: str, size: Size) -> int:
        """As many files as the other figures have; one alone tells all round trips, which nothing random changes."""
        return 1 if study == ROUND_TRIPS else size.of(PAPER_RUNS, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """F_delay by cell, and the claims."""
        goodput = {cell: values[:, 0] for cell, values in measured(done[NAME]).items()}
        found = {cell: merit(goodput, cell) for cell in CELLS}
        rows = rows_of("f_delay", {frozen(cell.delayed_key()): values for cell, values in found.items()})
        longest = done[ROUND_TRIPS].once(_longest)
        judges = {
            "delay-penalty-law": {kind: follows_equation(found, goodput, longest, chosen, kind) for kind in ACKS},
            "background-keeps-penalty": {kind: background(found, kind) for kind in ACKS},
        }
        series = curves(rows, "F_delay", "")
        y = [round(equation_5(timer, rtt0_s(chosen)), 4) for timer in TIMERS_S]
        series.append(Series("equation 5", {}, "assembly timer", "s", "F_delay", "", list(TIMERS_S), y))
        return Evaluation(rows, judge.judge_each(self.id, judges), series)


def merit(goodput: Mapping[Cell, NDArray[np.float64]], cell: Cell) -> NDArray[np.float64]:
    """Equation 4: goodput over that of the same file, ACKs and background at the lowest timer, one a seed."""
    reference = Cell(TIMERS_S[0], cell.background, cell.ack_timer, cell.recovery)
    ratio: NDArray[np.float64] = goodput[cell] / goodput[reference]
    return ratio


def _longest(done: Done) -> list[float]:
    """The longest round trip at each timer, in seconds."""
    return [max(longest_round_trip_s(run) for run in runs) for runs in zip(*(runs for _, runs in done), strict=True)]


def longest_round_trip_s(run: RunData) -> float:
    """From the transmission of a segment, of which there is one, to the ACK that it brought."""
    rows = run.series["packets"]
    named = {name: rows["event"] == index for index, name in enumerate(rows["events"])}
    time_ps = rows["time_ps"].astype(np.int64)
    sent = dict(zip(rows["seq"][named["sent"]].tolist(), time_ps[named["sent"]].tolist(), strict=True))
    acked = zip(rows["seq"][named["acked"]].tolist(), time_ps[named["acked"]].tolist(), strict=True)
    return float(max(at - sent[number - 1] for number, at in acked) / PS)


def follows_equation(
    found: Mapping[Cell, NDArray[np.float64]],
    goodput: Mapping[Cell, NDArray[np.float64]],
    longest_s: list[float],
    chosen: Mapping[str, Value],
    kind: str,
) -> list[Part]:
    """Judge: equation 5 within 0.01 alone; a round trip longer by 2 Tb at most; Reno as SACK."""
    parts = []
    # Beside assembly a segment waits for the window in front of it, its ACK for the ACKs; each is sent once more at
    # every link.
    transmissions_s = 4 * WINDOW * SEGMENT_BYTES * 8 / (float(chosen["access_mbps"]) * 1e6)
    for place, timer in enumerate(TIMERS_S):
        name = f"{1e3 * timer:g} ms"
        mean, expected = float(found[Cell(timer, "no", kind)].mean()), equation_5(timer, rtt0_s(chosen))
        parts.append(judge.exact_part(f"{name}: {mean:.4f} against {expected:.4f}", abs(mean - expected) <= 0.01))
        if kind == "none":
            longer = longest_s[place] - rtt0_s(chosen)
            text = f"{name}: longest round trip {1e3 * longer:.3f} ms above RTT0"
            parts.append(judge.exact_part(text, longer <= 2 * timer + transmissions_s))
            same = bool(np.array_equal(goodput[Cell(timer, "no")], goodput[Cell(timer, "no", "none", "sack")]))
            parts.append(judge.exact_part(f"{name}: Reno and SACK equal", same))
    return parts


def background(found: Mapping[Cell, NDArray[np.float64]], kind: str) -> list[Part]:
    """Judge: no difference beyond 0.03 with background; no harm up to 5 ms."""
    parts = []
    for timer in TIMERS_S[1:]:
        name = f"{1e3 * timer:g} ms"
        alone, beside = (found[Cell(timer, one, kind)] for one in BACKGROUND)
        parts.append(judge.equivalence_part(f"{name}: with minus without", beside - alone, 0.03, ""))
        if timer <= NO_HARM_S:
            least = min(float(alone.mean()), float(beside.mean()))
            parts.append(judge.exact_part(f"{name}: F_delay {least:.3f}", least > 0.9))
    return parts
