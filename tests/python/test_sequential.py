"""Interim looks with added seeds: their wrong decisions, counted over generated null claims."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optcp.papers import judge
from optcp.papers.judge import Part
from optcp.stats import resampling, sequential

FIRST = 30
MOST = 8
CLAIMS = 1500
BY_CHANCE = 3 * np.sqrt(0.05 * 0.95 / CLAIMS)
"""Three standard errors of a share of 5 % of the generated claims."""


def test_the_seeds_double_until_the_bound():
    assert sequential.looks(2) == (1, 2)
    assert sequential.looks(8) == (1, 2, 4, 8)
    assert sequential.looks(6) == (1, 2, 4, 6)
    with pytest.raises(ValueError, match="most: expected 2 or more, got 1"):
        sequential.looks(1)


@pytest.mark.parametrize("most", [2, 3, 8, 100])
def test_interim_looks_share_five_percent(most):
    number = len(sequential.looks(most))
    assert number * sequential.level(number) == pytest.approx(0.05)


@functools.cache
def weights(n):
    return resampling.resampled_weights(n)


def paired(values):
    return [judge.paired_part("x", values[:, 0], values[:, 1], "above", "s")]


def three_pairs(values):
    return [judge.paired_part("x", values[:, i], values[:, i + 1], "above", "s") for i in range(3)]


def trend(values):
    return judge.trend_parts("x", ["a", "b", "c", "d"], list(values.T), "up", "s")


def share(values):
    return [judge.share_part("x", int(np.sum(values[:, 0] > 0)), len(values), 0.5)]


def bootstrapped(values):
    differences = values[:, 0] - values[:, 1]
    samples = weights(len(values)) @ differences
    return [judge.bootstrap_part("x", samples, float(differences.mean()), len(values), 0.0, "s")]


def equivalent_at_the_margin(values):
    return [judge.equivalence_part("x", values[:, 0] + 1, 1.0, "s")]


def decided(parts_of, level, gap=0.0):
    """Return the decisions of generated claims at their first deciding look; the first column has mean ``gap``."""
    rng = np.random.default_rng(7)
    result = []
    for _ in range(CLAIMS):
        values = rng.normal(size=(FIRST * MOST, 4))
        values[:, 0] += gap
        for times in sequential.looks(MOST):
            with judge.at_level(level):
                holds, _ = judge.combine(parts_of(values[: FIRST * times]))
            if holds != "undecided":
                break
        result.append(holds)
    return result


def wrong(parts_of, level):
    return 1 - decided(parts_of, level).count("undecided") / CLAIMS


@pytest.mark.parametrize("parts_of", [paired, three_pairs, trend, share, bootstrapped])
def test_at_most_five_percent_of_null_claims_are_decided(parts_of):
    assert wrong(parts_of, sequential.level(len(sequential.looks(MOST)))) <= 0.05 + BY_CHANCE


def test_at_most_five_percent_of_differences_are_called_equivalent():
    found = decided(equivalent_at_the_margin, sequential.level(len(sequential.looks(MOST))))
    assert found.count(True) / CLAIMS <= 0.05 + BY_CHANCE
    assert found.count(False) / CLAIMS <= 0.025 + BY_CHANCE  # "larger" has one of the two tails of its test


@pytest.mark.parametrize("parts_of", [paired, three_pairs, share, bootstrapped])
def test_full_level_at_each_look_decides_more_null_claims(parts_of):
    """Armitage, McPherson and Rowe 1969: 12.6 % for one test and four looks at equal steps."""
    assert wrong(parts_of, 0.05) > 0.05 + BY_CHANCE


def test_true_claims_are_decided():
    """A gap of 0.4 standard deviations: 95 % power at 1.25 % takes (2.50 + 1.64)^2 / 0.4^2 = 107 seeds of 240."""
    gap = 0.4 * np.sqrt(2)  # of the difference of two columns
    found = decided(paired, sequential.level(4), gap)
    assert found.count(True) / CLAIMS > 0.95
    assert found.count(False) == 0
    once = [judge.combine(paired(values))[0] for values in shifted(gap)]
    assert once.count(True) / CLAIMS < 0.75  # 30 seeds and 5 %: 57 %


def shifted(gap):
    rng = np.random.default_rng(7)
    for _ in range(CLAIMS):
        values = rng.normal(size=(FIRST, 4))
        values[:, 0] += gap
        yield values


PARTS = st.lists(
    st.builds(
        functools.partial(Part, "x"),
        st.sampled_from([True, False, "undecided"]),
        st.none() | st.floats(0, 0.2),
        st.sampled_from([True, False, "undecided"]),
    ),
    min_size=1,
    max_size=6,
)


@given(PARTS, st.sampled_from([0.025, 0.0125, 0.001]))
def test_look_agrees_with_five_percent_test_or_is_undecided(parts, level):
    at_once, _ = judge.combine(parts)
    with judge.at_level(level):
        at_look, _ = judge.combine(parts)
    assert at_look in (at_once, "undecided")
    assert judge.combine(parts)[0] == at_once


def test_a_test_between_the_levels_is_undecided_even_where_no_rejection_is_agreement():
    part = Part("x", False, 0.02, default=True)
    assert judge.combine([part])[0] is False
    with judge.at_level(0.0125):
        assert judge.combine([part])[0] == "undecided"
        assert judge.combine([Part("x", False, 0.3, default=True)])[0] is True


def test_level_dependent_verdict_is_undecided():
    with judge.at_level(0.0125):
        assert judge.verdict_at_look(lambda level: level > 0.001) is True
        assert judge.verdict_at_look(lambda level: level > 0.3) is False
        assert judge.verdict_at_look(lambda level: level > 0.02) == "undecided"
    assert judge.verdict_at_look(lambda level: level > 0.02) is True
