"""Bundles in a row and failing lightpaths: settings, and evaluation of runs made by hand."""

import numpy as np
import pytest

from handmade import run
from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp_papers.lbas import failing, row, switch


def overtaken(kept):
    counts = np.full((2, 1, len(row.WAYS), 1), 7.0)
    counts[:, :, 0] = 0
    counts[0, :, 0] = kept
    axes = (Axis("profile", ("rfc",)), Axis("selection", tuple(row.WAYS)), Axis("bundles", ("2",)))
    return Cells(counts, axes, (1, 2))


@pytest.mark.parametrize(("kept", "expected"), [(0, True), (1, False)])
def test_one_overtaken_segment_refutes_the_order(kept, expected):
    (part,) = row.order(overtaken(kept))
    assert part.holds is expected
    assert part.text == f"rfc, 2 bundles, overtaken: anycast {kept}, fewest packets 14, round-robin 14"


def test_flows_enter_as_many_bundles_before_the_last_core():
    assert row.entering(1) == {"parameters.first": "C2", "flows.0.path": ["S", "C2", "C3", "D"]}
    assert row.entering(3)["flows.0.path"] == ["S", "C0", "C1", "C2", "C3", "D"]


def test_failures_are_two_seconds_apart_and_last_ten():
    assert failing.failures(0) == []
    assert failing.failures(2) == [
        {"link": "lightpath0", "at": "10 s", "repair": "20 s"},
        {"link": "lightpath1", "at": "12 s", "repair": "22 s"},
    ]


def test_failed_runs_count_from_the_first_failure():
    second = 10**12
    goodput = {
        "time_ps": np.array([5, 10, 11, 30]) * second,
        "bytes": np.array([9_000_000, 9_000_000, 1_452_000, 1_452_000]),
    }
    flows = {
        "lost_packets": np.array([3, 0, 4]),
        "timeouts": np.array([2, 0, 0]),
        "gap_ps": np.array([200, 100, 900]) * 10**9,
        "resent": np.array([10, 0, 10]),
        "needless": np.array([0, 0, 2]),
    }
    found = failing.of_run(run({"goodput": goodput, "outages": flows}))
    # 2000 segments in 20 s.
    assert found == pytest.approx([2 * 1_452_000 * 8 / 20 / 1e6, 7, 100 / 3, 200, 1, 0.1])


def test_both_core_nodes_are_switches():
    (left, right) = switch.voqs(1.5, 12_500)["switches"]
    assert left == {"node": "L", "cell": "64 B", "speed_up": 1.5, "queue": "12500 B", "fifo": False}
    assert right == {**left, "node": "R"}
