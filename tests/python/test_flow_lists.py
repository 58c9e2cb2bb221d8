"""Lists of flows, and captures and connection lists of other programs; packets by dpkt, values by hand."""

import functools
import io
import ipaddress

import dpkt
import pyarrow as pa
import pyarrow.parquet
import pytest

from optcp import ScenarioError, load
from optcp.errors import InputError
from optcp.flows import Flow, lists, read
from optcp.flows.numbers import picoseconds, whole

S = 10**12
A, B = "10.0.0.1", "10.0.0.2"
SYN, ACK = dpkt.tcp.TH_SYN, dpkt.tcp.TH_ACK


def ip(source, destination, payload):
    """Return an IP packet of TCP or UDP."""
    kind = dpkt.ip.IP_PROTO_TCP if isinstance(payload, dpkt.tcp.TCP) else dpkt.ip.IP_PROTO_UDP
    ends = [ipaddress.ip_address(end).packed for end in (source, destination)]
    if len(ends[0]) == 16:
        packet = dpkt.ip6.IP6(src=ends[0], dst=ends[1], nxt=kind, data=payload, plen=len(payload), hlim=64)
        packet.extension_hdrs, packet.all_extension_headers = {}, []
        return packet
    return dpkt.ip.IP(src=ends[0], dst=ends[1], p=kind, data=payload, len=20 + len(payload))


def tcp(seq, size=0, flags=ACK, ports=(1000, 80)):
    return dpkt.tcp.TCP(sport=ports[0], dport=ports[1], seq=seq % 2**32, flags=flags, data=bytes(size))


def udp(size, ports=(53, 5353)):
    return dpkt.udp.UDP(sport=ports[0], dport=ports[1], ulen=8 + size, data=bytes(size))


def ethernet(packet, vlan=None):
    kind = 0x86DD if isinstance(packet, dpkt.ip6.IP6) else 0x0800
    tag = b"" if vlan is None else b"\x81\x00" + vlan.to_bytes(2, "big")
    # Short frames are padded.
    return (b"\x02" * 12 + tag + kind.to_bytes(2, "big") + bytes(packet)).ljust(60, b"\0")


PACKETS = [
    (100.0, ethernet(ip(A, B, tcp(2**32 - 501, flags=SYN)))),
    (100.125, ethernet(ip(B, A, tcp(7000, flags=SYN | ACK, ports=(80, 1000))))),
    (100.25, ethernet(ip(A, B, tcp(2**32 - 500, 1000)), vlan=5)),
    (100.25, ethernet(ip(A, B, tcp(2**32 + 500, 1000)))),
    (100.5, ethernet(ip(A, B, tcp(2**32 - 500, 1000)))),
    (100.75, ethernet(ip(B, A, tcp(7001, 1448, ports=(80, 1000))))),
    (101.0, ethernet(ip(A, B, udp(200)))),
    (101.5, ethernet(ip(A, B, udp(300)))),
    (102.0, ethernet(ip("2001:db8::1", "2001:db8::2", tcp(5, 40)))),
    (103.0, ethernet(ip(A, B, tcp(90000, flags=SYN)))),
    (103.0, ethernet(ip(A, B, tcp(90001, 10)))),
    (104.0, b"\x02" * 12 + b"\x08\x06" + bytes(28)),
]
"""The first connection wraps around and retransmits; a second one has the same ports. The last frame is ARP."""

FLOWS = [
    Flow(0, A, B, 2000),
    Flow(3 * S // 4, B, A, 1448),
    Flow(S, A, B, 500, "udp"),
    Flow(2 * S, "2001:db8::1", "2001:db8::2", 40),
    Flow(3 * S, A, B, 10),
]


def capture(writer, packets=PACKETS, **options):
    stream = io.BytesIO()
    target = writer(stream, **options)
    for at, frame in packets:
        target.writepkt(frame, ts=at)
    return stream.getvalue()


@pytest.mark.parametrize(
    "writer",
    [dpkt.pcap.Writer, functools.partial(dpkt.pcap.Writer, nano=True), dpkt.pcapng.Writer],
    ids=["pcap", "nanoseconds", "pcapng"],
)
def test_capture_has_a_flow_per_direction_with_data(writer, tmp_path):
    file = tmp_path / "any"
    file.write_bytes(capture(writer))
    found = read(file)
    assert found.flows == FLOWS
    assert found.notes == ("1 packet that are not IP left out",)
    assert read(file, absolute=True).flows[0] == Flow(100 * S, A, B, 2000)


def test_incomplete_last_packet_is_left_out(tmp_path):
    file = tmp_path / "cut.pcap"
    file.write_bytes(capture(dpkt.pcap.Writer, PACKETS[:4])[:-1])
    found = read(file)
    assert found.flows == [Flow(0, A, B, 1000)]
    assert found.notes == ("the last packet is incomplete and left out",)


def test_other_link_type_is_refused(tmp_path):
    file = tmp_path / "wifi.pcap"
    file.write_bytes(capture(dpkt.pcap.Writer, linktype=105))
    with pytest.raises(InputError, match=r"wifi.pcap: not a valid pcap: link type 105 is not read"):
        read(file)


@pytest.mark.parametrize(("linktype", "header"), [(101, b""), (228, b""), (113, bytes(14) + b"\x08\x00")])
def test_raw_and_cooked_packets_are_read(linktype, header, tmp_path):
    file = tmp_path / "raw.pcap"
    file.write_bytes(capture(dpkt.pcap.Writer, [(1.0, header + bytes(ip(A, B, tcp(1, 99))))], linktype=linktype))
    assert read(file).flows == [Flow(0, A, B, 99)]


WORLD = """
stop = "8 s"
[[nodes]]
names = ["A", "R", "B", "C"]
[[links]]
chains = [["A", "R"], ["R", "B"], ["R", "C"]]
rate = "10 Mbps"
delay = "1 ms"
queue = "20 packets"
[[flows]]
group = "web"
list = "flows.csv"
path = "shortest"
tcp = "linux-6"
[[observe]]
name = "packets"
kind = "packets"
"""
ROWS = """time (ms),from,to,bytes
250,A,B,14480
100,A,C,289600
100.000001,B,C,1448
250,C,A,50000
5000,C,A,3
"""
"""Sizes become multiples of 1448 B, the segment of `linux-6`: 50000 B are 35 segments, 50680 B."""

SENT = """time (s),from,to,bytes
0.1,A,C,289600
0.100000001,B,C,1448
0.25,A,B,14480
0.25,C,A,50680
5,C,A,1448
"""


def test_capture_of_a_run_gives_the_flows_of_its_list(optcp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "world.toml").write_text(WORLD)
    (tmp_path / "flows.csv").write_text(ROWS)
    assert optcp("run", "world.toml", "--runs", "1", "--out", "out")[0] == 0
    assert optcp("export", "out", "--format", "pcapng")[0] == 0
    (captured,) = (tmp_path / "out").rglob("*senders.pcapng")
    status, out, err = optcp("flows", str(captured), "--absolute")
    assert (status, out) == (0, SENT)
    assert err == "5 flows, 357,656 bytes\n"


def test_list_of_a_capture_is_a_list_of_the_same_flows(optcp, tmp_path):
    (tmp_path / "a.pcap").write_bytes(capture(dpkt.pcap.Writer))
    (tmp_path / "names.csv").write_text(f"{A},client\n{B},server\n")
    target = tmp_path / "list.csv"
    words = ["flows", str(tmp_path / "a.pcap"), "--names", str(tmp_path / "names.csv"), "--protocol", "tcp"]
    status, out, err = optcp(*words, "--out", str(target))
    assert (status, out) == (0, "")
    assert "3 flows, 3,458 bytes\n" in err
    assert "note: 1 flow of other nodes left out" in err
    expected = "time (s),from,to,bytes\n0,client,server,2000\n0.75,server,client,1448\n3,client,server,10\n"
    assert target.read_text() == expected
    found = lists.read("list.csv", target.read_bytes())
    assert found.names == ["client", "server"]
    assert found.starts_ps == [0, 3 * S // 4, 3 * S]
    assert (found.sources, found.destinations) == ([0, 1, 0], [1, 0, 1])
    assert found.sizes_bytes == [2000, 1448, 10]
    assert optcp(*words, "--out", str(target))[0] == 2


SOURCES = """
[[traffic]]
group = "calls"
list = "flows.csv"
path = "shortest"
process = "constant"
rate = "1 Mbps"
size = "1028 B"
"""


def packets_of(run, group):
    """Return time in ps, event and size of each datagram of a group."""
    table = run["packets"]
    return [
        (int(at), event, int(size))
        for at, event, size, flow in zip(table["time_ps"], table["event"], table["bytes"], table["flow"], strict=True)
        if flow.startswith(group)
    ]


def test_udp_row_is_sent_in_full_datagrams_and_a_rest(tmp_path):
    """2500 B are 1000 + 1000 + 500 B of data behind headers of 28 B, every 1028 B / 1 Mbps = 8.224 ms.

    A link of 10 Mbps and 1 ms takes 1 ms + 822.4 us for 1028 B, 1 ms + 422.4 us for 528 B, and there are two.
    """
    world = WORLD.replace(WORLD[WORLD.index("[[flows]]") : WORLD.index("[[observe]]")], SOURCES)
    (tmp_path / "world.toml").write_text(world)
    (tmp_path / "flows.csv").write_text("time (ms),from,to,bytes,protocol\n100,A,C,2500,udp\n")
    run = load(tmp_path / "world.toml").run(seed=1)
    us = 10**6
    starts = [100_000_000_000 + at * 8_224 * us for at in range(3)]
    sizes = [1028, 1028, 528]
    sent = [(at, "sent", size) for at, size in zip(starts, sizes, strict=True)]
    delay = {1028: 2 * (1_000 * us + 822_400_000), 528: 2 * (1_000 * us + 422_400_000)}
    arrived = [(at + delay[size], "arrived", size) for at, size in zip(starts, sizes, strict=True)]
    found = [row for row in packets_of(run, "calls/A-C/0") if row[1] in ("sent", "arrived")]
    assert sorted(found) == sorted(sent + arrived)


def test_capture_with_udp_is_a_list_and_a_run_of_it_is_that_capture(optcp, tmp_path, monkeypatch):
    """A and B of the capture are nodes A and C. The replies have 5 and 1500 B in two flows of ports."""
    monkeypatch.chdir(tmp_path)
    datagrams = [
        (101.75, ethernet(ip(B, A, udp(5, (5353, 53))))),
        (102.0, ethernet(ip(B, A, udp(700, (9, 10))))),
        (102.5, ethernet(ip(B, A, udp(800, (9, 10))))),
    ]
    (tmp_path / "a.pcap").write_bytes(capture(dpkt.pcap.Writer, sorted(PACKETS + datagrams)))
    (tmp_path / "names.csv").write_text(f"{A},A\n{B},C\n")
    assert optcp("flows", "a.pcap", "--names", "names.csv", "--out", "flows.csv")[0] == 0
    written = (tmp_path / "flows.csv").read_text()
    assert written == (
        "time (s),from,to,bytes,protocol\n0,A,C,2000,tcp\n0.75,C,A,1448,tcp\n1,A,C,500,udp\n1.75,C,A,5,udp\n"
        "2,C,A,1500,udp\n3,A,C,10,tcp\n"
    )
    (tmp_path / "world.toml").write_text(WORLD + SOURCES)
    assert optcp("run", "world.toml", "--runs", "1", "--out", "out")[0] == 0
    assert optcp("export", "out", "--format", "pcapng")[0] == 0
    (captured,) = (tmp_path / "out").rglob("*senders.pcapng")
    assert optcp("flows", str(captured), "--absolute", "--protocol", "udp", "--out", "again.csv")[0] == 0
    assert [line for line in written.splitlines() if "udp" in line] == (tmp_path / "again.csv").read_text().split()[2:]


def test_connections_of_htsim_are_flows(tmp_path):
    file = tmp_path / "bidir.cm"
    file.write_text("Nodes 16\nConnections 3\n# two\n0->13 id 1 start 5000 size 2000000\n13->0 start 0 size 7 prio 3\n")
    found = read(file)
    assert found.flows == [Flow(0, "13", "0", 7), Flow(5000, "0", "13", 2000000)]
    assert found.notes == ("the header states 3 connections, not 2",)


def test_flow_file_of_hpcc_is_read(tmp_path):
    file = tmp_path / "flow.txt"
    file.write_text("2\n2 1 3 100 200000000 2\n3 1 3 100 5000 0.000000125\n")
    assert read(file).flows == [Flow(125_000, "3", "1", 5000), Flow(2 * S, "2", "1", 200_000_000)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Nodes 2\nConnections 1\n0->2 start 0 size 5\n", "line 3: node 2 of 2 nodes, which are numbered from 0"),
        ("Nodes 2\nConnections 1\n0->1 start 0 size 0\n", "line 3: size 0 is a flow without end in htsim"),
        ("Nodes 2\nConnections 1\n0->1 id 1 trigger 1 size 5\n", "triggers are not read"),
        ("Nodes 2\nConnections 1\n0->1 size 5\n", "line 3: no `start`"),
        ("Nodes 2\nConnections 1\n0->1 start 0 bytes 5\n", "line 3: unknown key `bytes`"),
        ("2\n2 1 3 100 5 2\n2 1 3 100 5\n", "line 3: expected source, destination, priority group, port, size, start"),
        ("2\n2 1 3 100 5 -2\n", "line 2: start: expected a time from 0 to 106 days, found `-2` seconds"),
        ("hello\n", "not a file with flows; expected one of: pcap, pcapng, htsim connection matrix, ns-3 flow file"),
    ],
)
def test_message_names_the_line_of_a_connection_list(text, says, tmp_path):
    file = tmp_path / "flows"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read(file)
    assert str(file) in str(caught.value)
    assert says in str(caught.value)


def test_list_has_columns_in_any_order_and_groups():
    found = lists.read("a.tsv", b"bytes\tto\tfrom\tgroup\ttime (us)\n5\tB\tA\tweb\t0.5\n6\tA\tB\tB\t1e3\n")
    assert found == (["A", "B", "web"], [2, 3], [500_000, 10**9], [0, 1], [1, 0], [5, 6], [2, 1], [])


def test_protocol_of_a_row_is_tcp_unless_udp_is_written():
    found = lists.read("a.csv", b"time,from,to,bytes,protocol\n0,A,B,5,UDP\n0,A,B,5,\n0,A,B,5,tcp\n")
    assert found.udp == [True, False, False]
    found = lists.read("a.csv", b"time,from,to,bytes,protocol\n0,A,B,5,\n0,A,B,5,tcp\n")
    assert found.udp == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time,form,to,bytes\n", "`a.csv`, line 1: unknown column `form`; did you mean 'from'?"),
        ("time,from,to\n0,A,B\n", "`a.csv`, line 1: no column `bytes`"),
        ("time (h),from,to,bytes\n", "column `time (h)`: only `time` has a unit, one of s, ms, us, ns, ps"),
        ("time,from,to,bytes,bytes\n", "`a.csv`, line 1: two columns `bytes`"),
        ("time,from,to,bytes\n1,A,B\n", "`a.csv`, line 2: 3 fields, and 4 columns in the first line"),
        ("time,from,to,bytes\n1 ms,A,B,5\n", "line 2: column `time`: expected a time in seconds such as `0.25`"),
        ("time,from,to,bytes\n1,A,B,5 kB\n", "line 2: column `bytes`: expected a whole number, found `5 kB`"),
        ("time,from,to,bytes\n1,A,,5\n", "line 2: column `to`: expected a name, found nothing"),
        (
            "time,from,to,bytes,protocol\n1,A,B,5,sctp\n",
            "line 2: column `protocol`: expected `tcp` or `udp`, found `sctp`",
        ),
        ("", "`a.csv`, line 1: no column `time`"),
    ],
)
def test_message_names_line_and_column_of_a_list(text, says):
    with pytest.raises(InputError) as caught:
        lists.read("a.csv", text.encode())
    assert says in str(caught.value)


def parquet_of(columns, **options):
    """Return the bytes of a Parquet file of columns."""
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(columns), stream, **options)
    return stream.getvalue()


def test_parquet_list_is_the_csv_list(tmp_path):
    text = "time (ms),from,to,bytes,group\n" + "".join(
        f"{at / 8},A,n{at % 3},{at + 1},g{at % 2}\n" for at in range(100)
    )
    places = range(100)
    columns = {
        "group": pa.array([f"g{at % 2}" for at in places]).dictionary_encode(),
        "bytes": pa.array([at + 1 for at in places], pa.uint32()),
        "to": [f"n{at % 3}" for at in places],
        "from": ["A"] * 100,
        "time (ms)": [at / 8 for at in places],
    }
    expected = lists.read("a.csv", text.encode())
    # Row 1 of a Parquet file is line 2 of a CSV file, whose first line has the names.
    found = lists.read("A.PARQUET", parquet_of(columns, row_group_size=7, compression="zstd"))
    assert found.lines == [line - 1 for line in expected.lines]
    assert found._replace(lines=expected.lines) == expected


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"bytes": [1, 2.5]}, "`a.parquet`, row 1: column `bytes`: expected a whole number, found `1.0`"),
        ({"to": ["B", None]}, "`a.parquet`, row 2: column `to`: expected a name, found nothing"),
        ({"time": [0.0, -1.0]}, "`a.parquet`, row 2: column `time`: expected a time from 0 to 106 days, found `-1.0`"),
        ({"time": [[0], [1]]}, "`a.parquet`, column `time`: expected numbers or texts, found list"),
        ({"protocol": ["tcp", "sctp"]}, "`a.parquet`, row 2: column `protocol`: expected `tcp` or `udp`"),
        ({"size": [1, 2]}, "`a.parquet`, names of columns: unknown column `size`"),
    ],
)
def test_message_names_row_and_column_of_a_parquet_list(change, says):
    columns = {"time": [0, 1], "from": ["A", "A"], "to": ["B", "B"], "bytes": [1, 2]}
    with pytest.raises(InputError) as caught:
        lists.read("a.parquet", parquet_of(columns | change))
    assert says in str(caught.value)


def test_damaged_parquet_list_is_refused():
    whole_file = parquet_of({"time": [0], "from": ["A"], "to": ["B"], "bytes": [1]})
    for content in (b"", b"time,from,to,bytes\n", whole_file[:-9]):
        with pytest.raises(InputError, match=r"`a\.parquet`, not a Parquet file"):
            lists.read("a.parquet", content)


def test_scenario_names_the_row_of_a_parquet_list(tmp_path):
    (tmp_path / "flows.parquet").write_bytes(
        parquet_of({"time": [0, 1], "from": ["A", "A"], "to": ["B", "D"], "bytes": [1, 2]})
    )
    world = tmp_path / "world.toml"
    world.write_text(WORLD.replace("flows.csv", "flows.parquet"), encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"`flows.parquet`, row 2: .*`D`"):
        load(world)


def test_scenario_with_a_parquet_list_is_the_same_scenario(tmp_path):
    (tmp_path / "flows.csv").write_text(ROWS)
    columns = list(zip(*(line.split(",") for line in ROWS.splitlines()[1:]), strict=True))
    times, sources, destinations, sizes = columns
    listed = {"time (ms)": list(map(float, times)), "from": sources, "to": destinations, "bytes": list(map(int, sizes))}
    (tmp_path / "flows.parquet").write_bytes(parquet_of(listed))
    digests = set()
    for name in ("flows.csv", "flows.parquet"):
        (tmp_path / "world.toml").write_text(WORLD.replace("flows.csv", name), encoding="utf-8")
        world = load(tmp_path / "world.toml")
        digests.add(world.run(seed=1, digest=True).records_sha256)
    assert len(digests) == 1


def test_other_suffix_names_the_command_that_reads_captures():
    with pytest.raises(InputError, match=r"`optcp flows FILE --out LIST.csv` reads captures"):
        lists.read("a.pcap", b"")


def test_times_are_rounded_to_picoseconds():
    assert picoseconds("0.0000000000015", 10**12, "", "seconds") == 2
    assert picoseconds("0.0000000000025", 10**12, "", "seconds") == 2
    with pytest.raises(ValueError, match="from 0 to 106 days"):
        picoseconds("1e9999", 10**12, "", "seconds")
    with pytest.raises(ValueError, match="expected a whole number"):
        whole("1" * 19, "")
