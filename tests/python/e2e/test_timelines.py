"""`optcp export --format perfetto`, read with Perfetto's own classes: times worked by hand, and the tables of runs."""

import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from conftest import command_in
from optcp.errors import InputError
from optcp.export import files
from optcp.scenarios.shipped import find
from optcp.study.done import StudyResult
from studies import study_in

trace_pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
EVENT = trace_pb2.TrackEvent

# A segment of 1000 B takes 1 ms at 8 Mb/s and 9 ms on the way, an ACK of 100 B 0.1 ms and 9 ms.
WORLD = """
title = "a cut link"
stop = "2 s"
[tcp.small]
profile = "rfc"
mss = "1000 B"
header = "0 B"
ack_size = "100 B"
ack = "every-packet"
initial_window = "2 segments"
window_limit = "2 segments"
[[nodes]]
names = ["A", "B"]
[[links]]
chain = ["A", "B"]
rate = "8 Mbps"
delay = "9 ms"
queue = "50 packets"
[[failures]]
link = ["A", "B"]
at = "20.5 ms"
repair = "100 ms"
[[flows]]
group = "one"
path = ["A", "B"]
tcp = "small"
size = "4 segments"
start = "10 ms"
[[observe]]
name = "seen"
kind = "packets"
[[observe]]
name = "windows"
kind = "tcp"
[[observe]]
name = "stalls"
kind = "outages"
after = "15 ms"
[[observe]]
name = "queue"
kind = "queue"
interval = "1 ms"
[[observe]]
name = "ends"
kind = "completions"
"""


class Trace:
    """A trace as Perfetto's classes read it, after checks that hold for every trace."""

    def __init__(self, path):
        whole = trace_pb2.Trace.FromString(path.read_bytes())
        self.tracks, self.counters, self.events = {}, defaultdict(list), []
        self.slices = defaultdict(list)
        names, keys, latest, stacks = defaultdict(dict), defaultdict(dict), {}, defaultdict(list)
        self.losses, self.repairs = {}, defaultdict(list)
        for packet in whole.packet:
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                around = self.tracks[track.parent_uuid] if track.parent_uuid else ()
                assert track.uuid not in self.tracks
                self.tracks[track.uuid] = (*around, track.name)
                continue
            number, event = packet.trusted_packet_sequence_id, packet.track_event
            # Names are known only after the state of the sequence was cleared once.
            cleared = packet.sequence_flags & packet.SEQ_INCREMENTAL_STATE_CLEARED
            assert bool(cleared) == (number not in latest)
            assert packet.timestamp >= latest.get(number, 0)
            latest[number] = packet.timestamp
            names[number] |= {one.iid: one.name for one in packet.interned_data.event_names}
            keys[number] |= {one.iid: one.name for one in packet.interned_data.debug_annotation_names}
            path_of = self.tracks[event.track_uuid]
            name = names[number][event.name_iid] if event.name_iid else ""
            about = {}
            for one in event.debug_annotations:
                about[keys[number][one.name_iid]] = getattr(one, one.WhichOneof("value"))
            at = packet.timestamp
            for loss in event.flow_ids:
                assert loss not in self.losses
                self.losses[loss] = (at, name)
            for loss in event.terminating_flow_ids:
                self.repairs[loss].append((at, name))
            if event.type == EVENT.TYPE_INSTANT:
                self.events.append((at, path_of[-1], name, about))
            elif event.type == EVENT.TYPE_COUNTER:
                value = event.counter_value if event.HasField("counter_value") else event.double_counter_value
                self.counters[path_of].append((at, value))
            elif event.type == EVENT.TYPE_SLICE_BEGIN:
                stacks[path_of].append((at, name, about))
            else:
                start, name, about = stacks[path_of].pop()
                assert at >= start
                self.slices[path_of].append((start, at, name, about))
        assert not any(stacks.values())
        # Each arrow has two ends, and the repair is later.
        assert self.losses.keys() == self.repairs.keys()
        for loss, (at, _) in self.losses.items():
            ((repaired, _),) = self.repairs[loss]
            assert repaired > at
        assert len(set(self.tracks.values())) == len(self.tracks)

    def spans(self, *path):
        """Return start, end and name of the slices of a track."""
        return [one[:3] for one in self.slices[path]]


def exported(study, *options):
    done = command_in(study.parent, "export", study.name, "--format", "perfetto", *options)
    return [(study.parent / line.partition(" (")[0], line.partition(" (")[2]) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    place = tmp_path_factory.mktemp("cut")
    (place / "world.toml").write_text(WORLD, encoding="utf-8")
    ((path, remark),) = exported(study_in(place, "world.toml"))
    assert not remark
    assert path.parent == place / "out" / "export"
    return Trace(path)


FLOW = ("Flows", "one: A to B", "one/A/0")
LINK = ("Links", "A-B")


def test_slices_worked_by_hand(cut):
    assert cut.spans(*LINK) == [(20_500_000, 100_000_000, "down")]
    for packets in ("data", "ACKs"):
        assert cut.spans(*FLOW, f"path outage ({packets})") == [(20_500_000, 100_000_000, "path outage")]
    # The first segment arrives 10 ms after it was sent. The second one and the ACK are lost. The RTO is 1 s
    # (RFC 6298 section 2.1), and the ACK of the repeated first segment needs 19.1 ms. 10 ms later, the second one
    # arrives.
    assert cut.spans(*FLOW, "stall") == [(20_000_000, 1_039_100_000, "stall")]
    # The last segment leaves with the next ACK, 1029.1 + 19.1 ms, and needs 10 ms.
    assert cut.spans(*FLOW, "transfer") == [(10_000_000, 1_058_200_000, "transfer")]
    # The phase of loss ends with the ACK of the second segment; the last ACK comes 9.1 ms after the end.
    assert cut.spans(*FLOW, "phase") == [
        (10_000_000, 1_010_000_000, "slow-start"),
        (1_010_000_000, 1_048_200_000, "loss"),
        (1_048_200_000, 1_067_300_000, "avoidance"),
    ]


def test_counters_worked_by_hand(cut):
    # RFC 5681 section 3.1: after the RTO one segment, and a threshold of two; each ACK adds one in slow start.
    assert cut.counters[*FLOW, "cwnd"][:3] == [(10_000_000, 2000), (1_010_000_000, 1000), (1_029_100_000, 2000)]
    assert cut.counters[*FLOW, "ssthresh"] == [(1_010_000_000, 2000)]
    assert cut.counters[*FLOW, "flight"] == [(10_000_000, 2), (1_049_200_000, 1), (1_067_300_000, 0)]
    # Two segments from 10 ms on, one from 11 ms on; the value of an interval holds from its start.
    queue = dict(cut.counters[*LINK, "A->B", "queue, mean"])
    assert len(queue) == 2000
    assert [queue[at * 1_000_000] for at in (9, 10, 11, 12)] == [0, 2, 1, 0]


def test_events_worked_by_hand(cut):
    ends = [(at, name, about["seq"]) for at, track, name, about in cut.events if track == name != "RTO"]
    assert ends[:6] == [
        (10_000_000, "sent", 0),
        (10_000_000, "sent", 1),
        (20_000_000, "arrived", 0),
        (1_010_000_000, "retransmitted", 0),
        (1_020_000_000, "arrived", 0),
        (1_029_100_000, "ACK received", 1),
    ]
    assert [(at, about) for at, track, _, about in cut.events if track == "RTO"] == [(1_010_000_000, {"timeouts": 1})]
    lost = [(at, name, about["ack"]) for at, track, name, about in cut.events if track == "dropped"]
    assert lost == [(20_500_000, "dropped (lost-in-flight)", ack) for ack in (False, True)]


def test_arrow_leads_from_loss_to_retransmission(cut):
    # The first segment was not lost, so its retransmission has no arrow.
    assert list(cut.losses.values()) == [(20_500_000, "dropped (lost-in-flight)")]
    assert list(cut.repairs.values()) == [[(1_029_100_000, "retransmitted")]]


@pytest.fixture(scope="module")
def protected(tmp_path_factory):
    place = tmp_path_factory.mktemp("protected")
    study = study_in(place, str(find("single-failure")))
    ((path, remark),) = exported(study)
    assert remark == "without stalls (kind 'outages'))"
    done = StudyResult.open(study)
    return Trace(path), done.run(done.grid.branches[0], 1)


def test_protection_is_a_slice_from_switchover_to_reversion(protected):
    trace, _ = protected
    assert trace.spans("Links", "R2-R3") == [(4_000_000_000, 7_000_000_000, "down")]
    # The link fails at 4 s, and the switch delay is 50 ms. Repair is at 7 s, and the wait to restore 100 ms.
    backup = [(4_050_000_000, 7_100_000_000, "on backup")]
    assert trace.spans("Links", "R2-R3", "protection 0: data at R2") == backup
    assert trace.spans("Links", "R2-R3", "protection 0: acks at R3") == backup
    outage = [(4_000_000_000, 4_050_000_000, "path outage")]
    flows = {path[:-1] for path in trace.slices if path[-1] == "path outage (data)"}
    assert len(flows) == 2
    for flow in flows:
        assert trace.spans(*flow, "path outage (data)") == outage


def test_counts_are_those_of_the_tables(protected):
    trace, run = protected
    table = run["packets"]
    events = Counter(table.texts("event"))
    found = Counter((track, name) for _, track, name, _ in trace.events)
    assert found["sent", "sent"] == events["sent"] > 10_000
    assert found["retransmitted", "retransmitted"] == events["resent"] > 50
    assert found["ACK received", "ACK received"] == events["acked"]
    assert found["arrived", "arrived"] == events["arrived"]
    drops = table.where(event="dropped")
    reasons = Counter(drops.texts("reason"))
    assert {name: count for (track, name), count in found.items() if track == "dropped"} == {
        f"dropped ({reason})": count for reason, count in reasons.items()
    }
    assert {name: count for (track, name), count in found.items() if track == "drops"} == {
        f"dropped ({reason})": count for reason, count in run.drops.items()
    }
    assert found["RTO", "RTO"] == sum(
        max(run["tcp"].where(flow=flow).numbers("timeouts")) for flow in run["tcp"].distinct("flow")
    )
    # An arrow for each loss with a later retransmission, here searched in a plain loop.
    rows = list(zip(*(table[name].tolist() for name in ("event", "flow", "ack", "seq")), strict=True))
    again = {(flow, seq): row for row, (event, flow, _, seq) in enumerate(rows) if event == "resent"}
    repaired = sum(
        event == "dropped" and not ack and again.get((flow, seq), -1) > row
        for row, (event, flow, ack, seq) in enumerate(rows)
    )
    assert len(trace.losses) == repaired > 30


def test_values_of_intervals_are_those_of_the_tables(protected):
    trace, run = protected
    of_port = {path[2]: path[:3] for path in trace.counters if path[0] == "Links"}
    assert set(of_port) == set(run["queue"].distinct("port"))
    for port, track in of_port.items():
        queue = run["queue"].where(port=port)
        lengths = trace.counters[*track, "queue, maximum"]
        assert [value for _, value in lengths] == queue["max_packets"].tolist()
        assert [at + 20_000_000 for at, _ in lengths] == (queue["time_ps"] // 1000).tolist()
        rates = [value for _, value in trace.counters[*track, "throughput"]]
        assert rates == pytest.approx(run["load"].where(port=port)["bytes"] * 8 / 0.05)
    for group in run["goodput"].distinct("group"):
        rates = [value for _, value in trace.counters["Groups", group, "goodput"]]
        assert rates == pytest.approx(run["goodput"].where(group=group)["bytes"] * 8 / 0.1)


def test_scenario_without_observations_is_refused_with_the_kinds(command, tmp_path):
    (tmp_path / "world.toml").write_text(WORLD.partition("[[observe]]")[0], encoding="utf-8")
    study_in(tmp_path, "world.toml")
    done = command("export", tmp_path / "out", "--format", "perfetto", status=2)
    assert "[[observe]] with kind = " in done.stderr
    for kind in ("tcp", "packets", "outages", "queue"):
        assert f'"{kind}"' in done.stderr
    assert not list((tmp_path / "out").glob("export/*"))


def test_missing_library_is_named_with_its_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "perfetto", None)
    with pytest.raises(InputError, match=r"perfetto is not installed: pip install 'optcp\[perfetto\]'"):
        list(files(tmp_path, "perfetto"))


def test_unknown_format_is_refused_with_the_nearest(command, tmp_path):
    done = command("export", tmp_path, "--format", "perfeto", status=2)
    assert "unknown format 'perfeto'; did you mean 'perfetto'?" in done.stderr


def test_random_failures_are_reported_as_missing(tmp_path):
    world = WORLD.replace('at = "20.5 ms"\nrepair = "100 ms"', 'mtbf = "200 ms"\nmttr = "10 ms"')
    assert world != WORLD
    (tmp_path / "world.toml").write_text(world, encoding="utf-8")
    ((path, remark),) = exported(study_in(tmp_path, "world.toml"))
    assert remark == "random failures are not recorded, only the path outages that they cause)"
    trace = Trace(Path(path))
    assert not trace.spans(*LINK)
    assert trace.spans(*FLOW, "path outage (data)")
