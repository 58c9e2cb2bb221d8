"""The study of section 8, which Table 8 and Figs 18 and 19 share: four protection schemes on the same failure."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from optcp.papers.assume import built_in, overrides
from optcp.papers.gmpls import section
from optcp.papers.gmpls.paper import FAILURE_S, PS, REPAIR_S, world
from optcp.papers.gmpls.section import Cells, Section
from optcp.papers.printed import tables
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.gmpls.section import Window
    from optcp.papers.model import Key
    from optcp.study import Done, RunData

SCENARIOS = ("A", "B", "C", "D")
"""Table 7's sets of delays."""
MECHANISMS = ("local", "path", "loopback", "loopbackvar")
"""The paper's names of the schemes."""
LOCAL, PATH, LOOPBACK, VARIANT = range(len(MECHANISMS))
SCHEME = {"local": "local", "path": "path", "loopback": "loopback", "loopbackvar": "loopback-variant"}
"""What the scenario file calls them."""
LOCAL_BACKUP = ("L1", "L4", "L2")
PATH_BACKUP = ("L0", "L5", "L6", "L7", "L3")
WORKING_LINKS = 3
"""L0-L1, L1-L2 and L2-L3: the links that a backup must protect."""

DELTA_MS = (5, 50)
"""The switch delay of section 8 is not stated; the first is the one of Tables 4 and 6."""
SWITCH_OVER_S = (5.0, 7.5)
SWITCH_BACK_S = (10.0, 11.5)
MERGE_UNTIL_S = 5.3
END_S = 11.5
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
    """One column of Table 7, milliseconds.

    Attributes
    ----------
    d_l, d_p
        How much longer the local backup and the path's backup are than what they replace.
    a, b, c
        L0-L1, L1-L2 and L2-L3.
    """

    d_l: int
    d_p: int
    a: int
    b: int
    c: int

    @classmethod
    def of(cls, scenario: str) -> Delays:
        """The delays that the paper prints for a scenario."""
        printed = tables("gmpls")["table7"]
        return cls(**{name: printed[name][SCENARIOS.index(scenario)] for name in ("d_l", "d_p", "a", "b", "c")})

    @property
    def settings(self) -> dict[str, str]:
        """The scenario file's parameters."""
        local_us, path_us = 1000 * (self.b + self.d_l), 1000 * (self.a + self.b + self.c + self.d_p)
        return {
            "parameters.a": f"{self.a} ms",
            "parameters.b": f"{self.b} ms",
            "parameters.c": f"{self.c} ms",
            "parameters.local_delay": f"{local_us // (len(LOCAL_BACKUP) - 1)} us",
            "parameters.path_delay": f"{path_us // (len(PATH_BACKUP) - 1)} us",
        }


def cell(scenario: str, mechanism: str, delta_ms: int) -> dict[str, str]:
    """The settings of one branch."""
    backup = LOCAL_BACKUP if mechanism == "local" else PATH_BACKUP
    return {
        **Delays.of(scenario).settings,
        "parameters.scheme": SCHEME[mechanism],
        "parameters.backup": json.dumps(backup),
        "parameters.switch_delay": f"{delta_ms} ms",
    }


def study(
    chosen: Mapping[str, Value],
    options: Options,
    title: str,
    cells: Sequence[tuple[str, str, int]],
    settings: Sequence[tuple[str, str]] = (),
) -> Grid:
    """Branches for (scenario, mechanism, delta in milliseconds); the same seeds draw the same in every study."""
    base = [*overrides(ASSUMED, chosen), *settings]
    branches = [cell(*one) for one in cells]
    return Grid.of_cells(SCENARIO, branches, base, title=title, digest=options.digest, fork=options.fork)


class Section8(Section):
    """An exhibit of the shared study: subclasses say what they make of it."""

    assumed = ASSUMED
    quick_seeds = 12

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The 32 branches that all exhibits of section 8 share."""
        cells = [
            (scenario, mechanism, delta) for scenario in SCENARIOS for delta in DELTA_MS for mechanism in MECHANISMS
        ]
        return {GRID: study(chosen, options, "gmpls section 8", cells)}

    def context(self, chosen: Mapping[str, Value], done: Mapping[str, Done], delta: int = 0) -> Context:
        """What tables and judgements need, with one of ``DELTA_MS`` by index."""
        of_first = Context.of(done[GRID].once(measure), chosen, self.changed(chosen))
        return replace(of_first, delta=delta)


@dataclass(frozen=True)
class Switch:
    """A node that switches packets.

    Attributes
    ----------
    node, packets
        Which node, and "data" or "acks".
    to
        "backup" or "working".
    at_ps
        When.
    """

    node: str
    packets: str
    to: str
    at_ps: int


@dataclass(frozen=True)
class Measured(Cells):
    """What the exhibits need of the study; axes: seeds, scenarios, deltas, mechanisms, and of the goodput intervals.

    Attributes
    ----------
    lost
        Data and ACKs lost at and on the dead link, int64[seeds, scenarios, deltas, mechanisms, 2].
    merge_drops
        Drops at L0's port into the path's backup in (5 s, 5.3 s], int64[seeds, scenarios, deltas, mechanisms].
    arriving_bytes
        What L1->L2 and L2->L1 carried in (4 s, 5 s], float64[seeds, scenarios, 2].
    ack_bytes
        Size of an ACK.
    switches
        By (scenario, mechanism) at the first delta: every switch, in order; the same in every run.
    """

    window_s = SWITCH_OVER_S
    lost: NDArray[np.int64]
    merge_drops: NDArray[np.int64]
    arriving_bytes: NDArray[np.float64]
    ack_bytes: float
    switches: dict[tuple[str, str], list[Switch]]


@dataclass(frozen=True)
class Context(section.Context[Measured]):
    """What tables and judgements need, with one switch delay; cells are scenario and mechanism, by indices.

    Attributes
    ----------
    delta
        Index of the switch delay in ``DELTA_MS``.
    """

    curve_s = (FAILURE_S, REPAIR_S)
    shown_s = (4.0, END_S)
    delta: int = 0

    def key(self, *cell: int) -> Key:
        """Key of the rows and curves of one cell, by indices."""
        scenario, mechanism = cell
        return key(scenario, mechanism)

    def goodput(self, *cell: int) -> NDArray[np.int64]:
        """Bytes of one cell, by indices, int64[seeds, intervals]."""
        scenario, mechanism = cell
        return super().goodput(scenario, self.delta, mechanism)

    def access_pct(self, window_s: Window | None = None) -> NDArray[np.float64]:
        """Goodput in a window in per cent of what the access links could carry, float64[seeds, scen., mech.]."""
        return super().access_pct(window_s)[:, :, self.delta]


def key(scenario: int, mechanism: int) -> Key:
    """Key of the rows and curves of one cell, by indices."""
    return {"scenario": SCENARIOS[scenario], "mechanism": MECHANISMS[mechanism]}


def count_lost(run: RunData) -> tuple[int, int]:
    """Data packets and ACKs lost at and on the dead link L1-L2, whatever the queues dropped."""
    drops = run.series["drops"]
    dead = np.isin(drops["port"], [drops["ports"].index(port) for port in ("L1->L2", "L2->L1")])
    dead &= drops["reason"] != drops["reasons"].index("queue-full")
    return int(np.sum(dead & ~drops["ack"])), int(np.sum(dead & drops["ack"]))


def count_merge_drops(run: RunData) -> int:
    """Drops at L0's port into the path's backup in (5 s, 5.3 s]."""
    drops = run.series["drops"]
    time_ps = drops["time_ps"]
    within = (time_ps > round(FAILURE_S * PS)) & (time_ps <= round(MERGE_UNTIL_S * PS))
    return int(np.sum(within & (drops["port"] == drops["ports"].index("L0->L5"))))


def switches_of(run: RunData) -> list[Switch]:
    """Every switch of a run once, in order of time and node: groups of flows are switched together."""
    found = {Switch(one["node"], one["packets"], one["to"], one["at_ps"]) for one in run.switches}
    return sorted(found, key=lambda one: (one.at_ps, one.node, one.packets))


def measure(done: Done) -> Measured:
    """Reduce the stored runs, one seed at a time. Every exhibit of section 8 shares the result (``Done.once``)."""
    goodput, lost, merge_drops, arriving = [], [], [], []
    switches: list[list[Switch]] = []
    interval_s = 0.0
    per_scenario = len(DELTA_MS) * len(MECHANISMS)
    for _, runs in done:
        interval_s = float(runs[0].series["goodput"]["interval_s"])
        goodput.append([run.series["goodput"]["bytes"][0] for run in runs])
        lost.append([count_lost(run) for run in runs])
        merge_drops.append([count_merge_drops(run) for run in runs])
        loads = [run.series["load"] for run in runs[::per_scenario]]
        ports = [[load["ports"].index(port) for port in ("L1->L2", "L2->L1")] for load in loads]
        arriving.append([load["bytes"][rows, round(FAILURE_S) - 1] for load, rows in zip(loads, ports, strict=True)])
        of_seed = [switches_of(run) for run in runs]
        if switches and of_seed != switches:
            raise RuntimeError("runs of one world switch at different instants")
        switches = of_seed
    resolved = json.loads(done.grid.branches[0].scenario.resolved())
    shape = (len(goodput), len(SCENARIOS), len(DELTA_MS), len(MECHANISMS))
    return Measured(
        interval_s,
        np.array(goodput).astype(np.int64).reshape(*shape, -1),
        np.array(lost).reshape(*shape, 2),
        np.array(merge_drops).reshape(shape),
        np.array(arriving).astype(np.float64),
        float(resolved["tcp"]["all"]["ack_size_bytes"]),
        {
            (scenario, mechanism): switches[i * per_scenario + j]
            for i, scenario in enumerate(SCENARIOS)
            for j, mechanism in enumerate(MECHANISMS)
        },
    )
