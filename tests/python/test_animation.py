"""Animations: movement of packets, selected part of a run, event texts, and content of a page."""

import base64
import json
import re
import zlib

import numpy as np
import pytest

import optcp
from optcp.errors import InputError
from optcp.export.packets import World
from optcp.plots import network
from optcp.web.animation import animate, events, frames, hops, page, window

# TopoHub does not close the files that it reads.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

LINE = """
title = "a line"
stop = "10 s"
[[nodes]]
names = ["A", "R", "B"]
[[links]]
chain = ["A", "R", "B"]
rate = "10 Mbps"
delay = "5 ms"
queue = "unlimited"
[[flows]]
group = "f"
path = ["A", "R", "B"]
size = "2 packets"
"""
SEGMENT_PS = 1_500 * 8 * 100_000
"""Transmission time of 1500 bytes at 10 Mb/s."""

DELAY_PS = 5_000_000_000


def drawn(world, seed=1, part=None):
    """Return the hops of a scenario's run, and the names of its ports."""
    part = part or window.Window(0, int(world.resolved["stop_ps"]), 1)
    _, links, drawn_as = network.laid(world.resolved)
    ports, rows = frames.ports_of(world.resolved, links, drawn_as)
    run = world.set("observe", page._listing(world.resolved, part)).run(seed)
    groups = [group["group"] for group in world.resolved["flows"]]
    return hops.drawn(run["packets"], World.of(run), rows, groups, part), [port.name for port in ports]


def test_a_packet_leaves_when_its_first_bit_does_and_is_there_with_its_last():
    found, ports = drawn(optcp.Scenario.parse(LINE))
    there = [ports.index(name) for name in ("A->R", "R->B")]
    data = found.kind == hops.DATA
    first, second = (found.came[data & (found.port == port)] for port in there)
    assert first.tolist() == [0, 0]
    left = found.left[data & (found.port == there[0])]
    assert left.tolist() == [0, SEGMENT_PS]
    arrives = found.there[data & (found.port == there[0])]
    assert arrives.tolist() == [SEGMENT_PS + DELAY_PS, 2 * SEGMENT_PS + DELAY_PS] == second.tolist()
    at_the_end = found.there[data & (found.port == there[1])]
    assert at_the_end.tolist() == [(n + 1) * SEGMENT_PS + 2 * DELAY_PS for n in (1, 2)]


def test_acks_move_backwards_with_own_marker():
    found, ports = drawn(optcp.Scenario.parse(LINE))
    acks = found.kind == hops.ACK
    assert {ports[port] for port in found.port[acks]} == {"B->R", "R->A"}
    assert not np.any(acks & (found.port == ports.index("A->R")))


def test_packets_in_flight_end_at_failed_link():
    """The failure is in the middle of the second link; RTOs retransmit the segments in vain."""
    text = LINE + '[[failures]]\nlink = ["R", "B"]\nat = "9 ms"\n'
    found, ports = drawn(optcp.Scenario.parse(text))
    second = found.port == ports.index("R->B")
    assert found.there[second].tolist() == [9_000_000_000] * 2
    assert found.lost_at.min() == 9_000_000_000
    assert np.count_nonzero(found.kind == hops.AGAIN) >= 1


def test_thinned_packets_are_drawn_on_whole_path():
    world = optcp.load("single-failure")
    every, _ = drawn(world)
    some, _ = drawn(world, part=window.Window(0, 10**13, 7))
    assert 0.1 < len(some.came) / len(every.came) < 0.2
    of = set(zip(every.came.tolist(), every.port.tolist(), every.there.tolist(), strict=True))
    assert of >= set(zip(some.came.tolist(), some.port.tolist(), some.there.tolist(), strict=True))


def run_of(name, **settings):
    """Return a run, and the number of its hops by 100 ms."""
    world = optcp.load(name).set(settings) if settings else optcp.load(name)
    stop = int(world.resolved["stop_ps"])
    run = world.set("observe", frames.kinds(world.resolved, stop // 100)).run(1)
    return run, page._hops(run, stop, stop // 100)


def test_default_part_surrounds_failure():
    """The part starts one propagation RTT plus a quarter of the 50 ms of the switchover before the failure at 4 s."""
    run, counted = run_of("single-failure")
    part = window.choose(run, counted, (None, None))
    round_trip = 2 * sum(
        float(run.world.links.where(**{"from": a, "to": b})["delay_s"][0])
        for a, b in [("P", "R1"), ("R1", "R2"), ("R2", "R3"), ("R3", "R4"), ("R4", "Q")]
    )
    assert part.start_ps == pytest.approx((4 - round_trip - 0.0125) * 1e12, abs=1e6)
    assert 4.05e12 < part.end_ps < 10e12
    assert counted.between(part.start_ps, part.end_ps) <= window.MOST_HOPS


def test_the_part_may_be_named():
    run, counted = run_of("single-failure")
    assert window.choose(run, counted, (10**12, 2 * 10**12)) == window.Window(10**12, 2 * 10**12, 1)


@pytest.mark.parametrize(
    ("asked", "says"),
    [((11 * 10**12, None), "--from: 11 s is not within"), ((3 * 10**12, 2 * 10**12), "--to: 2 s is not after 3 s")],
)
def test_empty_part_is_refused(asked, says):
    run, counted = run_of("single-failure")
    with pytest.raises(InputError, match=says):
        window.choose(run, counted, asked)


def test_too_many_packets_are_thinned_and_far_too_many_refused():
    run, _ = run_of("single-failure")
    many = window.Hops(10**11, np.full(100, 10_000.0))
    assert window.choose(run, many, (0, 10**13)).every == -(-1_000_000 // window.MOST_HOPS)
    with pytest.raises(InputError, match="1e\\+07 packet-hops in this time; the maximum is"):
        window.choose(run, window.Hops(10**11, np.full(100, 100_000.0)), (0, 10**13))


def test_events_are_described_in_sentences():
    run, _ = run_of("single-failure")
    assert [(event.at_ps / 1e12, event.text) for event in events.events(run)] == [
        (4.0, "R2-R3 fails"),
        (4.05, "R2: data of protected switched to the backup path"),
        (4.05, "R3: acks of protected switched to the backup path"),
        (7.0, "R2-R3 is repaired"),
        (7.1, "R2: data of protected switched to the working path"),
        (7.1, "R3: acks of protected switched to the working path"),
    ]


def test_routers_and_links_with_hyphens_are_named():
    failed = [{"port": f"cable:{ends}", "at_ps": 5, "repair_ps": None} for ends in ("Aa-Bb->C", "C->Aa-Bb")]
    failed.append({"port": "C->D", "at_ps": 5, "repair_ps": 7})
    said = [(failure.at_ps, failure.text) for failure in events._failures(failed)]
    assert said == [(5, "cable:Aa-Bb-C, C->D fail"), (7, "C->D is repaired")]


def read(made):
    """Return the content of a page: names and numbers, and arrays by name."""
    about = json.loads(re.search(r'id="about">(.*?)</script>', made, re.DOTALL)[1].replace("<\\/", "</"))
    data = zlib.decompress(base64.b64decode(re.search(r'id="data">(.*?)</script>', made, re.DOTALL)[1]))
    arrays, place = {}, 0
    for name, kind, length in about["arrays"]:
        arrays[name] = np.frombuffer(data, f"<{kind}", length, place)
        place += arrays[name].nbytes
    assert place == len(data)
    return about, arrays


@pytest.mark.parametrize("name", ["single-failure", "obs", "obs-emergent", "das-fig1", "germany50", "web-and-elephant"])
def test_a_page_holds_a_run(name):
    made = animate(optcp.load(name), 3)
    assert len(made.encode()) <= page.MOST_BYTES
    about, arrays = read(made)
    ports, whole = len(about["ports"]), about["whole"]
    assert arrays["wholeLoad"].size == ports * whole["n"]
    assert whole["n"] * whole["step"] == pytest.approx(about["stop"], rel=0.02)
    assert arrays["port"].max(initial=0) < ports
    assert 0 <= about["from"] < about["to"] <= about["stop"]
    ends = about["from"] + (np.cumsum(arrays["came"], dtype=float) + arrays["wait"]) * about["unit"]
    assert ends.max(initial=0) <= about["to"] * 1.000001


def test_the_link_behind_the_queue_is_used_as_the_run_says():
    """Load of the bottleneck in the page, in steps of 1/250, equals the observation."""
    world = optcp.load("single-failure")
    about, arrays = read(animate(world, 3))
    row = [port[0] for port in about["ports"]].index("R5->R6")
    mean = arrays["wholeLoad"].reshape(-1, about["whole"]["n"])[row].mean() / about["levels"]
    seen = world.set("observe", [{"name": "load", "kind": "load", "interval": "10 s"}]).run(3)["load"]
    rate = about["ports"][row][8]
    assert mean == pytest.approx(int(seen.where(port="R5->R6")["bytes"][0]) * 8 / (rate * 10), abs=0.004)


def test_too_long_page_has_fewer_packets(monkeypatch):
    everything = animate(optcp.load("single-failure"), 3)
    monkeypatch.setattr(page, "MOST_BYTES", len(everything.encode()) - 1)
    about, arrays = read(animate(optcp.load("single-failure"), 3))
    assert about["every"] > 1
    assert arrays["came"].size < 0.7 * read(everything)[1]["came"].size


def test_hosts_of_a_large_network_are_drawn_together():
    """822 nodes: 200 hosts of each kind on ten routers on either side."""
    world = optcp.load("lbas")
    nodes, links, drawn_as = network.laid(world.resolved)
    assert len(links) == len(world.resolved["links"])
    assert drawn_as["SL0"] == drawn_as["SL19"] == "SL0..SL19" != drawn_as["SL20"]
    assert {"L", "R", "ML0", "MR9"} <= set(nodes)
    assert len(nodes) == 2 + 20 + 40
    ports, rows = frames.ports_of(world.resolved, links, drawn_as)
    one = next(port for port in ports if port.name == "SL0..SL19->ML0")
    assert one.count == 20
    assert rows["SL0->ML0"] == rows["SL19->ML0"] == ports.index(one)
    assert "<svg" in network.of_core(world.core)


def test_a_world_without_links_is_refused():
    text = 'stop = "1 s"\n[[nodes]]\nnames = ["A"]\n'
    with pytest.raises(InputError, match="at least 1 link"):
        animate(optcp.Scenario.parse(text))
