"""`optcp export` of packet observations: times calculated by hand, and files read by other programs."""

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import dpkt
import pyarrow.parquet
import pytest

from conftest import command_in
from optcp.common import stored
from optcp.scenarios.shipped import find
from studies import study_in

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
name = "near"
rate = "8 Mbps"
delay = "3 ms"
queue = "50 packets"
[[links]]
chain = ["R", "B"]
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

# The second segment is lost, so duplicate ACKs follow; every second ACK is lost.
DUPLICATES = """
[[losses]]
link = ["R", "B"]
flows = "one"
segments = [1]
[[losses]]
link = ["B", "R"]
kind = "periodic"
packets = "acks"
period = "2 packets"
[[observe]]
"""


@pytest.fixture
def world(command, tmp_path):
    """Return a function that runs the scenario and returns the path of the study."""

    def run_study(*changes, links='links = [["A", "R"], ["R", "B"]]'):
        text = WORLD.replace("LINKS", links)
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        (tmp_path / "world.toml").write_text(text, encoding="utf-8")
        return study_in(tmp_path, "world.toml")

    return run_study


def exported(command, study, form):
    return [Path(line) for line in command("export", study, "--format", form).stdout.splitlines()]


def file_of(study, end):
    """Return the only exported file whose name has this ending, after the combination and the seed."""
    (path,) = (study / "export").glob(f"*-seed-1-{end}")
    return path


def table_of(study, name):
    """Return a table of a study as pyarrow reads it."""
    return pyarrow.parquet.read_table(study / name).to_pylist()


def frames(path):
    """Return time in ps, captured headers, and length on the wire, as dpkt reads them."""
    with path.open("rb") as file:
        for at, data in dpkt.pcapng.Reader(file):
            packet = dpkt.ip.IP(data)
            yield round(at * 1e9) * 1000, packet


# A segment takes 1 ms at 8 Mb/s and 8 ms at 1 Mb/s, an ACK of 100 B 0.1 ms and 0.8 ms.
# Node numbers are positions in the scenario: B 0, A 1, R 2.
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


def test_an_ns2_trace_worked_by_hand(command, world, tmp_path):
    (path,) = exported(command, world(), "ns2")
    assert re.fullmatch(r"cell-[0-9a-f]{8}-seed-1-seen\.tr", path.name)
    assert path.parent == tmp_path / "out" / "export"
    assert path.read_text(encoding="utf-8") == TRACE


def test_trace_without_links_has_end_host_events(command, world):
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


def test_a_transmission_that_is_no_whole_number_of_picoseconds(command, world):
    """1000 B at 7 Mb/s take 1 142 857 142.9 ps, which the simulator rounds up."""
    (path,) = exported(command, world(('rate = "1 Mbps"', 'rate = "7 Mbps"')), "ns2")
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.split()[2:5] == ["2", "0", "tcp"]]
    assert [line[:16] for line in lines[:4]] == [
        "+ 0.014000000000",
        "- 0.014000000000",
        "+ 0.015000000000",
        "- 0.015142857143",
    ]


def test_captures_worked_by_hand(command, world):
    run = world()
    written = {path.name.partition("-seed-1-")[2] for path in exported(command, run, "pcapng")}
    assert written == {
        "seen-senders.pcapng",
        "seen-receivers.pcapng",
        "seen-near_A-to-R.pcapng",
        "seen-near_R-to-A.pcapng",
        "seen-R-to-B.pcapng",
        "seen-B-to-R.pcapng",
    }
    found = [
        (at, packet.src[-1], packet.len, packet.data.seq, packet.data.ack)
        for at, packet in frames(file_of(run, "seen-senders.pcapng"))
    ]
    assert found == [
        (10_000_000_000, 2, 1040, 1, 1),
        (10_000_000_000, 2, 1040, 1001, 1),
        (35_900_000_000, 1, 40, 1, 1001),
        (43_900_000_000, 1, 40, 1, 2001),
    ]
    assert {(packet.data.sport, packet.data.dport) for _, packet in frames(file_of(run, "seen-receivers.pcapng"))} == {
        (16384, 5001)
    }
    # Transmission of the last bit of each segment.
    assert [at for at, _ in frames(file_of(run, "seen-R-to-B.pcapng"))] == [22_000_000_000, 30_000_000_000]


def test_a_handshake_is_a_syn_each_way(command, world):
    run = world(('initial_window = "2 segments"', 'initial_window = "2 segments"\nhandshake = true'))
    exported(command, run, "pcapng")
    tcp = [packet.data for _, packet in frames(file_of(run, "seen-senders.pcapng"))]
    flags = dpkt.tcp.TH_SYN, dpkt.tcp.TH_SYN | dpkt.tcp.TH_ACK
    assert [(item.seq, item.ack) for item in tcp] == [(0, 0), (0, 1), (1, 1), (1001, 1), (1, 1001), (1, 2001)]
    assert tuple(item.flags for item in tcp[:2]) == flags
    assert not any(item.flags & dpkt.tcp.TH_SYN for item in tcp[2:])


def test_a_lost_duplicate_ack_is_no_answer_to_a_syn(command, world):
    """The first data segment is lost: later segments trigger the same ACK as the SYN, and some ACKs are lost."""
    run = world(
        ('initial_window = "2 segments"', 'initial_window = "8 segments"\nhandshake = true'),
        ('size = "2 segments"', 'size = "8 segments"'),
        ("[[observe]]", DUPLICATES),
    )
    exported(command, run, "pcapng")
    lost = [packet.data for _, packet in frames(file_of(run, "seen-losses.pcapng")) if packet.data.sport == 5001]
    assert len(lost) > 2
    assert {item.ack for item in lost} >= {1}
    assert not any(item.flags & dpkt.tcp.TH_SYN for item in lost)


def test_sack_blocks_are_those_of_the_segments(command, world):
    """The second and fifth of eight segments are lost; the ACKs of later ones report the received segments."""
    losses = '[[losses]]\nlink = ["A", "R"]\nflows = "one"\nsegments = [1, 4]\n[[observe]]'
    run = world(
        ('profile = "rfc"', 'profile = "rfc"\nrecovery = "sack"'),
        ('"2 segments"\n[[nodes]]', '"8 segments"\n[[nodes]]'),
        ('size = "2 segments"', 'size = "8 segments"'),
        ("[[observe]]", losses),
    )
    exported(command, run, "pcapng")
    found = []
    for _, packet in frames(file_of(run, "seen-senders.pcapng")):
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
    datagrams = [
        packet for _, packet in frames(file_of(run, "seen-receivers.pcapng")) if packet.p == dpkt.ip.IP_PROTO_UDP
    ]
    assert len(datagrams) >= 9
    assert {(packet.len, packet.data.ulen, packet.data.dport) for packet in datagrams} == {(500, 480, 5001)}
    (path,) = exported(command, run, "ns2")
    assert Counter(line.split()[4] for line in path.read_text(encoding="utf-8").splitlines())["cbr"] >= 18


CHOSEN = ("L1->L2", "L2->L1", "L5->L2", "L2->L5")


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """Return a run with failure, switchover and full queues, exported in every format, with its rows."""
    place = tmp_path_factory.mktemp("busy")
    text = find("slides-first").read_text(encoding="utf-8")
    links = 'kind = "packets"\nlinks = [["L1", "L2"], ["L5", "L2"]]'
    assert text.count('kind = "packets"') == 1
    (place / "busy.toml").write_text(text.replace('kind = "packets"', links), encoding="utf-8")
    study = study_in(place, "busy.toml")
    for form in ("ns2", "pcapng", "csv"):
        command_in(place, "export", "out", "--format", form)
    return study, table_of(study, "packets")


def stories(path):
    """Return the lines of each packet of a trace, after checking properties of every trace."""
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    times = [float(line[1]) for line in lines]
    assert times == sorted(times)
    of_packets = defaultdict(list)
    for line in lines:
        of_packets[line[11]].append(line)
    for told in of_packets.values():
        # A packet keeps its size, flow and number, and no line follows its loss or arrival.
        assert len({tuple(line[4:6] + line[7:11]) for line in told}) == 1
        assert not any(line[0] in "rd" for line in told[:-1])
    return list(of_packets.values())


def test_a_trace_has_every_event_and_knows_its_packets(busy):
    run, rows = busy
    events = Counter(row["event"] for row in rows)
    told = stories(file_of(run, "packets.tr"))
    lines = [line for packet in told for line in packet]
    signs = Counter(line[0] for line in lines)
    assert signs["d"] == events["dropped"] > 100
    assert signs["r"] == events["arrived"] + events["acked"]
    assert signs["-"] == events["transmitted"]
    refused = sum(row["reason"] in ("queue-full", "link-down") and row["port"] in CHOSEN for row in rows)
    # No source selected its own port.
    assert signs["+"] == events["sent"] + events["resent"] + events["queued"] + refused
    assert sum(packet[0][4] == "tcp" for packet in told) == events["sent"] + events["resent"]
    # A packet passes each hop once.
    assert all(len({tuple(line[:4]) for line in packet}) == len(packet) for packet in told)
    # Count the queue as scripts do: + adds, - and d remove. The limit of 50 includes the packet in transmission.
    waiting, longest = Counter(), Counter()
    for line in (line.split() for line in (file_of(run, "packets.tr")).read_text(encoding="utf-8").splitlines()):
        hop = tuple(line[2:4])
        if hop in {("5", "6"), ("9", "6")}:
            waiting[hop] += {"+": 1, "-": -1, "d": -1}[line[0]]
            longest[hop] = max(longest[hop], waiting[hop])
    assert 40 < longest["9", "6"] <= 51


def test_captures_have_every_packet_of_the_run(busy):
    run, rows = busy
    events = Counter(row["event"] for row in rows)

    def number(place):
        return sum(1 for _ in frames(file_of(run, f"packets-{place}.pcapng")))

    assert number("senders") == events["sent"] + events["resent"] + events["acked"]
    assert number("receivers") == events["arrived"]
    assert number("losses") == events["dropped"]
    ports = Counter(row["port"] for row in rows if row["event"] == "transmitted")
    assert {port: number(port.replace("->", "-to-")) for port in ports} == dict(ports)
    # Every flow is a separate connection.
    assert len({(p.src, p.data.sport, p.dst) for _, p in frames(file_of(run, "packets-receivers.pcapng"))}) == 10


def test_the_reason_of_a_loss_is_its_comment(busy):
    run, rows = busy
    content = (file_of(run, "packets-losses.pcapng")).read_bytes()
    for reason, count in Counter(row["reason"] for row in rows if row["event"] == "dropped").items():
        text = reason.encode()
        assert content.count(b"\x01\x00" + len(text).to_bytes(2, "little") + text) == count


# Cases with identical packets: duplicate ACKs of which some are lost on unobserved links, and copies that 1+1 sends on
# both paths, of which the later one is discarded.
ALIKE = {
    "duplicate ACKs": [
        ('"2 segments"\n[[nodes]]', '"8 segments"\nrecovery = "sack"\n[[nodes]]'),
        ('size = "2 segments"', 'size = "8 segments"'),
        ("[[observe]]", DUPLICATES),
    ],
    "1+1": [
        ('names = ["B", "A", "R"]', 'names = ["B", "A", "R", "X", "Y"]'),
        ('"2 segments"\n[[nodes]]', '"8 segments"\n[[nodes]]'),
        ('size = "2 segments"', 'size = "30 segments"'),
        ('path = ["A", "R", "B"]', 'path = ["Y", "A", "R", "B"]'),
        (
            "[[flows]]",
            """
[[links]]
chain = ["Y", "A"]
rate = "8 Mbps"
delay = "3 ms"
queue = "50 packets"
[[links]]
chain = ["A", "X", "R"]
rate = "8 Mbps"
delay = "3 ms"
queue = "50 packets"
reverse = { rate = "100 kbps" }
[[losses]]
link = ["R", "B"]
flows = "one"
segments = [2]
[[failures]]
link = ["A", "R"]
at = "900 ms"
[[protection]]
flows = "one"
link = ["A", "R"]
scheme = "1+1"
capacity = "shared"
backup = ["A", "X", "R"]
switch_delay = "10 ms"
[[flows]]
""",
        ),
    ],
}


@pytest.mark.parametrize(
    ("kind", "links"),
    [
        ("duplicate ACKs", [["A", "R"]]),
        ("duplicate ACKs", [["A", "R"], ["R", "B"]]),
        ("1+1", [["A", "R"]]),
        ("1+1", [["A", "R"], ["R", "B"]]),
        ("1+1", [["A", "X"], ["X", "R"]]),
    ],
    ids=str,
)
def test_identical_packets_are_distinguished(command, world, kind, links):
    run = world(*ALIKE[kind], links=f"links = {json.dumps(links)}")
    (path,) = exported(command, run, "ns2")
    told = stories(path)
    events = Counter(row["event"] for row in table_of(run, "seen"))
    signs = Counter(line[0] for packet in told for line in packet)
    assert signs["r"] == events["arrived"] + events["acked"]
    assert signs["d"] == events["dropped"] > 0
    assert signs["-"] == events["transmitted"]
    if kind != "1+1":
        assert sum(packet[0][4] == "tcp" for packet in told) == events["sent"] + events["resent"]
        assert all(len({tuple(line[:4]) for line in packet}) == len(packet) for packet in told)


def test_a_bundle_tells_its_lightpaths_apart(command, tmp_path):
    text = find("lbas").read_text(encoding="utf-8")
    observe = '[[observe]]\nname = "seen"\nkind = "packets"\nlinks = ["lightpath"]\n'
    (tmp_path / "small.toml").write_text(text[: text.index("[[observe]]")] + observe, encoding="utf-8")
    few = {"stop": "700 ms", "parameters.hosts": "1", "parameters.K": "2", "parameters.start": "0 s"}
    (path,) = exported(command, study_in(tmp_path, "small.toml", settings=few), "ns2")
    told = stories(path)
    # A packet crosses one lightpath once, in either direction.
    assert all(Counter(line[0] for line in packet)["-"] <= 1 for packet in told)
    assert sum(len(packet) for packet in told) > 1000


def test_random_flow_has_its_drawn_path(command, tmp_path):
    text = """
title = "flows of two segments, from either of two sources"
stop = "2 s"
[tcp.small]
profile = "rfc"
mss = "1000 B"
[[nodes]]
names = ["B", "R"]
[[nodes]]
group = "S"
count = 2
[[links]]
chains = [["S", "R"], ["R", "B"]]
rate = "8 Mbps"
delay = "3 ms"
queue = "50 packets"
[[flows]]
group = "web"
path = ["S", "R", "B"]
tcp = "small"
arrivals = "20 flows/s"
until = "1 s"
size = "2000 B"
[[observe]]
name = "seen"
kind = "packets"
"""
    (tmp_path / "web.toml").write_text(text, encoding="utf-8")
    run = study_in(tmp_path, "web.toml")
    exported(command, run, "pcapng")
    (path,) = exported(command, run, "ns2")
    begins = Counter(packet[0][2] for packet in stories(path) if packet[0][4] == "tcp")
    ways = [row["route"] for row in table_of(run, "arrived") if row["group"] == "web"]
    assert set(ways) == {0, 1}
    # Nodes B, R, S0 and S1 have numbers 0 to 3.
    assert begins == {"2": 2 * ways.count(0), "3": 2 * ways.count(1)}


def test_runs_without_packets_are_refused(command, world):
    run = world(('kind = "packets"', 'kind = "drops"'), links="")
    for form in ("pcapng", "ns2"):
        done = command("export", run, "--format", form, status=2)
        assert 'give the scenario an [[observe]] with kind = "packets"' in done.stderr


def test_a_run_in_which_nothing_was_sent_has_no_captures(command, world):
    source = """
[[traffic]]
group = "late"
path = ["A", "R", "B"]
process = "poisson"
rate = "1 packets/s"
size = "50 B"
start = "0.99999 s"
"""
    run = world(("[[observe]]", f"{source}\n[[observe]]"), links='groups = ["late"]')
    done = command("export", run, "--format", "pcapng", status=2)
    assert "the runs observed no packets" in done.stderr


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


@pytest.mark.parametrize(
    ("key", "verb"),
    [("nodes", ("export", "--format", "ns2")), ("tcp", ("export", "--format", "pcapng")), ("links", ("trace",))],
)
def test_incomplete_scenario_is_named(command, world, key, verb):
    study = world()
    (cell,) = (study / "cells").iterdir()
    about = json.loads(cell.read_text())
    del about["scenario"][key], about["sha256"]
    cell.write_text(stored.with_checksum(json.dumps(about, indent=1) + "\n"))
    messages = command(verb[0], study, *verb[1:], status=1).stderr
    assert f"{cell.name}: unexpected content (KeyError('{key}')); delete it and run again" in messages
