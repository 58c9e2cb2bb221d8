"""Changes of Linux's flow labels in recorded set-ups: the recordings, and the table of docs/details/giving-up.md."""

from pathlib import Path

import pytest

import repathing_runs
from optcp_papers.evidence import repathing

PAGE = Path(__file__).parents[2] / "docs" / "details" / "giving-up.md"
SYN_ACK = "syn-reverse", "syn-both"
"""Set-ups in which the kernel's listener repeats the SYN-ACK by its own timer."""


def test_every_set_up_is_recorded():
    assert len(repathing.worlds()) >= 20
    assert list(repathing.recorded()) == list(repathing.KERNELS)
    for runs in repathing.recorded().values():
        assert list(runs) == list(repathing.worlds())
        assert all(len(done) >= repathing_runs.REPETITIONS for done in runs.values())


def test_first_labels_have_distinct_paths():
    for side in repathing.SIDES:
        assert len(set(repathing.nodes_of_labels()[side])) == repathing.LABELS


def test_changes_of_a_run_by_hand():
    """Segment 1 is lost, then its ACK. The second arrival of segment 1 changes the label of the ACKs."""
    data = [
        [0, 10, 0, repathing_runs.FORWARDED, repathing_runs.SYN, 1],
        [20, 30, 0, repathing_runs.FORWARDED, 0, 1],
        [1_000_000, 1_000_010, 0, repathing_runs.OUTAGE, 1, 1],
        [3_000_000, 3_000_010, 1, repathing_runs.FORWARDED, 1, 2],
        [5_000_000, 5_000_010, 2, repathing_runs.FORWARDED, 1, 3],
    ]
    acks = [
        [10, 0, repathing_runs.FORWARDED, repathing_runs.SYN],
        [30, 0, repathing_runs.FORWARDED, 1],
        [3_000_010, 0, repathing_runs.OUTAGE, 2],
        [5_000_010, 1, repathing_runs.FORWARDED, 2],
    ]
    assert repathing_runs.changes(data, acks) == {
        "data": [(2.0, 1, 2), (4.0, 1, 3)],
        "acks": [(4.0, 1, 3)],
    }


@pytest.mark.parametrize("kernel", repathing.KERNELS)
def test_nine_of_ten_changes_are_in_the_kernels_range(kernel):
    share = repathing.total(kernel)
    assert share.changes >= 100
    assert share.within >= 0.9 * share.changes


@pytest.mark.parametrize("kernel", repathing.KERNELS)
def test_receiver_repaths_at_the_kernels_duplicate(kernel):
    """The receiver's first change is at a recorded transmission, which is the only one in Linux 6.1.

    Near links are left out: there, the phase of the last ACK decides whether the first retransmission is a duplicate.
    """
    for name, world in repathing.worlds().items():
        if not name.startswith((*SYN_ACK, "near-")) and world.failed[1]:
            ours = [repathing.simulation(name, repathing.KERNELS[kernel], seed) for seed in (1, 2)]
            recorded, simulated = (
                {changes["acks"][0][2] if changes["acks"] else None for changes in runs}
                for runs in (repathing.recorded()[kernel][name], ours)
            )
            assert simulated <= recorded, name
            assert len(recorded) == 1 or kernel == "Linux 6.18", name


def test_page_has_the_table():
    text = PAGE.read_text(encoding="utf-8")
    assert text.split("<!-- kernel: begin -->\n")[1].split("<!-- kernel: end -->")[0] == repathing.table()
