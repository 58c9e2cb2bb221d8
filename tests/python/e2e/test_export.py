"""`optcp export` of what runs observed of packets: times by hand, and what another program's reader finds."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import dpkt
import pyarrow.parquet
import pytest

import optcp
from conftest import command_in

WORLD = """
title = "two segments over two links"
stop = "1 s"
[tcp.small]
profile = "rfc"
mss = "1000 B"
header = "0 B"
ack_size = "100 B"
ack = "every-packet"
initial_window = "2 segments"
[[nodes]]
names = ["B", "A", "R"]
[[links]]
chain = ["A", "R"]
rate = "8 Mbps"
delay = "3 ms"
queue = "50 packets"
[[links]]
chain = ["R", "B"]
name = "far"
rate = "1 Mbps"
delay = "5 ms"
queue = "50 packets"
[[flows]]
group = "one"
path = ["A", "R", "B"]
tcp = "small"
size = "2 segments"
start = "10 ms"
[[observe]]
name = "seen"
kind = "packets"
LINKS
"""


@pytest.fixture
def world(command, tmp_path):
    """Makes a run of the world, and says where it is."""

    def made(*changes, links='links = [["A", "R"], ["R", "B"]]'):
        text = WORLD.replace("LINKS", links)
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        (tmp_path / "world.toml").write_text(text, encoding="utf-8")
        command("run", "world.toml", "--out", "out")
        return tmp_path / "out" / "seed-1"

    return made


def exported(command, run, form):
    return [run / Path(line).name for line in command("export", run, "--format", form).stdout.splitlines()]


def frames(path):
    """Time in picoseconds, captured headers, and length on the wire, as dpkt reads them."""
    with path.open("rb") as file:
        for at, data in dpkt.pcapng.Reader(file):
            packet = dpkt.ip.IP(data)
            yield round(at * 1e9) * 1000, packet


# A segment takes 1 ms at 8 Mb/s and 8 ms at 1 Mb/s, an ACK of 100 B 0.1 ms and 0.8 ms.
# Numbers of nodes are their places in the scenario: B 0, A 1, R 2.
TRACE = """\
+ 0.010000000000 1 2 tcp 1000 ------- 0 1.0 0.0 0 0
+ 0.010000000000 1 2 tcp 1000 ------- 0 1.0 0.0 1 1
- 0.010000000000 1 2 tcp 1000 ------- 0 1.0 0.0 0 0
- 0.011000000000 1 2 tcp 1000 ------- 0 1.0 0.0 1 1
+ 0.014000000000 2 0 tcp 1000 ------- 0 1.0 0.0 0 0
- 0.014000000000 2 0 tcp 1000 ------- 0 1.0 0.0 0 0
+ 0.015000000000 2 0 tcp 1000 ------- 0 1.0 0.0 1 1
- 0.022000000000 2 0 tcp 1000 ------- 0 1.0 0.0 1 1
r 0.027000000000 2 0 tcp 1000 ------- 0 1.0 0.0 0 0
+ 0.027000000000 0 2 ack 100 ------- 0 0.0 1.0 0 2
- 0.027000000000 0 2 ack 100 ------- 0 0.0 1.0 0 2
+ 0.032800000000 2 1 ack 100 ------- 0 0.0 1.0 0 2
- 0.032800000000 2 1 ack 100 ------- 0 0.0 1.0 0 2
r 0.035000000000 2 0 tcp 1000 ------- 0 1.0 0.0 1 1
+ 0.035000000000 0 2 ack 100 ------- 0 0.0 1.0 1 3
- 0.035000000000 0 2 ack 100 ------- 0 0.0 1.0 1 3
r 0.035900000000 2 1 ack 100 ------- 0 0.0 1.0 0 2
+ 0.040800000000 2 1 ack 100 ------- 0 0.0 1.0 1 3
- 0.040800000000 2 1 ack 100 ------- 0 0.0 1.0 1 3
r 0.043900000000 2 1 ack 100 ------- 0 0.0 1.0 1 3
"""


def test_an_ns2_trace_worked_by_hand(command, world):
    (path,) = exported(command, world(), "ns2")
    assert path.name == "seen.tr"
    assert path.read_text(encoding="utf-8") == TRACE


def test_without_chosen_links_a_trace_has_what_the_ends_see(command, world):
    (path,) = exported(command, world(links=""), "ns2")
    lines = [" ".join(line.split()[:4]) for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines == [
        "+ 0.010000000000 1 2",
        "+ 0.010000000000 1 2",
        "r 0.027000000000 2 0",
        "r 0.035000000000 2 0",
        "r 0.035900000000 2 1",
        "r 0.043900000000 2 1",
    ]


def test_captures_worked_by_hand(command, world):
    run = world()
    written = {path.name for path in exported(command, run, "pcapng")}
    assert written == {
        "seen-senders.pcapng",
        "seen-receivers.pcapng",
        "seen-A-to-R.pcapng",
        "seen-R-to-A.pcapng",
        "seen-far_R-to-B.pcapng",
        "seen-far_B-to-R.pcapng",
    }
    found = [
        (at, packet.src[-1], packet.len, packet.data.seq, packet.data.ack)
        for at, packet in frames(run / "seen-senders.pcapng")
    ]
    assert found == [
        (10_000_000_000, 2, 1040, 1, 1),
        (10_000_000_000, 2, 1040, 1001, 1),
        (35_900_000_000, 1, 40, 1, 1001),
        (43_900_000_000, 1, 40, 1, 2001),
    ]
    assert {(packet.data.sport, packet.data.dport) for _, packet in frames(run / "seen-receivers.pcapng")} == {
        (1024, 5001)
    }
    # The last bit of each is sent at these times.
    assert [at for at, _ in frames(run / "seen-far_R-to-B.pcapng")] == [22_000_000_000, 30_000_000_000]


def test_a_handshake_is_a_syn_each_way(command, world):
    run = world(('initial_window = "2 segments"', 'initial_window = "2 segments"\nhandshake = true'))
    exported(command, run, "pcapng")
    tcp = [packet.data for _, packet in frames(run / "seen-senders.pcapng")]
    flags = dpkt.tcp.TH_SYN, dpkt.tcp.TH_SYN | dpkt.tcp.TH_ACK
    assert [(one.seq, one.ack) for one in tcp] == [(0, 0), (0, 1), (1, 1), (1001, 1), (1, 1001), (1, 2001)]
    assert tuple(one.flags for one in tcp[:2]) == flags
    assert not any(one.flags & dpkt.tcp.TH_SYN for one in tcp[2:])


def test_sack_blocks_are_those_of_the_segments(command, world):
    """Of eight segments the second and the fifth are lost: the ACKs of those behind them tell which came."""
    losses = '[[losses]]\nlink = ["A", "R"]\nflows = "one"\nsegments = [1, 4]\n[[observe]]'
    run = world(
        ('profile = "rfc"', 'profile = "rfc"\nrecovery = "sack"'),
        ('"2 segments"\n[[nodes]]', '"8 segments"\n[[nodes]]'),
        ('size = "2 segments"', 'size = "8 segments"'),
        ("[[observe]]", losses),
    )
    exported(command, run, "pcapng")
    found = []
    for _, packet in frames(run / "seen-senders.pcapng"):
        for kind, data in dpkt.tcp.parse_opts(packet.data.opts):
            if kind == dpkt.tcp.TCP_OPT_SACK:
                edges = [int.from_bytes(data[at : at + 4], "big") for at in range(0, len(data), 4)]
                found.append((packet.data.ack, *edges))
    # Segment k begins with byte 1000 k + 1. The newest block comes first (RFC 2018 section 4).
    assert found[:5] == [
        (1001, 2001, 3001),
        (1001, 2001, 4001),
        (1001, 5001, 6001, 2001, 4001),
        (1001, 5001, 7001, 2001, 4001),
        (1001, 5001, 8001, 2001, 4001),
    ]


def test_datagrams_are_udp(command, world):
    source = """
[[traffic]]
group = "cross"
path = ["A", "R", "B"]
process = "constant"
rate = "10 packets/s"
size = "500 B"
"""
    run = world(("[[observe]]", f"{source}\n[[observe]]"), links="")
    exported(command, run, "pcapng")
    datagrams = [packet for _, packet in frames(run / "seen-receivers.pcapng") if packet.p == dpkt.ip.IP_PROTO_UDP]
    assert len(datagrams) >= 9
    assert {(packet.len, packet.data.ulen, packet.data.dport) for packet in datagrams} == {(500, 480, 5001)}
    (path,) = exported(command, run, "ns2")
    assert Counter(line.split()[4] for line in path.read_text(encoding="utf-8").splitlines())["cbr"] >= 18


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A run with failure, switch and full queues, exported in every form; its rows beside it."""
    place = tmp_path_factory.mktemp("busy")
    text = (Path(optcp.__file__).parent / "scenarios" / "slides-first.toml").read_text(encoding="utf-8")
    links = 'kind = "packets"\nlinks = [["L1", "L2"], ["L5", "L2"]]'
    assert text.count('kind = "packets"') == 1
    (place / "busy.toml").write_text(text.replace('kind = "packets"', links), encoding="utf-8")
    command_in(place, "run", "busy.toml", "--out", "out")
    for form in ("ns2", "pcapng", "csv"):
        command_in(place, "export", "out", "--format", form)
    run = place / "out" / "seed-1"
    return run, pyarrow.parquet.read_table(run / "packets.parquet").to_pylist()


def test_a_trace_has_every_event_and_knows_its_packets(busy):
    run, rows = busy
    lines = [line.split() for line in (run / "packets.tr").read_text(encoding="utf-8").splitlines()]
    events = Counter(row["event"] for row in rows)
    signs = Counter(line[0] for line in lines)
    assert signs["d"] == events["dropped"] > 100
    assert signs["r"] == events["arrived"] + events["acked"]
    assert signs["-"] == events["transmitted"]
    # No source's own port was chosen.
    assert signs["+"] == events["sent"] + events["resent"] + events["queued"]
    times = [float(line[1]) for line in lines]
    assert times == sorted(times)
    story = defaultdict(list)
    for line in lines:
        story[line[11]].append(line)
    for of_packet in story.values():
        assert len({tuple(line[4:6] + line[7:11]) for line in of_packet}) == 1
        # A packet ends once: a loss or an arrival is the last that is heard of it.
        assert not any(line[0] in "rd" for line in of_packet[:-1])
    # What is queued and neither sent on nor lost stays within the limit of 50.
    waiting, longest = Counter(), Counter()
    for line in lines:
        port = tuple(line[2:4])
        if line[0] == "+" and port in {("5", "6"), ("9", "6")}:
            waiting[port] += 1
            longest[port] = max(longest[port], waiting[port])
        elif line[0] == "-":
            waiting[port] -= 1
    assert 40 < longest["9", "6"] <= 50


def test_captures_have_every_packet_of_the_run(busy):
    run, rows = busy
    events = Counter(row["event"] for row in rows)

    def number(place):
        return sum(1 for _ in frames(run / f"packets-{place}.pcapng"))

    assert number("senders") == events["sent"] + events["resent"] + events["acked"]
    assert number("receivers") == events["arrived"]
    assert number("losses") == events["dropped"]
    ports = Counter(row["port"] for row in rows if row["event"] == "transmitted")
    assert {port: number(port.replace("->", "-to-")) for port in ports} == dict(ports)
    # Connections are told apart: as many as flows.
    assert len({(p.src, p.data.sport, p.dst) for _, p in frames(run / "packets-receivers.pcapng")}) == 10


def test_the_reason_of_a_loss_is_its_comment(busy):
    run, rows = busy
    content = (run / "packets-losses.pcapng").read_bytes()
    for reason, count in Counter(row["reason"] for row in rows if row["event"] == "dropped").items():
        text = reason.encode()
        assert content.count(b"\x01\x00" + len(text).to_bytes(2, "little") + text) == count


def test_runs_without_packets_are_refused(command, world):
    run = world(('kind = "packets"', 'kind = "drops"'), links="")
    for form in ("pcapng", "ns2"):
        done = command("export", run, "--format", form, status=2)
        assert 'give the scenario an [[observe]] with kind = "packets"' in done.stderr


def test_rows_and_curves_of_exhibits_are_tables(command, tmp_path):
    command("reproduce", "gmpls/fig7", "--seeds", 2, "--out", "results")
    for form in ("csv", "parquet"):
        done = command("export", "results", "--format", form)
        assert [Path(line).name for line in done.stdout.splitlines()] == [f"fig7.{form}", f"fig7-series.{form}"]
    result = json.loads((tmp_path / "results/gmpls/fig7.json").read_text(encoding="utf-8"))
    table = pyarrow.parquet.read_table(tmp_path / "results/gmpls/fig7.parquet").to_pylist()
    with (tmp_path / "results/gmpls/fig7.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(table) == len(lines) == len(result["rows"])
    for row, cells, line in zip(result["rows"], table, lines, strict=True):
        assert [cells[name] for name in ("metric", "measured", "n", "verdict")] == [
            row[name] for name in ("metric", "measured", "n", "verdict")
        ]
        assert float(line["measured"]) == row["measured"]
        assert (line["paper"] == "") == (row["paper"] is None) == (cells["paper"] != cells["paper"])
        assert {name: cells[name] for name in row["key"]} == row["key"]
    points = pyarrow.parquet.read_table(tmp_path / "results/gmpls/fig7-series.parquet")
    assert points.num_rows == sum(len(curve["x"]) for curve in result["series"])
    assert points.column("y").to_pylist() == [y for curve in result["series"] for y in curve["y"]]
