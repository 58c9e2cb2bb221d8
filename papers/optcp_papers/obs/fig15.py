"""Figure 15: goodput over the assembly timer, with delayed ACKs."""

import itertools

from optcp.data.cells import Cells
from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Key, Options, Part, Setup, judge, rows, runs_of
from optcp_papers.obs import lossless
from optcp_papers.obs.goodput import STATEMENTS, transfers
from optcp_papers.obs.paper import (
    BACKGROUND,
    PAPER,
    PAPER_RUNS,
    QUICK_RUNS,
    RECOVERIES,
    TIMERS_S,
    WORLD,
    curves,
    goodput_mbps,
    ms,
    recovery_key,
)
from optcp_papers.obs.predicted import MODEL_NOTE, held_against

KINDS = ("exact", "tick")
NOT_DELAYED = "none"


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per kind of timer, the grid of figure 16 for comparison, and a lossless one for burst sizes."""
    result = {kind: transfers(kind, chosen, options) for kind in (*KINDS, NOT_DELAYED)}
    return {**result, lossless.NAME: lossless.lossless(chosen, options)}


seeds = runs_of(PAPER_RUNS, QUICK_RUNS, {lossless.NAME: (lossless.SIZES_RUNS, QUICK_RUNS)})
"""Number of files: the paper's 100, and fewer if only burst sizes are needed."""


def find(found: Found) -> Findings:
    """Return goodput, the model's error, and the claims of this figure and those that also need figure 16."""
    goodput = {kind: found.done[kind].once(goodput_mbps) for kind in (*KINDS, NOT_DELAYED)}
    bursts = found.done[lossless.NAME].once(lossless.measure).bursts
    measured, errors, models = [], [], []
    for kind in KINDS:
        measured += rows({"goodput_mbps": goodput[kind].mean()}, key=recovery_key(kind))
        of_kind, curves_of_kind = held_against(kind, goodput[kind], bursts, found.chosen)
        errors += of_kind
        models += curves_of_kind
    lower = {kind: delayed_is_lower(goodput[kind], goodput[NOT_DELAYED]) for kind in KINDS}
    both = {f"obs/fig16/{id_}": {kind: judged(goodput[kind]) for kind in KINDS} for id_, judged in STATEMENTS.items()}
    series = curves(measured, "goodput", "Mb/s") + models
    return Findings(measured + errors, {"delayed-ack-lowers": lower, **both}, series, [MODEL_NOTE])


def delayed_is_lower(delayed: Cells, plain: Cells) -> list[Part]:
    """Judge: every point of this figure is below the point of figure 16."""
    parts = []
    for recovery, background, timer in itertools.product(RECOVERIES, BACKGROUND, TIMERS_S):
        here: Key = {"recovery": recovery, "background": background, "timer_s": timer}
        beside = "with" if background == "yes" else "without"
        text = f"{ms(timer)}, {recovery}, {beside} background: with minus without"
        parts.append(judge.paired_part(text, delayed.at(**here), plain.at(**here), "below", "Mb/s"))
    return parts


FIG15 = Exhibit(
    "obs/fig15",
    "Goodput over the assembly timer, with delayed ACKs",
    "section IV.C, Fig. 15",
    Setup(PAPER, PAPER_RUNS, grids, seeds, WORLD),
    find,
)
