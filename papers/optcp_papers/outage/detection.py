"""Required speed of failure detection: every link of networks with TI-LFA, by detection time."""

import itertools
import math
from collections.abc import Mapping

from optcp.outage.mechanisms import MECHANISMS
from optcp.outage.metrics import outages
from optcp.outage.study import Costs, CostsOf, failing, sender
from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Key, Options, Part, Setup, judge
from optcp_papers.outage.paper import PAPER, not_run
from optcp_papers.outage.population import (
    ASSUMED,
    CUT_NOTE,
    assumptions,
    cut,
    grid,
    inside,
    network,
    per_cent_of,
    rows_of,
    seeds,
    side,
    world,
)

MECHANISM = "ti-lfa"
DETECTION_MS = (1, 10, 40, 50, 200, 600, 1000, 3000, 10_000)
AT_SAID_MS = (40, 50, 200)
PEAKS = (0.3, 0.6, 0.8)
SENDERS = ("cubic", "bbr", "newreno")
FILE_SENDERS = ("cubic", "newreno-linux", "newreno")
FILE_MB = 10
METRICS = (
    "lost_mb", "lost_mb_long", "lost_mb_bystanders", "outage_p50_ms", "outage_p99_ms", "network_p50_ms", "fct_infl_p99",
    "timeouts", "censored",
)  # fmt: skip
"""Metrics that are shown."""
NOTES = [
    "TI-LFA with synchronized FIB updates; each link except bridges fails in turn. Detection is the time until the "
    "routers adjacent to a failure notice it; they then use their backups. If detection takes longer than 0.5 s, "
    "losses count for three detection times plus 4 s.",
    CUT_NOTE,
    f"`files`: each long flow sends {FILE_MB} MB from 1 s on. `longer_pct` is the increase in completion time of "
    "affected flows.",
]


def window_s(detection_ms: float) -> float:
    """Return the time after the failure in which losses count, in s."""
    return 4.0 if detection_ms <= 500 else 3 * detection_ms / 1000 + 4


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return abilene and nobel-eu over detection, peak and sender; germany50 at three detections; files on abilene."""
    found = {}

    def add(key: str, name: str, peak: float, lengths: tuple[int, ...], senders: tuple[str, ...], **more: str) -> None:
        assumed = assumptions(chosen, peak=peak)
        axes = {
            "sender": {who: sender(who) for who in senders},
            "detection_ms": {str(length): _detected(length, **more) for length in lengths},
            "failure": failing(cut(name), assumed),
        }
        found[key] = grid(f"detection on {key}", world(name, assumed), axes, options, MECHANISMS[MECHANISM].settings)

    peak = float(chosen["peak"])
    if options.size.is_quick:
        add("abilene", "abilene", peak, (1, 50, 1000), ("cubic",))
        return found
    for name in ("abilene", "nobel-eu"):
        add(name, name, peak, DETECTION_MS[:-1] if name == "nobel-eu" else DETECTION_MS, SENDERS)
        for other in PEAKS:
            if other != peak:
                add(f"{name}, peak {other:g}", name, other, (1, 50), SENDERS)
    add("germany50", "germany50", peak, AT_SAID_MS, SENDERS[:2])
    sized = {"parameters.size": f"{FILE_MB} MB", "stop": "60 s"}
    add("abilene, files", "abilene", peak, (10, 50, 200, 600, 1000, 3000, 10_000), FILE_SENDERS, **sized)
    return found


def _detected(detection_ms: int, **more: str) -> dict[str, str]:
    stop = {"stop": f"{4.1 + window_s(detection_ms):g} s"}
    return {"parameters.detection": f"{detection_ms} ms", **stop, **more}


def find(found: Found) -> Findings:
    """Return the cost by detection time, and judge the claims about 50 ms."""
    by_key: dict[str, Costs] = {}
    shown = []
    for key, done in found.done.items():
        name, _, kind = key.partition(", ")
        costs = by_key[key] = done.once(CostsOf(network(name), cut(name)))
        for who, detection_ms in costs.cells:
            of: Key = {
                "network": name,
                **({"world": kind} if kind else {}),
                "sender": who,
                "detection_ms": int(detection_ms),
            }
            names = ("longer_pct",) if kind == "files" else METRICS
            shown += rows_of(costs, (who, detection_ms), of, names)
    claims: dict[str, Mapping[str, list[Part]]] = {
        "outage-50ms-invisible": {name: invisible(by_key[name]) for name in _plain(by_key)},
        "outage-50-like-200": {name: like_200(by_key[name]) for name in ("germany50", "nobel-eu") if name in by_key},
        "outage-seeds-fast-enough": {
            f"{key}, {who}": fast_enough(costs, who)
            for key, costs in by_key.items()
            if not key.startswith("germany50") and "files" not in key
            for who in dict.fromkeys(at[0] for at in costs.cells)
        },
        "outage-600ms-objective": {
            who: objective(by_key["abilene, files"], who) for who in FILE_SENDERS if "abilene, files" in by_key
        },
    }
    for id_, readings in claims.items():
        if not readings:
            claims[id_] = {"cubic": [not_run("these networks")]}
    return Findings(shown, claims, [], NOTES)


def _plain(by_key: Mapping[str, Costs]) -> list[str]:
    return [key for key in by_key if "," not in key]


def invisible(costs: Costs) -> list[Part]:
    """Judge: with 50 ms the median stall is below 100 ms, few RTOs fire, and no short flow takes longer."""
    at = ("cubic", "40" if ("cubic", "40") in costs.cells else "50")
    p50 = costs.quantile(at, outages, 0.5)
    hit = costs.mean(at, lambda cost: float(cost.outage_ms.size))
    expired = per_cent_of(costs.mean(at, lambda cost: float(cost.hit_timeouts)), hit)
    slow = costs.quantile(at, lambda cost: cost.inflation, 0.99)
    return [
        side(f"detection {at[1]} ms: median stall minus 100", p50 - 100.0, "below", "ms"),
        side("flows with RTOs minus 5 %", expired - 5.0, "below", "points"),
        inside("99th percentile of completion times relative to no failure, minus 1", slow - 1.0, 0.05, ""),
    ]


def like_200(costs: Costs) -> list[Part]:
    """Judge: a detection of 200 ms costs long flows as much as one of 50 ms."""
    if ("cubic", "200") not in costs.cells:
        return [not_run("detection of 200 ms")]
    fast, slow = ("cubic", "50"), ("cubic", "200")
    apart = costs.quantile(slow, outages, 0.5) - costs.quantile(fast, outages, 0.5)
    lost = {at: costs.mean(at, lambda cost: cost.lost_mb["long"]) for at in (fast, slow)}
    return [
        inside("median stall", apart, 30, "ms"),
        inside("lost by long flows", per_cent_of(lost[slow] - lost[fast], lost[fast]), 15, "%"),
    ]


def fast_enough(costs: Costs, who: str) -> list[Part]:
    """Judge: detection in 1 ms does not reduce the loss of 50 ms by more than 5 %."""
    slow = costs.mean((who, "50"), lambda cost: cost.total_mb)
    gain = per_cent_of(costs.mean((who, "1"), lambda cost: cost.total_mb) - slow, slow)
    return [side("lost at 1 ms minus lost at 50 ms, above -5 %", gain - (-5.0), "above", "points")]


def objective(costs: Costs, who: str) -> list[Part]:
    """Judge: 600 ms delays files at most a quarter as much as 3 s, and the steepest rise is beyond 600 ms."""
    lengths = sorted({int(at[1]) for at in costs.cells if at[0] == who})
    longer = {length: costs.cut_mean((who, str(length)), lambda cost: cost.longer_pct) for length in lengths}
    quarter = longer[3000].times(0.25)
    if not all(math.isfinite(item.estimate) for item in longer.values()):
        return [judge.Part("some flows were unfinished at the end of the run: their delay is not known", "undecided")]
    by_log = {
        two: (longer[two].estimate - longer[item].estimate) / math.log(two / item)
        for item, two in itertools.pairwise(lengths)
    }
    steepest = max(by_log, key=lambda item: by_log[item])
    return [
        side("delay at 600 ms minus a quarter of the delay at 3 s", longer[600] - quarter, "below", "points"),
        judge.exact_part(f"steepest rise ends at {steepest} ms", steepest > 600),
    ]


DETECTION = Exhibit(
    "outage/detection",
    "How fast is fast enough",
    "docs/details/outage.md, detection",
    Setup(PAPER, None, grids, seeds, ASSUMED),
    find,
)
