"""Losses from contention: what is made of runs, against counts and curves worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from optcp.papers.obs import emergent
from optcp.papers.obs.emergent import Column
from optcp.study import RunData

PS = 1_000_000_000_000


def run():
    """A file of 20 MB in 40 s, 4 Mb/s: six bursts of data, of which the second, third and fifth are lost."""
    completions = {"time_ps": [41 * PS], "start_ps": [PS], "bytes": [20_000_000], "finished": [True]}
    series = {
        "completions": {name: np.array(values) for name, values in completions.items()},
        "bursts": {
            "ports": ["E->F", "F->E"],
            "port": np.array([0, 1, 0, 0, 1, 0, 0, 0], dtype=np.uint32),
            "segments": np.array([0, 0, 1, 44, 0, 9, 44, 10], dtype=np.uint32),
            "lost": np.array([False, True, True, True, False, False, True, False]),
        },
    }
    return RunData(1, "", None, "", {}, {}, None, [], None, 0.0, series)


def test_bursts_are_counted_by_direction_length_and_what_came_before():
    found = emergent.measure(run())
    assert found[Column.GOODPUT] == pytest.approx(4.0)
    assert found[Column.BURSTS : Column.SEGMENTS + 1] == [6, 3, 2, 1, 1, 5, 108]
    # Bursts, lost ones and segments: of 1, of 2 to 9, of 10 to 43, of 44 segments.
    assert found[Column.LENGTHS :] == [1, 1, 1, 1, 0, 9, 1, 0, 10, 2, 2, 88]


def test_bunching_is_the_share_after_a_loss_over_that_of_all():
    # One of three lost bursts is followed by a lost one; three of six are lost: 1/3 over 1/2.
    found = np.array([emergent.measure(run())] * 2)
    assert emergent.bunching(found).estimate == pytest.approx(2 / 3)
    assert emergent.ratio(found, Column.LOST, Column.BURSTS).estimate == pytest.approx(0.5)
    assert np.isinf(emergent.ratio(found[:1], Column.LOST, Column.BURSTS).high)


def test_goodput_between_steps_is_exact_where_the_time_of_a_file_is_a_cubic_of_the_losses():
    def time(step):
        return 40 + 10 * step + 2 * step**2 - step**3

    goodput = 1 / time(np.array([emergent.LADDER] * 5))
    steps = np.array([0.0, 0.3, 0.5, 1.7, 3.0])
    # Beyond the ladder its end is taken.
    expected = 1 / time(np.array([0.0, 0.3, 0.5, 1.7, 2.0]))
    np.testing.assert_allclose(emergent.between(steps, goodput), expected)


def test_the_same_goodput_at_the_same_losses_is_no_difference():
    # 0.15 % of 10 000 bursts in each file: step 1.5 of a centre of 0.1 %. Files take 50 s there: 3.2 Mb/s.
    found = np.zeros((4, Column.LENGTHS))
    found[:, Column.BURSTS], found[:, Column.LOST] = 10_000, 15
    found[:, Column.GOODPUT] = [3.2, 3.4, 3.0, 3.2]
    steps = np.array([[160 / (35 + 10 * step) for step in emergent.LADDER]] * 4)
    assert emergent.independent(found, steps, 0.001).estimate == pytest.approx(3.2)
    gap = emergent.difference(found, steps, 0.001)
    assert gap.estimate == pytest.approx(0, abs=1e-9)
    assert gap.low < 0 < gap.high


def test_every_kind_of_contention_has_a_ladder_around_what_it_loses():
    assert {(way.cross, way.timer_s) for way in emergent.CELLS} == set(emergent.CENTRE)
    assert {way.cross for way in emergent.CELLS} == set(emergent.CROSS)
    assert {way.alone() for way in emergent.CELLS} == set(emergent.PATHS)
