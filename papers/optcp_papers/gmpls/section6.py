"""Experiment of section 6, which Figs 10 to 14 and Tables 4 and 5 share: a backup path that is longer by d."""

from collections.abc import Sequence
from pathlib import Path

from optcp.papers.kit import Cells, Chosen, Found, Grid, Options, Settings, Setup, built_in, defined, overrides, runs_of
from optcp_papers.gmpls.goodput import Goodput
from optcp_papers.gmpls.paper import PAPER, PAPER_RUNS, PS, WINDOW_S, world

D_MS = (1, 2, 10, 20, 50, 100)
"""Propagation delay of the span L1-L4-L5-L2; it replaces L1-L2 with 1 ms."""
DELTA_MS = (5, 10, 20, 50, 100)
END_S = 10.0
MEAN_RTT_MS = 120
"""Mean RTT (section 6.1): a mean access delay of 55 ms and five links of 1 ms, both ways."""
GRID = "d x delta"
QUICK_SEEDS = 16

SCENARIO = Path(__file__).with_name("scenarios") / "gmpls-section6.toml"

ASSUMED = (
    *world(access_share=0.8),
    built_in("backup", "d split evenly over L1-L4, L4-L5 and L5-L2"),
)


def backup(d_ms: int) -> dict[str, str]:
    """Return the settings of a backup span with delay d: a third per link, the rounding remainder on the middle one."""
    whole = d_ms * PS // 1000
    outer = whole // 3
    return {"parameters.outer_delay": f"{outer} ps", "parameters.middle_delay": f"{whole - 2 * outer} ps"}


def delta_rtt_pct(d_ms: int) -> float:
    """Return the increase of the mean RTT over the backup, in %."""
    return 100 * 2 * (d_ms - 1) / MEAN_RTT_MS


def grid(
    chosen: Chosen,
    options: Options,
    title: str,
    d_ms: Sequence[int] = D_MS,
    delta_ms: Sequence[int] = DELTA_MS,
    settings: Settings | None = None,
) -> Grid:
    """Return a grid over d and delta; equal seeds make equal random draws in every grid of this function."""
    delays = {delta: {"parameters.switch_delay": f"{delta} ms"} for delta in delta_ms}
    axes = {"d_ms": {d: backup(d) for d in d_ms}, "delta_ms": delays}
    return options.grid(SCENARIO, {**overrides(ASSUMED, chosen), **(settings or {})}, axes, title)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the 30 combinations that all experiments of section 6 share."""
    return {GRID: grid(chosen, options, "gmpls section 6")}


SETUP = Setup(PAPER, PAPER_RUNS, grids, runs_of(PAPER_RUNS, QUICK_SEEDS), ASSUMED)


def goodput(found: Found) -> Goodput:
    """Return the goodput of the shared grid."""
    return Goodput.of(found, GRID, WINDOW_S, END_S)


def relative(goodput: Goodput) -> Cells:
    """Return f(d, delta) = Good(d, delta) / Good(1 ms, delta)."""
    return over_first(goodput.good, goodput.good)


def over_first(good: Cells, shared: Cells) -> Cells:
    """Return the ratio of goodput to that with d = 1 ms in the shared grid, for equal seed and delta."""
    message = "a run without any goodput in the window at d = 1 ms: f(d) has no meaning"
    return defined(good / shared.at(d_ms=1), message)
