"""Cost of a failure for QUIC beside TCP: one flow over outages of one path, and every link of four networks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from optcp import stats
from optcp.outage.metrics import outages
from optcp.outage.study import Costs, CostsOf, failing, sender
from optcp.papers.kit import (
    Axes,
    Chosen,
    Exhibit,
    Findings,
    Found,
    Grid,
    Key,
    Options,
    Part,
    Row,
    Series,
    Setup,
    Size,
    StudyResult,
    judge,
    row,
)
from optcp_papers.outage import path
from optcp_papers.outage.links import networks
from optcp_papers.outage.paper import PAPER, not_run, scenario
from optcp_papers.outage.population import (
    ASSUMED,
    CUT_NOTE,
    NETWORKS,
    assumptions,
    cut,
    grid,
    inside,
    mechanisms,
    network,
    per_cent_of,
    rows_of,
    side,
    world,
)

RTT_MS = 40
RATE_BPS = 20e6
PLACE = "middle"
SPREAD_S = (0.05, 20.0)
STRATA, QUICK_STRATA = 300, 20
SHORT_S, LONG_S = (0.1, 1.0), (1.0, 20.0)
MECHANISMS, QUICK_MECHANISMS = ("none", "ti-lfa", "1+1", "restoration, 2 s"), ("none", "ti-lfa")
TCP, QUIC = "tcp", "quic"
PROFILES = {TCP: "linux-6", QUIC: "quic"}
STRETCHES = (1.40, 1.50)
MARGIN = 0.05
MARGINS_PCT = {"ti-lfa": 20.0, "restoration, 2 s": 10.0}
SHOWN = ("lost_mb", "lost_mb_long", "outage_p50_ms", "outage_p99_ms", "stretch", "timeouts", "spurious", "censored")
NOTES = [
    "`tcp` is linux-6 with CUBIC, `quic` the profile quic with CUBIC (RFC 9002). On the single path a host of 20 Mb/s "
    f"limits both, with an RTT of {RTT_MS} ms and a window of the capacity of the path. `stall_s` is the longest time "
    "without new in-order bytes minus the usual one, `stretch` its ratio to the outage.",
    "In networks, long flows use the sender and short flows stay TCP. Failures and metrics are as in outage/links.",
    CUT_NOTE,
]


def lengths_s(quick: bool) -> list[float]:
    """Return outages, one drawn from each of strata of equal width on a logarithmic scale."""
    strata = QUICK_STRATA if quick else STRATA
    low, high = np.log(SPREAD_S)
    drawn = np.random.Generator(np.random.PCG64(2)).random(strata)
    return [round(float(item), 4) for item in np.exp(low + (high - low) * (np.arange(strata) + drawn) / strata)]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grid of one path, over outages, and one per network, over mechanisms and failures."""
    quick, assumed = options.size.is_quick, assumptions(chosen)
    way = path.settings(path.way(RTT_MS, PLACE, RATE_BPS))
    axes: Axes = {
        "sender": {who: {"tcp.sender.profile": profile} for who, profile in PROFILES.items()},
        "outage_s": {f"{length:g}": path.lasting(length, 0.2) for length in lengths_s(quick)},
    }
    result = {"path": options.grid(scenario("path"), way, axes, "outage quic, one path")}
    for name in networks(options.size):
        axes = {
            "sender": {TCP: sender("cubic"), QUIC: {"tcp.long.profile": "quic"}},
            "mechanism": mechanisms(QUICK_MECHANISMS if quick else MECHANISMS, assumed),
            "failure": failing(cut(name), assumed),
        }
        result[name] = grid(f"quic, {name}", world(name, assumed), axes, options)
    return result


def seeds(_: str, size: Size) -> int:
    """Return one seed, because outages and failures are the sample."""
    return size.seeds or 1


def stalls(done: StudyResult) -> dict[str, np.ndarray]:
    """Return the stall in each outage, by sender."""
    branches, seed = done.grid.branches, done.seeds[0]
    found: dict[str, list[float]] = {who: [] for who in PROFILES}
    for branch in branches:
        who = done.grid.written(branch)[0]
        found[who].append(path.gap_s(done.run(branch, seed)))
    return {who: np.array(values) for who, values in found.items()}


def find(found: Found) -> Findings:
    """Return the stalls of both senders and the costs in networks, and judge the claims."""
    silent = stalls(found.done["path"])
    lengths = np.array([float(name) for name in found.done["path"].grid.axes[1].values])
    by_network = {
        name: done.once(CostsOf(network(name), cut(name))) for name, done in found.done.items() if name != "path"
    }
    shown = path_rows(lengths, silent)
    shown += [
        item
        for name, costs in by_network.items()
        for who, mechanism in costs.cells
        for item in rows_of(costs, (who, mechanism), {"network": name, "sender": who, "mechanism": mechanism}, SHOWN)
    ]
    missing = [not_run("other networks")] if len(by_network) < len(NETWORKS) else []
    claims: dict[str, list[Part] | Mapping[str, list[Part]]] = {
        "outage-quic-no-floor": sooner(lengths, silent),
        "outage-quic-doubles": as_long_again(lengths, silent),
        "outage-quic-like-tcp": {name: [*alike(costs), *missing] for name, costs in by_network.items()},
        "outage-quic-loses-less": {name: [*loses_less(costs), *missing] for name, costs in by_network.items()},
    }
    series = [
        Series(
            "flow stall", {"sender": who}, "path outage", "s", "flow stall", "s", lengths.tolist(), of.round(6).tolist()
        )
        for who, of in silent.items()
    ]
    return Findings(shown, claims, series, NOTES)


def path_rows(lengths: np.ndarray, silent: Mapping[str, np.ndarray]) -> list[Row]:
    """Return mean stall and mean stretch of each sender, over outages below and above a second."""
    shown = []
    for who, of in silent.items():
        for name, (low, high) in {"below 1 s": SHORT_S, "from 1 s": LONG_S}.items():
            within = (low <= lengths) & (lengths < high)
            key: Key = {"sender": who, "outages": name}
            shown.append(row(key, "stall_s", None, stats.mean(of[within].tolist()), ""))
            shown.append(row(key, "stretch", None, stats.mean((of[within] / lengths[within]).tolist()), ""))
    return shown


def sooner(lengths: np.ndarray, silent: Mapping[str, np.ndarray]) -> list[Part]:
    """Judge: QUIC stalls for less time than TCP in outages of 0.1 to 1 s."""
    within = (SHORT_S[0] <= lengths) & (lengths < SHORT_S[1])
    less = 1000 * (silent[QUIC] - silent[TCP])[within]
    return [judge.difference_part("stall of quic minus tcp, outages of 0.1 to 1 s", less, "below", "ms")]


def as_long_again(lengths: np.ndarray, silent: Mapping[str, np.ndarray]) -> list[Part]:
    """Judge: from one second on, doubled timeouts explain the mean stretch, which is equal for both."""
    within = (LONG_S[0] <= lengths) & (lengths < LONG_S[1])
    stretch = {who: (of / lengths)[within] for who, of in silent.items()}
    mean, (low, high) = float(stretch[QUIC].mean()), STRETCHES
    return [
        judge.exact_part(f"mean stretch of quic {mean:.3f} between {low:.2f} and {high:.2f}", low <= mean <= high),
        judge.equivalence_part("stretch of quic minus tcp", stretch[QUIC] - stretch[TCP], MARGIN, ""),
    ]


def alike(costs: Costs) -> list[Part]:
    """Judge: the median stalls of QUIC and TCP differ by at most a margin."""
    parts = []
    for mechanism, margin in MARGINS_PCT.items():
        if (QUIC, mechanism) not in costs.cells:
            parts.append(not_run(mechanism))
            continue
        of = {who: costs.quantile((who, mechanism), outages, 0.5) for who in PROFILES}
        more = per_cent_of(of[QUIC] - of[TCP], of[TCP])
        parts.append(inside(f"{mechanism}: median stall of quic against tcp", more, margin, "%"))
    return parts


def loses_less(costs: Costs) -> list[Part]:
    """Judge: long flows of QUIC lose less data than long flows of TCP."""
    parts = []
    for mechanism in MARGINS_PCT:
        if (QUIC, mechanism) not in costs.cells:
            parts.append(not_run(mechanism))
            continue
        of = {who: costs.mean((who, mechanism), lambda cost: cost.lost_mb["long"]) for who in PROFILES}
        parts.append(side(f"{mechanism}: lost by long flows, quic minus tcp", of[QUIC] - of[TCP], "below", "MB"))
    return parts


QUIC_EXHIBIT = Exhibit(
    "outage/quic",
    "Cost of a failure for QUIC beside TCP",
    "docs/details/outage.md, QUIC",
    Setup(PAPER, None, grids, seeds, ASSUMED),
    find,
)
