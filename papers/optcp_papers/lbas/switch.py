"""Worth of the paper's assumed output queueing: the same flows through switches with queues at their inputs.

Both core nodes of the smaller copy become switches with virtual output queues. Cells have 64 B, and iSLIP has one
iteration per slot. The lightpath of a packet is chosen when it arrives. Its unfinished work then includes the
packets for it at the inputs.
"""

import itertools
from dataclasses import replace

from optcp.data.axes import Axis
from optcp.papers.kit import (
    Cells,
    Chosen,
    Exhibit,
    Findings,
    Found,
    Grid,
    Key,
    Options,
    Run,
    Settings,
    Setup,
    StudyResult,
    assume,
    built_in,
    rows,
    runs_of,
)
from optcp_papers.lbas import outcome, smaller
from optcp_papers.lbas.paper import METRO_NODES, PAPER, SCENARIO

DEGREE, FLOWS = 2, smaller.FLOWS[0]
PROFILES = ("inet-2011", "linux-6")
CELL = "64 B"
OUTPUT = "output queueing"
SHARE_BYTES = smaller.BUFFER_BYTES // (METRO_NODES * DEGREE)
"""Buffer of a lightpath, divided among the inputs from the metro nodes."""


def voqs(speed_up: float, limit_bytes: int, *, fifo: bool = False) -> Settings:
    """Return the settings of both core nodes as switches."""
    entry = {"cell": CELL, "speed_up": speed_up, "queue": f"{limit_bytes} B", "fifo": fifo}
    return {"switches": [{"node": node, **entry} for node in ("L", "R")]}


SWITCHES: dict[str, Settings] = {
    OUTPUT: {"switches": []},
    "iSLIP, speed-up 1": voqs(1, SHARE_BYTES),
    "iSLIP, speed-up 1.5": voqs(1.5, SHARE_BYTES),
    "iSLIP, speed-up 2": voqs(2, SHARE_BYTES),
    "iSLIP, speed-up 1, whole buffer per queue": voqs(1, smaller.BUFFER_BYTES),
    "one FIFO queue per input, speed-up 1": voqs(1, smaller.BUFFER_BYTES, fifo=True),
}
QUICK_SWITCHES = (OUTPUT, "iSLIP, speed-up 1", "iSLIP, speed-up 2")
LENGTH = {"stop": "30 s", "parameters.warm_up": "6 s", "parameters.batch": "24 s"}
QUICK_LENGTH = {"stop": "6 s", "parameters.warm_up": "3 s", "parameters.batch": "3 s"}
ASSUMED = (
    *(parameter for parameter in smaller.WORLD if parameter.name != "smaller_copy"),
    built_in("smaller_copy", "100 Mb/s, buffers of 125 kB, 30 s of which the first 6 s are left out"),
    built_in("cell", f"{CELL}, without a header"),
    built_in("input_queues", f"{SHARE_BYTES} B each: the buffer of a lightpath divided among ten inputs"),
)
NOTE = (
    f"b_D = {DEGREE}, {FLOWS} flows per lightpath, 30 s without the first 6 s. `dropped_pct` includes packets that "
    "find their queue at an input full. `overtaken_pct` is in % of the packets that lightpaths carried. "
    f"`utilisation_points` and `dropped_points` are changes against {OUTPUT} in the same mode, by seed."
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return every switch for every sender, with and without anycast switching."""
    quick = options.size.is_quick
    profiles, switches = (PROFILES[1:], QUICK_SWITCHES) if quick else (PROFILES, tuple(SWITCHES))
    cells = [
        {**smaller.SENDERS[profile], **smaller.network(DEGREE, FLOWS, anycast), **SWITCHES[switch]}
        for profile, switch, anycast in itertools.product(profiles, switches, ("yes", "no"))
    ]
    buffer = f"{smaller.BUFFER_BYTES} B"
    ports = {"kind": "ports", "after": "$warm_up", "interval": "$batch"}
    common = {
        **assume.overrides(smaller.WORLD, chosen),
        "parameters.rate": f"{smaller.RATE_MBPS} Mbps",
        "parameters.buffer": buffer,
        "parameters.far_buffer": buffer,
        **(QUICK_LENGTH if quick else LENGTH),
        "observe": [
            {"name": "lightpaths", "links": ["lightpath"], **ports},
            {"name": "metro", "links": [["ML", "L"], ["MR", "R"]], **ports},
            {"name": "reordering", "kind": "reordering"},
        ],
    }
    title = "lbas, switches"
    made = Grid.of_cells(SCENARIO, cells, common, title=title, digest=options.digest, fork=options.fork)
    axes = {"profile": profiles, "switch": switches, "anycast": ("yes", "no")}
    return {"switch": replace(made, named=tuple(Axis(name, tuple(map(str, of))) for name, of in axes.items()))}


def measured(done: StudyResult) -> dict[str, Cells]:
    """Return the metrics of every run, by name."""
    names = ("utilisation_pct", "dropped_pct", "overtaken_pct")
    cells = done.each(of_run, Axis("metric", names))
    return {name: cells.at(metric=name) for name in names}


def of_run(run: Run) -> list[float]:
    """Return utilisation, dropped bytes and overtaken segments of a run in %."""
    shares = {name: float(batch.mean()) for name, batch in smaller.shares(outcome.batches(run)).items()}
    packets = float(run["lightpaths"]["packets"].sum())
    overtaken = len(run["reordering"].where(event="overtaken"))
    return [shares["utilisation_pct"], shares["dropped_pct"], 100 * overtaken / packets]


def find(found: Found) -> Findings:
    """Return the metrics, and their changes against output queueing."""
    by_metric = found.only.once(measured)
    changes = {
        f"{name.removesuffix('_pct')}_points": by_metric[name] - by_metric[name].at(switch=OUTPUT)
        for name in ("utilisation_pct", "dropped_pct")
    }

    def key(place: Key) -> Key:
        return {name: place[name] for name in ("profile", "anycast", "switch")}

    result = [
        *rows({name: cells.mean() for name, cells in by_metric.items()}, key=key),
        *rows({name: cells.mean() for name, cells in changes.items()}, key=key),
    ]
    return Findings(result, notes=[NOTE])


SWITCH = Exhibit(
    "lbas/switch",
    "Switches with virtual output queues and iSLIP in place of output queueing, smaller copy of the network",
    "section 2, and beyond the paper",
    Setup(PAPER, None, grids, runs_of(6, 1), ASSUMED),
    find,
)
