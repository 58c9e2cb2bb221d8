"""Extension of the paper: mechanisms of recovery from the same fibre cuts in a mesh.

# Model

NSFNET with 14 nodes, each with a host that sends a flow to every other. Each of the 21 fibres is cut alone, for good.
LSPs take shortest paths over the fibres and have local protection, 1:1, a p-cycle or segments. Shared-mesh restoration
has a lightpath between each two nodes over the same paths, so each LSP corresponds to a lightpath.

# Parameters

Detection and processing of messages; share of the spare wavelengths that fibres have.

# Limitations

The hosts' links are the bottleneck, so detours have capacity. Intervals are over cuts, of means over seeds.
Lightpaths are computed and set up in no time, and their first node learns of a cut after the detection alone.
"""

import functools
import itertools

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.outage.network import Network
from optcp.papers.assume import Assumed, not_negative, overrides, positive
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, runs_of
from optcp.papers.kit import Grid, Options, Part, Row, Run, Settings, judge, row
from optcp.stats import Interval, exact
from optcp_papers.gmpls import section8
from optcp_papers.gmpls.mesh_spare import Paths, Wavelengths
from optcp_papers.gmpls.paper import PAPER, PS

RUNS, QUICK_RUNS = 10, 1
LSPS, LIGHTPATHS = "LSPs", "lightpaths"
SCENARIOS = {
    LSPS: section8.SCENARIO.with_name("gmpls-mesh.toml"),
    LIGHTPATHS: section8.SCENARIO.with_name("gmpls-mesh-lightpaths.toml"),
}
NETWORK = "sndlib/nobel-us"
LOCAL, CYCLE, SEGMENT, ONE_TO_ONE = "local", "p-cycle", "segment", "1:1"
SHARED, HALF = "shared-mesh", "shared-mesh, half"
SHARES = {SHARED: 1.0, HALF: 0.5}
"""Share of the spare wavelengths."""
NODES_OF_CYCLE = (
    "Seattle",
    "Palo-Alto",
    "San-Diego",
    "Houston",
    "Atlanta",
    "Pittsburgh",
    "Princeton",
    "Washington",
    "Ithaca",
    "Ann-Arbor",
    "Salt-Lake-City",
    "Boulder",
    "Lincoln",
    "Urbana-Champaign",
)
"""Shortest cycle through all nodes."""
INTACT = "none"
"""Value of the axis ``cut`` without a cut."""
LASTS_MS = 2000.0
"""Path outage of a flow that does not recover before the end of the run."""
LIKE_MS, LIKE_PCT = 1.0, 0.1
"""Margins of the claims: path outage, and points of the data received without a cut."""

ASSUMED = (
    Assumed("detection_ms", 10.0, positive, "parameters.detection"),
    Assumed("processing_ms", 1.0, not_negative, ()),
    Assumed("access_mbps", 50.0, positive, "parameters.access"),
)
NOTES = [
    "Means over the 21 cuts, with intervals over cuts; the value of a cut is the mean over seeds. `path_outage_ms`: "
    "time until the path of data works again, mean over the flows on the fibre that recover; `last_ms`: the maximum. "
    "`unrecovered_pct`: share of these flows whose path is down 2 s later, at the end of the run.",
    "`stall_ms`: longest time of such a flow without new in-order bytes, at most until the end of the run. `lost_mb` "
    "and `lost_pct`: in-order bytes of all flows in these 2 s, compared with the same run without the cut. "
    "`hit_lost_mb`: of the flows on the fibre alone.",
    "`shared_ratio` and `dedicated_ratio`: spare over working capacity for all single cuts, in LSPs or lightpaths "
    "times links, if backup paths of different cuts share capacity or not. Each hop of the p-cycle has the capacity "
    "of the fullest protected link. `printed_ratio`: the ratio of `optcp run`, which counts whole links.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return a grid of LSPs and one of lightpaths, over mechanisms and cuts."""
    network = Network.find(NETWORK)
    ends = {name: list(network.ends(name)) for name in network.link_names()}
    links: dict[str, Settings] = {name: {"failures.0.link": both} for name, both in ends.items()}
    fibres: dict[str, Settings] = {name: {"failures.0.risk": name} for name in ends}
    processing = f"{float(chosen['processing_ms']):g} ms"
    made = {LSPS: (lsps(processing), links), LIGHTPATHS: (lightpaths(network, processing), fibres)}

    def grid(name: str) -> Grid:
        mechanisms, cuts = made[name]
        axes = {"mechanism": mechanisms, "cut": {INTACT: {"failures": []}, **cuts}}
        return options.grid(SCENARIOS[name], overrides(ASSUMED, chosen), axes, f"gmpls mesh, {name}")

    return {name: grid(name) for name in made}


def lsps(processing: str) -> dict[str, Settings]:
    """Return the settings of each mechanism of LSPs."""
    messages = {"protection.0.signal_processing": processing}
    return {
        LOCAL: {},
        CYCLE: {"protection.0.backup": "p-cycle", "protection.0.cycle": list(NODES_OF_CYCLE)},
        SEGMENT: {"protection.0.scheme": "segment", **messages},
        ONE_TO_ONE: {"protection.0.scheme": "1:1", **messages},
    }


def lightpaths(network: Network, processing: str) -> dict[str, Settings]:
    """Return the settings of restoration with all and with half of the spare wavelengths."""
    wavelengths = Wavelengths.of(network)
    return {
        name: {
            "optical.signal_processing": processing,
            **{
                f"optical.fibres.{number}.wavelengths": count
                for number, count in enumerate(wavelengths.with_spare(share).values())
            },
        }
        for name, share in SHARES.items()
    }


METRICS = ("path_outage_ms", "last_ms", "unrecovered_pct", "stall_ms", "lost_mb", "lost_pct", "hit_lost_mb")


def of_run(run: Run) -> NDArray[np.float64]:
    """Return the received data of each flow in MB, its stall in ms, and its path outage in ms (0 without one)."""
    stalls = run["stalls"]
    outage_ps = dict.fromkeys(stalls["flow"].tolist(), 0)
    for one in run.cuts:
        if not one["ack"]:
            outage_ps[one["flow"]] += one["until_ps"] - one["from_ps"]
    stall_ms, outage_ms = (
        1e3 * np.array(list(ps), dtype=np.float64) / PS for ps in (stalls["gap_ps"], outage_ps.values())
    )
    return np.array([1e-6 * stalls["bytes"].astype(np.float64), stall_ms, outage_ms])


class Costs:
    """Metrics by mechanism: an array with one value per cut, the mean over seeds."""

    def __init__(self, found: Found) -> None:
        self.values: dict[tuple[str, str], NDArray[np.float64]] = {}
        for done in found.done.values():
            mechanisms = done.axes[0].values
            # By seed, mechanism, cut (first without one), kind of value, and flow.
            each = np.array([[of_run(run) for run in runs] for _, runs in done])
            each = each.reshape(len(done.seeds), len(mechanisms), -1, *each.shape[2:])
            for number, mechanism in enumerate(mechanisms):
                for metric, values in of_cuts(each[:, number]).items():
                    self.values[mechanism, metric] = values.mean(axis=0)

    def of(self, mechanism: str, metric: str) -> NDArray[np.float64]:
        """Return a metric of a mechanism, one value per cut."""
        return self.values[mechanism, metric]


def of_cuts(each: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the metrics by seed and cut, from values by seed, cut (first without one), kind and flow."""
    received_mb, stall_ms, outage_ms = (each[:, :, kind] for kind in range(3))
    lost_mb = received_mb[:, :1] - received_mb[:, 1:]
    stall_ms, outage_ms = stall_ms[:, 1:], outage_ms[:, 1:]
    hit = outage_ms > 0
    recovered = hit & (outage_ms < LASTS_MS)
    return {
        "path_outage_ms": outage_ms.sum(axis=-1, where=recovered) / recovered.sum(axis=-1),
        "last_ms": outage_ms.max(axis=-1, where=recovered, initial=0),
        "unrecovered_pct": 100 * (1 - recovered.sum(axis=-1) / hit.sum(axis=-1)),
        "stall_ms": stall_ms.sum(axis=-1, where=hit) / hit.sum(axis=-1),
        "lost_mb": lost_mb.sum(axis=-1),
        "lost_pct": 100 * lost_mb.sum(axis=-1) / received_mb[:, :1].sum(axis=-1),
        "hit_lost_mb": lost_mb.sum(axis=-1, where=hit),
        "lightpaths": hit.sum(axis=-1) / 2,
    }


def interval(values: NDArray[np.float64]) -> Interval:
    """Return the mean over cuts with its interval; exact if all cuts have the same value."""
    return exact(float(values[0])) if np.ptp(values) < 1e-9 else stats.mean(values)


def spare(found: Found) -> dict[tuple[str, str], float]:
    """Return the ratios of spare capacity by mechanism and metric."""
    network = Network.find(NETWORK)
    wavelengths = Wavelengths.of(network)
    cuts = [network.ends(name) for name in network.link_names()]
    ratios = {(name, "shared_ratio"): wavelengths.ratio(share) for name, share in SHARES.items()}
    done = found.done[LSPS]
    branches = done.grid.branches[:: len(done.axes[1])]
    for mechanism, branch in zip(done.axes[0].values, branches, strict=True):
        paths = Paths.of(done.run(branch, done.seeds[0]).scenario)
        (printed,) = branch.scenario.spare()
        ratios[mechanism, "printed_ratio"] = printed["spare_bps"] / printed["working_bps"]
        if mechanism == CYCLE:
            ratios[mechanism, "shared_ratio"] = paths.on_cycle(NODES_OF_CYCLE)
        else:
            ratios[mechanism, "shared_ratio"] = paths.shared(cuts)
            ratios[mechanism, "dedicated_ratio"] = paths.dedicated()
    return ratios


def find(found: Found) -> Findings:
    """Return the recovery time, cost to TCP and spare capacity of each mechanism, and the claims."""
    costs, ratios = Costs(found), spare(found)
    shown: list[Row] = []
    for mechanism in (LOCAL, CYCLE, SEGMENT, ONE_TO_ONE, SHARED, HALF):
        by_metric = {metric: interval(costs.of(mechanism, metric)) for metric in METRICS}
        by_metric["unrecovered_pct"] = by_metric["unrecovered_pct"].within(0, 100)
        by_metric |= {metric: exact(ratio) for (name, metric), ratio in ratios.items() if name == mechanism}
        shown += [row({"mechanism": mechanism}, metric, None, value, "") for metric, value in by_metric.items()]
    return Findings(shown, judged(costs, ratios, found.number("processing_ms")), [], NOTES)


def judged(costs: Costs, ratios: dict[tuple[str, str], float], processing_ms: float) -> dict[str, list[Part]]:
    """Judge the claims."""
    below = functools.partial(compare, costs)
    extra = costs.of(HALF, "last_ms") - costs.of(SHARED, "last_ms") - processing_ms * costs.of(SHARED, "lightpaths")
    order = (LOCAL, SEGMENT, ONE_TO_ONE, SHARED)
    others = (LOCAL, CYCLE, SEGMENT, ONE_TO_ONE)
    return {
        "mesh-p-cycle-speed": [same(costs, "path_outage_ms", LIKE_MS, "ms")],
        "mesh-p-cycle-spare": [less(ratios, (CYCLE, "shared_ratio"), (ONE_TO_ONE, "dedicated_ratio"))],
        "mesh-segment-between": [
            below(SEGMENT, ONE_TO_ONE, "path_outage_ms", "ms"),
            below(LOCAL, SEGMENT, "path_outage_ms", "ms"),
        ],
        "mesh-shared-cheapest": [
            *(less(ratios, (SHARED, "shared_ratio"), (other, "shared_ratio")) for other in others),
            *(below(other, SHARED, "path_outage_ms", "ms") for other in others),
        ],
        "mesh-contention-last": [
            judge.difference_part("half minus all, minus k times processing", extra, "above", "ms")
        ],
        "mesh-tcp-order": [below(one, other, "lost_mb", "MB") for one, other in itertools.pairwise(order)],
        "mesh-p-cycle-tcp": [same(costs, "lost_pct", LIKE_PCT, "points")],
    }


def compare(costs: Costs, one: str, other: str, metric: str, unit: str) -> Part:
    """Judge, over the cuts, that a metric is smaller with one mechanism than with another."""
    return judge.paired_part(
        f"{metric}, {one} minus {other}", costs.of(one, metric), costs.of(other, metric), "below", unit
    )


def same(costs: Costs, metric: str, margin: float, unit: str) -> Part:
    """Judge, over the cuts, that a metric is the same with the p-cycle and with local protection."""
    difference = costs.of(CYCLE, metric) - costs.of(LOCAL, metric)
    return judge.equivalence_part(f"{metric}, {CYCLE} minus {LOCAL}", difference, margin, unit)


def less(ratios: dict[tuple[str, str], float], one: tuple[str, str], other: tuple[str, str]) -> Part:
    """Judge that one ratio is smaller than another."""
    texts = [f"{metric} of {name} {ratios[name, metric]:.2f}" for name, metric in (one, other)]
    return judge.exact_part(" below ".join(texts), ratios[one] < ratios[other])


MESH = Exhibit(
    "gmpls/mesh",
    "Recovery from fibre cuts in a mesh: time, data lost and spare capacity",
    "beyond the paper",
    Setup(PAPER, None, grids, runs_of(RUNS, QUICK_RUNS), ASSUMED),
    find,
)
