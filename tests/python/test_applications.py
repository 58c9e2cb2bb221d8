"""Applications on simulated networks, against values by hand and published effects."""

from __future__ import annotations

import numpy as np
import pytest

import optcp
from optcp import Scenario

NETWORK = """
stop = "60 s"
nodes = [{ names = ["C", "R", "S"] }, { group = "H", count = 8 }]
links = [
    { chain = ["C", "R", "S"], rate = "1 Gbps", delay = "25 us", queue = "unlimited" },
    { chain = ["H", "R"], rate = "10 Gbps", delay = "1 us", queue = "unlimited" },
]
observe = [{ name = "operations", kind = "operations" }, { name = "ends", kind = "completions" }]
"""

SEGMENT_US = 12
"""Transmission time of 1500 B at 1 Gb/s."""


def operations(applications: str) -> tuple[np.ndarray, np.ndarray]:
    """Return begin and duration of each operation, in microseconds."""
    run = Scenario.parse(f"{NETWORK}applications = [{applications}]").run(seed=1)
    table = run["operations"]
    assert np.asarray(table["finished"]).all()
    start = np.asarray(table["start_ps"], dtype=float)
    return start / 1e6, (np.asarray(table["time_ps"], dtype=float) - start) / 1e6


def test_exchange_takes_the_time_computed_by_hand() -> None:
    start, took = operations(
        '{ group = "a", kind = "request-response", from = "C", to = "S", path = "shortest", tcp = "linux-6", '
        'size = "14480 B", service = "1 ms", think = "5 ms", rounds = 3 }'
    )
    request = 2 * (SEGMENT_US + 25)
    response = 11 * SEGMENT_US + 2 * 25
    assert took.tolist() == [request + 1000 + response] * 3
    assert np.diff(start).tolist() == [took[0] + 5000] * 2


def test_page_takes_its_longest_path() -> None:
    _, took = operations(
        '{ group = "a", kind = "page", from = "C", to = "S", path = "shortest", tcp = "linux-6", objects = ['
        '{ name = "html", size = "1448 B" }, { name = "css", size = "2896 B", after = ["html"] }, '
        '{ size = "1448 B", after = ["css"] }] }'
    )
    exchanges = [2 * (SEGMENT_US + 25) + 50 + (count + 1) * SEGMENT_US for count in (1, 2, 1)]
    # ACKs of 52 B precede each of the three responses, and the second and third request.
    assert took == pytest.approx([sum(exchanges) + 5 * 52 * 8 / 1000])


def test_video_below_the_rate_of_the_link_does_not_stall() -> None:
    start, took = operations(
        '{ group = "a", kind = "video", from = "C", to = "S", path = "shortest", tcp = "linux-6", '
        'rate = "8 Mbps", chunk = "1 s", buffer = "3 s", rounds = 10 }'
    )
    assert took[0] > 0
    assert not took[1:].any()
    assert np.diff(start[1:]) == pytest.approx([1e6] * 8)


def test_video_above_the_rate_of_the_link_stalls() -> None:
    _, took = operations(
        '{ group = "a", kind = "video", from = "C", to = "S", path = "shortest", tcp = "linux-6", '
        'rate = "2 Gbps", chunk = "1 s", buffer = "3 s", rounds = 4 }'
    )
    # Twice the rate of the link: each chunk of 1 s takes 2 s, and 1500 B carry 1448 B.
    assert took[1:] / 1e6 == pytest.approx([2 * 1500 / 1448 - 1] * 3, rel=0.01)


def test_ring_takes_its_closed_form_with_acks() -> None:
    _, took = operations(
        '{ group = "a", kind = "ring-all-reduce", among = "H", path = "shortest", tcp = "linux-6", size = "80 MB", '
        "rounds = 3 }"
    )
    stage = 10e6 * 8 * 1500 / 1448 / 10e9
    # An ACK of 52 B for each two segments uses the same link.
    form = 14 * (stage * (1 + 52 / 3000) + 4e-6)
    assert took / 1e6 == pytest.approx([form] * 3, rel=0.003)


def test_flows_of_applications_are_operations_and_not_completions() -> None:
    run = Scenario.parse(
        f'{NETWORK}applications = [{{ group = "a", kind = "all-to-all", among = "H", path = "shortest", '
        'size = "1 MB" }]'
    ).run(seed=1)
    assert len(run["operations"]["time_ps"]) == 1
    assert len(run["ends"]["time_ps"]) == 0


def test_synchronised_reads_collapse_with_the_usual_minimum_rto() -> None:
    """Phanishayee and others, FAST 2008; Vasudevan and others, SIGCOMM 2009."""
    scenario = optcp.load("incast-rounds")
    rates = {}
    for servers in (2, 16):
        for rto in ("200 ms", "1 ms"):
            set_up = scenario.set("parameters.servers", servers).set("parameters.min_rto", rto)
            table = set_up.run(seed=1)["operations"]
            seconds = (np.asarray(table["time_ps"], dtype=float) - np.asarray(table["start_ps"], dtype=float)) / 1e12
            rates[servers, rto] = np.asarray(table["bytes"], dtype=float).sum() * 8 / seconds.sum() / 1e6
    assert rates[2, "200 ms"] > 800
    assert rates[16, "200 ms"] < 200
    assert rates[16, "1 ms"] > 600
