"""Connections that leave a failed path by another flow label, or give up."""

import numpy as np
import pytest

from optcp import Study, load

SEEDS = 20
FLOWS = 2000
FAILS = 0.5  # of two paths of equal cost, one fails
CHANGED = {"parameters.repath": "rto", "tcp.host.retries": "unlimited", "flows.0.per_source": FLOWS, "stop": "400 s"}


def stuck(both: bool, tries: int) -> list[float]:
    """Return the shares of flows with at least 0, 1, ... RTOs, from the rules of Protective ReRoute.

    The sender draws its path at each RTO. The receiver draws the path of its ACKs when the segment arrives as a
    duplicate for the second time, and at each later one.
    """
    fails_back = FAILS if both else 0.0
    shares, states = [1.0], {(True, 0): fails_back, (False, 0): 1 - fails_back}
    for _ in range(tries):
        left: dict[tuple[bool, int], float] = {}
        for (cut, arrived), share in states.items():
            outcomes = [((cut, arrived), FAILS)]
            if arrived >= 2:
                outcomes.append(((True, arrived), (1 - FAILS) * fails_back))
            elif cut:
                outcomes.append(((True, arrived + 1), 1 - FAILS))
            for state, part in outcomes:
                left[state] = left.get(state, 0.0) + share * part
        states = left
        shares.append(sum(states.values()))
    return shares


def test_expected_shares_match_their_closed_forms():
    assert stuck(False, 4) == pytest.approx([FAILS**k for k in range(5)])
    assert stuck(True, 1)[1] == pytest.approx(1 - (1 - FAILS) ** 2)


def each_round_trip(both: bool, tries: int) -> list[float]:
    """Return the shares if every round trip draws its paths: data, and also ACKs after the first arrival."""
    return [(1 - (1 - FAILS) ** (2 if both else 1)) ** k for k in range(tries + 1)]


SYN = {"tcp.host.handshake": True, "tcp.host.syn_retries": "unlimited"}


@pytest.mark.parametrize("failed", ["forward", "both"])
@pytest.mark.parametrize(
    ("changed", "law"),
    [
        ({}, stuck),
        ({"parameters.repath": "rto-first"}, each_round_trip),
        # A SYN that arrives again changes the label of the SYN-ACK. Both labels then stay for the data.
        (SYN, each_round_trip),
        (SYN | {"parameters.repath": "rto-first"}, each_round_trip),
    ],
    ids=["rto", "rto-first", "syn", "syn-rto-first"],
)
def test_share_of_flows_after_each_rto_matches_protective_reroute(failed, changed, law, tmp_path):
    world = load("repath").set(CHANGED | {"parameters.failed": failed} | changed)
    done = Study(world, {}, seeds=SEEDS).run(tmp_path)
    timeouts = done.table("stalls")["timeouts"]
    n = SEEDS * FLOWS
    for k, expected in enumerate(law(failed == "both", 6)[1:], start=1):
        share = (timeouts >= k).sum() / n
        error = (expected * (1 - expected) / n) ** 0.5
        assert abs(share - expected) < 3.3 * error
        if k <= 2:
            assert share == pytest.approx(expected, rel=0.02)


def test_flows_on_the_failed_path_are_aborted_without_repathing(tmp_path):
    """RTOs at 1, 3, 7, 15 and 31 s: the last one follows the first retransmission by more than 25.4 s.

    Six retries last (2^7 - 1) 200 ms. Linux's timer wheel is up to an eighth late.
    """
    done = Study(load("repath").set({"parameters.repath": "none"}), {}, seeds=3).run(tmp_path)
    ends = done.table("ends")
    finished, aborted = (ends[name].astype(bool) for name in ("finished", "aborted"))
    assert (finished ^ aborted).all()
    lasted_s = (ends["time_ps"].astype(float) - ends["start_ps"])[aborted] / 1e12
    assert lasted_s.min() >= 31
    assert lasted_s.max() < 31 * 1.125
    assert (done.table("stalls")["timeouts"] == np.where(done.table("stalls")["aborted"], 5, 0)).all()
    counts = done.metrics["aborted_flows"].values.sum()
    assert counts == aborted.sum() == done.metrics["unfinished_flows"].values.sum()
    assert np.isinf(done.completions["web"].quantile(0.99).estimate).all()


def stuck_behind_gray_failure(share: float, tries: int, *, repaths: bool) -> float:
    """Return the share of flows with at least ``tries`` RTOs, if one of two paths drops ``share`` of the packets.

    A flow with a label per try draws its path each time. Any other flow draws it once.
    """
    return (FAILS * share) ** tries if repaths else FAILS * share**tries


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("repath", ["none", "rto"])
def test_share_of_flows_behind_a_gray_failure_matches_closed_form(share, repath, tmp_path):
    """With one segment per flow, each RTO is a lost packet. The normal distribution needs at least 100 flows."""
    changed = {"parameters.share": share, "parameters.repath": repath, "flows.1.per_source": FLOWS}
    world = load("gray-failure").set(CHANGED | changed | {"flows.0.per_source": 50, "sweep": {}})
    stalls = Study(world, {}, seeds=SEEDS).run(tmp_path).table("stalls")
    timeouts = {group: stalls["timeouts"][stalls["group"] == group] for group in ("before", "after")}
    n = SEEDS * FLOWS
    assert len(timeouts["before"]) == SEEDS * 50
    assert not timeouts["before"].any()
    assert len(timeouts["after"]) == n
    for k in range(1, 7):
        expected = stuck_behind_gray_failure(share, k, repaths=repath == "rto")
        if n * expected >= 100:
            error = (expected * (1 - expected) / n) ** 0.5
            found = (timeouts["after"] >= k).sum() / n
            assert abs(found - expected) < 3.3 * error
