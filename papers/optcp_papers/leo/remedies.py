"""Shorter path: reduction of its cost by each mechanism, compared with NewReno and SACK."""

import numpy as np
from numpy.typing import NDArray

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, behind, rows
from optcp.papers.kit import Cells, Grid, Options, Part, Settings, difference_part, equivalence_part, once
from optcp_papers.leo import windows
from optcp_papers.leo.changes import MEASURED, changes, changes_of_study, costs, points, twins
from optcp_papers.leo.paper import ASSUMED, PAPER, sender
from optcp_papers.leo.worlds import queue

BASE = "sack"
UNDO = {"dsack_undo": True, "timestamp_undo": True}
SENDERS: dict[str, Settings] = {
    BASE: {},
    "dsack undo": {"dsack_undo": True},
    "eifel": {"timestamp_undo": True},
    "f-rto": {"frto": True},
    "rack": {"loss_detection": "rack"},
    "rack, undo": {"loss_detection": "rack", **UNDO},
    "das": {"duplicate_acks": "das"},
    "das-bounded": {"duplicate_acks": "das-bounded"},
    "linux, reno": {"profile": "linux-6", "congestion": "reno"},
}
"""Senders: ns-3's NewReno with SACK and timestamps and additional settings, and Linux's with the same growth."""
QUEUES = {"codel": "codel"}
"""Queues for NewReno with SACK. FQ-CoDel equals CoDel for one flow."""
WAYS = (*SENDERS, *QUEUES)
CLASS = "much shorter"
"""Class of changes that is used."""
RATES_MBPS = (10, 100)
DRAWN = {10: windows.DRAWN, 100: 10}
"""Number of drawn windows in addition to the published one; a run at 100 Mb/s takes ten times as long."""
QUICK_DRAWN = {10: 1}
FEWER = {"needless": "needless_fewer", "recoveries": "recoveries_fewer", "lost_ms": "gained_ms"}
NOTES = [
    "Values are as in leo/changes, of changes to a much shorter path. `needless_fewer`, `recoveries_fewer` and "
    f"`gained_ms` are the values of {BASE} minus those of each way, paired by change.",
    "At 100 Mb/s queues hold ten times as many packets, so the same time.",
]


def settings(packets: float) -> dict[str, Settings]:
    """Return the scenario settings of each way."""
    result = {name: {**queue(packets), **sender(of)} for name, of in SENDERS.items()}
    return result | {name: queue(packets, kind) for name, kind in QUEUES.items()}


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return remedies over changes to a much shorter path, one grid per rate."""
    result = {}
    for rate_mbps in QUICK_DRAWN if options.size.is_quick else DRAWN:
        drawn = options.size.of(DRAWN[rate_mbps], QUICK_DRAWN.get(rate_mbps, 0))
        of = [change for change in changes(drawn) if change.of_class == CLASS]
        ways = settings(float(chosen["queue_packets"]) * rate_mbps / RATES_MBPS[0])
        result[f"{rate_mbps} Mb/s"] = twins(f"leo remedies, {rate_mbps} Mb/s", of, ways, "way", rate_mbps, options)
    return result


def find(found: Found) -> Findings:
    """Return the cost of a much shorter path by way and rate, and the reduction by each way."""
    found_rows, curves, notes = [], [], []
    parts: dict[str, dict[str, list[Part]]] = {}
    for name in found.done:
        rate_mbps = int(name.split()[0])
        of = changes_of_study(found.done[name])
        cost = costs(found.done[name], rate_mbps)
        fewer = cost.at(way=BASE) - cost
        key = behind({"rate_mbps": rate_mbps})
        less = fewer.part(way=[way for way in WAYS if way != BASE])
        found_rows += rows({item: cost.at(metric=item).mean() for item in MEASURED}, key=key)
        found_rows += rows({FEWER[item]: less.at(metric=item).mean() for item in FEWER}, key=key)
        curves += points(cost, of, {"rate_mbps": rate_mbps})
        notes.append(f"{len(of)} changes at {name}.")
        for id_, judged in claims(cost, fewer, np.array([item.way_ms for item in of])).items():
            parts.setdefault(id_, {})[name] = judged
    return Findings(found_rows, parts, curves, [*NOTES, *notes])


def claims(cost: Cells, fewer: Cells, way_ms: NDArray[np.float64]) -> dict[str, list[Part]]:
    """Return all claims at one rate, over changes to a much shorter path."""

    def less(way: str, metric: str) -> Part:
        unit = "ms" if metric == "lost_ms" else ""
        return difference_part(f"{way}, {metric}", fewer.at(way=way, metric=metric).values, "above", unit)

    def beyond(way: str) -> NDArray[np.float64]:
        """Return the cost of a change beyond the delay difference."""
        return np.asarray(cost.at(way=way, metric="lost_ms").values - way_ms)

    return {
        "leo-overtaking-costs-capacity": [
            difference_part("needless", cost.at(way=BASE, metric="needless").values, "above", ""),
            difference_part("lost_ms", beyond(BASE), "above", "ms"),
        ],
        "leo-das-removes-false-retransmits": [less(way, "needless") for way in ("das", "das-bounded")],
        "leo-rack-removes-false-retransmits": [less("rack", "needless"), less("rack", "recoveries")],
        "leo-undo-gives-capacity-back": [less(way, "lost_ms") for way in ("dsack undo", "eifel")],
        "leo-frto-changes-nothing": [
            equivalence_part("f-rto", fewer.at(way="f-rto", metric="lost_ms").values, 1, "ms")
        ],
        "leo-short-queue-overtakes-less": [less(way, "needless") for way in QUEUES],
        "leo-linux-gets-the-same": [equivalence_part("linux, reno", beyond("linux, reno"), 10, "ms")],
    }


REMEDIES = Exhibit(
    "leo/remedies",
    "Reduction of the cost of a shorter path, by remedy",
    "docs/details/leo.md, remedies",
    Setup(PAPER, None, grids, once, ASSUMED),
    find,
)
