"""Experiment of section 8, which Table 8 and Figs 18 and 19 share: four protection schemes for the same failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from optcp.data.cells import Cells
from optcp.papers.kit import (
    Chosen,
    Found,
    Grid,
    Options,
    Settings,
    Setup,
    StudyResult,
    built_in,
    overrides,
    runs_of,
    tables,
)
from optcp_papers.gmpls.goodput import Goodput
from optcp_papers.gmpls.paper import FAILURE_S, PAPER, PAPER_RUNS, REPAIR_S, world

SCENARIOS = ("A", "B", "C", "D")
"""Scenarios of Table 7, each with its own delays."""
MECHANISMS = LOCAL, PATH, LOOPBACK, VARIANT = ("local", "path", "loopback", "loopbackvar")
"""Names of the schemes in the paper."""
SCHEME = {LOCAL: "local", PATH: "path", LOOPBACK: "loopback", VARIANT: "loopback-variant"}
"""Names of the schemes in the scenario file."""
LOCAL_BACKUP = ("L1", "L4", "L2")
PATH_BACKUP = ("L0", "L5", "L6", "L7", "L3")
WORKING_LINKS = 3
"""Number of links that a backup must protect: L0-L1, L1-L2 and L2-L3."""

DELTA_MS = (5, 50)
"""Switch delays. Section 8 does not state one; the first is the delay of Tables 4 and 6."""
SWITCH_OVER_S = (5.0, 7.5)
SWITCH_BACK_S = (10.0, 11.5)
MERGE_UNTIL_S = 5.3
END_S = 11.5
QUICK_SEEDS = 12
GRID = "scenario x delta x scheme"

SCENARIO = Path(__file__).with_name("scenarios") / "gmpls-section8.toml"

ASSUMED = (
    *world(access_share=0.8),
    built_in(
        "backup",
        f"{'-'.join(LOCAL_BACKUP)} for local, {'-'.join(PATH_BACKUP)} for the others, each split evenly over its links",
    ),
    built_in("switch_delay_ms", f"{DELTA_MS[0]}, and {DELTA_MS[1]} where said"),
)


@dataclass(frozen=True)
class Delays:
    """Delays of one column of Table 7, in ms.

    Attributes
    ----------
    d_l, d_p
        Additional delay of the local backup and of the path backup.
    a, b, c
        Delays of L0-L1, L1-L2 and L2-L3.
    """

    d_l: int
    d_p: int
    a: int
    b: int
    c: int

    @classmethod
    def of(cls, scenario: str) -> Delays:
        """Return the published delays of a scenario."""
        printed = tables("gmpls")["table7"]
        return cls(**{name: printed[name][SCENARIOS.index(scenario)] for name in ("d_l", "d_p", "a", "b", "c")})

    @property
    def settings(self) -> dict[str, str]:
        """Parameters of the scenario file."""
        local_us, path_us = 1000 * (self.b + self.d_l), 1000 * (self.a + self.b + self.c + self.d_p)
        return {
            "parameters.a": f"{self.a} ms",
            "parameters.b": f"{self.b} ms",
            "parameters.c": f"{self.c} ms",
            "parameters.local_delay": f"{local_us // (len(LOCAL_BACKUP) - 1)} us",
            "parameters.path_delay": f"{path_us // (len(PATH_BACKUP) - 1)} us",
        }


def scheme(mechanism: str) -> Settings:
    """Return the settings of a scheme."""
    backup = LOCAL_BACKUP if mechanism == LOCAL else PATH_BACKUP
    return {"parameters.scheme": SCHEME[mechanism], "parameters.backup": backup}


def grid(
    chosen: Chosen,
    options: Options,
    title: str,
    settings: Settings | None = None,
    *,
    scenarios: Sequence[str] = SCENARIOS,
    delta_ms: Sequence[int] = DELTA_MS,
    mechanisms: Sequence[str] = MECHANISMS,
) -> Grid:
    """Return a grid over scenario, switch delay and scheme; equal seeds make equal random draws in every such grid."""
    axes = {
        "scenario": {scenario: Delays.of(scenario).settings for scenario in scenarios},
        "delta_ms": {delta: {"parameters.switch_delay": f"{delta} ms"} for delta in delta_ms},
        "mechanism": {mechanism: scheme(mechanism) for mechanism in mechanisms},
    }
    return options.grid(SCENARIO, {**overrides(ASSUMED, chosen), **(settings or {})}, axes, title)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the 32 combinations that all experiments of section 8 share."""
    return {GRID: grid(chosen, options, "gmpls section 8")}


SETUP = Setup(PAPER, PAPER_RUNS, grids, runs_of(PAPER_RUNS, QUICK_SEEDS), ASSUMED)


def goodput(found: Found, delta_ms: int = DELTA_MS[0]) -> Goodput:
    """Return the goodput of every scenario and scheme with one switch delay; curves end at the repair."""
    shared = Goodput.of(found, GRID, SWITCH_OVER_S, REPAIR_S)
    return replace(shared, cells=shared.cells.at(delta_ms=delta_ms))


def merge_drops(done: StudyResult) -> Cells:
    """Count the drops at L0's port into the path backup in (5 s, 5.3 s]."""
    return done["drops"].count(after=FAILURE_S, until=MERGE_UNTIL_S, port="L0->L5")
