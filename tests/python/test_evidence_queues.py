"""Queue disciplines compared with recordings of ns-2, ns-3 and Linux: set-ups, metrics, and the page."""

from pathlib import Path

import numpy as np
import pytest

from optcp_papers.evidence import page, queue_measures, queue_worlds, queues

ROOT = Path(__file__).parents[2]
STORED = ROOT / "docs" / "details" / page.FOLDER
QUICK = [
    "RFC 8289, worked: codel 1.2",
    "ns-3.37, queues: pie 1.5",
    "Linux 6.1, queues: fifo 1.5",
    "Linux 6.1, queues: fq-codel three and a sparse one",
    "Linux 6.1, queues: dualpi2 classic 0.6 l4s 0.6",
    "Linux 6.1, queues: red cubic x2 ecn",
    "Linux 6.1, queues: step-40 dctcp x2",
    "ns-2.35, queues: drop-10",
    "Alizadeh et al. 2010, worked: 100M 10ms x1",
]


@pytest.fixture(scope="module")
def result():
    return {read_result.experiment: read_result for read_result in page.read_results(STORED)}["queues"]


def test_every_recorded_setup_is_run_or_excluded():
    names = set(queues.every())
    for source, part in ((queues.NS3, "cbr"), (queues.NS3, "dctcp"), (queues.LINUX, "udp"), (queues.LINUX, "tcp")):
        recorded = queue_worlds.recorded("ns3" if source is queues.NS3 else "linux")[part]
        left = {name for name in recorded if f"{source}: {name}" not in names}
        assert (
            left
            == {
                "cbr": {"pie-rate 1.5"},
                "dctcp": set(),
                "udp": {"prio", "drr"},
                "tcp": {f"dualpi2 dctcp x{many} cubic x{others}" for many in (1, 4) for others in (1, 4)},
            }[part]
        )
    assert {f"{queues.NS2}: {name}" for name in queue_worlds.recorded("ns2")["flows"]} < names


def test_every_kind_of_rows_has_one_tolerance_and_a_reason(result):
    assert {row.key["rows"] for row in result.rows} == {family.name for family in queues.FAMILIES}
    for family in queues.FAMILIES:
        assert f"`{family.name}`: {family.why}." in result.about[1]


def test_exact_rows_agree_except_head_drop(result):
    missed = [row.key for row in result.rows if row.key["rows"] == "exact" and row.outside[0].verdict != "agrees"]
    assert [(key["world"], key["quantity"]) for key in missed] == [("head-drop 1.5", queue_measures.SAME)]


def test_differing_rows_match_snapshot(result, snapshot):
    """The snapshot is renewed with the page."""
    lines = [
        f"{' | '.join(row.key.values())}: {row.value:g}, {row.outside[0].text}"
        for row in result.rows
        if row.outside[0].verdict == "differs"
    ]
    assert "\n".join(lines) == snapshot


@pytest.mark.parametrize("name", QUICK)
def test_run_matches_stored_run(result, name):
    (stored,) = [cell for cell in result.provenance["cells"] if f"title={name}" in cell["set"]]
    run = queues.every()[name].scenario().set("title", name).run(seed=1)
    assert run.metrics_sha256 == stored["metrics_sha256"]


def test_shares_are_max_min_fair():
    """By hand: demands of 0.008 and 0.2 are met, and the other two sources share the remaining 0.792 equally."""
    assert queues.max_min([1.0, 0.6, 0.2, 0.008]) == pytest.approx([0.396, 0.396, 0.2, 0.008])
    assert queues.max_min([0.2, 0.3]) == pytest.approx([0.2, 0.3])


def test_the_period_of_a_wave_is_found():
    assert queue_measures.period(np.sin(np.arange(4000) * 2 * np.pi / 125)) == 125
    assert queue_measures.period(np.ones(4000)) == 0


def test_numbers_of_lost_packets_are_compared_one_by_one():
    """Differences 4, 2, 1 are packets 3, 5, 6."""
    assert queue_measures.same([3, 5, 6], [4, 2, 1], 0) == 3
    assert queue_measures.same([2, 5], [4, 2, 1], 1) == 1
