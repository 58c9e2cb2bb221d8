"""Scenarios of the recorded queues: set-ups of ns-2, ns-3 and Linux in OpTCP's terms."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from optcp.scenarios.scenario import Scenario
from optcp_papers.evidence import outside

Tables = dict[str, Any]


CODEPOINTS = ("not-ect", "ect1", "ect0")
"""Codepoint by the number in the ECN field."""
LINUX_RED: Tables = {
    "kind": "red",
    "limit": "300000 B",
    "min": "30000 B",
    "max": "90000 B",
    "weight": 1 / 16,
    "gentle": False,
    "wait": False,
    "mean_packet": "1500 B",
}
LINUX: dict[str, Tables] = {
    "fifo": {"kind": "drop-tail", "limit": "100 packets"},
    "head-drop": {"kind": "head-drop", "limit": "100 packets"},
    "codel": {"kind": "codel", "limit": "1000 packets"},
    "codel-ecn": {"kind": "codel", "limit": "1000 packets", "ecn": True},
    "codel-10-50": {"kind": "codel", "limit": "2000 packets", "target": "10 ms", "interval": "50 ms"},
    "codel-ce": {"kind": "codel", "limit": "1000 packets", "ecn": True, "ce_threshold": "999 us"},
    "fq-codel": {"kind": "fq-codel", "limit": "10240 packets", "quantum": "1500 B"},
    "fq-codel-small": {
        "kind": "fq-codel",
        "limit": "200 packets",
        "quantum": "300 B",
        "interval": "50 ms",
        "ecn": False,
    },
    "pie": {"kind": "pie", "limit": "1000 packets"},
    "pie-ecn": {"kind": "pie", "limit": "1000 packets", "ecn": True},
    "pie-20": {"kind": "pie", "limit": "500 packets", "target": "20 ms", "update": "30 ms"},
    "red": LINUX_RED,
    "red-ecn": LINUX_RED | {"ecn": True},
    "red-adaptive": LINUX_RED | {"adaptive": True},
    "step-20": {"kind": "step", "limit": "6666 packets", "threshold": "19 packets"},
    "step-40": {"kind": "step", "limit": "6666 packets", "threshold": "39 packets"},
    "dualpi2": {
        "kind": "dualpi2",
        "limit": "10000 packets",
        "update": "16 ms",
        "alpha": 0.16,
        "beta": 3.2,
        "min_delay": "1 ms",
        "range": "0 s",
    },
}
"""Disciplines of Linux by their ``tc`` settings. Lengths are equal: Linux also counts the packet that the token bucket
is about to send. ``qdisc_peek_head`` leaves it in the queue, and ``qdisc_peek_dequeued`` still counts it. ``step``
marks
at its threshold in Linux, and above it here.
"""
NS3_PIE: Tables = {"kind": "pie", "limit": "1001 packets", "mean_packet": "1000 B", "derandomize": False}
NS3: dict[str, Tables] = {
    "codel": {"kind": "codel", "limit": "1001 packets"},
    "codel-ecn": {"kind": "codel", "limit": "1001 packets", "ecn": True},
    "codel-10-50": {"kind": "codel", "limit": "2001 packets", "target": "10 ms", "interval": "50 ms"},
    "fq-codel": LINUX["fq-codel"] | {"limit": "10241 packets"},
    "fq-codel-small": LINUX["fq-codel-small"] | {"limit": "201 packets"},
    "pie": NS3_PIE,
    "pie-20": NS3_PIE | {"limit": "501 packets", "target": "20 ms", "update": "30 ms"},
    "pie-derandomised": NS3_PIE | {"derandomize": True},
    "pie-ecn": NS3_PIE | {"ecn": True},
}
"""Disciplines of ns-3. Limits are one packet higher, because the packet in transmission counts here, and not there."""
NOT_STATED = {
    "`prio` and `drr` of Linux": "each class has its own limit there, all share one here",
    "DualPI2 of Linux with DCTCP": "a filter puts DCTCP's ECT(0) into the L queue, here the codepoint alone decides",
    "`pie-rate` of ns-3": "it estimates the departure rate, which is known here",
    "RED of ns-2 in bytes": "it counts whole packets since the last drop",
    "RED of ns-2 with automatic thresholds": "they follow from a target delay there",
    "RED of ns-3 at ns-2's arrivals": "its draws are not recorded",
}
"""Recorded set-ups that are not run, with reasons."""


@functools.cache
def recorded(program: str) -> dict[str, Any]:
    """Return the recordings of ``ns2``, ``ns3`` or ``linux``."""
    return dict(json.loads((outside.DATA / f"queue_{program}.json").read_text(encoding="utf-8")))


def discipline(name: str, known: Mapping[str, Tables]) -> Tables | None:
    """Return the discipline of a set-up, which is the first word of its name; None without an equivalent."""
    return known.get(name.split(" ", maxsplit=1)[0])


def constant(queue: Tables, sources: Sequence[Mapping[str, Any]], seconds: float) -> Scenario:
    """Return unresponsive sources that feed a link of 10 Mb/s; three packets of the first arrive together."""
    one = {"path": ["S", "D"], "process": "constant"}
    first = sources[0]
    burst = {"size": f"{first['bytes']} B", "ecn": CODEPOINTS[first["ect"]], "rate": "1 packets/s", "until": "1 ns"}
    traffic = [{"group": f"burst{number}", **one, **burst} for number in range(3)]
    for number, source in enumerate(sources):
        begin_ns = source["first_ns"] + round(source.get("from_s", 0) * 1e9)
        traffic.append(
            {
                "group": f"source{number}",
                **one,
                "size": f"{source['bytes']} B",
                "ecn": CODEPOINTS[source["ect"]],
                "rate": f"{1e9 / source['every_ns']:.6f} packets/s",
                "start": f"{begin_ns} ns",
                "until": f"{source.get('until_s', seconds)} s",
            }
        )
    stop = f"{seconds + 3:g} s"
    return Scenario.from_dict(
        {
            "title": "Sources that do not respond",
            "stop": stop,
            "nodes": [{"names": ["S", "D"]}],
            "links": [{"chain": ["S", "D"], "rate": "10 Mbps", "delay": "0 s", "queue": queue, "reverse": FAST}],
            "traffic": traffic,
            "observe": [
                {"name": "packets", "kind": "packets", "links": [["S", "D"]]},
                {"name": "ports", "kind": "ports", "links": [["S", "D"]], "interval": stop},
            ],
        }
    )


FAST: Tables = {"rate": "100 Gbps", "queue": "unlimited"}


def greedy(
    queue: Tables,
    flows: Sequence[Mapping[str, str]],
    tcp: Mapping[str, Tables],
    *,
    rate: str,
    access_rate: str | None = None,
    delay: str,
    warm_s: float,
    stop_s: float,
    sample: str | None = None,
) -> Scenario:
    """Return greedy flows over one link, each with its TCP, its start time and the delay of its access link."""
    own = {"rate": access_rate, "queue": "unlimited"} if access_rate else FAST
    port = {"links": [["L", "R"]]}
    span = f"{stop_s - warm_s:.6f} s"
    observe: list[Tables] = [
        {"name": "ports", "kind": "ports", **port, "after": f"{warm_s:.6f} s", "interval": span},
        {"name": "goodput", "kind": "goodput", "interval": f"{warm_s:.6f} s"},
    ]
    if sample:
        observe.append({"name": "queue", "kind": "queue", **port, "interval": sample})
    return Scenario.from_dict(
        {
            "title": "Greedy flows",
            "stop": f"{stop_s:.6f} s",
            "tcp": dict(tcp),
            "nodes": [{"names": ["L", "R", *(f"S{number}" for number in range(len(flows)))]}],
            "links": [
                {"chain": ["L", "R"], "rate": rate, "delay": delay, "queue": queue, "reverse": FAST},
                *({"chain": [f"S{number}", "L"], "delay": flow["delay"], **own} for number, flow in enumerate(flows)),
            ],
            "flows": [
                {
                    "group": f"flow{number}",
                    "path": [f"S{number}", "L", "R"],
                    "tcp": flow["tcp"],
                    "start": flow["start"],
                    "size": "greedy",
                }
                for number, flow in enumerate(flows)
            ],
            "observe": observe,
        }
    )


def ns2_flows(world: Mapping[str, Any]) -> Scenario:
    """Return TCP over RED, as in ``queue_ns2.tcl``."""
    told = world["set"]
    more = {name: told[f"{name}_"] == "true" for name in ("wait", "gentle")}
    queue = {
        "kind": "red",
        "limit": f"{1 + int(told['limit_'])} packets",
        "min": f"{1 + int(told['thresh_'])} packets",
        "max": f"{1 + int(told['maxthresh_'])} packets",
        "weight": float(told["q_weight_"]),
        "max_probability": 1 / float(told["linterm_"]),
        "adaptive": told.get("adaptive_") == "1",
        "ecn": told["tcp:ecn_"] == "1",
        **more,
    }
    sender = {"profile": "ns2-2.35", "recovery": "sack1", "mss": f"{told['mean_pktsize_']} B", "header": "0 B"}
    if told["tcp:ecn_"] == "1":
        sender["ecn"] = "rfc3168"
    many = world["flows"]
    flows = [
        {"tcp": "sack1", "start": "uniform(0 s, 5 s)", "delay": f"{2 + 30 * number / many:.6f} ms"}
        for number in range(many)
    ]
    return greedy(
        queue, flows, {"sack1": sender}, rate="10 Mbps", access_rate="100 Mbps", delay="20 ms", warm_s=20, stop_s=120
    )


JITTER_S = 0.001
"""Interval in which each flow starts: the kernel's start times differ by microseconds."""
CONTROLS = {
    "reno": {"congestion": "reno", "slow_start": "standard"},
    "cubic": {"congestion": "cubic", "slow_start": "hystart"},
    "dctcp": {"congestion": "dctcp", "slow_start": "standard", "ecn": "dctcp", "ect_packets": "all"},
}


def linux_flows(world: Mapping[str, Any], queue: Tables) -> Scenario:
    """Return TCP of Linux; a full packet has 1500 bytes on the link."""
    control = world["controls"][0]
    connection = {"profile": "linux-6", "handshake": True, "mss": "1434 B", "header": "54 B", **CONTROLS[control]}
    if world["ecn"] and control != "dctcp":
        connection["ecn"] = "rfc3168"
    flows = [
        {
            "tcp": control,
            "start": f"uniform({number / 10} s, {number / 10 + JITTER_S:.3f} s)",
            "delay": f"{world['rtt_ms'] / 2} ms",
        }
        for number in range(len(world["controls"]))
    ]
    return greedy(
        queue,
        flows,
        {control: connection},
        rate=f"{world['rate_mbps']} Mbps",
        delay="0 s",
        warm_s=5,
        stop_s=world["stop_s"],
        sample="2 ms" if control == "dctcp" else None,
    )


NS3_ACKS = {"ack": "delayed", "ack_counting": "segments", "increase": "whole-segments"}
"""ACKs of ns-3 (``DelAckCount`` of 2), and their effect in its ``TcpLinuxReno``, on which DCTCP is based."""


def dctcp(world: Mapping[str, Any], acks: Mapping[str, str]) -> Scenario:
    """Return DCTCP with a threshold; ns-3 does not count the packet in transmission and one that its device holds."""
    queue = {"kind": "step", "limit": "10002 packets", "threshold": f"{world['threshold_packets'] + 1} packets"}
    sender = {"profile": "rfc", "recovery": "sack", "mss": "1448 B", "header": "52 B", "initial_window": 10}
    sender |= {"congestion": "dctcp", "ecn": "dctcp", **acks}
    rtt_us = world["rtt_us"]
    flows = [
        {
            "tcp": "dctcp",
            "start": f"uniform({number * rtt_us * 7.3:.3f} us, {(number * 7.3 + 0.1) * rtt_us:.3f} us)",
            "delay": f"{rtt_us / 4!r} us",
        }
        for number in range(world["flows"])
    ]
    return greedy(
        queue,
        flows,
        {"dctcp": sender},
        rate=f"{world['bps'] / 1e6:g} Mbps",
        access_rate=f"{world['bps'] / 1e5:g} Mbps",
        delay=f"{rtt_us / 4!r} us",
        warm_s=round(world["warm_s"], 6),
        stop_s=world["seconds"],
        sample=f"{world['sample_us']!r} us",
    )
