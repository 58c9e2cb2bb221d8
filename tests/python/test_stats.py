import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from optcp import stats

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


def test_mean_is_a_students_t_interval():
    # Student's own ten differences of hours of sleep (Biometrika 6, 1908): mean 1.58, s = 1.2300, t(9, 0.975) = 2.2622.
    sleep = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    interval = stats.mean(sleep)
    assert interval.estimate == pytest.approx(1.58)
    assert interval.low == pytest.approx(1.58 - 2.2622 * 1.2300 / math.sqrt(10), abs=2e-4)
    assert interval.high == pytest.approx(1.58 + 2.2622 * 1.2300 / math.sqrt(10), abs=2e-4)
    assert interval.n == 10
    assert interval.half_width == pytest.approx(0.8799, abs=2e-4)


def test_one_value_has_no_interval():
    assert stats.mean([3.0]) == stats.Interval(3.0, -math.inf, math.inf, 1)


def test_no_value_is_an_error():
    with pytest.raises(ValueError, match="one value a run"):
        stats.mean([])


@given(VALUES)
def test_mean_agrees_with_scipy(values):
    interval = stats.mean(values, 0.9)
    error = oracle.sem(values)
    if error > 0:
        low, high = oracle.t.interval(0.9, len(values) - 1, np.mean(values), error)
        assert interval.low == pytest.approx(low, rel=1e-6, abs=1e-6)
        assert interval.high == pytest.approx(high, rel=1e-6, abs=1e-6)


def test_paired_agrees_with_students_sleep_data():
    # Student's two drugs; the textbook result is t = 4.0621, p = 0.00283.
    first = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    second = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    test = stats.paired(first, second)
    assert test.interval.estimate == pytest.approx(1.58)
    assert test.p == pytest.approx(0.00283, abs=1e-5)


@given(VALUES)
def test_p_and_interval_say_the_same(values):
    test = stats.paired(values, np.zeros(len(values)))
    excludes_zero = test.interval.low > 0 or test.interval.high < 0
    if abs(test.p - 0.05) > 1e-9:
        assert excludes_zero == (test.p < 0.05)


def test_paired_without_spread_or_with_one_seed():
    assert stats.paired([2.0, 3.0], [1.0, 2.0]).p == 0.0
    assert stats.paired([1.0, 2.0], [1.0, 2.0]).p == 1.0
    assert stats.paired([5.0], [1.0]).p == 1.0
    with pytest.raises(ValueError, match="same seeds"):
        stats.paired([1.0, 2.0], [1.0])


@pytest.mark.parametrize(
    ("difference", "margin", "holds"),
    [
        # mean 0, s = 1, n = 4: 90 % reach 2.3534 / 2 = 1.1767, 95 % reach 3.1824 / 2 = 1.5912
        ([-1.0, -0.0, 0.0, 1.0], 1.0, True),
        ([-1.2247, 0.0, 0.0, 1.2247], 1.18, True),
        ([-1.2247, 0.0, 0.0, 1.2247], 1.17, None),
        ([3.7753, 5.0, 5.0, 6.2247], 3.40, False),
        ([3.7753, 5.0, 5.0, 6.2247], 3.42, None),
    ],
)
def test_equivalence_at_its_edges(difference, margin, holds):
    assert stats.equivalent(difference, margin).holds() is holds


@given(VALUES, st.floats(0.1, 1e5))
def test_equivalence_is_its_two_intervals(values, margin):
    outcome = stats.equivalent(values, margin)
    narrow, wide = stats.mean(values, 0.9), stats.mean(values, 0.95)
    near_edge = min(abs(abs(bound) - margin) for one in (narrow, wide) for bound in (one.low, one.high))
    if near_edge < 1e-9 * max(1.0, margin, abs(narrow.estimate)):
        return
    if narrow.low > -margin and narrow.high < margin:
        assert outcome.holds() is True
    elif wide.low > margin or wide.high < -margin:
        assert outcome.holds() is False
    else:
        assert outcome.holds() is None


def test_equivalence_of_one_run_is_open():
    assert stats.equivalent([0.0], 1.0).holds() is None
    assert stats.equivalent([0.0, 0.0], 1.0).holds() is True
    assert stats.equivalent([2.0, 2.0], 1.0).holds() is False


def test_wilson_agrees_with_newcombes_table():
    # Newcombe, Statist. Med. 17 (1998) 857-872, table I, method 3.
    for successes, n, low, high in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)]:
        interval = stats.wilson(successes, n)
        assert interval.low == pytest.approx(low, abs=5e-5)
        assert interval.high == pytest.approx(high, abs=5e-5)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.floats(0, n), st.just(n))))
def test_wilson_lies_in_the_unit_interval_and_holds_the_share(case):
    successes, n = case
    interval = stats.wilson(successes, n)
    assert 0 <= interval.low <= interval.estimate + 1e-12
    assert interval.estimate - 1e-12 <= interval.high <= 1


def test_wilson_refuses_what_is_no_share():
    with pytest.raises(ValueError, match="a share needs"):
        stats.wilson(3, 2)


@given(st.integers(2, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_share_test_agrees_with_its_wilson_interval(case):
    successes, n = case
    test = stats.share_against(successes, n, 0.5)
    inside = stats.wilson(successes, n)
    if abs(test.p - 0.05) > 1e-9:
        assert (test.p >= 0.05) == (inside.low <= 0.5 <= inside.high)


def test_two_shares_by_hand():
    # 60 of 100 against 45 %, 150 runs: pooled (60 + 67.5) / 250 = 0.51, z = 0.15 / sqrt(0.51 * 0.49 / 60) = 2.3243.
    test = stats.two_shares(60, 100, 0.45, 150)
    assert test.interval.estimate == pytest.approx(0.15)
    assert test.p == pytest.approx(2 * oracle.norm.sf(2.32427), abs=1e-4)
    assert stats.two_shares(0, 10, 0.0, 150).p == 1.0


def test_two_shares_interval_agrees_with_newcombe():
    # Newcombe, Statist. Med. 17 (1998) 873-890, table II, method 10, contrast (a): 56/70 - 48/80.
    interval = stats.two_shares(56, 70, 48 / 80, 80).interval
    assert (interval.low, interval.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60))
def test_mcnemar_is_an_exact_binomial_test(pairs):
    first, second = zip(*pairs, strict=True)
    gain = sum(a and not b for a, b in pairs)
    loss = sum(b and not a for a, b in pairs)
    expected = oracle.binomtest(gain, gain + loss).pvalue if gain + loss else 1.0
    assert stats.mcnemar(first, second).p == pytest.approx(expected)


def test_mcnemar_by_hand():
    # 8 against 1 of 9 that differ: 2 * (1 + 9) / 2**9.
    first = [True] * 8 + [False] + [True] * 5
    second = [False] * 8 + [True] + [True] * 5
    assert stats.mcnemar(first, second).p == pytest.approx(20 / 512)


def test_holm_by_hand():
    # Step down at 0.05: 0.01 <= 0.05/4, 0.013 <= 0.05/3, 0.03 > 0.05/2, so the last two stay.
    assert stats.holm([0.03, 0.01, 0.04, 0.013]) == [False, True, False, True]
    assert stats.holm([]) == []
    assert stats.holm([0.05]) == [True]


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_rejects_no_more_than_without_and_no_less_than_bonferroni(p_values):
    for p, rejected in zip(p_values, stats.holm(p_values), strict=True):
        assert not rejected or p <= 0.05
        assert rejected or p > 0.05 / len(p_values)


def test_bootstrap_repeats_and_brackets():
    curves = np.random.default_rng(5).normal([1.0, 3.0], 0.5, (50, 2))
    estimate, samples = stats.bootstrap(curves, lambda means: means[:, 1] - means[:, 0])
    again = stats.bootstrap(curves, lambda means: means[:, 1] - means[:, 0])[1]
    assert np.array_equal(samples, again)
    assert samples.shape == (1000,)
    interval = stats.percentile(samples, estimate, 50)
    difference = curves[:, 1] - curves[:, 0]
    assert interval.half_width == pytest.approx(1.96 * difference.std(ddof=1) / math.sqrt(50), rel=0.15)
    assert interval.low < estimate < interval.high


def test_percentile_keeps_infinity():
    samples = np.array([1.0] * 500 + [np.inf] * 500)
    assert stats.percentile(samples, 1.0, 9) == stats.Interval(1.0, 1.0, math.inf, 9)


def test_bootstrap_p_by_hand():
    # 19 of 999 below: 2 * 20 / 1000; equality counts as above.
    assert stats.bootstrap_p(np.array([0.0] * 19 + [1.0] * 980), 1.0, 30) == pytest.approx(0.04)
    assert stats.bootstrap_p(np.array([0.0, 1.0]), 0.5, 30) == 1.0


@pytest.mark.parametrize(("n", "least"), [(1, 1.0), (2, 2 / 4), (3, 2 / 27), (4, 2 / 256), (9, 2 / 1000)])
def test_few_runs_tell_little_however_often_they_are_drawn(n, least):
    """All of a resample of n runs is one certain run in n^-n of cases: of 1, 2, 3 runs nothing is known at 5 %."""
    alike = np.full(999, 5.0)
    assert stats.bootstrap_p(alike, 1.0, n) == pytest.approx(least)
    assert stats.bootstrap_difference(alike, np.zeros(999), 5.0, n).p == pytest.approx(least)
    assert stats.bootstrap_within(alike, 5.0, n, 0.0, 9.0, 2).p == pytest.approx(least)
    assert stats.bootstrap_within(alike, 5.0, n, 6.0, 9.0, 1).p == pytest.approx(least)


def test_one_run_has_no_bootstrap_interval():
    assert stats.percentile(np.full(999, 5.0), 5.0, 1) == stats.Interval(5.0, -math.inf, math.inf, 1)


def test_deviation_has_the_chi_square_interval():
    # n = 10, s = 2: 2 * sqrt(9 / 19.0228) and 2 * sqrt(9 / 2.7004), chi-square quantiles from a printed table.
    values = np.array([-1.0, 1.0] * 5) * 2 / math.sqrt(10 / 9)
    interval = stats.deviation(values)
    assert interval.estimate == pytest.approx(2.0)
    assert (interval.low, interval.high) == pytest.approx((1.3757, 3.6512), abs=2e-4)
    assert stats.deviation([4.0]) == stats.Interval(0.0, 0.0, math.inf, 1)


def test_bootstrap_differences_count_equality_for_neither_side():
    first = np.array([1.0] * 40 + [2.0] * 60)
    comparison = stats.bootstrap_difference(first, np.ones(100), 0.6, 30)
    # 40 of 100 resamples are not above zero: p = 2 (40 + 1) / 101.
    assert comparison.p == pytest.approx(82 / 101)
    assert (comparison.interval.estimate, comparison.interval.low, comparison.interval.high) == (0.6, 0.0, 1.0)
    assert stats.bootstrap_difference(np.ones(100), np.ones(100), 0.0, 30).p == 1.0
    assert stats.bootstrap_difference(np.full(999, 3.0), np.ones(999), 2.0, 30).p == pytest.approx(0.002)


@pytest.mark.parametrize(
    ("samples", "estimate", "tails", "inside", "p"),
    [
        ([0.0] * 999, 0.0, 1, True, 0.001),
        ([0.0] * 999, 0.0, 2, True, 0.002),
        ([0.0] * 959 + [1.5] * 40, 0.0, 1, True, 0.041),
        ([0.0] * 959 + [1.5] * 40, 0.0, 2, True, 0.082),
        ([2.0] * 999, 2.0, 1, False, 0.002),
        ([2.0] * 949 + [0.5] * 50, 2.0, 1, False, 0.102),
        ([-2.0] * 999, -2.0, 2, False, 0.002),
    ],
)
def test_bootstrapped_statistics_within_bounds(samples, estimate, tails, inside, p):
    outcome = stats.bootstrap_within(np.array(samples), estimate, 30, -1, 1, tails)
    assert outcome.inside is inside
    assert outcome.p == pytest.approx(p)


def test_kendall_agrees_with_scipy():
    rng = np.random.default_rng(5)
    one, other = rng.normal(size=30), rng.normal(size=30)
    assert stats.kendall(one, one) == 1
    assert stats.kendall(one, -one) == -1
    assert stats.kendall(one, other) == pytest.approx(oracle.kendalltau(one, other).statistic)
