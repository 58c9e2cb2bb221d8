"""Each judgement about the slides, on reduced studies made so that the answer is plain."""

import numpy as np
import pytest

from optcp.papers import judge
from optcp.papers.slides import best_delay, claims, goodput
from optcp.papers.slides.first import Measured
from optcp.papers.slides.sources import FirstCluster, Scale

N = 100
NOISE = np.random.default_rng(4).normal(0, 1, (N, 3))


def levels(*values, noise=0.1):
    return np.array(values, dtype=float) + noise * NOISE


def steady():
    """All links up: 8 Mb/s a class, full access queues, 80 % of the backbone."""
    load = np.full((N, 3, 4, 300), 100_000)
    queue = np.empty((N, 3, 4, 300))
    queue[:, :, :2], queue[:, :, 2:] = 46.4, 0.8
    return load, queue


def made(**changes):
    load, queue = steady()
    fields = {
        "scale": Scale(1000, 0.1, 0.15, 0.17),
        "goodput": np.full((N, 3, 2, 3000), 10_000),
        "goodput_step_s": 0.01,
        "load": load,
        "queue": queue,
        "cwnd": np.ones((N, 3, 2, 300)),
        "first_merge_drop_s": levels(0.1, 0.8, 2.2, noise=0.01),
        "first_fixed_loss_s": levels(0.1, 1.0, 3.2, noise=0.01),
        "dead_link_drops": np.zeros((N, 3, 2), dtype=int),
        "clusters": [[FirstCluster(True, (9.0 + 0.1 * i, 3.0))] * 3 for i in range(N)],
        "retransmissions_per_rtt": np.ones((N, 3), dtype=int),
        "longest_recovery_s": np.full((N, 3), 2.0),
        "timed_out": np.round(levels(0, 3, 5)).astype(int),
        "back_s": levels(8, 6, 10),
    }
    return Measured(**{**fields, **changes})


def answer(function, **changes):
    return judge.combine(function(claims.Context(made(**changes), 10e6, 0.8)))[0]


def test_with_all_links_up():
    assert answer(claims.access_full_backbone_empty) is True
    load, queue = steady()
    queue[:, 0, 0, 250:] = 34.9  # after the repair, with one delay, at one access link
    assert answer(claims.access_full_backbone_empty, queue=queue) is False
    load[:, 2, 3, 50:100] = 103_000  # 82.4 % of the backbone
    assert answer(claims.access_full_backbone_empty, load=load) is False
    load, queue = steady()
    load[:, :, :, 100:250] = 0  # what happens while the link is down does not matter
    queue[:5, 0, 2, 50:100] = 1.2
    assert answer(claims.access_full_backbone_empty, load=load, queue=queue) == "undecided"  # 95 of 100


def full_merge():
    load, _ = steady()
    load[:, 0, 3, 100:110] = 123_500 + np.round(100 * NOISE[:, :1])
    return load


def test_overflow_by_delay():
    goodput_ = np.full((N, 3, 2, 3000), 10_000)
    goodput_[:, 2, 0, 1020:1100] = 0
    good = {"load": full_merge(), "goodput": goodput_}
    assert answer(claims.overflow_by_delay, **good) is True
    assert answer(claims.overflow_by_delay, goodput=goodput_) is False  # the merge port is not full
    late = levels(0.31, 0.8, 2.2, noise=0.001)
    assert answer(claims.overflow_by_delay, **good, first_merge_drop_s=late) is False
    order = levels(0.1, 3.2, 1.0, noise=0.01)
    assert answer(claims.overflow_by_delay, **good, first_fixed_loss_s=order) is False
    one = goodput_.copy()
    one[7, 2, 0, 1099] = 1000
    assert answer(claims.overflow_by_delay, **{**good, "goodput": one}) is False
    one = goodput_.copy()
    one[7, 2, 0, 1100] = one[7, 2, 0, 1019] = 1000  # just outside (10.2 s, 11 s]
    assert answer(claims.overflow_by_delay, **{**good, "goodput": one}) is True


def test_settle_is_the_first_of_five_intervals_in_a_row():
    curve = np.array([[50, 95, 95, 95, 95, 89, 90, 91, 92, 93, 94.0, 10]])
    assert claims.settle_s(curve).tolist() == pytest.approx([0.6])
    assert claims.settle_s(curve[:, :9]).tolist() == pytest.approx([0.9])  # never: to the end


def by_class(switched, fixed, back_at=(100, 120, 200)):
    """Goodput by class in (10 s, 11 s] in % of before, and after how many 10 ms the switched flows are back."""
    bytes_ = np.full((N, 3, 2, 3000), 10_000.0)
    for delta in range(3):
        bytes_[:, delta, 0, 1000 : 1000 + back_at[delta]] = 100 * switched[delta]
        bytes_[:, delta, 0, 1000:1100] = 100 * (switched[delta] + NOISE[:, delta, None])
        bytes_[:, delta, 1, 1000:1100] = 100 * (fixed[delta] + NOISE[:, delta, None])
    return np.round(bytes_).astype(int)


def test_goodput_by_class():
    good = by_class((24, 26, 2), (66, 97, 100))
    assert answer(claims.goodput_by_class, goodput=good) is True
    assert answer(claims.goodput_by_class, goodput=by_class((24, 44, 2), (66, 97, 100))) is False
    assert answer(claims.goodput_by_class, goodput=by_class((24, 26, 30), (66, 97, 100))) is False
    assert answer(claims.goodput_by_class, goodput=by_class((24, 26, 2), (66, 100, 90))) is False
    assert answer(claims.goodput_by_class, goodput=by_class((24, 26, 2), (66, 97, 100), (100, 200, 120))) is False


def test_the_first_second():
    bytes_ = np.full((N, 3, 2, 3000), 10_000.0)
    gain = np.linspace(0.10, 0.50, N)  # the printed 28.72 % lies between the 5th and the 95th percentile
    bytes_[:, 1, :, 1000:1100] *= 1 + gain[:, None, None]
    assert answer(claims.first_second, goodput=np.round(bytes_).astype(int)) is True
    np.testing.assert_allclose(claims.first_second_gain_pct(made(goodput=bytes_)), 100 * gain, atol=1e-9)
    later = bytes_.copy()
    later[:, 2, :, 1600:1700] *= 1.05  # (16 s, 17 s] with 1000 ms
    assert answer(claims.first_second, goodput=np.round(later).astype(int)) is False
    bytes_[:, 1, :, 1000:1100] *= 1.5
    assert answer(claims.first_second, goodput=np.round(bytes_).astype(int)) is False


def test_where_the_print_falls():
    rows = {row.metric: row for row in goodput._gain_rows(np.arange(101.0))}
    assert rows["one_run_gain_pct"].measured == 50
    assert rows["gain_median_pct"].measured == 50
    assert (rows["gain_p05_pct"].measured, rows["gain_p95_pct"].measured) == (5, 95)
    # 0 to 28 are 29 of 101 runs below 28.72 %.
    assert rows["print_percentile_pct"].measured == pytest.approx(100 * 29 / 101, abs=1e-3)


def test_recovery_or_timeout():
    assert answer(claims.recovery_or_timeout) is True
    most = np.ones((N, 3), dtype=int)
    most[:, 1] = 3  # with 50 ms it does not matter
    assert answer(claims.recovery_or_timeout, retransmissions_per_rtt=most) is True
    most[3, 0] = 2
    assert answer(claims.recovery_or_timeout, retransmissions_per_rtt=most) is False
    assert answer(claims.recovery_or_timeout, longest_recovery_s=np.full((N, 3), 0.5)) is False
    twice = Scale(1000, 0.2, 0.25, 0.29)
    assert answer(claims.recovery_or_timeout, longest_recovery_s=np.full((N, 3), 0.8)) is True
    assert answer(claims.recovery_or_timeout, longest_recovery_s=np.full((N, 3), 0.8), scale=twice) is False
    assert answer(claims.recovery_or_timeout, timed_out=np.round(levels(3, 0, 0)).astype(int)) is False
    assert answer(claims.recovery_or_timeout, back_s=levels(6, 8, 8)) is False
    assert answer(claims.recovery_or_timeout, back_s=levels(8, 8, 8, noise=0) + 3 * NOISE) == "undecided"


def test_who_loses():
    assert answer(claims.who_loses) is True
    dead = np.zeros((N, 3, 2), dtype=int)
    dead[:, :, 0] = dead[:, 1:, 1].max(axis=1, keepdims=True) + 20
    assert answer(claims.who_loses, dead_link_drops=dead) is True
    dead[5, 0, 1] = 1
    assert answer(claims.who_loses, dead_link_drops=dead) is False
    some = [[FirstCluster(i % 3 > 0, (9.0 + 0.1 * i, 3.0))] * 3 for i in range(N)]
    assert answer(claims.who_loses, clusters=some) is False
    more = [[FirstCluster(True, (3.0, 9.0 + 0.1 * i))] * 3 for i in range(N)]
    assert answer(claims.who_loses, clusters=more) is False
    single = [[FirstCluster(True, (3.0,))] * 3 for _ in range(N)]
    assert answer(claims.who_loses, clusters=single) == "undecided"


def test_best_delay():
    noise = np.random.default_rng(5).normal(0, 0.01, (N, 5))

    def judged(*gains):
        return judge.combine(best_delay.every_delay_beats_none(np.array([1.0, *gains]) + noise * [0, 1, 1, 1, 1]))[0]

    assert judged(1.12, 1.08, 1.05, 1.02) is True
    assert judged(1.12, 1.08, 1.05, 0.98) is False
    assert judged(1.05, 1.08, 1.04, 1.02) is False
    assert judged(1.12, 1.08, 1.05, 1.0495) == "undecided"


def test_every_statement_has_exactly_one_judge(monkeypatch):
    context = claims.Context(made(goodput=by_class((24, 26, 2), (66, 97, 100))), 10e6, 0.8)
    counts = {name: len(claims.judge_all(name, context, "r")) for name in claims._JUDGES}
    assert counts == {"slides/queues": 2, "slides/goodput": 2, "slides/traces": 2}
    monkeypatch.setitem(claims._JUDGES, "slides/queues", {})
    with pytest.raises(LookupError, match="nothing judges"):
        claims.judge_all("slides/queues", context, "r")
