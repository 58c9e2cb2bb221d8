"""Linux after outages: the recordings, the link that made them, and the differences of OpTCP on the page."""

from pathlib import Path

import pytest

import kernel_runs
from link_program import NEEDS_CC, packet, running_link
from optcp_papers.evidence import kernel, outages, outside, page
from optcp_papers.evidence.kernel_worlds import CONTROLS, MSS_BYTES, worlds

ROOT = Path(__file__).parents[2]
STORED = ROOT / "docs" / "details" / page.FOLDER
WORLDS = worlds(outages.NAME)
FINE = outages.NAME_1000_HZ
REPETITIONS = 3
LATEST_US = 5
"""Maximum lateness of packets in simulated time: readings of the clock take 0.256 us each."""


@pytest.fixture(scope="module")
def result():
    return {read_result.experiment: read_result for read_result in page.read_results(STORED)}[outages.NAME]


def test_every_set_up_is_recorded_with_each_control():
    assert len(WORLDS) >= 40
    for name in WORLDS:
        for control in CONTROLS:
            assert len(outages.recorded(name, control)) >= REPETITIONS, (name, control)


def test_values_outside_the_kernels_range_match_snapshot(result, snapshot):
    """The snapshot is renewed with the page: times that miss the range by 2 %, counts that miss it by two."""
    misses = []
    for row in result.rows:
        (beside,) = row.outside
        low, high = outside.printed_range(beside.text)
        quantity = row.key["quantity"]
        allowed = 2 if quantity == "retransmissions" else 0.02 * high
        if quantity.startswith("cwnd"):
            allowed = max(2, 0.1 * high)
        if not low - allowed <= row.value <= high + allowed:
            misses.append(f"{' '.join(row.key.values())}: {row.value:g}, kernel {beside.text}")
    assert "\n".join(misses) == snapshot


def test_first_new_ack_is_near_the_kernels_in_nine_of_ten_cases(result):
    rows = [row for row in result.rows if row.key["quantity"] == "new ACK (s)"]
    assert len(rows) == len(WORLDS) * len(CONTROLS)
    ranges = [(row, *outside.printed_range(row.outside[0].text)) for row in rows]
    near = [low * 0.98 <= row.value <= high * 1.02 for row, low, high in ranges]
    assert sum(near) >= 0.9 * len(near)


@pytest.mark.parametrize("name", ["steady-300-ms", "acks-1-s", "backup-50-ms-and-return"])
def test_run_matches_stored_run(result, name):
    stored = [cell for cell in result.provenance["cells"] if f"title={name}" in cell["set"]]
    ours = [kernel.scenario(WORLDS[name], control).run(seed=1).metrics_sha256 for control in CONTROLS]
    assert ours == [cell["metrics_sha256"] for cell in stored]


@pytest.mark.parametrize(
    ("name", "control"),
    [
        # The timer wheel: an RTO of about 300 ms is up to 32 ms late.
        ("steady-300-ms", "cubic"),
        # Repeated RTOs of up to 64 ticks of lateness.
        ("steady-5-s", "reno"),
        # The probe is at most one RTO later than the oldest segment.
        ("far-300-ms", "reno"),
        # The ACK of a spurious retransmission echoes an old timestamp.
        ("acks-1-s", "reno"),
        ("slow-start-1-s", "reno"),
    ],
)
def test_each_rule_resumes_when_the_kernel_does(name, control):
    ours = [outages.simulated(kernel.scenario(WORLDS[name], control).run(seed=seed), WORLDS[name]) for seed in range(5)]
    theirs = [did.stall_s[1] for did in outages.recorded(name, control)]
    median = sorted(did.stall_s[1] for did in ours)[2]
    assert 0.98 * min(theirs) <= median <= 1.02 * max(theirs)


def test_every_set_up_at_1000_hz_is_recorded_in_time():
    for name in worlds(FINE):
        for control in CONTROLS:
            runs = kernel.recorded(outages.RUNS[FINE])["runs"][name][control]
            assert len(runs) >= REPETITIONS, (name, control)
            assert all(run["late_us"][1] < LATEST_US for (run,) in runs), (name, control)


@pytest.mark.parametrize(
    ("name", "control"),
    [
        # An RTO of 300 ms is on the second level of the wheel: at most 8 ms late.
        ("steady-300-ms", "cubic"),
        # RTOs of 300 and 600 ms: the second one is up to 64 ms late.
        ("steady-1-s", "cubic"),
        ("steady-3-s", "reno"),
        # `fq` paces CUBIC too.
        ("fq-300-ms", "cubic"),
        ("fq-3-s", "bbr"),
    ],
)
def test_linux_at_1000_hz_resumes_when_the_kernel_does(name, control):
    world = worlds(FINE)[name]
    ours = [outages.simulated(kernel.scenario(world, control).run(seed=seed), world).stall_s[1] for seed in range(5)]
    theirs = [did.stall_s[1] for did in outages.recorded(name, control, FINE)]
    assert 0.99 * min(theirs) <= sorted(ours)[2] <= 1.01 * max(theirs)


def test_fq_moves_the_first_loss_of_cubic_into_slow_start():
    """The kernel loses first at 0.2566 s with `fq`, at twice the rate. Without it, HyStart ends slow start first."""
    for name, first_s in (("fq-50-ms", 0.2566), ("steady-50-ms", 0.7474)):
        (run,) = kernel.recorded(outages.RUNS[FINE])["runs"][name]["cubic"][0]
        assert run["first_loss_s"] == pytest.approx(first_s, abs=1e-4)
        world = worlds(FINE)[name]
        ours = kernel.measured(kernel.scenario(world, "cubic").run(seed=1), "first", world)
        assert ours.first_loss_s == pytest.approx(first_s, rel=0.02)


@pytest.mark.parametrize(
    ("name", "control", "low", "high"),
    [
        # A partial ACK of an original undoes nothing while retransmissions are in flight: the kernel has 9 to 18.
        ("burst-overtakes", "cubic", 3, 18),
        # Duplicates count as delivered: without them the bandwidth stays, and 340 segments are retransmitted.
        ("delay-spike", "bbr", 1000, 2000),
    ],
)
def test_undone_recoveries_retransmit_about_as_much(name, control, low, high):
    world = worlds()[name]
    ours = kernel.measured(kernel.scenario(world, control).run(seed=2), "first", world).retransmissions
    theirs = [run.retransmissions for (run,) in kernel.repetitions(name, control)]
    assert low <= min(theirs)
    assert max(theirs) <= high
    assert low <= ours <= high


def test_outages_become_failures_of_one_direction_or_both():
    """`data` outages fail the way to the receiver, `acks` outages the way back."""
    world = WORLDS["steady-200-ms"]
    assert [(outage.start_s, outage.end_s, outage.direction) for outage in world.outages] == [(2.0, 2.2, "both")]
    failures = [kernel.failure(outage) for outage in WORLDS["data-50-ms"].outages + WORLDS["acks-50-ms"].outages]
    assert [item["link"] for item in failures] == [["bottleneck", "receiver"], ["receiver", "bottleneck"]]
    assert all(item["direction"] == "forward" for item in failures)


@NEEDS_CC
def test_the_recording_link_loses_packets_of_an_outage(tmp_path):
    """10 Mb/s, 100 ms: a segment sent at once is on the link until 0.1 s after the SYN, when it has failed already."""
    words = [10_000_000, 100, "delay", 0, 100_000_000, 1_000_000, "outage", 50_000_000, 10_000_000_000, 1]
    with running_link(tmp_path, *words) as (link, sender, receiver):
        sender.send(packet(40000, 9000, 999, flags=2))
        sender.send(packet(40000, 9000, 1000, payload=MSS_BYTES))
        # The other direction works.
        receiver.send(packet(9000, 40000, 0, acknowledged=1000))
        assert len(sender.recv(2048)) == 40
        told, _ = link.communicate()
    passed, (packets, _, _) = kernel_runs.parse_link_output(told)
    assert [item[1:] for item in passed[0]["data"]] == [[-1, 1, 3], [0, 1, 3]]
    assert packets == 1


def test_the_longest_stall_ends_after_the_failure():
    """By hand: gaps of 5, 1 and 3 s; the failure at 5.5 s excludes the first."""
    acks = [(5.0, 1), (5.5, 1), (6.0, 2), (9.0, 3)]
    assert kernel_runs.longest_stall(0.0, acks, failed=0.0) == (0.0, 5.0)
    assert kernel_runs.longest_stall(0.0, acks, failed=5.5) == (6.0, 9.0)
