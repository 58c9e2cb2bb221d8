"""Beyond the paper: its long flows beside short ones and UDP, in the smaller copy of the network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optcp.papers.base import Evaluation, exhibit
from optcp.papers.lbas import smaller
from optcp.papers.lbas.paper import METRO_NODES, Cell
from optcp.papers.lbas.rows import DIFFERENCE, both_modes, columns
from optcp.papers.lbas.smaller import Smaller
from optcp.papers.model import Series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.model import Key, Row
    from optcp.study import Done, Grid, RunData

RUNS = 8
NAME = "mix"
FLOWS = smaller.FLOWS[0]
SENDERS = ("inet-2011", "linux-6")
SHORT_MEAN_BYTES, SHORT_LARGEST_BYTES, SHAPE = 50_000, 5_000_000, 1.2
ARRIVALS = {10: 25, 30: 75}
"""Load of the short flows in % of a lightpath to how many come a second for each: 50 kB and headers are 0.41 Mb."""
UDP_MBPS, UDP_BYTES = 5, 200
"""Of all sources that share a lightpath, Poisson; packets about as large as those of voice."""
LAST_S = {"default": 50, "quick": 10}
"""From when on no more short flows come, so that almost all end before the run does."""
FIRST_S = {"default": 6, "quick": 4}
PS = 1e12


class Way(NamedTuple):
    """One pair of worlds."""

    sender: str
    bundling_degree: int
    load_pct: int

    def cell(self, anycast: bool) -> Cell:
        """The network."""
        return Cell(self.bundling_degree, FLOWS, anycast)

    def key(self) -> Key:
        """Of its rows."""
        return {"profile": self.sender, "bundling_degree": self.bundling_degree, "short_flows_pct": self.load_pct}


WAYS = tuple(Way(*one) for one in ((s, d, p) for s in SENDERS for d in smaller.BUNDLING_DEGREES for p in ARRIVALS))
QUICK_WAYS = WAYS[:1]


@exhibit
class Mix(Smaller):
    """Completion times of short flows, and losses and delay of UDP."""

    id = "lbas/mix"
    title = "Short flows and UDP beside the long flows, smaller copy of the network"
    runs = RUNS

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """With anycast switching and without; both have the same short flows and datagrams."""
        size = "quick" if smaller.is_quick(options) else "default"
        cells = [
            {**smaller.SENDERS[way.sender], **dict(way.cell(anycast).overrides()), **traffic(way, size)}
            for way in (QUICK_WAYS if size == "quick" else WAYS)
            for anycast in (True, False)
        ]
        return {NAME: smaller.study("lbas, mix", cells, chosen, options)}

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows by sender, degree and load, and the distribution of completion times."""
        del chosen
        found = done[NAME].once(_measured)
        rows: list[Row] = []
        for way, modes in found.items():
            rows += both_modes(way.key(), {mode: columns([one for one, _ in runs]) for mode, runs in modes.items()})
        series = [
            _distribution({**way.key(), "anycast": mode}, np.concatenate([times for _, times in runs]))
            for way, modes in found.items()
            for mode, runs in modes.items()
        ]
        return Evaluation(rows, [], series, [NOTE])


NOTE = (
    "10 long flows a lightpath; short flows come as a Poisson process, Pareto sizes of 50 kB on average (index 1.2, up "
    "to 5 MB), with a handshake; UDP of 5 Mb/s a lightpath, packets of 200 B, Poisson. Completion times are of short "
    f"flows that start after the warm-up. Percentiles are of each run; `{DIFFERENCE}` is paired by seed, with the same "
    "short flows and datagrams."
)


def traffic(way: Way, size: str) -> dict[str, str]:
    """What comes beside the long flows, as the scenario's file would have it."""
    paths = {
        "rightward": ["SL", "ML", "L", "R", "MR", "DR"],
        "leftward": ["SR", "MR", "R", "L", "ML", "DL"],
    }
    long = [{"group": group, "path": path, "tcp": "all", "start": "$start"} for group, path in paths.items()]
    sizes = {
        "kind": "pareto",
        "mean": f"{SHORT_MEAN_BYTES} B",
        "shape": SHAPE,
        "largest": f"{SHORT_LARGEST_BYTES} B",
    }
    short = [
        {
            "group": f"short-{group}",
            "path": path,
            "tcp": "all",
            "arrivals": f"{ARRIVALS[way.load_pct] * way.bundling_degree} flows/s",
            "until": f"{LAST_S[size]} s",
            "sizes": sizes,
        }
        for group, path in paths.items()
    ]
    sources = METRO_NODES * way.cell(anycast=True).hosts
    udp = [
        {
            "group": f"udp-{group}",
            "path": path,
            "process": "poisson",
            "rate": f"{round(1e6 * UDP_MBPS / sources)} bps",
            "size": f"{UDP_BYTES} B",
        }
        for group, path in paths.items()
    ]
    ports = {"kind": "ports", "after": "$warm_up", "interval": "$batch"}
    observe = [
        {"name": "lightpaths", "links": ["lightpath"], **ports},
        {"name": "metro", "links": [["ML", "L"], ["MR", "R"]], **ports},
        {"name": "short", "kind": "completions", "groups": [f"short-{group}" for group in paths]},
        {"name": "udp", "kind": "datagrams", "interval": "1 s"},
    ]
    return {
        "tcp.all.handshake": "true",
        "flows": _toml([*long, *short]),
        "traffic": _toml(udp),
        "observe": _toml(observe),
    }


def _toml(value: object) -> str:
    """Write a list of tables of plain values as TOML has it on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    # Texts and numbers look alike in both.
    return json.dumps(value)


def _measured(done: Done) -> dict[Way, dict[str, list[tuple[dict[str, float], NDArray[np.float64]]]]]:
    full = len(done.grid.branches) == 2 * len(WAYS)
    first_s = FIRST_S["default" if full else "quick"]
    ways = WAYS if full else QUICK_WAYS
    found: dict[Way, dict[str, list[tuple[dict[str, float], NDArray[np.float64]]]]]
    found = {way: {"yes": [], "no": []} for way in ways}
    for _, runs in done:
        for place, run in enumerate(runs):
            found[ways[place // 2]]["no" if place % 2 else "yes"].append(measure(run, first_s))
    return found


def measure(run: RunData, first_s: int) -> tuple[dict[str, float], NDArray[np.float64]]:
    """The metrics of a run, and how long in ms each short flow took that started after ``first_s`` and ended."""
    short = run.series["short"]
    start = short["start_ps"].astype(np.float64) / PS
    counted = start >= first_s
    ended = counted & short["finished"].astype(bool)
    times_ms = 1000 * (short["time_ps"].astype(np.float64) / PS - start)[ended]
    found = {"completion_mean_ms": float(times_ms.mean())}
    found |= {f"completion_p{percent}_ms": float(np.percentile(times_ms, percent)) for percent in (50, 95, 99)}
    found["unfinished_pct"] = float(100 * (1 - ended.sum() / counted.sum()))
    return {**found, **udp(run.series["udp"], first_s), **smaller.measure(run)}, times_ms


def udp(series: Mapping[str, Any], first_s: int) -> dict[str, float]:
    """Loss and mean delay of datagrams from an instant on, a multiple of the observation's interval."""
    first = round(first_s / series["interval_s"])
    arrived, lost, delay_ps = (
        float(series[name][:, first:].astype(np.float64).sum())
        for name in ("arrived_packets", "lost_packets", "delay_sum_ps")
    )
    return {"udp_loss_pct": 100 * lost / (arrived + lost), "udp_delay_ms": 1000 * delay_ps / PS / arrived}


def _distribution(key: Key, times_ms: NDArray[np.float64]) -> Series:
    """The complementary distribution of completion times, at percentiles that thin out where it is dense."""
    above = np.concatenate([np.arange(100, 10, -5), np.geomspace(10, 0.1, 21)])
    x: Sequence[float] = np.percentile(times_ms, 100 - above).round(3).tolist()
    label = "short flows that take longer"
    return Series(label, key, "completion time", "ms", label, "%", list(x), above.round(4).tolist())
