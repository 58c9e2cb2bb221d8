"""Linux in recorded set-ups: the recordings, the link that made them, and the differences of OpTCP on the page."""

import json
import struct
from pathlib import Path

import pytest

import kernel_runs
from link_program import NEEDS_CC, packet, running_link
from optcp_papers.evidence import kernel, outside, page
from optcp_papers.evidence.kernel_worlds import CONTROLS, MSS_BYTES, worlds

ROOT = Path(__file__).parents[2]
STORED = ROOT / "docs" / "details" / page.FOLDER
AIMS = {"completion (s)": 0.05, "first loss (s)": 0.05, "retransmissions": 0.10, "first ssthresh": 0}
"""Maximum deviation of a figure from the kernel's range."""


@pytest.fixture(scope="module")
def result():
    return {read_result.experiment: read_result for read_result in page.read_results(STORED)}["kernel"]


def test_every_world_is_recorded_with_each_control_over_a_link_in_time():
    runs = kernel.recorded()["runs"]
    assert list(runs) == list(worlds())
    for name, world in worlds().items():
        assert list(runs[name]) == list(CONTROLS), name
        for done in runs[name].values():
            assert len(done) >= kernel_runs.REPETITIONS, name
            for run in done:
                assert len(run) == len(world.flows), name
                mean_us, latest_us = run[0]["late_us"]
                assert mean_us <= 1e6 * kernel_runs.LATE_S
                assert latest_us <= 1e6 * kernel_runs.LATEST_S


def test_every_world_and_control_has_its_rows(result):
    expected = {
        tuple(kernel.case(world, name, number, control).items())
        for name, world in worlds().items()
        for number in range(len(world.flows))
        for control in kernel.controls(world)
    }
    assert {tuple(row.key.items())[:-1] for row in result.rows} == expected
    completions = [row for row in result.rows if row.key["quantity"] == "completion (s)"]
    assert len(completions) == len(expected)


def test_values_outside_target_match_snapshot(result, snapshot):
    """The snapshot is renewed with the page; figures missing here agree with the kernel."""
    misses = []
    for row in result.rows:
        (beside,) = row.outside
        low, high = outside.printed_range(beside.text)
        share = AIMS.get(row.key["quantity"], float("inf"))
        if not low * (1 - share) <= row.value <= high * (1 + share):
            misses.append(f"{' '.join(row.key.values())}: {row.value:g}, kernel {beside.text}")
    assert "\n".join(misses) == snapshot


@pytest.mark.parametrize("name", worlds())
def test_run_matches_stored_run(result, name):
    world = worlds()[name]
    stored = [cell for cell in result.provenance["cells"] if f"title={name}" in cell["set"]]
    ours = [kernel.scenario(world, control).run(seed=1).metrics_sha256 for control in kernel.controls(world)]
    assert ours == [cell["metrics_sha256"] for cell in stored]


@NEEDS_CC
def test_the_link_delays_loses_by_name_and_fills_its_queue(tmp_path):
    """120 kb/s, so a segment takes (40 + 1448) * 8 / 120 = 99.2 ms; two packets in the queue."""
    words = [120_000, 2, "delay", 0, 20_000_000, 10_000_000, "lost", 0, 1, 1]
    with running_link(tmp_path, *words) as (link, sender, receiver):
        sender.send(packet(40000, 9000, 999, flags=2))
        assert len(receiver.recv(2048)) == 40
        for segment in (0, 1, 2, 3, 1):
            sender.send(packet(40000, 9000, 1000 + MSS_BYTES * segment, payload=MSS_BYTES))
        # The queue holds segments 0 and 2; the retransmission of 1 and segment 3 find it full.
        got = [receiver.recv(2048) for _ in range(2)]
        assert [struct.unpack(">I", item[24:28])[0] - 1000 for item in got] == [0, 2 * MSS_BYTES]
        receiver.send(packet(9000, 40000, 0, acknowledged=1000 + MSS_BYTES))
        assert len(sender.recv(2048)) == 40
        told, _ = link.communicate()
    passed, (packets, _, _) = kernel_runs.parse_link_output(told)
    data, acks = passed[0]["data"], passed[0]["ack"]
    assert [item[1:] for item in data] == [[-1, 1, 0], [0, 1, 0], [1, 1, 1], [2, 1, 0], [3, 1, 2], [1, 2, 2]]
    assert [acked for _, acked in acks] == [MSS_BYTES]
    assert packets == 4
    # Two consecutive segments, 20 ms to the receiver and 10 ms back.
    assert acks[0][0] >= data[1][0] + 2 * 99_200_000 + 30_000_000


def test_a_flow_is_measured_from_its_first_data():
    """By hand: two data segments at 1 s, the second is lost and retransmitted at 1.5 s; three ACKs."""
    mss = MSS_BYTES
    data = [[0, -1, 1, 0], [1e9, 0, 1, 0], [1e9, 1, 1, 2], [1.5e9, 1, 2, 0]]
    acks = [[0.9e9, 0], [1.2e9, mss], [1.7e9, 2 * mss], [1.8e9, 2 * mss]]
    rows = [[1.1, 0, 10, 2**31 - 1, 0], [1.3, 3, 5, 7, mss], [1.6, 3, 6, 7, mss], [1.75, 0, 7, 9, 2 * mss]]
    assert kernel_runs.measured(rows, {"data": data, "ack": acks}, 2, step=0.25) == {
        "begin_s": 1.0,
        "completion_s": 0.7,
        "first_loss_s": 0.0,
        "lost": 1,
        "retransmissions": 1,
        "retransmitted_s": [0.5, 0.5],
        "stall_s": [0.2, 0.7],
        "acks": 3,
        "ssthresh": [7, 9],
        "maximum_cwnd": 10,
        "last_cwnd": 7,
        "cwnd": [10, 5],
        "acked": [0, 1],
    }


@pytest.mark.parametrize(
    ("user", "device", "asked", "said"),
    [
        (1000, True, [], "recording needs root"),
        (0, False, [], "recording needs"),
        (0, True, ["no-los"], "did you mean 'no-loss'"),
    ],
)
def test_unsuitable_machine_has_a_message(monkeypatch, tmp_path, capsys, user, device, asked, said):
    monkeypatch.setattr(kernel_runs.os, "geteuid", lambda: user)
    monkeypatch.setattr(kernel_runs, "TUN", tmp_path if device else tmp_path / "none")
    monkeypatch.setattr(kernel_runs, "PROGRAMS", ())
    monkeypatch.setattr(kernel_runs, "available", lambda: CONTROLS)
    with pytest.raises(SystemExit) as stopped:
        kernel_runs.check_machine("kernel", asked)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_the_records_are_small():
    assert kernel.RUNS.stat().st_size < 500_000
    assert json.loads(kernel.RUNS.read_text(encoding="utf-8"))["kernel"].startswith("Linux 6.")
