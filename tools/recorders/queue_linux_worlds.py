"""Set-ups in which ``queue_linux.py`` records Linux's queue disciplines."""

from __future__ import annotations

from typing import Any

FRAME = 1500
FIRST_NS = 350_000
"""Offset from the grid of transmission times, so that no packet arrives at the time of a departure."""
PORT = 9000

FILTER = "tc filter add dev r1 parent 3: protocol ip prio {0} u32 match ip dport {1} 0xffff flowid 3:{0}"
SOURCES = [FILTER.format(1, PORT), FILTER.format(2, PORT + 1), FILTER.format(3, PORT + 2)]
DISCIPLINES: dict[str, list[str]] = {
    "fifo": ["pfifo limit 100"],
    "head-drop": ["pfifo_head_drop limit 100"],
    "codel": ["codel"],
    "codel-ecn": ["codel ecn"],
    "codel-10-50": ["codel limit 2000 target 10ms interval 50ms"],
    "codel-ce": ["codel ecn ce_threshold 1ms"],
    "fq-codel": ["fq_codel"],
    "fq-codel-small": ["fq_codel limit 200 quantum 300 target 5ms interval 50ms noecn"],
    "pie": ["pie"],
    "pie-ecn": ["pie ecn"],
    "pie-20": ["pie limit 500 target 20ms tupdate 30ms alpha 2 beta 20"],
    "red": ["red limit 300000 min 30000 max 90000 avpkt 1500 burst 33 bandwidth 10mbit probability 0.1"],
    "red-ecn": ["red limit 300000 min 30000 max 90000 avpkt 1500 burst 33 bandwidth 10mbit probability 0.1 ecn"],
    "red-adaptive": [
        "red limit 300000 min 30000 max 90000 avpkt 1500 burst 33 bandwidth 10mbit probability 0.1 adaptive"
    ],
    "step-20": ["step 20"],
    "step-40": ["step 40"],
    "dualpi2": ["dualpi2"],
    "dualpi2-dctcp": ["dualpi2", FILTER.format(1, PORT)],
    "prio": ["prio bands 3", *(f"tc qdisc add dev r1 parent 3:{k} pfifo limit 50" for k in (1, 2, 3)), *SOURCES],
    "drr": [
        "drr",
        "tc class add dev r1 parent 3: classid 3:1 drr quantum 1500",
        "tc class add dev r1 parent 3: classid 3:2 drr quantum 1500",
        "tc class add dev r1 parent 3: classid 3:3 drr quantum 3000",
        *(f"tc qdisc add dev r1 parent 3:{k} pfifo limit 50" for k in (1, 2, 3)),
        *SOURCES,
    ],
}
"""Commands below the token bucket: a discipline, and further commands."""


def load(times: float, seconds: float = 6, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - keys of a source
    """Return a source of full packets with ``times`` the rate of a link of 10 Mb/s."""
    return {
        "every_ns": round(1_200_000 / times),
        "first_ns": FIRST_NS,
        "bytes": FRAME,
        "until_s": seconds,
        "ect": 0,
    } | more


def three(*sources: dict[str, Any]) -> list[dict[str, Any]]:
    """Return sources that never send at the same time."""
    return [source | {"first_ns": FIRST_NS + 10_000 * number} for number, source in enumerate(sources)]


SPARSE = {"every_ns": 20_000_000, "bytes": 200}
UDP: dict[str, dict[str, Any]] = {}
for item in ("codel", "codel-10-50", "pie", "pie-20", "red", "red-adaptive"):
    for factor in (1.2, 1.5, 2.0):
        UDP[f"{item} {factor}"] = {"discipline": item, "sources": [load(factor, 10 if item == "codel" else 6)]}
UDP |= {
    "fifo 1.5": {"discipline": "fifo", "sources": [load(1.5, 2)]},
    "head-drop 1.5": {"discipline": "head-drop", "sources": [load(1.5, 2)]},
    "codel-ecn 1.5": {"discipline": "codel-ecn", "sources": [load(1.5, ect=2)]},
    "codel-ce 1.2": {"discipline": "codel-ce", "sources": [load(1.2, 5, ect=2)]},
    "pie-ecn 1.05": {"discipline": "pie-ecn", "sources": [load(1.05, ect=2)]},
    "pie-ecn 1.5": {"discipline": "pie-ecn", "sources": [load(1.5, ect=2)]},
    "red-ecn 1.2": {"discipline": "red-ecn", "sources": [load(1.2, ect=2)]},
    "codel 1.2 then 0.5 then 1.2": {
        "discipline": "codel",
        "sources": three(load(1.2, 4), load(0.5, 4.3, from_s=4), load(1.2, 8, from_s=4.3)),
    },
    "fq-codel three and a sparse one": {
        "discipline": "fq-codel",
        "sources": three(load(1.0), load(0.6), load(0.2), load(1) | SPARSE),
    },
    "fq-codel-small three and a sparse one": {
        "discipline": "fq-codel-small",
        "sources": three(load(1.0), load(0.6, bytes=750), load(0.2), load(1) | SPARSE),
    },
    "prio": {"discipline": "prio", "sources": three(load(0.5, 4), load(0.4, 4), load(0.6, 4))},
    "drr": {"discipline": "drr", "sources": three(load(1, 4), load(3, 4, bytes=500), load(1, 4))},
    "dualpi2 classic 1.2": {"discipline": "dualpi2", "sources": [load(1.2)]},
    "dualpi2 l4s 1.2": {"discipline": "dualpi2", "sources": [load(1.2, ect=1)]},
    "dualpi2 classic 0.6 l4s 0.45": {"discipline": "dualpi2", "sources": three(load(0.6), load(0.45, ect=1))},
    "dualpi2 classic 0.6 l4s 0.6": {"discipline": "dualpi2", "sources": three(load(0.6), load(0.6, ect=1))},
    "dualpi2 classic 1.0 l4s 1.0": {"discipline": "dualpi2", "sources": three(load(1.0), load(1.0, ect=1))},
}
TCP: dict[str, dict[str, Any]] = {}
for flows in (1, 2, 10, 40):
    TCP[f"step-40 dctcp x{flows}"] = {
        "discipline": "step-40", "controls": ["dctcp"] * flows, "ecn": 1, "rate_mbps": 100, "rtt_ms": 10, "stop_s": 10,
    }  # fmt: skip
TCP["step-20 dctcp x2"] = TCP["step-40 dctcp x2"] | {"discipline": "step-20"}
for first, second in ((1, 1), (1, 4), (4, 1), (4, 4)):
    TCP[f"dualpi2 dctcp x{first} cubic x{second}"] = {
        "discipline": "dualpi2-dctcp", "controls": ["dctcp"] * first + ["cubic"] * second, "ecn": 1,
        "rate_mbps": 40, "rtt_ms": 10, "stop_s": 25,
    }  # fmt: skip
for item in ("codel", "pie", "red", "fq-codel", "fifo"):
    for control in ("reno", "cubic"):
        for flows in (1, 2, 10):
            for ecn in (0, 1):
                if not (ecn and item == "fifo"):
                    name = {0: item, 1: item if item == "fq-codel" else item + "-ecn"}[ecn]
                    TCP[f"{item} {control} x{flows}" + " ecn" * ecn] = {
                        "discipline": name, "controls": [control] * flows, "ecn": ecn,
                        "rate_mbps": 10, "rtt_ms": 40, "stop_s": 20,
                    }  # fmt: skip
