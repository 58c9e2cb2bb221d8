import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from optcp import stats
from optcp.errors import InputError
from optcp.stats import resampling
from optcp.stats.signflip import sign_flip

STANDARD = (np.arange(30) - 14.5) / np.arange(30).std(ddof=1)
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


@pytest.mark.parametrize("n", [2, 5, 40])
def test_equal_values_have_no_interval(n):
    assert stats.mean([3.0] * n) == stats.Interval(3.0, -math.inf, math.inf, n)
    # A variance from rounding only counts as zero.
    assert stats.mean([0.3] * n + [0.1 + 0.2]) == stats.Interval(pytest.approx(0.3), -math.inf, math.inf, n + 1)


def test_interval_ends_at_the_bounds_of_its_quantity():
    wide = stats.mean([0.0, 0.0, 0.5])
    assert wide.low < 0
    assert wide.within(0.0, 1.0) == stats.Interval(wide.estimate, 0.0, wide.high, 3)
    assert stats.mean([0.9, 1.0]).within(0.0, 1.0).high == 1
    # A missing interval stays missing.
    assert stats.mean([0.5]).within(0.0, 1.0) == stats.mean([0.5])


def test_no_value_is_an_error():
    with pytest.raises(ValueError, match="one value per run"):
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
    # Nine differences are above zero and one is zero, so the sign-flip test has its smallest p-value, 2 / 2^9.
    assert test.p == pytest.approx(2 / 2**9)


def test_paired_agrees_with_students_t_for_many_seeds():
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.3, 1, 30), rng.normal(0, 1, 30)
    assert stats.paired(first, second).p == pytest.approx(oracle.ttest_rel(first, second).pvalue)


@given(VALUES)
def test_significant_difference_has_an_interval_without_zero(values):
    test = stats.paired(values, np.zeros(len(values)))
    if test.p < 0.05 - 1e-9 and math.isfinite(test.interval.low):
        assert test.interval.low > 0 or test.interval.high < 0
    if len(values) > 1 and test.interval.low <= 0 <= test.interval.high and math.isfinite(test.interval.low):
        assert test.p > 0.05 - 1e-9


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=9))
def test_sign_flip_agrees_with_scipys_permutation_test(values):
    given_values = np.array(values)
    # The test treats smaller differences of sums as equal.
    if 0 < np.abs(given_values).min() < 1e-3 or np.count_nonzero(given_values) == 0:
        return
    outcome = oracle.permutation_test(
        (given_values,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert min(1.0, 2 * sign_flip(given_values)) == pytest.approx(outcome.pvalue)


@pytest.mark.parametrize(("n", "p"), [(2, 0.5), (3, 0.25), (5, 0.0625), (6, 0.03125), (13, 2.0**-12)])
def test_equal_differences_have_the_p_value_of_their_signs(n, p):
    test = stats.paired([3.0] * n, [1.0] * n)
    assert test.p == p
    assert (test.interval.low, test.interval.high) == (-math.inf, math.inf)


def test_seeds_without_a_difference_are_no_evidence():
    # Three of 30 seeds differ: 2 / 2^3. Student's t alone says 0.08.
    assert stats.paired([1.0] * 3 + [0.0] * 27, [0.0] * 30).p == 0.25
    assert stats.paired([1.0, 2.0], [1.0, 2.0]).p == 1.0
    # A difference from rounding only counts as zero.
    assert stats.paired([0.1 + 0.2] * 9, [0.3] * 9).p == 1.0


def test_one_seed_has_no_p_value_below_one():
    assert stats.paired([5.0], [1.0]).p == 1.0
    with pytest.raises(ValueError, match="same seeds"):
        stats.paired([1.0, 2.0], [1.0])


@pytest.mark.parametrize(
    ("difference", "margin", "holds"),
    [
        # mean 0, s = 1, n = 30: 90 % reach 1.6991 / sqrt(30) = 0.31021, 95 % reach 2.0452 / sqrt(30) = 0.37340
        (STANDARD, 0.311, True),
        (STANDARD, 0.309, None),
        (STANDARD + 5, 4.625, False),
        (STANDARD + 5, 4.628, None),
        # Each side of the margin is also a sign-flip test: 2^-4 does not reject, 2^-5 does.
        ([0.0, 0.0, 0.0, 0.0], 1.0, None),
        ([0.0, 0.0, 0.0, 0.0, 0.0], 1.0, True),
    ],
)
def test_equivalence_at_its_edges(difference, margin, holds):
    assert stats.equivalent(difference, margin).holds() is holds


@given(st.lists(st.floats(-1e6, 1e6), min_size=30, max_size=40), st.floats(0.1, 1e5))
def test_equivalence_is_its_two_intervals(values, margin):
    outcome = stats.equivalent(values, margin)
    if np.ptp(values) < 1e-6 or np.count_nonzero(np.abs(values) != margin) < 13:
        return
    narrow, wide = stats.mean(values, 0.9), stats.mean(values, 0.95)
    near_edge = min(abs(abs(bound) - margin) for item in (narrow, wide) for bound in (item.low, item.high))
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
    assert stats.equivalent([2.0, 2.0], 1.0).holds() is None


def test_share_agrees_with_newcombes_table():
    # Newcombe, Statist. Med. 17 (1998) 857-872, table I, method 5 (Clopper and Pearson).
    for successes, n, low, high in [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0.0, 0.1684)]:
        interval = stats.share(successes, n)
        assert interval.low == pytest.approx(low, abs=5e-5)
        assert interval.high == pytest.approx(high, abs=5e-5)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.floats(0, n), st.just(n))))
def test_share_interval_lies_in_the_unit_interval_and_holds_the_share(case):
    successes, n = case
    interval = stats.share(successes, n)
    assert 0 <= interval.low <= interval.estimate + 1e-12
    assert interval.estimate - 1e-12 <= interval.high <= 1


def test_share_of_more_than_all_runs_is_refused():
    with pytest.raises(InputError, match="a share needs"):
        stats.share(3, 2)


@given(st.integers(2, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_share_test_agrees_with_its_interval_and_with_scipy(case):
    successes, n = case
    test = stats.share_against(successes, n, 0.5)
    assert test.p == pytest.approx(oracle.binomtest(successes, n, 0.5).pvalue)
    inside = stats.share(successes, n)
    if abs(test.p - 0.05) > 1e-9:
        assert (test.p >= 0.05) == (inside.low <= 0.5 <= inside.high)


def test_two_shares_have_twice_the_tail_of_fishers_test():
    test = stats.two_shares(60, 100, 0.46, 150)
    assert test.interval.estimate == pytest.approx(0.14)
    tail = oracle.fisher_exact([[60, 40], [69, 81]], alternative="greater").pvalue
    assert test.p == pytest.approx(2 * tail)
    assert stats.two_shares(0, 10, 0.0, 150).p == 1.0


def test_fishers_test_of_the_tea_tasting():
    # Fisher, The Design of Experiments, 1935, chapter 2: 3 of 4 cups each have the one-sided probability 17 / 70.
    assert stats.two_shares(3, 4, 1 / 4, 4).p == pytest.approx(2 * 17 / 70)


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
    estimate, samples = resampling.bootstrap(curves, lambda means: means[:, 1] - means[:, 0])
    again = resampling.bootstrap(curves, lambda means: means[:, 1] - means[:, 0])[1]
    assert np.array_equal(samples, again)
    assert samples.shape == (1000,)
    interval = resampling.percentile(samples, estimate, 50)
    difference = curves[:, 1] - curves[:, 0]
    assert interval.half_width == pytest.approx(1.96 * difference.std(ddof=1) / math.sqrt(50), rel=0.15)
    assert interval.low < estimate < interval.high


def test_percentile_keeps_infinity():
    samples = np.array([1.0] * 500 + [np.inf] * 500)
    assert resampling.percentile(samples, 1.0, 9) == stats.Interval(1.0, 1.0, math.inf, 9)


def test_bootstrap_p_by_hand():
    # 19 of 999 below: (19 + 1) / 1000; equality counts as above.
    p = resampling.bootstrap_p(np.array([0.0] * 19 + [1.0] * 980), 1.0, 30)
    assert p == pytest.approx(2 * oracle.t.cdf(oracle.norm.ppf(0.02) * math.sqrt(29 / 30), 29))
    assert resampling.bootstrap_p(np.array([0.0, 1.0]), 0.5, 30) == 1.0


def expanded(part, n):
    return 2 * oracle.t.cdf(oracle.norm.ppf(part) * math.sqrt((n - 1) / n), n - 1)


@pytest.mark.parametrize(
    ("n", "least"),
    [(1, 1.0), (2, expanded(1 / 4, 2)), (3, expanded(1 / 27, 3)), (5, 2 / 2**5), (9, expanded(0.001, 9))],
)
def test_few_runs_limit_bootstrap_p_value(n, least):
    """A resample of n runs repeats one given run in n^-n of cases: 1 to 5 runs decide nothing at 5 %."""
    alike = np.full(999, 5.0)
    assert resampling.bootstrap_p(alike, 1.0, n) == pytest.approx(least)
    assert resampling.bootstrap_difference(alike, np.zeros(999), 5.0, n).p == pytest.approx(least)
    assert resampling.bootstrap_within(alike, 5.0, n, 0.0, 9.0, 2).p == pytest.approx(least)
    assert resampling.bootstrap_within(alike, 5.0, n, 6.0, 9.0, 1).p == pytest.approx(least)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_fewer_than_six_runs_have_no_bootstrap_interval(n):
    assert resampling.percentile(np.arange(999.0), 5.0, n) == stats.Interval(5.0, -math.inf, math.inf, n)


def test_expanded_percentiles_of_a_mean_are_as_long_as_students_interval():
    values = np.random.default_rng(8).normal(0, 1, 10)
    estimate, samples = resampling.bootstrap(values[:, None], lambda mean: mean[:, 0], 100_000)
    interval = resampling.percentile(samples, estimate, 10)
    assert interval.half_width == pytest.approx(stats.mean(values).half_width, rel=0.05)


def test_deviation_agrees_with_bonetts_formula():
    # By hand for 0, 1, 2, 3, 14: s^2 = 32.5, median 2; sum (x - 2)^4 = 16 + 1 + 0 + 1 + 20736, sum (x - 4)^2 = 130.
    # Kurtosis 5 * 20754 / 130^2 = 6.1402; t(4, 0.975) = 2.7764; c = 5 / 2.2236 = 2.2487;
    # se = c sqrt((6.1402 - 0.4) / 4) = 2.6937; ends s sqrt(c) exp(-+ 2.7764 * 2.6937 / 2) = 8.5489 exp(-+ 3.7395).
    interval = stats.deviation([0.0, 1.0, 2.0, 3.0, 14.0])
    assert interval.estimate == pytest.approx(math.sqrt(32.5))
    assert (interval.low, interval.high) == pytest.approx((8.5489 / 42.08, 8.5489 * 42.08), rel=2e-3)


@pytest.mark.parametrize("values", [[4.0], [1.0, 2.0, 3.0, 5.0], [2.0] * 9])
def test_deviation_of_few_or_equal_values_has_no_interval(values):
    interval = stats.deviation(values)
    assert (interval.low, interval.high) == (0.0, math.inf)


def test_bootstrap_differences_count_equality_for_neither_side():
    first = np.array([1.0] * 40 + [2.0] * 60)
    comparison = resampling.bootstrap_difference(first, np.ones(100), 0.6, 30)
    # 40 of 100 resamples are not above zero: (40 + 1) / 101.
    assert comparison.p == pytest.approx(expanded(41 / 101, 30))
    assert (comparison.interval.estimate, comparison.interval.low, comparison.interval.high) == (0.6, 0.0, 1.0)
    assert resampling.bootstrap_difference(np.ones(100), np.ones(100), 0.0, 30).p == 1.0
    assert resampling.bootstrap_difference(np.full(999, 3.0), np.ones(999), 2.0, 30).p == pytest.approx(
        expanded(0.001, 30)
    )


@pytest.mark.parametrize(
    ("samples", "estimate", "tails", "inside", "p"),
    [
        ([0.0] * 999, 0.0, 1, True, expanded(0.001, 30) / 2),
        ([0.0] * 999, 0.0, 2, True, expanded(0.001, 30)),
        ([0.0] * 959 + [1.5] * 40, 0.0, 1, True, expanded(0.041, 30) / 2),
        ([0.0] * 959 + [1.5] * 40, 0.0, 2, True, expanded(0.041, 30)),
        ([2.0] * 999, 2.0, 1, False, expanded(0.001, 30)),
        ([2.0] * 949 + [0.5] * 50, 2.0, 1, False, expanded(0.051, 30)),
        ([-2.0] * 999, -2.0, 2, False, expanded(0.001, 30)),
    ],
)
def test_bootstrapped_statistics_within_bounds(samples, estimate, tails, inside, p):
    outcome = resampling.bootstrap_within(np.array(samples), estimate, 30, -1, 1, tails)
    assert outcome.inside is inside
    assert outcome.p == pytest.approx(p)


def test_kendall_agrees_with_scipy():
    rng = np.random.default_rng(5)
    one, other = rng.normal(size=30), rng.normal(size=30)
    assert stats.kendall(one, one) == 1
    assert stats.kendall(one, -one) == -1
    assert stats.kendall(one, other) == pytest.approx(oracle.kendalltau(one, other).statistic)
