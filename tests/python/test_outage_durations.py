"""Durations of failures: two published shares, and the outage of a path that recovers or is repaired."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from optcp.outage.availability import YEAR_MS, unprotected_ms, year
from optcp.outage.durations import DURATIONS, LogNormal
from optcp.outage.study import Costs

BACKBONE = DURATIONS["backbone"]
assert BACKBONE is not None


def test_published_shares_give_parameters_worked_out_by_hand():
    # Quantiles of the standard normal distribution: z(0.46) = -0.10043, z(0.86) = 1.08032.
    # sigma = ln(600 / 60) / (1.08032 + 0.10043) = 2.302585 / 1.18075 = 1.95011
    # mu = ln 60 + 1.95011 * 0.10043 = 4.094345 + 0.195850 = 4.290195; median 72.98 s;
    # mean = exp(4.290195 + 1.95011^2 / 2) = exp(6.191660) = 488.66 s.
    assert BACKBONE.sigma == pytest.approx(1.95011, abs=1e-4)
    assert BACKBONE.mu == pytest.approx(4.29020, abs=1e-4)
    assert BACKBONE.median_s == pytest.approx(72.98, abs=0.02)
    assert BACKBONE.mean_s == pytest.approx(488.66, abs=0.2)
    assert BACKBONE.shorter(60) == pytest.approx(0.46)
    assert BACKBONE.shorter(600) == pytest.approx(0.86)
    assert BACKBONE.shorter(0) == 0


def test_outage_ends_with_the_recovery_or_the_repair():
    # The integral of the share of longer failures up to the recovery time, summed in steps of 1 ms and 0.1 s.
    for recovery_s, step_s in ((8.0, 0.001), (3000.0, 0.1)):
        middles = np.arange(step_s / 2, recovery_s, step_s)
        longer = [0.5 * math.erfc((math.log(t) - BACKBONE.mu) / BACKBONE.sigma / math.sqrt(2)) for t in middles]
        assert BACKBONE.broken_s(recovery_s) == pytest.approx(step_s * sum(longer), rel=1e-4)
    assert BACKBONE.broken_s(0.01) == pytest.approx(0.01, rel=1e-5)
    assert BACKBONE.broken_s([0.0, 1e9]) == pytest.approx([0, BACKBONE.mean_s], rel=1e-3)


def test_distribution_passes_through_both_points():
    one = LogNormal.through((1, 0.5), (math.e, 0.8413447))
    assert (one.mu, one.sigma) == (pytest.approx(0, abs=1e-9), pytest.approx(1, abs=1e-5))


def test_downtime_of_a_year_is_limited_by_repairs():
    # One link of 1000 km, one failure a year, ten flows. Two of them have no path for 8 s and 2 s, and stall for 9 s
    # and 4 s. With drawn durations the mean of min(T, 8 s) and min(T, 2 s) is lost instead; TCP's stalls stay.
    silent = {"network_ms": np.array([8000.0, 2000.0]), "outage_ms": np.array([9000.0, 4000.0])}
    outage = SimpleNamespace(**silent, flows=10, censored=0)
    costs = Costs(None, (None,), np.array([1000.0]), {("cubic", "slow"): [outage]})
    at = ("cubic", "slow")
    lasting, drawn = year(costs, at, 1.0), year(costs, at, 1.0, BACKBONE)
    assert lasting.network_ms.estimate == pytest.approx(1000)
    assert drawn.network_ms.estimate == pytest.approx(100 * BACKBONE.broken_s([8, 2]).sum())
    assert drawn.network_ms.estimate < 1000
    assert lasting.tcp_ms.estimate == drawn.tcp_ms.estimate == pytest.approx(1300)
    # Both wait for the repair: a fifth of the flows, for the mean duration.
    waiting = unprotected_ms(costs, at, 1.0, BACKBONE)
    assert waiting.estimate == pytest.approx(1000 * BACKBONE.mean_s / 5)
    assert -math.log10(waiting.estimate / YEAR_MS) == pytest.approx(5.51, abs=0.01)
