"""Experiment of section 7, which Figs 15 and 16, Table 6 and the text share: behaviour after the repair."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optcp.papers.assume import built_in, overrides
from optcp.papers.kit import Cells, Chosen, Found, Grid, Options, Part, Settings, Setup, defined, judge, runs_of, tables
from optcp_papers.gmpls.goodput import Goodput
from optcp_papers.gmpls.paper import PAPER, PAPER_RUNS, world
from optcp_papers.gmpls.section6 import D_MS, backup

REVERT = {"none": "none", "electrical": "electrical", "optical": "optical-emulated", "optical exact": "optical"}
"""Strategies after the repair, with their names in the scenario file.

"optical" is the emulation of the paper's simulations; "optical exact" is the rule that it emulates.
"""
STRATEGIES = tuple(REVERT)
COMPARED = ("none", "electrical", "optical")
"""Strategies of the paper."""

DELTA_MS = 5
WINDOW_S = (10.0, 11.5)
"""Window of Figs 15 and 16 and of Table 6."""
END_S = 12.0
GRID = "d x strategy"
QUICK_SEEDS = 12
OPTICAL_NOTE = (
    '"optical" is the emulation of the paper\'s simulations: at the repair both directions switch back, and one '
    "propagation delay of L1-L2 later the last link of the backup fails in each. "
    '"optical exact" discards packets from the backup once the first packet arrives on the restored path.'
)

SCENARIO = Path(__file__).with_name("scenarios") / "gmpls-section7.toml"

ASSUMED = (
    *world(access_share=0.8),
    built_in("backup", "d split evenly over L1-L4, L4-L5 and L5-L2"),
    built_in("switch_delay_ms", str(DELTA_MS)),
)


def base(chosen: Chosen, end_s: float) -> dict[str, Any]:
    """Return the settings that all combinations share; equal seeds make equal random draws in every grid."""
    return {**overrides(ASSUMED, chosen), "parameters.switch_delay": f"{DELTA_MS} ms", "stop": f"{end_s:g} s"}


def cell(d_ms: int, strategy: str) -> dict[str, str]:
    """Return the settings of a backup length and a strategy."""
    return {**backup(d_ms), "parameters.revert": REVERT[strategy]}


def grid(options: Options, title: str, settings: Settings, strategies: Sequence[str]) -> Grid:
    """Return a grid over d and strategy."""
    reverts = {strategy: {"parameters.revert": REVERT[strategy]} for strategy in strategies}
    axes = {"d_ms": {d: backup(d) for d in D_MS}, "strategy": reverts}
    return options.grid(SCENARIO, settings, axes, title)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the 24 combinations that all experiments of section 7 share."""
    return {GRID: grid(options, "gmpls section 7", base(chosen, END_S), STRATEGIES)}


SETUP = Setup(PAPER, PAPER_RUNS, grids, runs_of(PAPER_RUNS, QUICK_SEEDS), ASSUMED)


def goodput(found: Found) -> Goodput:
    """Return the goodput of the shared grid."""
    return Goodput.of(found, GRID, WINDOW_S, END_S)


def over_electrical(good: Cells, strategy: str = "optical") -> Cells:
    """Return f(d) = Good(optical, d) / Good(electrical, d)."""
    message = "a run without any goodput in the window after an electrical switch-back: f(d) has no meaning"
    return defined(good.at(strategy=strategy) / good.at(strategy="electrical"), message)


def as_often_as_printed(f: Cells, lengths_ms: Sequence[int]) -> list[Part]:
    """Judge SHARE: runs in which optical is better, against the published share, for some d."""
    printed, better = tables("gmpls")["table6"]["opt_better_pct"], f > 1

    def against(d: int) -> Part:
        share, successes = printed[D_MS.index(d)], float(better.at(d_ms=d).values.sum())
        return judge.printed_share_part(f"optical is better, d = {d} ms", successes, len(f.seeds), share, PAPER_RUNS)

    return [against(d) for d in lengths_ms]
