"""`optcp export --format qlog`: the CDDL of the drafts, scenarios worked by hand, and the tables of runs."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from test_export import table_of
from test_timelines import WORLD

from conftest import command_in
from optcp.scenarios.shipped import find
from studies import study_in

DATA = {
    "recovery:parameters_set": "RecoveryParametersSet",
    "recovery:packet_lost": "RecoveryPacketLost",
    "recovery:loss_timer_updated": "RecoveryLossTimerUpdated",
    "recovery:congestion_state_updated": "RecoveryCongestionStateUpdated",
    "recovery:metrics_updated": "RecoveryMetricsUpdated",
    "transport:packet_sent": "TransportPacketSent",
    "transport:packet_received": "TransportPacketReceived",
    "simulation:marker": "SimulationMarker",
}
"""Types of the data of events (quic-events, sections 4 to 6; main-schema, section 4.4.2)."""
FRAMES = {"stream": "StreamFrame", "crypto": "CryptoFrame", "ack": "AckFrame"}

# A packet of 1000 B takes 1 ms at 8 Mb/s and 9 ms on the way.
QUIC = """
title = "a lost packet of QUIC"
stop = "3 s"
[tcp.http3]
profile = "quic"
mss = "937 B"
[[nodes]]
names = ["A", "B"]
[[links]]
chain = ["A", "B"]
rate = "8 Mbps"
delay = "9 ms"
queue = "50 packets"
[[losses]]
link = ["A", "B"]
flows = "one"
segments = [LOST]
[[flows]]
group = "one"
path = ["A", "B"]
tcp = "http3"
size = "8 segments"
start = "10 ms"
[[observe]]
name = "seen"
kind = "packets"
[[observe]]
name = "windows"
kind = "tcp"
"""


def records(path):
    """Return header and events of a JSON text sequence (RFC 7464); times as decimal numbers."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("\x1e")
    parts = text[1:].split("\x1e")
    assert all(part.endswith("\n") for part in parts)
    header, *events = (json.loads(part, parse_float=Decimal) for part in parts)
    return header, events


def exported(study):
    done = command_in(study.parent, "export", study.name, "--format", "qlog")
    return [study.parent / line for line in done.stdout.splitlines()]


@pytest.fixture
def log(tmp_path):
    """Return a function that runs a scenario and returns the only log."""

    def run(world, name="world"):
        (tmp_path / f"{name}.toml").write_text(world, encoding="utf-8")
        (path,) = exported(study_in(tmp_path, f"{name}.toml", out=name))
        return path

    return run


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """Return the log of a run with failure, switchover and full queues, and the study."""
    place = tmp_path_factory.mktemp("busy")
    study = study_in(place, str(find("single-failure")))
    (path,) = exported(study)
    return path, study


class Drafts:
    """The fields of both drafts that logs have, checked by an independent validator."""

    def __init__(self):
        self._pycddl = pytest.importorskip("pycddl")
        self._cbor = pytest.importorskip("cbor2")
        self._text = (Path(__file__).parent / "qlog.cddl").read_text(encoding="utf-8")
        self._rules = {}

    def check(self, rule, value):
        """Raise an exception if a value does not match a rule."""
        if rule not in self._rules:
            self._rules[rule] = self._pycddl.Schema(f"checked = {rule}\n{self._text}")
        self._rules[rule].validate_cbor(self._cbor.dumps(value))

    def refuses(self, rule, value):
        """Whether a value does not match a rule."""
        with pytest.raises(self._pycddl.ValidationError):
            self.check(rule, value)
        return True


@pytest.fixture(scope="module")
def drafts():
    return Drafts()


def checked(drafts, path):
    """Check each record of a log; return how many events each type has."""
    header, *events = (json.loads(part) for part in path.read_text(encoding="utf-8")[1:].split("\x1e"))
    drafts.check("QlogFileSeq", header)
    for event in events:
        drafts.check("Event", event)
        drafts.check(DATA[event["name"]], event["data"])
        for frame in event["data"].get("frames", ()):
            drafts.check(FRAMES[frame["frame_type"]], frame)
    return Counter(event["name"] for event in events)


def test_records_match_the_drafts(log, drafts):
    assert set(checked(drafts, log(WORLD))) == set(DATA)
    never = {"recovery:packet_lost"}
    assert set(checked(drafts, log(QUIC.replace("LOST", "7"), "quic"))) == set(DATA) - never


def test_validator_refuses_what_the_drafts_refuse(drafts):
    header = {"packet_type": "1RTT", "packet_number": 0}
    drafts.check("TransportPacketSent", {"header": header})
    assert drafts.refuses("TransportPacketSent", {})
    assert drafts.refuses("TransportPacketSent", {"header": header | {"packet_type": "data"}})
    assert drafts.refuses("TransportPacketSent", {"header": header | {"packet_number": "0"}})
    assert drafts.refuses("TransportPacketSent", {"header": header, "trigger": "timeout"})
    assert drafts.refuses("RecoveryMetricsUpdated", {"congestion_window": 0.5})
    assert drafts.refuses("AckFrame", {"frame_type": "ack", "acked_ranges": []})
    assert drafts.refuses("Event", {"name": "simulation:marker", "data": {}})


def test_reader_of_version_0_3_accepts_the_file(busy):
    """The conditions of qvis: textsequencejsontoqlog.ts, QlogLoaderV2.ts and QlogSchema02.ts of its repository."""
    path, study = busy
    assert path.suffix == ".sqlog"
    header, events = records(path)
    # main-schema section 3: both keys are in the first 256 bytes.
    assert path.read_bytes()[:256].count(b'"qlog_') == 2
    assert (header["qlog_version"], header["qlog_format"]) == ("0.3", "JSON-SEQ")
    assert header["trace"]["vantage_point"]["type"] == "client"
    assert header["trace"]["common_fields"] == {
        "time_format": "relative",
        "reference_time": 0,
        "protocol_type": ["TCP"],
    }
    assert header["summary"]["seed"] == 1
    # A file is split into connections if its first event has a group; each then needs one.
    assert {event["group_id"] for event in events} == {row["flow"] for row in table_of(study, "packets")}
    times = [event["time"] for event in events]
    assert times == sorted(times)


def summary(events):
    """Return time, name without category, and the characteristic values of each event of packets and timers."""
    for event in events:
        name, data = event["name"].partition(":")[2], event["data"]
        if name in ("packet_sent", "packet_lost"):
            offset = [frame["offset"] for frame in data.get("frames", ())]
            yield event["time"], name, data["header"]["packet_number"], *offset, data.get("trigger")
        elif name == "packet_received":
            yield event["time"], name, data["frames"][0].get("acked_ranges")
        elif name in ("marker", "loss_timer_updated"):
            yield event["time"], name, data.get("message")


def test_tcp_worked_by_hand(log):
    """The times are explained in `test_timelines`. Both segments are repaired in the phase of loss."""
    _, events = records(log(WORLD))
    assert list(summary(events)) == [
        (Decimal("10.0"), "packet_sent", 0, 0, None),
        (Decimal("10.0"), "packet_sent", 1, 1000, None),
        (Decimal("20.5"), "marker", "segment 1 dropped at A->B (lost-in-flight)"),
        (Decimal("20.5"), "marker", "ACK 1 dropped at B->A (lost-in-flight)"),
        (Decimal("1010.0"), "loss_timer_updated", None),
        (Decimal("1010.0"), "packet_lost", 0, "pto_expired"),
        (Decimal("1010.0"), "packet_sent", 2, 0, "retransmit_timeout"),
        (Decimal("1029.1"), "packet_received", [[2]]),
        (Decimal("1029.1"), "packet_lost", 1, "pto_expired"),
        (Decimal("1029.1"), "packet_sent", 3, 1000, "retransmit_timeout"),
        (Decimal("1029.1"), "packet_sent", 4, 2000, None),
        (Decimal("1048.2"), "packet_received", [[3]]),
        (Decimal("1048.2"), "packet_sent", 5, 3000, None),
        (Decimal("1049.2"), "packet_received", [[4]]),
        (Decimal("1067.3"), "packet_received", [[5]]),
    ]
    states = [event["data"] for event in events if event["name"] == "recovery:congestion_state_updated"]
    assert states == [
        {"new": "slow_start"},
        {"old": "slow_start", "new": "loss"},
        {"old": "loss", "new": "congestion_avoidance"},
    ]
    parameters, *_ = (event["data"] for event in events)
    assert parameters == {"timer_granularity": 1, "max_datagram_size": 1000, "initial_congestion_window": 2000}


def quic(log, lost):
    """Return the events of eight packets, 0 to 7, of which one is lost, without the times of ACKs."""
    _, events = records(log(QUIC.replace("LOST", str(lost))))
    return events, [one for one in summary(events) if one[1] != "packet_received"]


def test_quic_packet_threshold_worked_by_hand(log):
    """Packet 2 is lost. It counts as lost when packet 5 is acknowledged (RFC 9002 section 6.1.1)."""
    events, told = quic(log, 2)
    (at,) = (time for time, name, *_ in told if name == "packet_lost")
    assert [one[1:] for one in told] == [
        *(("packet_sent", number, number * 937, None) for number in range(8)),
        ("marker", "segment 2 dropped at A->B (scripted)"),
        ("packet_lost", 2, None),
        ("packet_sent", 8, 2 * 937, None),
    ]
    acks = [(one[0], one[2]) for one in summary(events) if one[1] == "packet_received"]
    before = [ranges for time, ranges in acks if time < at]
    (declared,) = (ranges for time, ranges in acks if time == at)
    # The receiver acknowledges packet 3 at once, since a packet is missing, and then each second packet.
    assert before == [[[0, 1]], [[3], [0, 1]]]
    assert declared == [[3, 5], [0, 1]]
    assert acks[-1][1] == [[3, 8], [0, 1]]


def test_quic_probe_is_no_loss(log):
    """Packet 7, the last one, is lost: only a probe timeout repairs it (RFC 9002 section 6.2.4)."""
    events, told = quic(log, 7)
    assert [one[1:] for one in told[8:]] == [
        ("marker", "segment 7 dropped at A->B (scripted)"),
        ("loss_timer_updated", None),
        ("packet_sent", 8, 7 * 937, "pto_probe"),
    ]
    assert events[0]["data"]["reordering_threshold"] == 3
    assert told[-1][0] == told[-2][0]


def test_counts_are_those_of_the_tables(busy):
    path, study = busy
    _, events = records(path)
    rows = table_of(study, "packets")
    table = Counter(row["event"] for row in rows)
    names = Counter(event["name"].partition(":")[2] for event in events)
    assert names["packet_sent"] == table["sent"] + table["resent"] > 10_000
    assert names["packet_lost"] == table["resent"] > 50
    assert names["packet_received"] == table["acked"]
    assert names["marker"] == table["dropped"] > 50
    assert names["parameters_set"] == 3
    windows = table_of(study, "tcp")
    last = {row["flow"]: row["timeouts"] for row in windows}
    assert names["loss_timer_updated"] == sum(last.values()) > 0
    # Numbers of packets count up by one; each is lost at most once, and lost or acknowledged after it was sent.
    for flow in last:
        sent, gone = 0, set()
        for event in events:
            if event["group_id"] != flow or "header" not in event["data"]:
                continue
            number = event["data"]["header"].get("packet_number")
            if event["name"] == "transport:packet_sent":
                assert number == sent
                sent += 1
            elif event["name"] == "recovery:packet_lost":
                assert number < sent
                assert number not in gone
                gone.add(number)
            else:
                for ends in event["data"]["frames"][0].get("acked_ranges", ()):
                    numbers = set(range(ends[0], ends[-1] + 1))
                    assert max(numbers) < sent
                    assert not gone & numbers
                    gone |= numbers


def test_windows_are_those_of_the_table(busy):
    path, study = busy
    _, events = records(path)
    found, rows = {}, {}
    for event in events:
        if event["name"] == "recovery:metrics_updated":
            found.setdefault(event["group_id"], {}).update(event["data"])
    for row in table_of(study, "tcp"):
        rows[row["flow"]] = row
    assert found == {
        flow: {
            "congestion_window": int(row["cwnd_bytes"]),
            "ssthresh": int(row["ssthresh_bytes"]),
            "packets_in_flight": row["flight_segments"],
            "bytes_in_flight": row["flight_segments"] * 1460,
        }
        for flow, row in rows.items()
    }


@pytest.mark.parametrize("kind", ["packets", "tcp"])
def test_missing_observation_is_named(command, tmp_path, kind):
    world = WORLD.replace(f'kind = "{kind}"', 'kind = "drops"')
    (tmp_path / "world.toml").write_text(world, encoding="utf-8")
    study_in(tmp_path, "world.toml")
    done = command("export", tmp_path / "out", "--format", "qlog", status=2)
    assert f'give the scenario [[observe]] with kind = "{kind}", and run it again' in done.stderr


def test_observation_that_begins_later_is_refused(command, tmp_path):
    world = WORLD.replace('kind = "packets"', 'kind = "packets"\nafter = "15 ms"')
    (tmp_path / "world.toml").write_text(world, encoding="utf-8")
    study_in(tmp_path, "world.toml")
    done = command("export", tmp_path / "out", "--format", "qlog", status=2)
    assert "packet numbers are unknown; remove its key `after`" in done.stderr
