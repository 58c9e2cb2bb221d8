"""Analytical model of goodput with burst losses, compared with closed forms and counts by hand."""

from __future__ import annotations

import numpy as np
import pytest

from optcp.papers import assume
from optcp_papers.obs import predicted
from optcp_papers.obs.paper import WORLD
from optcp_papers.obs.prediction import (
    Path,
    Sender,
    at_limit,
    correlation_gain,
    false_retransmit,
    goodput_mbps,
    repair_rounds,
    rounds_of_file,
    single_flow_sizes,
)

CHOSEN = assume.values(WORLD, {})


def sender(window=44.0, segments_an_ack=1, *, sack=True):
    return Sender(window, segments_an_ack, sack, timeout_s=1.25)


FILE = 10**9
"""Segments of a file that is long enough to neglect its start."""


def rate(sender, path):
    """Return the segments per round trip."""
    return FILE / rounds_of_file(sender, path, FILE)


@pytest.mark.parametrize("segments_an_ack", [1, 2])
def test_lossless_model_sends_one_window_per_round_trip(segments_an_ack):
    path = Path(0.12, 0.0, {44: 1.0})
    assert rate(sender(44, segments_an_ack), path) == pytest.approx(44, rel=1e-6)
    # 44 segments of 1460 B in 120 ms.
    assert goodput_mbps(sender(), path, FILE, 1460) == pytest.approx(44 * 1460 * 8 / 0.12 / 1e6, rel=1e-6)
    # Rare losses converge to the same value.
    assert rate(sender(44, segments_an_ack), Path(0.12, 1e-9, {1: 1.0})) == pytest.approx(44, rel=1e-6)


@pytest.mark.parametrize("segments_an_ack", [1, 2])
@pytest.mark.parametrize("sack", [True, False])
def test_one_segment_a_burst_and_no_limit_give_the_square_root_law(segments_an_ack, sack):
    # Mathis et al. 1997: sqrt(3 / (2 b p)) segments per round trip.
    for loss in (1e-3, 1e-5):
        found = rate(sender(np.inf, segments_an_ack, sack=sack), Path(0.1, loss, {1: 1.0}))
        assert found == pytest.approx(np.sqrt(3 / (2 * segments_an_ack * loss)), rel=1e-6)


def test_the_correlation_gain_without_a_limit_is_the_root_of_the_segments_a_burst():
    # A loss event takes S segments, and there are 1/S as many: the square-root law with p / S.
    for size in (4, 9):
        path = Path(0.1, 1e-8, {size: 1.0})
        assert correlation_gain(sender(np.inf), path, FILE) == pytest.approx(np.sqrt(size), rel=1e-2)


def test_a_limited_window_gives_the_cycle_of_padhye():
    # Padhye et al. 1998, section II.C: b W / 8 + 1 / (p W) round trips per cycle of 1 / p segments; here plus one, in
    # which the loss is repaired and the window limit allows no new segments.
    for segments_an_ack in (1, 2):
        cycle = segments_an_ack * 44 / 8 + 1 / (1e-4 * 44) + 1
        assert rate(sender(44, segments_an_ack), Path(0.1, 1e-4, {1: 1.0})) == pytest.approx(1e4 / cycle, rel=1e-6)


def test_repair_cost_matches_hand_calculation():
    path = Path(0.1, 1e-3, {})
    # Fig. 6 of the paper: SACK repairs up to half a window in one round trip, more in two.
    assert repair_rounds(sender(), path, 22, 44, 1) == 1
    assert repair_rounds(sender(), path, 23, 44, 1) == 2
    # A whole window: 1.25 s are 12.5 round trips, then 1, 2, 4, 8 and 16 segments in five more, instead of 44 each.
    whole = 12.5 + 5 - 31 / 44
    assert repair_rounds(sender(), path, 44, 44, 1) == pytest.approx(whole)
    assert repair_rounds(sender(sack=False), path, 44, 44, 1) == pytest.approx(whole)
    # Reno with two losses: one round for the first, the RTO for the second, which is retransmitted.
    assert repair_rounds(sender(sack=False), path, 2, 44, 1) == pytest.approx(1 + 1 / 44 + whole)
    # Below the limit, at 33 of 44 segments: two rounds, in which 11 new segments leave of the 16.5 of half a window.
    assert repair_rounds(sender(sack=False), path, 2, 44, 0) == pytest.approx(2 - 11 / 16.5)


def test_reno_retransmits_segments_receiver_has():
    # Of nine lost segments eight are missing at the RTO: 1, 2, 4 and one of 8 repair them, and the receiver has the
    # other seven. Four rounds, one of spurious repair, and growth from 4 to 44 in 40 rounds instead of 22 from 22:
    # 800 segments short of 44 per round, instead of 242.
    assert false_retransmit(sender(), 9, 44) == pytest.approx(4 + 1 + (800 - 242) / 44)
    # Of three lost segments two are missing: 1 and one of 2; a single duplicate ACK has no effect.
    assert false_retransmit(sender(), 3, 44) == 0


def test_share_of_losses_at_window_limit():
    # From 22 to 44 a window takes 22 rounds of 33 segments on average, 726; twice as many with delayed ACKs.
    assert at_limit(sender(), 726 / np.log(2)) == pytest.approx(0.5)
    assert at_limit(sender(segments_an_ack=2), 1452 / np.log(2)) == pytest.approx(0.5)
    assert at_limit(sender(np.inf), 1e6) == 0


def test_sizes_of_a_single_flow_are_those_of_the_papers_histograms():
    # "8 or 9": four bursts of 9 and one of 8; the whole window at 10 ms.
    assert single_flow_sizes(44, 8333.3 * 1e-3) == {9: 0.8, 8: 0.2}
    assert single_flow_sizes(44, 83.3) == {44: 1.0}
    assert single_flow_sizes(44, 0.8) == {1: 1.0}


def test_a_file_without_losses_takes_its_rounds():
    # 1, 2, 4, ..., 32 in six rounds, 63 segments; 1320 more in thirty; one round for the connection, half for the last.
    assert rounds_of_file(sender(), Path(0.1, 0.0, {44: 1.0}), 63 + 1320) == pytest.approx(1 + 6 + 30 + 0.5)


def test_assembly_lengthens_the_round_trip_of_the_model():
    # Equation 5: RTT0 + 2 T, and 1540 B twice at 100 Mb/s: 0.2464 ms.
    assert predicted.round_trip_s(1e-2, "no", CHOSEN) == pytest.approx(0.12 + 0.0002464)
    # With 900 other packets per second a burst is open for 0.1 / (0.1 + 1 / 900) of the time. A train that finds one
    # open waits for two thirds of the timer, the mean of the density 2 w / T^2.
    open_share = 0.1 / (0.1 + 1 / 900)
    expected = 0.1002464 + 2 * (open_share * 0.2 / 3 + (1 - open_share) * 0.1)
    assert predicted.round_trip_s(1e-1, "yes", CHOSEN) == pytest.approx(expected)


def test_mean_wait_of_train_is_two_thirds_of_timer():
    random = np.random.default_rng(1)
    waits = random.uniform(0, 1, 20_000)
    for step in random.normal(0, 0.03, (3000, waits.size)):
        waits = waits + step
        waits = np.where((waits < 0) | (waits > 1), 1.0, waits)
    assert waits.mean() == pytest.approx(2 / 3, abs=0.01)
