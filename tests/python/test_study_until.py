"""Studies with seeds added until differences are decided."""

import numpy as np
import pytest

import optcp
from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp.errors import InputError
from optcp.stats import sequential
from optcp.study.study import decided

SIX = [2, 3, 4, 3, 2, 4]
DELAYS = {"parameters.switch_delay": ["0 ms", "1 s"]}


def cells(*columns):
    return Cells(
        np.array(columns).T, (Axis("cell", tuple(map(str, range(len(columns))))),), tuple(range(len(columns[0])))
    )


def test_a_difference_is_decided_when_its_test_rejects():
    # Six differences of one sign have the sign-flip p-value 2 / 2^6 = 0.031; Student's is smaller.
    assert decided(cells(SIX), 0.05)
    assert not decided(cells(SIX), 0.03)
    assert decided(cells([-item for item in SIX]), 0.05)


def test_combinations_are_corrected_together():
    # Two tests with p = 0.031 each: Holm requires 0.025 for the smaller.
    assert not decided(cells(SIX, SIX), 0.05)
    assert decided(cells(SIX, [0] * 6), 0.05), "a reference has nothing to decide"


def test_constant_combinations_stay_undecided():
    assert not decided(cells([0] * 6), 0.05)
    assert not decided(cells([0] * 6, [0] * 6), 0.05)
    assert not decided(cells(SIX, [0] * 6, [0] * 6), 0.05)
    assert not decided(cells([5, 5]), 0.05)
    assert not decided(cells([5, 5], [0, 0]), 0.05)


def test_reference_of_one_value_of_an_axis_has_nothing_to_decide():
    axes = tuple(Axis(name, ("0", "1", "2")) for name in ("delay", "tcp"))
    values = np.multiply.outer(np.array(SIX), [[1.0, 1, 1], [2, 2, 2], [7, 8, 9]])
    both = Cells(values, axes, tuple(range(6)))
    assert decided(both - both.at(delay="0"), 0.9)
    # Delays 0 and 1 are equal in each TCP but not in their sizes.
    assert not decided(both - both.at(tcp="0"), 0.9)
    apart = both + Cells([[0.0, 1, 3]] * 6, (axes[1],), tuple(range(6)))
    assert decided(apart - apart.at(delay="0", tcp="0"), 0.9)


def test_counts_without_a_difference_are_decided_wrongly_in_few_studies():
    looks, wrong, rng = sequential.looks(8), 0, np.random.default_rng(2)
    for _ in range(1000):
        values = rng.integers(-1, 2, 2 * looks[-1])
        wrong += any(decided(cells(values[: 2 * times]), sequential.level(len(looks))) for times in looks)
    assert wrong < 50 + 2 * np.sqrt(1000 * 0.05 * 0.95)


def test_one_seed_decides_nothing():
    assert not decided(cells([5.0]), 0.05)


def test_false_positive_rate_is_low():
    looks, wrong, rng = sequential.looks(8), 0, np.random.default_rng(7)
    for _ in range(1000):
        values = rng.normal(0, 1, 10 * looks[-1])
        wrong += any(decided(cells(values[: 10 * times]), sequential.level(len(looks))) for times in looks)
    assert wrong < 50 + 2 * np.sqrt(1000 * 0.05 * 0.95)


def test_seeds_are_added_until_it_is_decided(tmp_path):
    study = optcp.Study("single-failure", DELAYS, seeds=2)

    def cost(done):
        goodput = done.metric("goodput_bps").total("group")
        return goodput - goodput.at(switch_delay="0 ms")

    done = study.run(tmp_path / "one", until=cost, most=16)
    assert done.seeds == tuple(range(1, 1 + len(done.seeds)))
    assert len(done.seeds) in (2, 4, 8, 16, 32)
    assert decided(cost(done), sequential.level(5)) == (len(done.seeds) < 32)

    def to_and_fro(done):
        return cost(done).each(lambda values: np.zeros_like(values) + (-1.0) ** np.arange(len(values))[:, None])

    never = study.run(tmp_path / "two", until=to_and_fro, most=2)
    assert len(never.seeds) == 4


def test_at_least_two_interim_looks():
    with pytest.raises(InputError, match="expected 2 or more, got 1"):
        optcp.Study("single-failure", DELAYS).run(until=lambda done: done.metric("dropped"), most=1)
