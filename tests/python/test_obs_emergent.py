"""Losses from contention: evaluation of runs, compared with counts and curves calculated by hand."""

from __future__ import annotations

import numpy as np
import pytest

import handmade
from optcp.data.cells import Cells
from optcp_papers.obs import emergent


def run():
    """Return a run with six bursts of data, of which the second, third and fifth are lost."""
    rows = {
        "ports": ["E->F", "F->E"],
        "port": np.array([0, 1, 0, 0, 1, 0, 0, 0], dtype=np.uint32),
        "segments": np.array([0, 0, 1, 44, 0, 9, 44, 10], dtype=np.uint32),
        "lost": np.array([False, True, True, True, False, False, True, False]),
    }
    return handmade.run({"bursts": rows})


def counts(files):
    """Return counters of files by name; omitted ones are zero."""
    values = [[file.get(name, 0) for name in emergent.COUNT.values] for file in files]
    return Cells(np.array(values), (emergent.COUNT,), tuple(range(1, len(files) + 1)))


def test_bursts_are_counted_by_direction_length_and_predecessor():
    found = dict(zip(emergent.COUNT.values, emergent.count(run()), strict=True))
    assert found == {
        "bursts": 6,
        "lost": 3,
        "ack bursts": 2,
        "acks lost": 1,
        "lost after lost": 1,
        "with segments": 5,
        "segments": 108,
        "bursts of 1": 1,
        "lost of 1": 1,
        "segments of 1": 1,
        "bursts of 2 to 9": 1,
        "lost of 2 to 9": 0,
        "segments of 2 to 9": 9,
        "bursts of 10 to 43": 1,
        "lost of 10 to 43": 0,
        "segments of 10 to 43": 10,
        "bursts of 44": 2,
        "lost of 44": 2,
        "segments of 44": 88,
    }


def test_bunching_is_the_share_after_a_loss_over_that_of_all():
    # One of three lost bursts is followed by a lost one, and three of six are lost: 1/3 over 1/2.
    file = {"bursts": 6, "lost": 3, "lost after lost": 1}
    assert emergent.bunching(counts([file] * 2)).estimate == pytest.approx(2 / 3)
    assert emergent.ratio(counts([file] * 2), "lost", "bursts").estimate == pytest.approx(0.5)
    assert np.isinf(emergent.ratio(counts([file]), "lost", "bursts").high)


def test_goodput_between_steps_is_exact_where_the_time_of_a_file_is_a_cubic_of_the_losses():
    def time(step):
        return 40 + 10 * step + 2 * step**2 - step**3

    goodput = 1 / time(np.array(emergent.LADDER))
    steps = np.array([0.0, 0.3, 0.5, 1.7, 3.0])
    # Beyond the ladder its end is used.
    expected = 1 / time(np.array([0.0, 0.3, 0.5, 1.7, 2.0]))
    np.testing.assert_allclose(emergent.between(steps, goodput), expected)


def test_the_same_goodput_at_the_same_losses_is_no_difference():
    # 0.15 % of 10 000 bursts in each file: step 1.5 of a centre of 0.1 %. Files take 50 s there: 3.2 Mb/s.
    found = counts([{"bursts": 10_000, "lost": 15}] * 4)
    goodput = Cells(np.array([3.2, 3.4, 3.0, 3.2]), (), found.seeds)
    of_file = [160 / (35 + 10 * step) for step in emergent.LADDER]
    steps = Cells(np.array([of_file] * 4), emergent.LADDER_AXES[1:], found.seeds)
    assert emergent.independent(found, steps, 0.001).estimate == pytest.approx(3.2)
    gap = emergent.difference(goodput, found, steps, 0.001)
    assert gap.estimate == pytest.approx(0, abs=1e-9)
    assert gap.low < 0 < gap.high


def test_every_contention_has_ladder_around_its_loss():
    assert {(way.cross, way.timer_s) for way in emergent.WAYS.values()} == set(emergent.CENTRE)
    assert {way.cross for way in emergent.WAYS.values()} == set(emergent.CROSS)
    assert {way.alone() for way in emergent.WAYS.values()} == set(emergent.PATHS.values())
