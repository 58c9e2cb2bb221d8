"""Wireshark's analysis of captures, compared with the run."""

import shutil
import subprocess

import pytest

from optcp.study.done import StudyResult
from studies import study_in

pytestmark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed: no analysis to compare with"
)

WORLD = """
title = "a slow link with a short queue"
stop = "10 s"
[tcp.t]
profile = "PROFILE"
handshake = SHAKES
[[nodes]]
names = ["A", "R", "S", "B"]
[[links]]
chains = [["A", "R"], ["S", "B"]]
rate = "100 Mbps"
delay = "1 ms"
queue = "500 packets"
[[links]]
chain = ["R", "S"]
rate = "10 Mbps"
delay = "20 ms"
queue = "30 packets"
[[flows]]
group = "f"
path = ["A", "R", "S", "B"]
per_source = 2
tcp = "t"
start = "uniform(0 s, 1 s)"
[[observe]]
name = "p"
kind = "packets"
"""


def fields(path, display, *names):
    """Return fields of the frames that a display filter selects."""
    options = [word for name in names for word in ("-e", name)]
    command = ["tshark", "-r", path, "-Y", display, "-T", "fields", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.fixture
def captures(command, tmp_path):
    """Return a function that runs the scenario and returns its packets, and its captures by name ending."""

    def run_captures(profile, *, handshake):
        text = WORLD.replace("PROFILE", profile).replace("SHAKES", str(handshake).lower())
        (tmp_path / "world.toml").write_text(text, encoding="utf-8")
        study = study_in(tmp_path, "world.toml")
        paths = command("export", study, "--format", "pcapng").stdout.split()
        (run,) = StudyResult.open(study).runs(1)
        return run["p"], {path.rpartition("-")[2].removesuffix(".pcapng"): path for path in paths}

    return run_captures


@pytest.mark.parametrize("handshake", [False, True])
@pytest.mark.parametrize("profile", ["rfc", "linux-6"])
def test_every_retransmission_is_found_and_no_other_frame(captures, profile, handshake):
    packets, files = captures(profile, handshake=handshake)
    resent = int(packets.is_("event", "resent").sum())
    assert resent > 20
    said = len(fields(files["senders"], 'frame.comment == "sent again"', "frame.number"))
    named = "tcp.analysis.retransmission || tcp.analysis.out_of_order"
    found = {number for (number,) in fields(files["senders"], named, "frame.number")}
    assert {number for (number,) in fields(files["senders"], 'frame.comment == "sent again"', "frame.number")} == found
    assert said == resent
    assert fields(files["senders"], "_ws.malformed || tcp.checksum.status == 0", "frame.number") == []


def test_syns_say_what_the_scenario_has(captures):
    _, files = captures("linux-6", handshake=True)
    names = ("tcp.options.mss_val", "tcp.options.sack_perm", "tcp.options.wscale.shift", "tcp.options.timestamp.tsval")
    syns = fields(files["senders"], "tcp.flags.syn == 1", *names)
    assert len(syns) == 4
    for mss, permitted, shift, stamp in syns:
        # RFC 6691: 1500 bytes minus 40, even if timestamps take 12 bytes of the segment.
        assert (mss, bool(permitted), shift, stamp.isdigit()) == ("1460", True, "14", True)


def test_round_trips_by_timestamps_are_those_of_the_path(captures):
    """44 ms both ways with full queues of at most 30 packets, 37 ms: an ACK echoes the send time of its segment."""
    _, files = captures("linux-6", handshake=True)
    names = ("frame.time_relative", "tcp.options.timestamp.tsecr", "tcp.stream")
    acks = fields(files["senders"], "tcp.srcport == 5001 && tcp.len == 0 && tcp.flags.syn == 0", *names)
    starts = {
        stream: float(at)
        for at, stream in fields(files["senders"], "frame.number == 1", "frame.time_epoch", "tcp.stream")
    }
    first = next(iter(starts.values()))
    trips = [1000 * (first + float(at)) + 1 - int(echo) for at, echo, _ in acks]
    assert len(trips) > 1000
    assert min(trips) > 43
    ordered = sorted(trips)
    assert ordered[len(ordered) // 2] < 44 + 37 + 3


def test_packet_numbers_of_quic_are_no_sack_blocks(captures):
    packets, files = captures("quic", handshake=True)
    assert (~packets.is_("sack", "")).any()
    assert fields(files["senders"], "tcp.options.sack_le", "frame.number") == []
    assert fields(files["senders"], "_ws.malformed || tcp.checksum.status == 0", "frame.number") == []
