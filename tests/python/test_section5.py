"""Section 5: evaluation of runs made by hand, and each judgement in scenarios with an obvious answer."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from handmade import HandMade, cells
from optcp.errors import RunFailed
from optcp.papers import judge
from optcp.papers.exhibit import Findings
from optcp.papers.options import Options
from optcp_papers.gmpls import fig7, fig8, section5, table3
from optcp_papers.gmpls.paper import PAPER_RUNS, WINDOW_S
from optcp_papers.gmpls.section5 import CLASSES, DELTA_MS, World

PORTS = ["S0->A", "L1->L2", "L2->L1", "L5->L6"]
INTERVALS = [f"{(i + 1) / 100} s" for i in range(1000)]
N = 30
SHAPE = (N, len(DELTA_MS))
NOISE = np.random.default_rng(3).normal(0, 1, SHAPE)


def zeros(*shape):
    return np.zeros(shape, dtype="u8")


def run(goodput, drops=(), load=None, groups=CLASSES):
    """Return series of 1000 intervals of 10 ms; drops are (time in ms, port, group, ack)."""
    times, ports, classes, acks = zip(*drops, strict=True) if drops else ((), (), (), ())
    return {
        "goodput": {"interval_s": 0.01, "groups": list(groups), "bytes": goodput},
        "load": {"interval_s": 0.1, "ports": PORTS, "bytes": zeros(4, 100) if load is None else load},
        "drops": {
            "ports": PORTS,
            "groups": ["fixed", "switched"],
            "time_ps": np.array([time * 10**9 for time in times], dtype="u8"),
            "port": np.array([PORTS.index(port) for port in ports], dtype="u4"),
            "group": np.array([["fixed", "switched"].index(name) for name in classes], dtype="u4"),
            "ack": np.array(acks, dtype=bool),
        },
    }


def measured(*runs):
    """Return the results of one seed: one run per switch delay, or the same run for each."""
    return section5.measure(HandMade({"delta_ms": DELTA_MS}, [list(runs) * (5 if len(runs) == 1 else 1)]))


def make_results(seeds=3, **changes):
    """Return results without events except the changes; values in the order of their axes."""
    shape = (seeds, len(DELTA_MS))
    values = {
        "goodput": np.ones((*shape, 2, 1000)),
        "load_bps": np.full(seeds, 9e6),
        "backbone_drops": np.zeros(shape),
        "dead_link_drops": np.zeros(shape),
        "merge_drops": np.zeros(shape),
        "first_merge_drop_s": np.ones(shape),
        "both_classes_drop": np.ones(shape),
    } | changes
    axes = {"goodput": {"delta_ms": DELTA_MS, "group": CLASSES, "time": INTERVALS}, "load_bps": {}}
    return World(**{name: cells(value, **axes.get(name, {"delta_ms": DELTA_MS})) for name, value in values.items()})


def test_equation_5_counts_both_groups_from_after_5_s_to_6_5_s():
    bytes_ = zeros(2, 1000)
    bytes_[0, 499] = 1  # (4.99 s, 5 s]: before the window
    bytes_[0, 500] = 10  # (5 s, 5.01 s]: its first interval
    bytes_[1, 649] = 100  # (6.49 s, 6.5 s]: its last
    bytes_[1, 650] = 1000
    double = zeros(2, 1000)
    double[0, 500] = 220
    world = measured(*(run(item) for item in (bytes_, double, bytes_, double, bytes_)))
    in_window = world.goodput.between(*WINDOW_S)
    assert in_window.values[0].tolist() == [[10, 100], [220, 0], [10, 100], [220, 0], [10, 100]]
    assert world.ratio.values.tolist() == [[1.0, 2.0, 1.0, 2.0, 1.0]]
    assert world.good.wins("delta_ms").values.tolist() == [[0.0, 0.5, 0.0, 0.5, 0.0]]
    assert world.good.seeds == (1,)


def test_groups_are_found_by_name():
    bytes_ = zeros(2, 1000)
    bytes_[0, 500] = 7
    good = measured(run(bytes_, groups=("fixed", "switched"))).goodput.between(*WINDOW_S).at(delta_ms=0)
    assert [good.at(group=name).values.tolist() for name in CLASSES] == [[0], [7]]


def test_no_goodput_without_delay_is_an_error():
    with pytest.raises(RunFailed, match="no meaning"):
        _ = measured(run(zeros(2, 1000))).ratio


def test_drops_are_counted_by_place_and_window():
    drops = [
        (3000, "L5->L6", "fixed", False),  # at 3 s: before (3 s, 5 s]
        (3001, "S0->A", "switched", False),  # no backbone port
        (4999, "L5->L6", "fixed", False),
        (5000, "L1->L2", "switched", False),  # at 5 s: the failure itself, in neither window
        (5001, "L1->L2", "switched", False),
        (5002, "L2->L1", "switched", True),
        (5010, "L5->L6", "fixed", False),
        (5060, "L5->L6", "switched", False),
        (5240, "L5->L6", "fixed", False),
        (6500, "L5->L6", "fixed", False),  # at 6.5 s: in
        (6501, "L5->L6", "fixed", False),
    ]
    world = measured(run(zeros(2, 1000), drops))
    assert world.backbone_drops.values.tolist() == [[1] * 5]
    assert world.dead_link_drops.values.tolist() == [[2] * 5]
    assert world.merge_drops.values.tolist() == [[4] * 5]
    # From the switchover at 5 s + delta to the next drop there.
    assert world.first_merge_drop_s.values[0] == pytest.approx([0.010, 0.010, 1.250, 1.000, 0.500])
    assert world.both_classes_drop.values.tolist() == [[True, True, False, False, False]]


@pytest.mark.parametrize(("second_ms", "both"), [(5200, True), (5201, False)])
def test_both_classes_must_lose_within_200_ms(second_ms, both):
    drops = [(5010, "L5->L6", "fixed", False), (second_ms, "L5->L6", "switched", False)]
    world = measured(run(zeros(2, 1000), drops))
    assert bool(world.both_classes_drop.at(delta_ms=0).values[0]) is both


def test_a_run_without_drops_counts_to_its_end():
    world = measured(run(zeros(2, 1000)))
    assert np.isnan(world.first_merge_drop_s.values).all()
    assert world.merge_drops.values.sum() == 0
    # The time to the end is 5 s with an immediate switchover, and 4.95, 4.75, 4.5 and 4 s with a delayed one.
    texts = [part.text for part in fig7.overflow_at_once(world)]
    for text, gap in zip(texts, ("-50.00", "-250.00", "-500.00", "-1000.00"), strict=False):
        assert f"ms minus 0 ms: {gap} ms" in text


def test_load_of_the_failing_link():
    load = zeros(4, 100)
    load[1, 29] = 10**9  # (2.9 s, 3 s]: before
    load[1, 30] = 1_125_000
    load[1, 49] = 1_125_000
    # 2 x 1 125 000 B in 2 s are 9 Mb/s.
    assert measured(run(zeros(2, 1000), load=load)).load_bps.values.tolist() == [9e6]


def test_scenarios_of_both_interpretations():
    chosen = {parameter.name: parameter.default for parameter in section5.ASSUMED}
    grids = section5.grids(chosen, Options())
    assert list(grids) == ["100+100", "10+10"]
    for reading, per_source in (("100+100", "10"), ("10+10", "1")):
        branches = grids[reading].branches
        assert [branch.key for branch in branches] == [{"parameters.switch_delay": f"{delta} ms"} for delta in DELTA_MS]
        parameters = branches[0].scenario.summary()["parameters"]
        assert parameters["flows_per_source"] == per_source
        assert parameters["backbone"] == "10000000 bps"
        assert parameters["queue"] == "50 packets"
    assert grids["100+100"].hash != grids["10+10"].hash


@pytest.mark.parametrize("text", ["10", "10+20", "5+5", "ten+ten", "", "0+0"])
def test_invalid_flow_counts_are_refused(text):
    with pytest.raises(ValueError, match="expected flows per class"):
        section5.flow_readings(text)


def test_flow_counts_are_parsed():
    assert section5.flow_readings("20+20,10+10, 20+20") == "20+20, 10+10"


def answer(function, **changes):
    rates = {"backbone_bps": 10e6, "access_share": 0.9} if function.__module__ == fig7.__name__ else {}
    return judge.combine(function(make_results(N, **changes), **rates))[0]


def levels(*values, noise=0.1):
    """Return one level per delay, with noise over seeds."""
    return np.array(values, dtype=float) + noise * NOISE


def goodput(per_class, intervals=slice(None)):
    """Return bytes in every interval: the level of each (delay, class) within `intervals`, 1 elsewhere."""
    bytes_ = np.ones((N, len(DELTA_MS), 2, 1000))
    bytes_[..., intervals] = per_class
    return np.round(bytes_)


def test_above_link_rate():
    # 10 ms at 10 Mb/s are 12 500 bytes.
    bytes_ = goodput(100)
    bytes_[:, :, 0, 600] = 12_501
    assert answer(fig7.above_link_rate, goodput=bytes_) is True
    bytes_[:, :, 0, 600] = 12_500
    assert answer(fig7.above_link_rate, goodput=bytes_) is False
    bytes_[:, :, 0, 600] = 12_501
    bytes_[0, 0, 1, 0] = 11_251  # more than 9 Mb/s carry in the first 10 ms
    assert answer(fig7.above_link_rate, goodput=bytes_) is False
    bytes_[0, 0, 1, 0] = 11_250
    assert answer(fig7.above_link_rate, goodput=bytes_) is True


def test_access_is_bottleneck():
    load = 9e6 + 1e4 * NOISE[:, 0]
    none = np.zeros(SHAPE, dtype=int)
    assert answer(fig7.access_is_bottleneck, load_bps=load, backbone_drops=none) is True
    assert answer(fig7.access_is_bottleneck, load_bps=load - 5e5, backbone_drops=none) is False
    assert answer(fig7.access_is_bottleneck, load_bps=load + 1e5, backbone_drops=none) == "undecided"
    one = none.copy()
    one[7, 2] = 1
    assert answer(fig7.access_is_bottleneck, load_bps=load, backbone_drops=one) is False


def test_immediate_hurts_fixed():
    fixed = goodput(1000)
    fixed[:, :, 1, 500:600] = np.round(levels(500, 800, 800, 800, 800))[..., None]
    assert answer(fig7.immediate_hurts_fixed, goodput=fixed) is True
    fixed[:, 3, 1, 500:600] = 300
    assert answer(fig7.immediate_hurts_fixed, goodput=fixed) is False
    # The switched flows, and times after 6 s, do not matter.
    other = goodput(1000)
    other[:, 0, 0, :] = 1
    other[:, 0, 1, 600:] = 1
    assert answer(fig7.immediate_hurts_fixed, goodput=other) == "undecided"


def test_overflow_at_once():
    first = levels(0.02, 0.2, 0.3, 0.4, 0.5, noise=0.001)
    both, none = np.ones(SHAPE, dtype=bool), np.zeros(SHAPE, dtype=bool)
    assert answer(fig7.overflow_at_once, first_merge_drop_s=first, both_classes_drop=both) is True
    assert answer(fig7.overflow_at_once, first_merge_drop_s=first, both_classes_drop=none) is False
    late = levels(0.3, 0.2, 0.3, 0.4, 0.5, noise=0.001)
    assert answer(fig7.overflow_at_once, first_merge_drop_s=late, both_classes_drop=both) is False


def test_evidence_states_censored_runs():
    first = levels(1, 2, 3, 4, 5)
    first[:4, 1] = np.nan
    parts = fig7.overflow_at_once(make_results(N, first_merge_drop_s=first, both_classes_drop=~np.isnan(first)))
    assert "4 runs without any drop" in parts[0].text
    assert "without any drop" not in parts[1].text


def test_dead_link_or_merge():
    dead, merge = levels(10, 20, 30, 40, 50), levels(50, 10, 9, 8, 7)
    assert answer(fig7.dead_link_or_merge, dead_link_drops=dead, merge_drops=merge) is True
    assert answer(fig7.dead_link_or_merge, dead_link_drops=dead[:, ::-1], merge_drops=merge) is False
    assert answer(fig7.dead_link_or_merge, dead_link_drops=dead, merge_drops=merge[:, ::-1]) is False


def test_settling_starts_ten_stable_intervals():
    level = 100.0
    curve = np.array([0.0, 95, 89, *[91, 109] * 5, 50, level])
    # The run of ten starts at index 3: 0.3 s.
    assert fig7.settle_s(curve[None, :]) == pytest.approx([0.3])
    too_short = np.array([0.0, *[100] * 9, 50, level])
    assert fig7.settle_s(too_short[None, :]).tolist() == [np.inf]


def test_settles_in_a_second():
    bytes_ = goodput(1000)
    for index, delta in enumerate(DELTA_MS):
        switch = 500 + delta // 10
        bytes_[:, index, :, switch : switch + 100] = 500
    # Half the level for one second: the first stable interval of 100 ms starts 1.0 s after the switchover.
    assert answer(fig7.settles_in_a_second, goodput=bytes_) is True
    text = fig7.settles_in_a_second(make_results(N, goodput=bytes_))[1].text
    assert text == f"fixed, 0 ms: settling time: +1.00 s [+1.00, +1.00], n = {N}"
    bytes_[:, 1, 0, 505:] = 1000
    assert answer(fig7.settles_in_a_second, goodput=bytes_) is False


def window(values):
    """Return goodput whose ratio by equation 5 has the given values per (seed, delay)."""
    return goodput((1e4 * values)[..., None, None], slice(500, 650))


def test_delay_gains():
    assert answer(fig8.delay_gains, goodput=window(levels(1, 1.1, 1.2, 1.1, 1.1, noise=0.01))) is True
    assert answer(fig8.delay_gains, goodput=window(levels(1, 1.1, 1.2, 1.1, 0.9, noise=0.01))) is False
    assert answer(fig8.delay_gains, goodput=window(levels(1, 1.1, 1.2, 1.1, 1, noise=0.01))) == "undecided"


def test_gain_falls():
    assert answer(table3.gain_falls, goodput=window(levels(1, 1.4, 1.3, 1.2, 1.1, noise=0.01))) is True
    assert answer(table3.gain_falls, goodput=window(levels(1, 1.3, 1.4, 1.2, 1.1, noise=0.01))) is False


def printed_shares():
    """Return 150 seeds with exactly the published shares: 24 % ... 49.33 % worse; 20 %, 64.67 %, ... best."""
    ratio = np.full((PAPER_RUNS, len(DELTA_MS)), 1.0)
    best = np.repeat(np.arange(5), [30, 97, 14, 8, 1])
    for index, worse in enumerate((36, 55, 64, 74), start=1):
        ratio[:, index] = 1.01
        # If delta = 0 is best, every delay is worse; the other worse cases are distributed over the other seeds.
        ratio[np.flatnonzero(best == 0), index] = 0.9
        others = np.flatnonzero((best != 0) & (best != index))
        ratio[others[: worse - 30], index] = 0.9
    ratio[np.arange(PAPER_RUNS), best] = 1.2
    bytes_ = np.ones((PAPER_RUNS, len(DELTA_MS), 2, 1000))
    bytes_[..., 500:650] = (1000 * ratio)[..., None, None]
    return np.round(bytes_)


def test_shares_match_published_values():
    bytes_ = printed_shares()
    parts = table3.shares_as_printed(make_results(PAPER_RUNS, goodput=bytes_))
    assert len(parts) == 4 + 5 + 3 + 1
    assert parts[0].text.startswith("worse than 0 ms, 50 ms: 24.0 % against 24.00 % printed")
    assert parts[5].text.startswith("best, 50 ms: 64.7 % against 64.67 % printed")
    assert all(part.p == pytest.approx(1.0, abs=0.01) for part in parts[:9])
    assert judge.combine(parts[:9])[0] is True
    assert judge.combine(parts[12:])[0] is True


def test_equal_goodput_does_not_count_as_worse():
    parts = table3.shares_as_printed(make_results())
    assert parts[0].text.startswith("worse than 0 ms, 50 ms: 0.0 % against")
    # Five equal delays share every run.
    assert parts[4].text.startswith("best, 0 ms: 20.0 % against")


def test_every_statement_has_exactly_one_judge():
    chosen = {parameter.name: parameter.default for parameter in section5.ASSUMED}
    done = {"10+10": SimpleNamespace(once=lambda _: make_results())}
    for exhibit, count in ((fig7.FIG7, 6), (fig8.FIG8, 1), (table3.TABLE3, 2)):
        assert len(exhibit.evaluate(chosen, done).claims) == count
    parts = fig8.delay_gains(make_results())
    with pytest.raises(LookupError, match="nothing judges"):
        replace(fig8.FIG8, find=lambda _: Findings([], {})).evaluate(chosen, done)
    with pytest.raises(LookupError, match="no claim 'delay-gain': did you mean 'delay-gains'"):
        replace(fig8.FIG8, find=lambda _: Findings([], dict.fromkeys(("delay-gains", "delay-gain"), parts))).evaluate(
            chosen, done
        )
