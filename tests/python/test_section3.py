"""Section 3: the equations compared with numbers calculated by hand, and evaluation of runs made by hand."""

import numpy as np
import pytest

from optcp.errors import InputError
from optcp.papers import assume, judge
from optcp_papers.gmpls import fig4, section3
from optcp_papers.gmpls.section3 import Burst, Events, Recovery, World


def events(rows):
    """Return events from (time in ms, name, seq)."""
    time_ms, name, seq = zip(*rows, strict=True)
    return Events(np.array(time_ms) / 1000, np.array(name), np.array(seq))


def test_law_matches_hand_calculation():
    # W = 20, so ssthresh = 10. A burst of 12 is larger: three round trips without new data, then one more each.
    assert section3.law_new(20, 12).tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert section3.law_progress(20, 12) == 45
    # A burst of 4 is smaller.
    assert section3.law_new(20, 4).tolist() == [6, 7, 8, 9]
    assert section3.law_progress(20, 4) == 30


@pytest.mark.parametrize("window", [10, 11, 20, 40])
def test_equation_2_is_the_sum_of_the_law(window):
    for burst in section3.bursts(window):
        assert section3.law_new(window, burst).sum() == section3.law_progress(window, burst)


def test_equation_3_for_30_segments():
    # Equation 3 in claims.toml: 5 as published, 6 with mbz round trips.
    assert section3.law_crossing(30, printed=True) == 5
    assert section3.law_crossing(30, printed=False) == 6


def test_recovery_is_counted_per_round_trip():
    # W = 6, B = 2: the retransmission of 0 with one new segment, then that of 1 with two.
    rows = [(0, "sent", seq) for seq in range(6)]
    rows += [(100, "resent", 0), (100.1, "sent", 6), (200, "acked", 1), (200, "resent", 1), (200, "sent", 7)]
    rows += [(200.1, "sent", 8), (300, "acked", 7), (300, "sent", 9), (300.1, "sent", 10)]
    found = section3.read_recovery(events(rows), 6)
    # Each round trip starts with a retransmission; segments that the last ACK releases come after the recovery.
    assert found.new.tolist() == [1, 2]
    assert found.round_trips == pytest.approx(2)


def test_in_order_segments_at_receiver():
    found = events([(1, "arrived", 0), (2, "arrived", 2), (3, "sent", 9), (4, "arrived", 1), (5, "arrived", 4)])
    assert [found.in_order(ms / 1000) for ms in (0.5, 1, 2, 3.9, 4, 5)] == [0, 1, 1, 1, 3, 3]


def burst(window, size, recovery=None, restart=None):
    """Return a burst that follows the law, and a restart that makes no progress, by default."""
    new = section3.law_new(window, size)
    return Burst(
        Recovery(new, size + 0.001),
        window + int(new.sum()) if recovery is None else recovery,
        np.zeros(size + 1, dtype=int) if restart is None else np.array(restart),
    )


def lawful():
    return {window: {size: burst(window, size) for size in section3.bursts(window)} for window in (10, 20, 40)}


def test_judgement_of_law():
    measured = lawful()
    assert judge.combine(fig4.follows_the_law(World(measured, 10)))[0] is True
    one = measured[20][12]
    for recovery in (
        Recovery(np.append(one.recovery.new[1:], 10), 12.0),
        Recovery(one.recovery.new, 12.02),
        Recovery(one.recovery.new[1:], 12.0),  # a retransmission is missing
    ):
        measured[20][12] = Burst(recovery, 0, one.reached_by_restart)
        assert judge.combine(fig4.follows_the_law(World(measured, 10)))[0] is False


def crossing_at(window, last):
    """Return bursts with equal recovery and restart up to ``last``, then with the restart one segment ahead."""
    return {
        size: burst(window, size, 100, [*range(size), 100 if size <= last else 101]) for size in section3.bursts(window)
    }


def test_crossing_burst_of_recovery_and_restart():
    assert section3.crossing(10, crossing_at(10, 4)) == 4
    assert section3.crossing(10, crossing_at(10, 0)) == 0
    assert section3.crossing(10, crossing_at(10, 9)) == 7  # never: the longest burst there can be
    # With a wait of two round trips, the restart's progress after B - 2 counts, which is never enough here.
    assert section3.crossing(10, crossing_at(10, 4), 2) == 7
    # A wait that is slightly longer than two round trips counts as two.
    ahead = {size: burst(10, size, 100, [101] * (size + 1)) for size in section3.bursts(10)}
    assert section3.crossing(10, ahead, 2.003) == 1
    assert section3.crossing(10, ahead, 2.5) == 2


def test_judgement_of_crossing():
    # W = 30: equation 3 gives 5 as published and 6 over mbz round trips, so 4 to 7 are within 1.
    for last, holds in ((3, False), (4, True), (7, True), (8, False)):
        parts = fig4.crosses_where_equation_3_says(World({30: crossing_at(30, last)}, 10))
        assert judge.combine(parts)[0] is holds


def test_built_in_parameters_cannot_be_set():
    with pytest.raises(InputError, match="round_trip_ms=50: cannot be changed; the experiment requires '100'"):
        assume.values(section3.ASSUMED, {"round_trip_ms": "50"})
    assert assume.values(section3.ASSUMED, {"round_trip_ms": "100"})["round_trip_ms"] == "100"
