import doctest
import math

import numpy as np
import pytest

from optcp import stats
from optcp.data import samples
from optcp.data.axes import Axis
from optcp.data.samples import Samples
from optcp.errors import InputError
from optcp.stats.quantiles import pooled_quantile


def seed_samples(*seeds, axes=()):
    values = np.empty(len(seeds), dtype=object)
    values[:] = list(seeds)
    return Samples(values, axes, tuple(range(len(seeds))), "completion", "s")


def only(estimates):
    ((_, interval),) = estimates
    return interval


def test_the_mean_weighs_each_seed_once():
    # The means of the seeds are 2 and 6 for any number of values; t(1, 0.975) = 12.706 and s / sqrt(2) = 2.
    interval = only(seed_samples([1.0, 2.0, 3.0], [6.0], []).mean())
    assert (interval.estimate, interval.n) == (4, 2)
    assert interval.high == pytest.approx(4 + 12.706 * 2, abs=1e-3)


def test_counts_are_of_each_seed():
    assert seed_samples([1.0, 2.0], [], [5.0]).count().values.tolist() == [2, 0, 1]
    assert np.isnan(seed_samples([1.0], []).per_seed(np.max).values).tolist() == [False, True]


@pytest.mark.parametrize(("q", "expected"), [(0.5, 5), (0.2, 2), (0.9, 9), (0.91, 10), (0.1, 1)])
def test_a_quantile_is_of_all_values_together(q, expected):
    # The smallest value of 1 to 10 that a share q does not exceed.
    assert only(seed_samples([10.0, 1, 2], [9, 3, 4, 5], [8, 7, 6]).quantile(q)).estimate == expected


def test_the_interval_is_over_seeds_and_not_over_values():
    # All 1000 values of a seed are equal, and two seeds of three make the median, so only seeds count.
    interval = only(seed_samples([1.0] * 1000, [2.0] * 1000, [3.0] * 1000).quantile(0.5))
    assert (interval.estimate, interval.low, interval.high, interval.n) == (2, -math.inf, math.inf, 3)
    # Of ten seeds k are at most x. The variance of k is at most 10 / 9 * 10 * 0.25, and t(9, 0.975) = 2.262, so k may
    # differ from 5 by 3.77: for 2 to 8 seeds.
    ten = only(seed_samples(*([float(at)] * 1000 for at in range(10))).quantile(0.5))
    assert (ten.estimate, ten.low, ten.high, ten.n) == (4, 1, 8, 10)


def test_interval_of_a_pooled_quantile_by_hand():
    # Five seeds of 100 values, 1 to 100 each, shifted by 0, 1, 2, 3 and 4. Up to 52 there are 52, 51, 50, 49, 48.
    # Independent values have the larger variance, 0.25 * 500: the share may differ from 0.5 by
    # t(4, 0.975) sqrt(125) / 500 = 2.7764 * 0.02236 = 0.0621, so 219 to 281 values lie below.
    seeds = [np.arange(1.0, 101) + shift for shift in range(5)]
    interval = pooled_quantile(seeds, 0.5)
    # 5 * 45 - 10 = 215 values are at most 45, 220 at most 46; 280 at most 58, 285 at most 59.
    assert interval == stats.Interval(52.0, 46.0, 59.0, 5)


@pytest.mark.parametrize("q", [0.25, 0.5, 0.75])
def test_quantiles_of_times_cut_by_the_end_are_those_of_the_whole_distribution(q):
    """40 runs of 200 flows, exponential with mean 1 s, that start at any time of a run of 3 s.

    The quantile of the distribution is -ln(1 - q). Three in ten flows are censored; without these the median is 0.52 s.
    A share of n = 8000 has a standard error of sqrt(q (1 - q) / n). That of the product-limit estimator is less than
    1.5 times as large.
    """
    rng = np.random.default_rng(58)
    took, watched = rng.exponential(size=(40, 200)), rng.uniform(0, 3, size=(40, 200))
    values, bounds = (np.empty(40, dtype=object) for _ in range(2))
    values[:] = list(np.where(took <= watched, took, np.inf))
    bounds[:] = list(np.minimum(took, watched))
    found = only(Samples(values, (), tuple(range(40)), at_least=bounds).quantile(q)).estimate
    error = 4 * 1.5 * math.sqrt(q * (1 - q) / 8000)
    assert -math.log1p(-q + error) < found < -math.log1p(-q - error)


def test_values_beyond_end_of_run_are_lower_bounds():
    # By hand: two of three end after 1 and 2 s, one is censored after 3 s; (1 + 2 + 3) / 3 = 2.
    values, bounds = (np.empty(2, dtype=object) for _ in range(2))
    values[:], bounds[:] = [[1.0, 2.0, math.inf], [1.0]], [[1.0, 2.0, 3.0], [1.0]]
    cut = Samples(values, (), (1, 2), "completion", "s", bounds)
    far = only(cut.quantile(0.9))
    assert (far.estimate, far.at_least) == (math.inf, 3)
    assert only(cut.quantile(0.5)).estimate == 1
    mean = only(cut.mean())
    assert (mean.estimate, mean.at_least, mean.n) == (math.inf, 1.5, 2)
    assert "> 1.5" in repr(cut.mean())


def test_at_takes_one_cell():
    values = np.empty((2, 2), dtype=object)
    values[:] = [[[1.0], [2.0, 3.0]], [[4.0], [5.0]]]
    both = Samples(values, (Axis("delay", ("0 s", "1 s")),), (1, 2))
    assert [value.tolist() for value in both.at(delay="1 s").values] == [[2, 3], [5]]
    assert both.quantile(0.5).estimate.tolist() == [1, 3]
    assert repr(both) == "samples: 5 values of 2 seeds x delay (0 s, 1 s)"


def test_a_cell_without_values_is_undefined():
    assert math.isnan(only(seed_samples([], []).quantile(0.5)).estimate)
    assert only(seed_samples([], []).mean()).n == 0


def test_undefined_values_and_wrong_shapes_are_refused():
    with pytest.raises(InputError, match="seed 1: a value is undefined"):
        seed_samples([1.0], [math.nan])
    values, bounds = (np.empty(1, dtype=object) for _ in range(2))
    values[:], bounds[:] = [[1.0, 2.0]], [[1.0, 1.5]]
    with pytest.raises(InputError, match="seed 0: a value and its lower bound differ"):
        Samples(values, (), (0,), at_least=bounds)
    with pytest.raises(InputError, match="expected an array of values"):
        seed_samples([1.0], axes=(Axis("delay", ("0 s",)),))


def test_the_examples_of_the_docstrings_hold():
    assert doctest.testmod(samples).failed == 0
