"""Each judgement about the slides, on evaluated studies with an obvious answer."""

from dataclasses import fields

import numpy as np
import pytest

from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp.papers import judge
from optcp.papers.curve import settle_s
from optcp.papers.exhibit import Found
from optcp.papers.printed import statements_of
from optcp_papers.slides import best_delay, goodput, queues, traces
from optcp_papers.slides.first import CLASSES, DELTA_MS, OVERFLOWS, PORTS, World
from optcp_papers.slides.sources import Scale

N = 100
NOISE = np.random.default_rng(4).normal(0, 1, (N, 3))
GROUP, PORT, OVERFLOW = Axis("group", CLASSES), Axis("port", PORTS), Axis("overflow", OVERFLOWS)


def times(step_ms, count):
    return Axis("time", tuple(f"{step_ms * (i + 1)} ms" for i in range(count)))


FURTHER = {
    "goodput": (GROUP, times(10, 3000)),
    "load": (PORT, times(100, 300)),
    "queue": (PORT, times(100, 300)),
    "cwnd": (GROUP, times(100, 300)),
    "dead_link_drops": (GROUP,),
    "lost_per_source": (OVERFLOW,),
}


def over_delays(values, further=(), delta_ms=DELTA_MS):
    axes = (Axis("delta_ms", tuple(map(str, delta_ms))), *further)
    return Cells(np.asarray(values), axes, tuple(range(1, len(values) + 1)))


def levels(*values, noise=0.1):
    return np.array(values, dtype=float) + noise * NOISE


def steady():
    """Return all links up: 8 Mb/s per class, full access queues, 80 % of the backbone."""
    load = np.full((N, 3, 4, 300), 100_000)
    queue = np.empty((N, 3, 4, 300))
    queue[:, :, :2], queue[:, :, 2:] = 46.4, 0.8
    return load, queue


def overflows(*lost):
    """Return packets lost per source in the first and second overflow, by seed, equal at every delay."""
    return np.broadcast_to(np.array(lost)[:, None], (N, 3, 2))


SLIDES = Scale(1000, 0.1, 0.15, 0.17)
GROWING = 9.0 + 0.1 * np.arange(N)


def make_results(scale=SLIDES, **changes):
    load, queue = steady()
    arrays = {
        "goodput": np.full((N, 3, 2, 3000), 10_000),
        "load": load,
        "queue": queue,
        "cwnd": np.ones((N, 3, 2, 300)),
        "first_merge_drop_s": levels(0.1, 0.8, 2.2, noise=0.01),
        "first_fixed_loss_s": levels(0.1, 1.0, 3.2, noise=0.01),
        "dead_link_drops": np.zeros((N, 3, 2)),
        "both_classes": np.ones((N, 3)),
        "lost_per_source": overflows(*((lost, 3.0) for lost in GROWING)),
        "retransmissions_per_rtt": np.ones((N, 3)),
        "longest_recovery_s": np.full((N, 3), 2.0),
        "timed_out": np.round(levels(0, 3, 5)),
        "back_s": levels(8, 6, 10),
    } | changes
    assert set(arrays) == {field.name for field in fields(World)} - {"scale"}
    return World(scale, **{name: over_delays(values, FURTHER.get(name, ())) for name, values in arrays.items()})


RATES = queues.rates(make_results().load, 10e6, 0.8)


def answer(function, *rates, **changes):
    return judge.combine(function(make_results(**changes), *rates))[0]


def test_judgement_with_all_links_up():
    assert answer(queues.access_full_backbone_empty, RATES) is True
    load, queue = steady()
    queue[:, 0, 0, 250:] = 34.9  # after the repair, with one delay, at one access link
    assert answer(queues.access_full_backbone_empty, RATES, queue=queue) is False
    load[:, 2, 3, 50:100] = 103_000  # 82.4 % of the backbone
    assert answer(queues.access_full_backbone_empty, RATES, load=load) is False
    load, queue = steady()
    load[:, :, :, 100:250] = 0  # what happens while the link is down does not matter
    queue[:5, 0, 2, 50:100] = 1.2
    assert answer(queues.access_full_backbone_empty, RATES, load=load, queue=queue) == "undecided"  # 95 of 100


def full_merge():
    load, _ = steady()
    load[:, 0, 3, 100:110] = 123_500 + np.round(100 * NOISE[:, :1])
    return load


def test_overflow_by_delay():
    goodput_ = np.full((N, 3, 2, 3000), 10_000)
    goodput_[:, 2, 0, 1020:1100] = 0
    good = {"load": full_merge(), "goodput": goodput_}
    assert answer(queues.overflow_by_delay, RATES, **good) is True
    assert answer(queues.overflow_by_delay, RATES, goodput=goodput_) is False  # the merge port is not full
    late = levels(0.31, 0.8, 2.2, noise=0.001)
    assert answer(queues.overflow_by_delay, RATES, **good, first_merge_drop_s=late) is False
    order = levels(0.1, 3.2, 1.0, noise=0.01)
    assert answer(queues.overflow_by_delay, RATES, **good, first_fixed_loss_s=order) is False
    one = goodput_.copy()
    one[7, 2, 0, 1099] = 1000
    assert answer(queues.overflow_by_delay, RATES, **{**good, "goodput": one}) is False
    one = goodput_.copy()
    one[7, 2, 0, 1100] = one[7, 2, 0, 1019] = 1000  # just outside (10.2 s, 11 s]
    assert answer(queues.overflow_by_delay, RATES, **{**good, "goodput": one}) is True


def test_settle_is_the_first_of_five_intervals_in_a_row():
    curve = np.array([[50, 95, 95, 95, 95, 89, 90, 91, 92, 93, 94.0, 10]])
    assert settle_s(curve).tolist() == pytest.approx([0.6])
    assert settle_s(curve[:, :9]).tolist() == pytest.approx([0.9])  # never: to the end


def by_class(switched, fixed, back_at=(100, 120, 200)):
    """Return goodput by class in (10 s, 11 s] in % of before, with the return of switched flows after some 10 ms."""
    bytes_ = np.full((N, 3, 2, 3000), 10_000.0)
    for delta in range(3):
        bytes_[:, delta, 0, 1000 : 1000 + back_at[delta]] = 100 * switched[delta]
        bytes_[:, delta, 0, 1000:1100] = 100 * (switched[delta] + NOISE[:, delta, None])
        bytes_[:, delta, 1, 1000:1100] = 100 * (fixed[delta] + NOISE[:, delta, None])
    return np.round(bytes_)


def test_goodput_by_class():
    good = by_class((24, 26, 2), (66, 97, 100))
    assert answer(goodput.goodput_by_class, goodput=good) is True
    assert answer(goodput.goodput_by_class, goodput=by_class((24, 44, 2), (66, 97, 100))) is False
    assert answer(goodput.goodput_by_class, goodput=by_class((24, 26, 30), (66, 97, 100))) is False
    assert answer(goodput.goodput_by_class, goodput=by_class((24, 26, 2), (66, 100, 90))) is False
    assert answer(goodput.goodput_by_class, goodput=by_class((24, 26, 2), (66, 97, 100), (100, 200, 120))) is False


def test_the_first_second():
    bytes_ = np.full((N, 3, 2, 3000), 10_000.0)
    gain = np.linspace(0.10, 0.50, N)  # the printed 28.72 % lies between the 5th and the 95th percentile
    bytes_[:, 1, :, 1000:1100] *= 1 + gain[:, None, None]
    assert answer(goodput.first_second, goodput=np.round(bytes_)) is True
    np.testing.assert_allclose(
        goodput.first_second_gain_pct(make_results(goodput=bytes_)).values, 100 * gain, atol=1e-9
    )
    later = bytes_.copy()
    later[:, 2, :, 1600:1700] *= 1.05  # (16 s, 17 s] with 1000 ms
    assert answer(goodput.first_second, goodput=np.round(later)) is False
    bytes_[:, 1, :, 1000:1100] *= 1.5
    assert answer(goodput.first_second, goodput=np.round(bytes_)) is False


def test_rank_of_published_value():
    rows = {row.metric: row for row in goodput.gain_rows(Cells(np.arange(101.0), (), tuple(range(101))))}
    assert rows["one_run_gain_pct"].measured == 50
    assert rows["gain_median_pct"].measured == 50
    assert (rows["gain_p05_pct"].measured, rows["gain_p95_pct"].measured) == (5, 95)
    # 0 to 28 are 29 of 101 runs below 28.72 %.
    assert rows["print_percentile_pct"].measured == pytest.approx(100 * 29 / 101, abs=1e-3)


def test_recovery_or_timeout():
    assert answer(traces.recovery_or_timeout) is True
    most = np.ones((N, 3))
    most[:, 1] = 3  # with 50 ms it does not matter
    assert answer(traces.recovery_or_timeout, retransmissions_per_rtt=most) is True
    most[3, 0] = 2
    assert answer(traces.recovery_or_timeout, retransmissions_per_rtt=most) is False
    assert answer(traces.recovery_or_timeout, longest_recovery_s=np.full((N, 3), 0.5)) is False
    twice = Scale(1000, 0.2, 0.25, 0.29)
    assert answer(traces.recovery_or_timeout, longest_recovery_s=np.full((N, 3), 0.8)) is True
    assert answer(traces.recovery_or_timeout, longest_recovery_s=np.full((N, 3), 0.8), scale=twice) is False
    assert answer(traces.recovery_or_timeout, timed_out=np.round(levels(3, 0, 0))) is False
    assert answer(traces.recovery_or_timeout, back_s=levels(6, 8, 8)) is False
    assert answer(traces.recovery_or_timeout, back_s=levels(8, 8, 8, noise=0) + 3 * NOISE) == "undecided"


def test_verdict_on_distribution_of_losses():
    assert answer(traces.distribution_of_losses) is True
    dead = np.zeros((N, 3, 2))
    dead[:, :, 0] = dead[:, 1:, 1].max(axis=1, keepdims=True) + 20
    assert answer(traces.distribution_of_losses, dead_link_drops=dead) is True
    dead[5, 0, 1] = 1
    assert answer(traces.distribution_of_losses, dead_link_drops=dead) is False
    some = np.arange(N) % 3 > 0
    assert answer(traces.distribution_of_losses, both_classes=np.column_stack([some] * 3)) is False
    assert answer(traces.distribution_of_losses, lost_per_source=overflows(*((3.0, lost) for lost in GROWING))) is False
    assert answer(traces.distribution_of_losses, lost_per_source=overflows(*[(3.0, np.nan)] * N)) == "undecided"
    half = [(lost, 3.0) if i % 2 else (lost, np.nan) for i, lost in enumerate(GROWING)]
    assert answer(traces.distribution_of_losses, lost_per_source=overflows(*half)) is True


def test_best_delay():
    noise = np.random.default_rng(5).normal(0, 0.01, (N, 5))

    def judged(*gains):
        ratio = over_delays(np.array([1.0, *gains]) + noise * [0, 1, 1, 1, 1], delta_ms=best_delay.DELTA_MS)
        return judge.combine(best_delay.every_delay_beats_none(ratio))[0]

    assert judged(1.12, 1.08, 1.05, 1.02) is True
    assert judged(1.12, 1.08, 1.05, 0.98) is False
    assert judged(1.05, 1.08, 1.04, 1.02) is False
    assert judged(1.12, 1.08, 1.05, 1.0495) == "undecided"


def test_overflow_rows_only_if_overflow_occurred():
    def metrics(*lost):
        return {row.metric for row in traces.all_rows(make_results(lost_per_source=overflows(*lost)))}

    both = metrics(*[(9.0, np.nan)] * (N - 1), (9.0, 3.0))
    assert "lost_per_source_second_overflow" in both
    assert both - metrics(*[(9.0, np.nan)] * N) == {"lost_per_source_second_overflow"}


def test_a_port_that_is_down_has_no_load():
    found = queues.all_rows(make_results(), RATES)
    where = {(row.key["window"], row.key["port"]) for row in found if row.metric == "load_pct"}
    assert ("10-11 s", "L1->L2") not in where
    assert ("25-30 s", "L1->L2") in where
    # 100 000 B in 100 ms are 8 Mb/s: all of an access link, 80 % of the backbone.
    before = {
        row.key["port"]: row.measured for row in found if row.metric == "load_pct" and row.key["window"] == "5-10 s"
    }
    assert before == {"A->L0": 100, "C->L4": 100, "L1->L2": 80, "L5->L2": 80}
    assert list(found[0].key) == ["delta_ms", "port", "window"]


class Reduced:
    """Finished study that has been evaluated."""

    def __init__(self, value):
        self.value = value

    def once(self, reduce):
        return self.value


def found(exhibit, value):
    return Found({item.name: item.default for item in exhibit.assumed}, {"": Reduced(value)}, changed=False)


def test_conclusions_of_the_best_delay_by_hand():
    # Two seeds; f at 0, 50, 250, 500 and 1000 ms.
    ratio = over_delays([[1, 1.5, 1.25, 1.5, 0.75], [1, 1.25, 1.25, 0.75, 0.5]], delta_ms=best_delay.DELTA_MS)
    conclusions = best_delay.conclusions(found(best_delay.BEST_DELAY, ratio))
    assert {name: list(values) for name, values in conclusions.items()} == {
        "gain at 50 ms (%)": [50, 25],
        "gain at 250 ms (%)": [25, 25],
        "gain at 500 ms (%)": [50, -25],
        "gain at 1000 ms (%)": [-25, -50],
        "gain, 50 ms minus 250 ms (points)": [25, 0],
        "gain, 250 ms minus 500 ms (points)": [-25, 50],
        "gain, 500 ms minus 1000 ms (points)": [75, 25],
    }


def test_the_printed_gains_are_those_of_their_delays():
    ratio = over_delays(np.ones((3, 5)), delta_ms=best_delay.DELTA_MS)
    findings = best_delay.find(found(best_delay.BEST_DELAY, ratio))
    printed = {row.key["delta_ms"]: row.paper for row in findings.rows}
    # The slides' table.
    assert printed == {50: 11.89, 250: 7.55, 500: 6.91, 1000: 3.98}
    assert list(findings.claims) == [statement.id for statement in statements_of("slides/best-delay")]


def test_each_delay_has_a_curve_for_each_class_and_the_total():
    findings = goodput.find(found(goodput.GOODPUT, make_results(goodput=by_class((24, 26, 2), (66, 97, 100)))))
    curves = [curve for curve in findings.series if curve.name == "mean over seeds"]
    assert [tuple(curve.key.values()) for curve in curves] == [
        (delta, name) for delta in DELTA_MS for name in ("switched", "fixed", "total")
    ]
    # 10 000 B in 10 ms are 8 Mb/s, before the failure and from both classes 16.
    assert [curve.y[99] for curve in curves[:3]] == [8, 8, 16]
    assert (curves[0].x[0], curves[0].x[-1]) == (0.1, 30)
    assert [statement.id for statement in statements_of("slides/goodput")] == list(findings.claims)
