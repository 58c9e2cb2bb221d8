"""Behaviour of single sources, from packet events and sender rows made by hand."""

import numpy as np
import pytest

import handmade
from optcp_papers.slides import sources

EVENTS = ["sent", "resent", "arrived", "acked", "queued", "transmitted", "dropped"]
PORTS = ["L1->L2", "L5->L2"]
FLOWS = ["switched/A/0", "switched/A/1", "fixed/C/0"]
NO_PORT = 2**32 - 1


def run(packets=(), senders=()):
    """Packets are (time in ms, event, flow, seq[, ack[, port]]); senders (time in ms, flow, cwnd, phase, timeouts)."""
    rows = [(*row, *(False, None)[len(row) - 4 :]) for row in packets]
    column = list(zip(*rows, strict=True)) or [()] * 6
    sender = list(zip(*senders, strict=True)) or [()] * 5
    phases = ["slow-start", "avoidance", "recovery", "loss"]
    series = {
        "packets": {
            "kind": "packets",
            "flows": FLOWS,
            "ports": PORTS,
            "events": EVENTS,
            "time_ps": np.array([round(t * 1e9) for t in column[0]], dtype="u8"),
            "event": np.array([EVENTS.index(name) for name in column[1]], dtype="u1"),
            "flow": np.array(column[2], dtype="u4"),
            "seq": np.array(column[3], dtype="u4"),
            "ack": np.array(column[4], dtype=bool),
            "port": np.array([NO_PORT if p is None else PORTS.index(p) for p in column[5]], dtype="u4"),
        },
        "tcp": {
            "kind": "tcp",
            "flows": FLOWS,
            "phases": phases,
            "time_ps": np.array([round(t * 1e9) for t in sender[0]], dtype="u8"),
            "flow": np.array(sender[1], dtype="u4"),
            "cwnd_bytes": np.array(sender[2], dtype=float) * 1000,
            "phase": np.array([phases.index(name) for name in sender[3]], dtype="u1"),
            "timeouts": np.array(sender[4], dtype="u8"),
        },
    }
    return handmade.run(series)


def test_packets_are_named():
    found = sources.packets(run([(1, "sent", 0, 7), (2, "dropped", 2, 9, True, "L5->L2")]))
    assert found.event.tolist() == ["sent", "dropped"]
    assert found.port.tolist() == ["", "L5->L2"]
    assert found.dropped.tolist() == [False, True]
    assert found.at(("L5->L2",)).tolist() == [False, True]
    assert found.flows_of("switched") == [0, 1]
    assert found.flows_of("fixed") == [2]


def test_windows_are_sampled_at_the_ends_of_intervals():
    senders = sources.senders(
        segment_bytes=1000,
        run=run(senders=[(50, 0, 1, "slow-start", 0), (100, 0, 2, "slow-start", 0), (250, 1, 8, "avoidance", 0)]),
    )
    # At 100, 200 and 300 ms; flow 1 has no window before its start.
    assert senders.mean_window([0], 0.1, 0.3).tolist() == [2, 2, 2]
    assert senders.mean_window([0, 1], 0.1, 0.3).tolist() == [1, 1, 5]


def test_timers():
    senders = sources.senders(
        segment_bytes=1000,
        run=run(
            senders=[
                (9_000, 0, 9, "loss", 1),
                (10_000, 0, 1, "loss", 2),
                (10_500, 0, 1, "loss", 2),
                (12_000, 0, 1, "loss", 3),
                (12_001, 1, 1, "loss", 1),
            ]
        ),
    )
    assert senders.timer_fired_s(0).tolist() == [9, 10, 12]
    assert senders.timed_out(0, 10, 12)
    assert not senders.timed_out(0, 10, 11)  # the one at 10 s is not after 10 s
    assert not senders.timed_out(1, 10, 12)
    assert not senders.timed_out(2, 10, 12)


def recovery(resent_ms, end_ms=10_900):
    packets = [(t, "resent", 0, i) for i, t in enumerate(resent_ms)]
    senders = [
        (9_000, 0, 30, "avoidance", 0),
        (10_200, 0, 18, "recovery", 0),
        (10_500, 0, 15, "recovery", 0),
        (end_ms, 0, 15, "avoidance", 0),
        (11_000, 0, 9, "recovery", 0),
        (11_500, 0, 9, "avoidance", 0),
    ]
    one = run(packets, senders)
    return sources.first_recoveries(sources.senders(one, 1000), sources.packets(one), 10, 20)


def test_the_first_recovery_is_from_its_first_retransmission_to_its_end():
    # Transmissions at its end, and those of the second recovery, do not belong to it.
    (episode,) = recovery([9_500, 10_200, 10_350, 10_500, 10_900, 11_000])
    assert episode.flow == 0
    assert episode.length_s == pytest.approx(0.7)
    assert episode.resent_s.tolist() == [10.2, 10.35, 10.5]


@pytest.mark.parametrize(
    ("resent_ms", "most"),
    [([10_200, 10_300, 10_400], 1), ([10_200, 10_299, 10_400], 2), ([10_200, 10_210, 10_220], 3)],
)
def test_retransmissions_in_a_round_trip_of_100_ms(resent_ms, most):
    (episode,) = recovery(resent_ms)
    assert episode.most_within(0.1) == most


def test_a_gap_longer_than_a_round_trip_separates_overflows():
    time_s = np.array([10.10, 10.11, 10.12, 10.26, 10.42, 10.43, 11.0])
    flow = np.array([0, 0, 2, 1, 2, 2, 0], dtype="u4")
    found = sources.clusters(time_s, flow, [0, 1], 0.15)
    assert found.both_classes
    # Four packets of three sources, then two of one; the third overflow does not count.
    assert found.lost_per_source == (4 / 3, 2)
    one = sources.clusters(time_s[:2], flow[:2], [0, 1], 0.15)
    assert (one.both_classes, one.lost_per_source) == (False, (2,))
    assert sources.clusters(time_s[:0], flow[:0], [0, 1], 0.15).lost_per_source == ()


def test_delivery_waits_for_gap():
    order = [0, 1, 3, 4, 1, 2, 5]
    found = sources.packets(run([(i, "arrived", 0, seq) for i, seq in enumerate(order)]))
    assert sources.delivered(found, 0)[1].tolist() == [1, 2, 2, 2, 2, 5, 6]


def test_source_is_back_after_half_second_at_old_rate():
    # 100 a second until 10 s, nothing until 12 s, then 50 a second, and 100 again from 13 s on.
    times = [*range(0, 10_000, 10), *range(12_000, 13_000, 20), *range(13_000, 15_000, 10)]
    found = sources.packets(run([(t, "arrived", 0, seq) for seq, t in enumerate(times)]))
    back_s = sources.back_after_s(found, 0, 10, 15)
    # (13 s - 10 ms, 13.49 s] is the first half second with 50 segments.
    assert back_s == pytest.approx(3.49)
    never = sources.packets(run([(t, "arrived", 0, seq) for seq, t in enumerate(times[:1050])]))
    assert sources.back_after_s(never, 0, 10, 15) == 5


WORLD = {
    "backbone_bps": 10_000_000,
    "access_share": 0.8,
    "queue_packets": 50,
    "link_delay_ms": 10.0,
    "packet_bytes": 1000,
}


@pytest.mark.parametrize(
    ("changes", "segment_bytes", "round_trips_s"),
    [
        # Five links of 10 ms each way; 50 packets of 8000 bits at 8 Mbit/s take 50 ms; the backup has a sixth link.
        ({}, 1000, (0.1, 0.15, 0.17)),
        ({"link_delay_ms": 20.0}, 1000, (0.2, 0.25, 0.29)),
        # 50 * 4096 bits at 8 Mbit/s: 25.6 ms.
        ({"packet_bytes": 512}, 512, (0.1, 0.1256, 0.1456)),
        # 20 * 8000 bits at 16 Mbit/s: 10 ms.
        ({"backbone_bps": 20_000_000, "queue_packets": 20}, 1000, (0.1, 0.11, 0.13)),
        # 50 * 8000 bits at 10 Mbit/s: 40 ms.
        ({"access_share": 1.0}, 1000, (0.1, 0.14, 0.16)),
    ],
)
def test_segments_and_round_trips_follow_scenario(changes, segment_bytes, round_trips_s):
    assert sources.Scale.of(WORLD | changes) == sources.Scale(segment_bytes, *round_trips_s)


def test_windows_are_in_segments_of_scenario():
    rows = run(senders=[(50, 0, 30, "avoidance", 0)])  # 30 000 bytes
    assert sources.senders(rows, 512).window(0)[1].tolist() == [58.59375]


def test_a_longer_round_trip_joins_overflows_and_holds_more_retransmissions():
    time_s, flow = np.array([10.0, 10.2, 10.5]), np.array([0, 0, 2], dtype="u4")
    assert sources.clusters(time_s, flow, [0, 1], 0.15).lost_per_source == (1, 1)
    assert sources.clusters(time_s, flow, [0, 1], 0.25).lost_per_source == (2, 1)
    (episode,) = recovery([10_200, 10_300, 10_400])
    assert episode.most_within(0.2) == 2
