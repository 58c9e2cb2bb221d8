"""Censored values, by hand."""

import math

import numpy as np
import pytest

from optcp.data.censored import Censored
from optcp.outage import costs, resampled
from optcp.papers.model import Result, Row
from optcp.papers.show import measured
from optcp.papers.verdict import row
from optcp.stats import Interval
from optcp_papers.outage import population, short
from optcp_papers.outage.law import Way

# Three flows took 1, 2 and 4 s; one was unfinished after 3 s.
FLOWS = Censored(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, False, True]))
# The same, with the flow of 4 s also unfinished.
CUT = Censored(FLOWS.at_least, np.array([True, True, False, False]))


def test_censored_values_match_hand_calculation():
    """The share of the flow censored at 3 s moves to the one of 4 s: 1/4, 1/4 and 1/2."""
    assert (FLOWS.cut, CUT.cut) == (1, 2)
    assert FLOWS.quantile(0.5) == (2.0, 2.0)
    assert FLOWS.quantile(0.51) == (4.0, 4.0)
    assert FLOWS.mean() == pytest.approx((1 / 4 + 2 / 4 + 4 / 2,) * 2)
    # Beyond 4 s nothing is known: half of the flows take longer than 2 s, with a lower bound of 4 s.
    assert CUT.quantile(0.5) == (2.0, 2.0)
    assert CUT.quantile(0.51) == (math.inf, 4.0)
    assert CUT.mean() == pytest.approx((math.inf, 1 / 4 + 2 / 4 + 4 / 2))
    assert CUT.total() == (math.inf, 10.0)
    assert np.isnan(FLOWS[np.zeros(4, dtype=bool)].quantile(0.5)).all()


def test_ratios_are_exact_if_censoring_is_irrelevant():
    """The median of 1, 2, 4 and one above 3 is 2 in any case; the 75 % quantile is between 3 and 4."""
    ratios = FLOWS.over(np.ones(4))
    assert ratios.quantile(0.5) == (2.0, 2.0)
    assert ratios.quantile(0.75) == (math.inf, 3.0)
    assert ratios.mean() == (math.inf, 2.5)
    weights = np.ones(2)
    over = ([[1.0, 2.0], [math.inf, 4.0]], weights), [[1.0, 2.0], [3.0, 4.0]]
    found = resampled.known_quantile(*over[0], 0.5, over[1])
    assert (found.estimate, found.at_least) == (2.0, None)
    found = resampled.known_quantile(*over[0], 0.75, over[1])
    assert (found.estimate, found.at_least) == (math.inf, 3.0)
    # A resample has the first failure twice, the second twice, or both: 2, 4 to infinity, or 3 to 4.
    assert set(found.samples) == {2.0, math.inf}
    assert set(found.lows) == {2.0, 3.0, 4.0}


def test_quantiles_over_failures_have_the_same_rule():
    """Two failures, the second twice as likely: values of weight 1, 1 and 2, of which the second is censored at 2."""
    values, bounds = [[1.0, math.inf], [3.0]], [[1.0, 2.0], [3.0]]
    weights = np.array([1.0, 2.0])
    # 1/4 at 1; the remaining 3/4 move to 3.
    assert resampled.quantile(values, weights, 0.25, bounds).estimate == 1.0
    assert resampled.quantile(values, weights, 0.26, bounds).estimate == 3.0
    # If the value 3 is also censored, three quarters lie beyond the observed range.
    found = resampled.quantile([[1.0, math.inf], [math.inf]], weights, 0.5, bounds)
    assert (found.estimate, found.at_least, found.interval.at_least) == (math.inf, 3.0, 3.0)
    # Equal weights give the quantile of one run.
    alone = resampled.quantile([FLOWS.values], np.ones(1), 0.51, [FLOWS.at_least])
    assert alone.estimate == FLOWS.quantile(0.51)[0]


def test_mean_with_censored_value_is_a_bound():
    found = resampled.mean([1.0, math.inf, np.nan], [1.0, 3.0, 5.0], [1.0, 5.0, np.nan])
    assert (found.estimate, found.at_least, found.n) == (math.inf, (1 + 3 * 5) / 4, 2)
    assert (found - 1.0).at_least == found.at_least - 1
    assert found.times(2).at_least == 2 * found.at_least
    known = resampled.mean([1.0, 2.0], [1.0, 1.0])
    assert ((found - known).estimate, (found - known).at_least) == (math.inf, 4 - 1.5)
    assert ((known - found).estimate, (known - found).at_least) == (-math.inf, None)
    assert math.isnan((found - found).estimate)
    assert math.isnan((known / found).estimate)
    assert (found / known).at_least == pytest.approx(4 / 1.5)
    # The lower end of the interval is that of the bounds: seven failures with at least 5, one of them censored.
    seven = resampled.mean(
        [math.inf, *(5.0 + at for at in range(6))], np.ones(7), [5.0, *(5.0 + at for at in range(6))]
    )
    bounds = resampled.mean([5.0, *(5.0 + at for at in range(6))], np.ones(7))
    assert (seven.interval.low, seven.interval.high) == (bounds.interval.low, math.inf)
    assert (seven / bounds).interval.low <= 1.0 == (seven / bounds).at_least


def test_unfinished_flows_leave_claims_undecided():
    samples = np.full(resampled.RESAMPLES, np.inf)
    beyond = resampled.Resampled(math.inf, samples, 20, 1.5)
    below = resampled.Resampled(math.inf, samples, 20, 0.5)
    # More than 1.5 is not within 1; more than 0.5 may be.
    assert population.inside("x", beyond, 1.0, "ms").holds is False
    assert population.inside("x", below, 1.0, "ms").holds == "undecided"
    assert population.side("x", beyond, "above", "ms").holds is True
    assert population.side("x", beyond, "below", "ms").holds is False
    unknown = resampled.Resampled(math.nan, np.full(resampled.RESAMPLES, np.nan), 20)
    for judged in (population.inside("x", unknown, 1.0, ""), population.side("x", unknown, "above", "")):
        assert (judged.holds, judged.p) == ("undecided", None)


class Run:
    """Flows as a run stores them: name, start and end in s, whether finished, and the only path with an outage."""

    def __init__(self, *flows, stop_s=10.0, cut_s=()):
        names, starts, ends = zip(*flows, strict=True)
        self.cuts = [{"from_ps": cut_s[0] * 1e12, "until_ps": cut_s[1] * 1e12}] if cut_s else []
        finished = np.array([end is not None for end in ends])
        times = np.array([stop_s if end is None else end for end in ends]) * 1e12
        self.series = {
            "ends": {
                "flow": np.array(names),
                "start_ps": np.array(starts) * 1e12,
                "time_ps": times,
                "finished": finished,
            }
        }

    def __getitem__(self, name):
        return self.series[name]


def test_unfinished_short_flows_are_lower_bounds():
    """Outage from 2 to 3 s: `a` takes twice as long, `b` three times and is unfinished, `c` has no twin."""
    twin = Run(("a", 1.0, 3.0), ("b", 2.0, 4.0), ("c", 3.5, None), ("d", 3.0, 5.0))
    run = Run(("a", 1.0, 5.0), ("b", 2.0, None), ("c", 3.5, 9.0), ("d", 3.0, 6.0), cut_s=(2, 3))
    found = costs.inflation(run, twin, set(), 1.0)
    assert found.values.tolist() == [2.0, math.inf, 1.5]
    assert found.at_least.tolist() == [2.0, 4.0, 1.5]
    # Counted to the end of the run, the last one of three would have had 4 as its value.
    assert found.quantile(0.99) == (math.inf, 4.0)
    assert found.quantile(0.5) == (2.0, 2.0)


def test_costs_of_short_flows_by_hand():
    """A link fails 5 s after the start for 1 s: one flow in it never ends, another takes 1 s longer."""
    path = Way(0.005, 0.0, 0.005, 1e8)
    twin = short.Flows.of(Run(("a", 5.1, 5.3), ("b", 5.2, 5.7), stop_s=125.0))
    flows = short.Flows.of(Run(("a", 5.1, None), ("b", 5.2, 6.7), stop_s=125.0))
    p50, p99, share, syn_ms, extra_s, _ = short.cost(flows, twin, path, 1.0)
    # 119.9 s against 0.2 s, censored; 1.5 s against 0.5 s.
    assert p50 == pytest.approx((3.0, 3.0))
    assert p99 == pytest.approx((math.inf, 119.9 / 0.2))
    assert extra_s == pytest.approx((math.inf, (119.7 + 1.0) / short.FAILURES))
    assert syn_ms == pytest.approx((math.inf, 1000 * (119.7 + 1.0) / 2))
    assert share == (math.inf, 0.0)


def test_rows_of_censored_values_print_bounds():
    cut = row({}, "fct_infl_p99", None, Interval(math.inf, -math.inf, math.inf, 7, 1.6), "")
    assert (cut.measured, cut.at_least, measured(cut)) == (None, 1.6, "> 1.60")
    assert measured(Row({}, "nines_tcp", None, None, (None, None), 7, "claim-only", at_most=4.214)) == "< 4.21"
    known = row({}, "fct_infl_p99", None, Interval(1.5, 1.4, 1.7, 7), "")
    assert (known.at_least, measured(known)) == (None, "1.50")
    size = {"name": "quick", "seeds": {}, "paper_runs": None}
    made = {"version": "", "git": "", "seeds": None, "metrics_sha256": ""}
    source = {"paper": "p", "where": "w"}
    whole = Result("p/e", "t", source, size, {}, {}, [cut, known], [], [], made, [])
    text = whole.to_json()
    assert text.count("at_least") == 1
    assert Result.from_json(text).rows == [cut, known]
