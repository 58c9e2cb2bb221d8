"""Means of correlated values in one run."""

from __future__ import annotations

import numpy as np
import pytest

from optcp import stats
from optcp.stats.autocorrelation import effective_number, lag_one


def process(correlation: float, runs: int, values: int, seed: int) -> np.ndarray:
    """Return stationary first-order processes of mean 0, shape (runs, values)."""
    rng = np.random.default_rng(seed)
    result = rng.normal(size=(runs, values))
    result[:, 0] /= np.sqrt(1 - correlation**2)
    for place in range(1, values):
        result[:, place] += correlation * result[:, place - 1]
    return result


def covered(values: np.ndarray, *, batches: bool) -> float:
    """Return the share of runs whose interval contains the true mean."""
    intervals = [stats.mean(value, batches=batches) for value in values]
    return float(np.mean([interval.low <= 0 <= interval.high for interval in intervals]))


def test_lag_one_by_hand():
    # Deviations -1.5, -0.5, 0.5, 1.5: (0.75 - 0.25 + 0.75) / 5.
    assert lag_one(np.array([1.0, 2.0, 3.0, 4.0])) == pytest.approx(0.25)
    # 1, -1, 1, -1: three products of -1 to four squares.
    assert lag_one(np.array([3.0, 1.0, 3.0, 1.0])) == pytest.approx(-0.75)
    assert lag_one(np.array([2.0, 2.0, 2.0])) == 0


def test_the_effective_number_by_hand():
    """Deviations 1, 1, 1, -1, -1, -1: r = 3 / 6, plus 3 / 6 for its bias. The effective number is 1, clamped to 4."""
    assert effective_number(np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])) == 4
    # -1, 1, ...: a negative correlation is treated as chance.
    assert effective_number(np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])) == 6
    # Too few values for an estimate.
    assert effective_number(np.array([1.0, 2.0, 3.0])) == 3


@pytest.mark.parametrize(
    ("values", "correlation"),
    [
        # 8 products of 1 and 7 of -1, so r = 1 / 16, and with its bias (1 + 4 / 16) / 16 more.
        ([1.0, 1.0, -1.0, -1.0] * 4, 9 / 64),
        # 10 products of 1 and 5 of -1, so r = 5 / 16, and with its bias (1 + 20 / 16) / 16 more.
        ([1.0] * 3 + [-1.0] * 3 + [1.0] * 2 + [-1.0] * 2 + [1.0] * 3 + [-1.0] * 3, 29 / 64),
    ],
)
def test_the_effective_number_is_that_of_a_first_order_process(values, correlation):
    # The sum of (1 - k / n) r^k over k = 1 .. n - 1 in closed form.
    r = correlation
    total = r / (1 - r) - r * (1 - r**16) / (16 * (1 - r) ** 2)
    assert effective_number(np.array(values)) == pytest.approx(16 / (1 + 2 * total))


def test_an_interval_over_batches_by_hand():
    """Effective number 4: squares of 6 over 6 (4 - 1), and Student's t for three degrees of freedom is 3.182."""
    interval = stats.mean([1.0, 1.0, 1.0, 3.0, 3.0, 3.0], batches=True)
    assert interval.estimate == 2
    assert interval.half_width == pytest.approx(3.182 * np.sqrt(6 / 18), rel=1e-3)
    assert interval.n == 6


@pytest.mark.parametrize(("correlation", "independent"), [(0.0, 0.95), (0.4, 0.80), (0.6, 0.67)])
def test_intervals_over_batches_cover_the_mean_of_a_correlated_process(correlation, independent):
    """Coverage is almost nominal; intervals for independent values are too narrow by sqrt((1 + r) / (1 - r))."""
    values = process(correlation, 2000, 20, seed=1)
    assert covered(values, batches=False) == pytest.approx(independent, abs=0.02)
    assert 0.9 <= covered(values, batches=True) <= 0.98


def test_tests_over_batches_agree_with_their_intervals():
    rng = np.random.default_rng(2)
    for values in process(0.5, 200, 20, seed=3):
        first = values + rng.uniform(-2, 2)
        test = stats.paired(first, np.zeros(20), batches=True)
        assert (test.p < 0.05) == (test.interval.low > 0 or test.interval.high < 0)
        assert test.interval == stats.mean(first, batches=True)
        within = stats.equivalent(first, 1.0, batches=True)
        if within.inside:
            ninety = stats.mean(first, level=0.9, batches=True)
            assert (within.p < 0.05) == (ninety.low > -1 and ninety.high < 1)
        else:
            assert (within.p < 0.05) == (within.interval.low > 1 or within.interval.high < -1)


def test_one_batch_has_no_interval():
    assert stats.mean([1.0], batches=True).half_width == np.inf
    assert stats.paired([1.0], [0.0], batches=True).p == 1


def test_variance_of_correlated_mean_matches_lag_one():
    """A first-order process with r = 0.6 varies sqrt(1.6 / 0.4) = 2 times as much as independent values."""
    values = process(0.6, 400, 500, seed=1)
    assert np.mean([lag_one(value) for value in values]) == pytest.approx(0.6, abs=0.02)
    independent = values.std(axis=1, ddof=1).mean() / np.sqrt(values.shape[1])
    assert values.mean(axis=1).std(ddof=1) / independent == pytest.approx(2, rel=0.1)
