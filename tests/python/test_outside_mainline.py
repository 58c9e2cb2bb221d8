"""BBR 3 and Prague beside recorded kernels with the code of their authors."""

import pytest

from optcp_papers.evidence import kernel
from optcp_papers.evidence.kernel_worlds import worlds
from optcp_papers.evidence.outside_mainline import (
    CONTROLS,
    MARKS,
    MAXIMUM,
    RETRANSMISSIONS,
    SHARE,
    quantities,
    recorded,
    simulated,
)

BBR3, PRAGUE = CONTROLS


def ours(experiment, name, seed=1):
    world = worlds(experiment)[name]
    run = kernel.scenario(world, CONTROLS[experiment]).run(seed=seed)
    return dict(zip(quantities(world), simulated(run, world), strict=True))


def theirs(experiment, name, quantity):
    """Return the kernel's minimum and maximum."""
    number = quantities(worlds(experiment)[name]).index(quantity)
    values = [repetition[number] for repetition in recorded(experiment, name)]
    return min(values), max(values)


@pytest.mark.parametrize("experiment", CONTROLS)
def test_every_set_up_is_recorded_twice(experiment):
    assert all(len(recorded(experiment, name)) >= 2 for name in worlds(experiment))


@pytest.mark.parametrize("name", ["prague-10-ms", "prague-20-ms", "prague-40-ms"])
def test_prague_gets_as_many_marks_as_in_the_kernel(name):
    """Without steps of cwnd and halves of the rate there are 4 % fewer at 20 ms."""
    low, high = theirs(PRAGUE, name, MARKS)
    assert 0.99 * low <= ours(PRAGUE, name)[MARKS] <= 1.01 * high


def test_bbr3_bounds_its_flight_after_an_outage_as_the_kernel_does():
    """Judged by lost segments alone, the flight stays unbounded, and 14 segments more are lost: 133 retransmissions."""
    low, high = theirs(BBR3, "outage-1-s", RETRANSMISSIONS)
    assert (low, high) == (119, 119)
    assert ours(BBR3, "outage-1-s")[RETRANSMISSIONS] == pytest.approx(119, abs=3)


@pytest.mark.parametrize("name", ["alone-queue-33", "alone-queue-83", "alone-queue-333"])
def test_startup_of_bbr3_has_the_kernels_window(name):
    low, high = theirs(BBR3, name, MAXIMUM)
    assert low - 2 <= ours(BBR3, name)[MAXIMUM] <= high + 2


def test_pairs_of_segments_raise_the_share_of_bbr3_in_a_small_queue():
    """Linux waits until two segments fit the window, and CUBIC loses more of them. OpTCP sends them one by one."""
    low, high = theirs(BBR3, "beside-cubic-queue-33-no-pairs", SHARE)
    assert high < theirs(BBR3, "beside-cubic-queue-33", SHARE)[0]
    shares = sorted(ours(BBR3, "beside-cubic-queue-33-no-pairs", seed)[SHARE] for seed in range(1, 6))
    assert low - 0.05 <= shares[2] <= high + 0.05
