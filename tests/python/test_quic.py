"""Simulated QUIC beside recorded transfers of the stack quinn over the same links (crates/judges/record)."""

import json
import math
from functools import cache
from pathlib import Path

import pytest

from optcp import Scenario, stats

ROOT = Path(__file__).parents[2]

RECORD = ROOT / "crates" / "judges" / "record"
CASES = json.loads((RECORD / "cases.json").read_text(encoding="utf-8"))["cases"]
QUINN = json.loads((RECORD / "quinn.json").read_text(encoding="utf-8"))
LOSSES = json.loads((RECORD / "losses.json").read_text(encoding="utf-8"))
RANDOM = [name for name, case in CASES.items() if case["loss_permille"]]
MARKED = [name for name, case in CASES.items() if case["marks_above_packets"]]
OTHER = [name for name, case in CASES.items() if case["packets_per_ack"] == 10]
"""Cases with ACKs of every tenth packet, which the simulation of QUIC lacks."""
MARGIN = 0.05
OUTSIDE = {
    "newreno": {
        "outage-handshake-50": "quinn's NewReno ignores losses of packets that were sent at time zero",
        "outage-server-300": "the server of quinn retransmits its part of the handshake after its own probe timeout",
        "outage-short-tail-1000": "a probe of quinn without new data carries no data",
        "outage-far-1000": "quinn grows its window for the ACKs that followed the outage, before it detects the losses",
    },
    "cubic": {
        "queue-10": "CUBIC of RFC 8312",
        "outage-handshake-50": "CUBIC of RFC 8312",
        "outage-handshake-1000": "CUBIC of RFC 8312",
        "outage-handshake-3000": "CUBIC of RFC 8312",
        "outage-server-300": "the server's own probe timeout",
        "outage-start-50": "CUBIC of RFC 8312",
        "outage-start-300": "CUBIC of RFC 8312",
        "outage-start-1000": "CUBIC of RFC 8312",
        "outage-start-3000": "CUBIC of RFC 8312",
        "outage-tail-300": "a probe without data",
        "outage-tail-1000": "a probe without data",
        "outage-tail-3000": "another probe is the first after the outage",
        "outage-short-tail-1000": "a probe without data",
        "outage-far-1000": "ACKs before losses",
    },
}
"""Transfers whose duration differs by more than 5 %, with the reason."""


@cache
def durations_s(name, control, seeds=1):
    """Return the durations of the simulated transfer."""
    case = CASES[name]
    ends = ["client", "server"]
    scenario = {
        "title": name,
        "stop": "300 s",
        "tcp": {
            "quic": {
                "profile": "quic",
                "handshake": True,
                "congestion": {"newreno": "reno"}.get(control, control),
                "mss": f"{case['payload_bytes'] - 32} B",
                "header": "60 B",
                "ecn": "accurate" if case["marks_above_packets"] else "off",
            }
        },
        "nodes": [{"names": ends}],
        "links": [
            {
                "chain": ends,
                "rate": f"{case['mbps']} Mbps",
                "delay": f"{case['rtt_ms'] * 500} us",
                "queue": _queue(case),
            }
        ],
        "flows": [{"group": "transfer", "path": ends, "tcp": "quic", "size": f"{case['size_bytes']} B"}],
        "failures": [
            {"link": ends, "at": f"{start} ms", "repair": f"{start + length} ms"}
            for start, length in case["outages_ms"]
        ],
    }
    if case["loss_permille"]:
        probability = case["loss_permille"] / 1000
        scenario["losses"] = [{"link": ends, "kind": "independent", "probability": probability}]
    runs = [Scenario.from_dict(scenario).run(seed=seed) for seed in range(1, seeds + 1)]
    return [int(run.slowest["time_ps"][0]) / 1e12 for run in runs]


def _queue(case):
    limit = f"{case['queue_packets']} packets"
    marks = case["marks_above_packets"]
    return {"kind": "step", "limit": limit, "threshold": f"{marks} packets"} if marks else limit


def off(name, control):
    """Return by how much the simulated transfer takes longer than the recorded one, relative to it."""
    (simulated,) = durations_s(name, control)
    return simulated / (QUINN[control][name]["completed_ps"] / 1e12) - 1


@pytest.mark.parametrize("control", OUTSIDE)
def test_durations_are_within_five_per_cent_of_quinn(control):
    compared = [name for name in CASES if name not in {*RANDOM, *OTHER, *MARKED}]
    outside = {name for name in compared if abs(off(name, control)) > MARGIN}
    assert outside == set(OUTSIDE[control])
    assert len(compared) == 42


@pytest.mark.parametrize("control", OUTSIDE)
def test_durations_with_marks_are_within_five_per_cent_of_quinn(control):
    outside = {name for name in MARKED if abs(off(name, control)) > MARGIN}
    assert outside == ({"marks-20-outage-1000"} if control == "newreno" else set()), (
        "with NewReno, the first probe after the outage is another one"
    )
    assert len(MARKED) == 6


@pytest.mark.parametrize("control", OUTSIDE)
@pytest.mark.parametrize("name", RANDOM)
def test_mean_durations_with_random_losses(name, control):
    recorded = [1e-6 * duration for duration in LOSSES[f"quinn {control} {name}"]]
    simulated = durations_s(name, control, len(recorded))
    ours, theirs = stats.mean(simulated), stats.mean(recorded)
    assert math.isclose(ours.estimate, theirs.estimate, rel_tol=MARGIN)
