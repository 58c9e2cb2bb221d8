"""Lightpaths of a bundle that fail in turn and return: effect on TCP, in the smaller copy of the network.

The bundle has five lightpaths. One to three of them fail 2 s after each other, and each returns 10 s after its failure.
Packets that are queued, in transmission or in flight on a failing lightpath are lost. So are packets sent to it until
the node detects the failure. Every run has a twin without failures, with the same starts and RTTs.
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
from optcp.stats.quantiles import sample_quantile
from optcp_papers.lbas.paper import PAPER, SCENARIO, Cell
from optcp_papers.lbas.smaller import SENDERS, WORLD

LIGHTPATHS, FLOWS = 5, 10
RATE_MBPS, BUFFER_BYTES = 50, 62_500
FAILED = (0, 1, 2, 3)
PROFILES = ("inet-2011", "linux-6")
SELECTIONS = ("anycast", "flow-hash")
LOADS: dict[str, Settings] = {"full": {}, "half": {"tcp.all.window_limit": 20}}
"""With 20 segments per RTT of 100 ms, 50 flows offer half of the capacity."""
FIRST_S, APART_S, DOWN_S, STOP_S = 10, 2, 10, 30
DETECTION = "10 ms"
RATES = {
    "parameters.rate": f"{RATE_MBPS} Mbps",
    "parameters.buffer": f"{BUFFER_BYTES} B",
    "parameters.far_buffer": f"{BUFFER_BYTES} B",
    "bundles.0.detection": DETECTION,
    "observe": [
        {"name": "goodput", "kind": "goodput", "interval": "1 s"},
        {"name": "outages", "kind": "outages", "after": f"{FIRST_S} s"},
    ],
}
ASSUMED = (
    *(parameter for parameter in WORLD if parameter.name != "smaller_copy"),
    built_in("smaller_copy", f"5 lightpaths of {RATE_MBPS} Mb/s, buffers of C RTT / 10, 10 flows per lightpath"),
    built_in("detection", DETECTION),
)
NOTE = (
    f"Lightpath i fails at {FIRST_S} s + i {APART_S} s and returns {DOWN_S} s later. All values are from the first "
    f"failure to {STOP_S} s. `goodput_lost_pct` is against the twin without failures, by seed; k failures take k times "
    f"{100 * DOWN_S // ((STOP_S - FIRST_S) * LIGHTPATHS)} % of the capacity. With load `half` windows are 20 segments. "
    "`lost_packets` are those lost to failures; `rto_flows_pct` is the share of flows with an RTO, `stall_ms` the "
    "median over flows of the longest time without new in-order data. `resent_pct` and `spurious_pct` are in % of the "
    "delivered segments."
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return every number of failures for every sender, load and selection; branches share the time before."""
    quick = options.size.is_quick
    profiles, loads, failed = (PROFILES[1:], ("full",), FAILED[:2]) if quick else (PROFILES, tuple(LOADS), FAILED)
    cells = [
        {
            "tcp.all.window_limit": "unlimited",
            **SENDERS[profile],
            **LOADS[load],
            **Cell(LIGHTPATHS, FLOWS, anycast=True).settings,
            "parameters.selection": selection,
            "failures": failures(number),
        }
        for profile, load, selection, number in itertools.product(profiles, loads, SELECTIONS, failed)
    ]
    common = {**assume.overrides(WORLD, chosen), **RATES, "stop": f"{STOP_S} s"}
    title = "lbas, failing lightpaths"
    made = Grid.of_cells(SCENARIO, cells, common, title=title, digest=options.digest, fork=options.fork)
    axes = {"profile": profiles, "load": loads, "selection": SELECTIONS, "failed": failed}
    return {"failing": replace(made, named=tuple(Axis(name, tuple(map(str, of))) for name, of in axes.items()))}


def failures(number: int) -> list[Settings]:
    """Return the failures of the first lightpaths, in order."""
    at = [FIRST_S + APART_S * place for place in range(number)]
    return [
        {"link": f"lightpath{place}", "at": f"{one} s", "repair": f"{one + DOWN_S} s"} for place, one in enumerate(at)
    ]


def measured(done: StudyResult) -> dict[str, Cells]:
    """Return the metrics of every run, by name."""
    names = ("goodput_mbps", "lost_packets", "rto_flows_pct", "stall_ms", "resent_pct", "spurious_pct")
    cells = done.each(of_run, Axis("metric", names))
    return {name: cells.at(metric=name) for name in names}


def of_run(run: Run) -> list[float]:
    """Return the metrics of a run, from the first failure on."""
    goodput, flows = run["goodput"], run["outages"]
    late = goodput["time_ps"] > FIRST_S * 10**12
    delivered = float(goodput["bytes"][late].sum())
    segments = delivered / 1452
    return [
        8 * delivered / (STOP_S - FIRST_S) / 1e6,
        float(flows["lost_packets"].sum()),
        100 * float((flows["timeouts"] > 0).mean()),
        sample_quantile(flows["gap_ps"], 0.5) / 1e9,
        100 * float(flows["resent"].sum()) / segments,
        100 * float(flows["needless"].sum()) / segments,
    ]


def find(found: Found) -> Findings:
    """Return the metrics, the goodput lost against the twin, and the advantage of anycast switching in it."""
    by_metric = found.only.once(measured)
    goodput = by_metric["goodput_mbps"]
    lost = 100 * (1 - goodput / goodput.at(failed=0))

    def key(place: Key) -> Key:
        return {name: place[name] for name in ("profile", "load", "failed", "selection") if name in place}

    change = lost.at(selection="anycast") - lost.at(selection="flow-hash")

    def difference(place: Key) -> Key:
        return {**place, "selection": "anycast minus flow-hash"}

    result = [
        *rows({name: cells.mean() for name, cells in by_metric.items()}, key=key),
        *rows({"goodput_lost_pct": lost.mean()}, key=key),
        *rows({"goodput_lost_points": change.mean()}, key=difference),
    ]
    return Findings(result, notes=[NOTE])


FAILING = Exhibit(
    "lbas/failing",
    "Lightpaths of a bundle that fail in turn and return, smaller copy of the network",
    "beyond the paper",
    Setup(PAPER, None, grids, runs_of(8, 1), ASSUMED),
    find,
)
