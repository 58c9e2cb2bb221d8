"""Picture of a window with RTTs: which ones are measured, capacity of the path, and conditions for drawing."""

import numpy as np
import pytest

import optcp as front
from optcp.constellation.recorded import Recorded
from optcp.plots.trace import rtt
from optcp.plots.trace.frame import Frame
from optcp.plots.trace.request import Request
from optcp.study import StudyResult

LINE = """
title = "a line"
stop = "20 s"
[[nodes]]
names = ["A", "R", "B"]
[[links]]
chain = ["A", "R", "B"]
rate = "10 Mbps"
delay = "5 ms"
queue = "20 packets"
[[flows]]
group = "f"
path = ["A", "R", "B"]
size = "{size} packets"
[[observe]]
name = "packets"
kind = "packets"
[[observe]]
name = "tcp"
kind = "tcp"
"""
ASKED = ("constellation", "kuiper-630", "--from", "Manila", "--to", "Dalian", "--length", "22s", "--out", "leo")


def samples(size, losses=""):
    run = front.Scenario.parse(LINE.format(size=size) + losses).run()
    return rtt.samples(run["packets"].where(flow=run["packets"].distinct("flow")[0]))


def test_round_trip_is_of_last_acknowledged_segment():
    """Two links forward with 1500 B at 10 Mb/s, two back with 40 B, 5 ms each; segment 2 waits for segment 1."""
    at, trips = samples(2)
    alone = 2 * 1.2 + 2 * 0.032 + 4 * 5
    assert trips == pytest.approx([alone, alone + 1.2])
    assert at == pytest.approx(trips / 1e3)


def test_retransmitted_segments_have_no_round_trip():
    """Segment 3 is lost and retransmitted; the ACK that fills the gap gives no RTT."""
    losses = '[[losses]]\nlink = ["A", "R"]\nkind = "scripted"\nflows = "f"\nsegments = [3]\n'
    at, trips = samples(12, losses)
    _, whole = samples(12)
    assert len(trips) < len(whole)
    assert trips.max() <= whole.max() + 1e-9
    assert len(at) == len(trips)


def test_capacity_is_bandwidth_delay_product_plus_queue(optcp, tmp_path):
    """Three satellites, so four links, each 1434 B and 54 B at 10 Mb/s; 101 packets before the first."""
    assert optcp(*ASKED)[0] == 0
    assert optcp("run", "leo/world.toml", "--out", "reno")[0] == 0
    run = next(iter(StudyResult.open(tmp_path / "reno")))[1][0]
    frame = Frame.of(run, Request())
    way = rtt._PathCapacity.of(frame, "long/Manila/0")
    empty = way.empty_ms(
        Recorded(("", ""), "", np.array([0.0, 0.1]), np.array([29.485, np.nan]), [(184, 183, 217), ()])
    )
    assert empty[0] == pytest.approx(29.485 + 4 * (1434 + 54) * 8 / 10e6 * 1e3)
    assert np.isnan(empty[1])
    # The window fills path and queue, and one more segment is lost, so the maximum of each climb equals the capacity.
    rows = run["tcp"]
    fits = empty[0] / 1e3 * 10e6 / (1434 * 8) + 101
    climb = (rows.seconds > 2) & (rows.seconds < 19)
    assert rows.numbers("cwnd_bytes")[climb].max() / 1380 == pytest.approx(fits, abs=2)


def test_only_runs_with_stored_round_trips_are_drawn(optcp, tmp_path):
    optcp(*ASKED)
    optcp("run", "leo/world.toml", "--out", "reno")
    status, out, err = optcp("trace", "reno", "--kind", "rtt", "--format", "svg")
    assert (status, err) == (0, "")
    drawn = (tmp_path / out.strip()).read_text()
    # One change to a shorter path, at 19.9 s.
    assert all(text in drawn for text in ("BDP + queue", "measured RTT", "shorter path"))
    assert not any(text in drawn for text in ("longer path", "no path", "path restored"))
    (tmp_path / "reno" / "rtt.csv").write_text("at (s),rtt (ms),satellites\n0,soon,1\n")
    status, _, err = optcp("trace", "reno", "--kind", "rtt")
    assert (status, "rtt.csv: changed since it was written" in err) == (1, True)
    (tmp_path / "leo" / "rtt.csv").write_text("at (s),rtt (ms),satellites\n0,soon,1\n")
    optcp("run", "leo/world.toml", "--out", "reno")
    status, _, err = optcp("trace", "reno", "--kind", "rtt")
    assert (status, "rtt.csv, line 2: expected" in err) == (2, True)
    (tmp_path / "reno" / "rtt.csv").unlink()
    status, _, err = optcp("trace", "reno", "--kind", "rtt")
    assert (status, "rtt.csv is missing in the directory of the run" in err) == (2, True)
    assert "rtt" not in optcp("trace", "reno", "--from", "1", "--to", "2")[1]


def test_path_with_varying_delay_has_no_state_band():
    from optcp.scenarios.schedules import MOST_STATES, bands

    link = {"name": "A-B", "ends": ["A", "B"], "forward": {"delay_ps": 0}, "reverse": {"delay_ps": 0}}

    def scenario(states):
        steps = [{"after_ps": at, "changes": [{"port": "A->B", "delay_ps": at}]} for at in range(1, states)]
        return {"links": [link], "schedules": [{"start_ps": 0, "period_ps": None, "steps": steps}]}

    assert len(bands(scenario(MOST_STATES), 0, 1000)) == 1
    assert bands(scenario(MOST_STATES + 1), 0, 1000) == []
