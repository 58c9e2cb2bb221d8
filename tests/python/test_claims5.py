"""Each judgement of section 5's claims, on reduced studies made so that the answer is plain."""

import numpy as np
import pytest
from optcp.papers.gmpls.claims5 import Context

from optcp.papers import judge
from optcp.papers.gmpls import claims5
from optcp.papers.gmpls.paper import PAPER_RUNS
from optcp.papers.gmpls.section5 import DELTA_MS
from test_section5 import made

N = 30
SHAPE = (N, len(DELTA_MS))
NOISE = np.random.default_rng(3).normal(0, 1, SHAPE)


def answer(function, **changes):
    return judge.combine(function(Context(made(**changes), 10e6, 0.9)))[0]


def levels(*values, noise=0.1):
    """One level a delay, with noise over seeds."""
    return np.array(values, dtype=float) + noise * NOISE


def goodput(per_class, intervals=slice(None)):
    """Bytes in every interval: the given level a (delay, class) within `intervals`, 1 elsewhere."""
    bytes_ = np.ones((N, len(DELTA_MS), 2, 1000))
    bytes_[..., intervals] = per_class
    return np.round(bytes_).astype(np.int64)


def test_above_link_rate():
    # 10 ms at 10 Mb/s are 12 500 bytes.
    bytes_ = goodput(100)
    bytes_[:, :, 0, 600] = 12_501
    assert answer(claims5.above_link_rate, goodput=bytes_) is True
    bytes_[:, :, 0, 600] = 12_500
    assert answer(claims5.above_link_rate, goodput=bytes_) is False
    bytes_[:, :, 0, 600] = 12_501
    bytes_[0, 0, 1, 0] = 11_251  # more than 9 Mb/s carry in the first 10 ms
    assert answer(claims5.above_link_rate, goodput=bytes_) is False
    bytes_[0, 0, 1, 0] = 11_250
    assert answer(claims5.above_link_rate, goodput=bytes_) is True


def test_access_is_bottleneck():
    load = 9e6 + 1e4 * NOISE[:, 0]
    none = np.zeros(SHAPE, dtype=int)
    assert answer(claims5.access_is_bottleneck, failing_link_load_bps=load, backbone_drops=none) is True
    assert answer(claims5.access_is_bottleneck, failing_link_load_bps=load - 5e5, backbone_drops=none) is False
    assert answer(claims5.access_is_bottleneck, failing_link_load_bps=load + 1e5, backbone_drops=none) == "undecided"
    one = none.copy()
    one[7, 2] = 1
    assert answer(claims5.access_is_bottleneck, failing_link_load_bps=load, backbone_drops=one) is False


def test_immediate_hurts_fixed():
    fixed = goodput(1000)
    fixed[:, :, 1, 500:600] = np.round(levels(500, 800, 800, 800, 800)).astype(int)[..., None]
    assert answer(claims5.immediate_hurts_fixed, goodput=fixed) is True
    fixed[:, 3, 1, 500:600] = 300
    assert answer(claims5.immediate_hurts_fixed, goodput=fixed) is False
    # What happens to the switched flows, or after 6 s, does not matter.
    other = goodput(1000)
    other[:, 0, 0, :] = 1
    other[:, 0, 1, 600:] = 1
    assert answer(claims5.immediate_hurts_fixed, goodput=other) == "undecided"


def test_overflow_at_once():
    first = levels(0.02, 0.2, 0.3, 0.4, 0.5, noise=0.001)
    both, none = np.ones(SHAPE, dtype=bool), np.zeros(SHAPE, dtype=bool)
    same = {"no_merge_drop": none, "goodput": goodput(1)}
    assert answer(claims5.overflow_at_once, first_merge_drop_s=first, both_classes_drop=both, **same) is True
    assert answer(claims5.overflow_at_once, first_merge_drop_s=first, both_classes_drop=none, **same) is False
    late = levels(0.3, 0.2, 0.3, 0.4, 0.5, noise=0.001)
    assert answer(claims5.overflow_at_once, first_merge_drop_s=late, both_classes_drop=both, **same) is False


def test_censored_runs_are_said():
    missing = np.zeros(SHAPE, dtype=bool)
    missing[:4, 1] = True
    parts = claims5.overflow_at_once(
        Context(
            made(
                first_merge_drop_s=levels(1, 2, 3, 4, 5),
                no_merge_drop=missing,
                both_classes_drop=~missing,
                goodput=goodput(1),
            ),
            10e6,
            0.9,
        )
    )
    assert "4 runs without any drop" in parts[0].text
    assert "without any drop" not in parts[1].text


def test_dead_link_or_merge():
    dead, merge = levels(10, 20, 30, 40, 50), levels(50, 10, 9, 8, 7)
    assert answer(claims5.dead_link_or_merge, dead_link_drops=dead, merge_drops=merge) is True
    assert answer(claims5.dead_link_or_merge, dead_link_drops=dead[:, ::-1], merge_drops=merge) is False
    assert answer(claims5.dead_link_or_merge, dead_link_drops=dead, merge_drops=merge[:, ::-1]) is False


def test_settle_is_the_start_of_ten_quiet_intervals():
    level = 100.0
    curve = np.array([0.0, 95, 89, *[91, 109] * 5, 50, level])
    # The run of ten begins at index 3: 0.3 s.
    assert claims5.settle_s(curve[None, :]) == pytest.approx([0.3])
    too_short = np.array([0.0, *[100] * 9, 50, level])
    assert claims5.settle_s(too_short[None, :]).tolist() == [np.inf]


def test_settles_in_a_second():
    bytes_ = goodput(1000)
    for index, delta in enumerate(DELTA_MS):
        switch = 500 + delta // 10
        bytes_[:, index, :, switch : switch + 100] = 500
    # Half the level for one second: the first quiet interval of 100 ms begins 1.0 s after the switch.
    assert answer(claims5.settles_in_a_second, goodput=bytes_) is True
    text = claims5.settles_in_a_second(Context(made(goodput=bytes_), 10e6, 0.9))[1].text
    assert text == f"fixed, 0 ms: settles after: +1.00 s [+1.00, +1.00], n = {N}"
    bytes_[:, 1, 0, 505:] = 1000
    assert answer(claims5.settles_in_a_second, goodput=bytes_) is False


def window(values):
    """Goodput such that equation 5's ratio follows the given per-(seed, delay) values."""
    return goodput((1e4 * values)[..., None, None], slice(500, 650))


def test_delay_pays():
    assert answer(claims5.delay_pays, goodput=window(levels(1, 1.1, 1.2, 1.1, 1.1, noise=0.01))) is True
    assert answer(claims5.delay_pays, goodput=window(levels(1, 1.1, 1.2, 1.1, 0.9, noise=0.01))) is False
    assert answer(claims5.delay_pays, goodput=window(levels(1, 1.1, 1.2, 1.1, 1, noise=0.01))) == "undecided"


def test_gain_falls():
    assert answer(claims5.gain_falls, goodput=window(levels(1, 1.4, 1.3, 1.2, 1.1, noise=0.01))) is True
    assert answer(claims5.gain_falls, goodput=window(levels(1, 1.3, 1.4, 1.2, 1.1, noise=0.01))) is False


def printed_shares():
    """150 seeds with just the printed shares: 24 % ... 49.33 % worse; 20 %, 64.67 %, ... best."""
    ratio = np.full((PAPER_RUNS, len(DELTA_MS)), 1.0)
    best = np.repeat(np.arange(5), [30, 97, 14, 8, 1])
    for index, worse in enumerate((36, 55, 64, 74), start=1):
        ratio[:, index] = 1.01
        # Where delta = 0 is best, every delay is worse; the rest of the worse cases are spread over the others.
        ratio[np.flatnonzero(best == 0), index] = 0.9
        others = np.flatnonzero((best != 0) & (best != index))
        ratio[others[: worse - 30], index] = 0.9
    ratio[np.arange(PAPER_RUNS), best] = 1.2
    bytes_ = np.ones((PAPER_RUNS, len(DELTA_MS), 2, 1000))
    bytes_[..., 500:650] = (1000 * ratio)[..., None, None]
    return np.round(bytes_).astype(np.int64)


def test_shares_as_printed():
    bytes_ = printed_shares()
    parts = claims5.shares_as_printed(Context(made(goodput=bytes_), 10e6, 0.9))
    assert len(parts) == 4 + 5 + 3 + 1
    assert parts[0].text.startswith("worse than 0 ms, 50 ms: 24.0 % against 24.00 % printed")
    assert parts[5].text.startswith("best, 50 ms: 64.7 % against 64.67 % printed")
    assert all(part.p == pytest.approx(1.0, abs=0.01) for part in parts[:9])
    assert judge.combine(parts[:9])[0] is True
    assert judge.combine(parts[12:])[0] is True


def test_as_good_as_without_delay_is_not_worse():
    parts = claims5.shares_as_printed(Context(made(), 10e6, 0.9))
    assert parts[0].text.startswith("worse than 0 ms, 50 ms: 0.0 % against")
    # Five equal delays share every run.
    assert parts[4].text.startswith("best, 0 ms: 20.0 % against")


def test_every_statement_has_exactly_one_judge(monkeypatch):
    context = {"10+10": Context(made(), 10e6, 0.9)}
    for exhibit, count in (("gmpls/fig7", 6), ("gmpls/fig8", 1), ("gmpls/table3", 2)):
        assert len(claims5.judge_all(exhibit, context)) == count
    monkeypatch.setitem(claims5._JUDGES, "gmpls/fig8", {})
    with pytest.raises(LookupError, match="nothing judges"):
        claims5.judge_all("gmpls/fig8", context)
    monkeypatch.setitem(
        claims5._JUDGES, "gmpls/fig8", {"delay-gains": claims5.delay_pays, "delay-gain": claims5.delay_pays}
    )
    with pytest.raises(LookupError, match="no claim 'delay-gain': did you mean 'delay-gains'"):
        claims5.judge_all("gmpls/fig8", context)
