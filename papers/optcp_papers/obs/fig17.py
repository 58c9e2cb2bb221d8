"""Figure 17: the delay penalty of assembly, F_delay."""

import functools

import numpy as np

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import Cells, Grid, Key, Options, Part, Run, Series, StudyResult, judge, runs_of
from optcp_papers.obs import lossless
from optcp_papers.obs.lossless import Lossless
from optcp_papers.obs.paper import (
    ACKS,
    BACKGROUND,
    PAPER,
    PAPER_RUNS,
    PS,
    QUICK_RUNS,
    SEGMENT_BYTES,
    TIMER,
    TIMERS_S,
    WINDOW,
    WORLD,
    curves,
    delayed_key,
    equation_5,
    grid,
    ms,
    rtt0_s,
    settings,
)

ROUND_TRIPS = "round trips"
PACKETS = {
    "parameters.loss_probability": 0,
    "parameters.size": "1 MB",
    "observe": [{"name": "packets", "kind": "packets"}],
}
"""Settings of a shorter file with a packet trace."""
NO_HARM_S = 5e-3


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the lossless transfers, shared with figure 14, and short ones with packet traces."""
    alone = functools.partial(settings, background="no")
    return {
        lossless.NAME: lossless.lossless(chosen, options),
        ROUND_TRIPS: grid("obs, round trips", [(TIMER,)], alone, PACKETS, chosen, options),
    }


def find(found: Found) -> Findings:
    """Return F_delay, and the claims."""
    measured = found.done[lossless.NAME].once(lossless.measure)
    merit = measured.goodput / measured.goodput.at(timer_s=TIMERS_S[0])  # equation 4
    longest = found.done[ROUND_TRIPS].once(longest_round_trips)
    f_delay = rows({"f_delay": merit.mean()}, key=delayed_key)
    y = [round(equation_5(timer, rtt0_s(found.chosen)), 4) for timer in TIMERS_S]
    law = Series("equation 5", {}, "assembly timer", "s", "F_delay", "", list(TIMERS_S), y)
    claims = {
        "delay-penalty-law": {kind: follows_equation(merit, measured, longest, found.chosen, kind) for kind in ACKS},
        "background-keeps-penalty": {kind: keeps_penalty(merit.at(ack_timer=kind)) for kind in ACKS},
    }
    return Findings(f_delay, claims, [*curves(f_delay, "F_delay", ""), law])


def longest_round_trips(done: StudyResult) -> Cells:
    """Return the maximum RTT of each run, in s."""
    return done.each(longest_round_trip_s)


def longest_round_trip_s(run: Run) -> float:
    """Return the maximum time from the only transmission of a segment to its ACK, in s."""
    sent, acked = (run["packets"].where(event=event) for event in ("sent", "acked"))
    sent_ps = dict(zip(sent["seq"].tolist(), sent["time_ps"].tolist(), strict=True))
    acked_ps = zip(acked["seq"].tolist(), acked["time_ps"].tolist(), strict=True)
    return float(max(at - sent_ps[number - 1] for number, at in acked_ps) / PS)


def follows_equation(merit: Cells, measured: Lossless, longest_s: Cells, chosen: Chosen, kind: str) -> list[Part]:
    """Judge: equation 5 within 0.01 alone; an RTT increase of at most 2 Tb; Reno equals SACK."""
    parts = []
    # Besides assembly, a segment waits for the window before it and its ACK for other ACKs; every link transmits each
    # of them once more.
    transmissions_s = 4 * WINDOW * SEGMENT_BYTES * 8 / (float(chosen["access_mbps"]) * 1e6)
    for timer in TIMERS_S:
        here: Key = {"timer_s": timer, "background": "no", "ack_timer": kind}
        mean, expected = float(merit.at(**here).values.mean()), equation_5(timer, rtt0_s(chosen))
        parts.append(judge.exact_part(f"{ms(timer)}: {mean:.4f} against {expected:.4f}", abs(mean - expected) <= 0.01))
        if kind == "none":
            longer = float(longest_s.at(timer_s=timer).values.max()) - rtt0_s(chosen)
            text = f"{ms(timer)}: maximum RTT {1e3 * longer:.3f} ms above RTT0"
            parts.append(judge.exact_part(text, longer <= 2 * timer + transmissions_s))
            same = np.array_equal(measured.goodput.at(**here), measured.sack_goodput.at(timer_s=timer))
            parts.append(judge.exact_part(f"{ms(timer)}: Reno and SACK equal", same))
    return parts


def keeps_penalty(merit: Cells) -> list[Part]:
    """Judge: with background no difference above 0.03, and no harm up to 5 ms."""
    parts = []
    for timer in TIMERS_S[1:]:
        alone, beside = (merit.at(timer_s=timer, background=item) for item in BACKGROUND)
        parts.append(judge.equivalence_part(f"{ms(timer)}: with minus without", beside - alone, 0.03, ""))
        if timer <= NO_HARM_S:
            least = min(float(alone.values.mean()), float(beside.values.mean()))
            parts.append(judge.exact_part(f"{ms(timer)}: F_delay {least:.3f}", least > 0.9))
    return parts


FIG17 = Exhibit(
    "obs/fig17",
    "Figure of merit of the delay penalty over the assembly timer",
    "section IV.C, Fig. 17, equations 4 and 5",
    Setup(PAPER, PAPER_RUNS, grids, runs_of(PAPER_RUNS, QUICK_RUNS, {ROUND_TRIPS: 1}), WORLD),
    find,
)
