"""Extensions of the LBAS paper: the smaller copy of its network, and evaluation of its runs on data made by hand."""

import math

import numpy as np
import pytest

from handmade import HandMade, cells, run
from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp.data.samples import Samples
from optcp.papers import assume
from optcp.papers.model import Result
from optcp.papers.options import Options, Size
from optcp.papers.registry import select
from optcp.plots import figures
from optcp_papers.lbas import buffer, mix, outcome, paper, rows, scale, smaller, trends
from optcp_papers.lbas.paper import CELLS, Cell
from test_lbas import as_printed
from test_lbas_long import keep

QUICK = Options(size=Size("quick"))


def defaults(id_):
    (one,) = select([id_])
    return one, assume.values(one.assumed, {})


class Finished:
    """Study whose evaluated result is given."""

    def __init__(self, result):
        self.result = result

    def once(self, _):
        return self.result


def shown(id_, evaluation):
    """Return the result in the form that a report reads."""
    one, chosen = defaults(id_)
    return Result(
        id_,
        one.title,
        {},
        {"name": "quick"},
        dict(chosen),
        {},
        evaluation.rows,
        [],
        evaluation.notes,
        {},
        evaluation.series,
    )


def batches(throughput_gbps, drop_mbps=0.1, queue_mb=0.03):
    return {
        "throughput_gbps": np.array([throughput_gbps]),
        "drop_mbps": np.array([drop_mbps]),
        "queue_mb": np.array([queue_mb]),
    }


def test_smaller_copy_matches_hand_calculation():
    """100 Mb/s and 100 ms are 1.25 MB, or 833 packets of 1500 B; the paper's 10 Gb/s with 100 flows: 833 per flow."""
    assert smaller.PRODUCT_BYTES == 100e6 * 0.1 / 8
    assert smaller.BUFFER_BYTES == 125_000
    assert [flows / wide for flows, wide in zip(smaller.FLOWS, paper.FLOWS, strict=False)] == [0.1, 0.1]
    one, chosen = defaults("lbas/today")
    study = one.studies(chosen, Options())["long flows"]
    assert len(study.branches) == 5 * 8
    world = study.branches[0].scenario.summary()["parameters"]
    assert (world["rate"], world["buffer"], world["far_buffer"]) == ("100 Mbps", "125000 B", "125000 B")
    # 10 flows are K N with K = 5.
    assert (world["K"], world["hosts"], world["selection"], world["profile"]) == ("5", "2", "anycast", "inet-2011")
    cells = [Cell(degree, flows, True) for degree in smaller.BUNDLING_DEGREES for flows in smaller.FLOWS]
    assert {cell.flows_by_lightpath()[0] for cell in cells} == {10, 25}


def test_shares_by_hand():
    found = smaller.shares(batches(0.08, drop_mbps=20, queue_mb=0.05))
    # 80 of 100 Mb/s; 20 of 100 offered Mb/s; 50 of 125 kB.
    assert found == pytest.approx({"utilisation_pct": 80, "dropped_pct": 20, "queue_pct": 40})


def test_ports_of_all_runs_by_hand():
    """Two lightpaths in one second: 12.5 MB in total are 50 Mb/s each with anycast switching, and 40 without."""

    def of_run(megabytes):
        ones = {name: np.zeros((2, 1)) for name in ("dropped_bytes", "mean_bytes", "longest_ps")}
        lightpaths = {"ports": ["a", "b"], "interval_s": 1.0, "bytes": np.full((2, 1), 5e5 * megabytes), **ones}
        return {"lightpaths": lightpaths, "metro": metro(lightpaths)}

    done = HandMade({"anycast": ("yes", "no")}, [[of_run(12.5), of_run(10.0)], [of_run(25.0), of_run(20.0)]])
    found = smaller.measured(done)
    assert found["utilisation_pct"].at(anycast="yes").values == pytest.approx([50, 100])
    assert found["utilisation_pct"].at(anycast="no").values == pytest.approx([40, 80])
    assert found["dropped_pct"].values == pytest.approx(np.zeros((2, 2)))


def test_rows_of_both_modes_are_paired_by_seed():
    values = by_mode([[[90.0, 80.0]], [[72.0, 60.0]]], profile=("a",))
    found = rows.both_modes({"utilisation_pct": values})
    assert found[0].key == {"profile": "a", "anycast": "yes"}
    assert [(row.key["anycast"], row.metric, row.measured) for row in found] == [
        ("yes", "utilisation_pct", 81),
        ("no", "utilisation_pct", 70),
        ("with minus without", "utilisation_points", 11),
    ]
    # The seeds vary by 20; their differences 10 and 12 have a standard error of 1, and t(1, 0.975) is 12.706.
    assert found[2].ci95 == pytest.approx((11 - 12.706, 11 + 12.706), abs=1e-3)


def test_the_buffer_of_equal_utilisation_by_hand():
    products = (0.01, 0.1, 1.0)
    curve = np.array([20.0, 80.0, 90.0])
    # Half way from 20 to 80 is the geometric mean of the two buffers.
    assert buffer.equal(products, curve, 50) == pytest.approx(10**-1.5)
    assert buffer.equal(products, curve, 80) == pytest.approx(0.1)
    assert buffer.equal(products, curve, 10) == 0.01
    assert np.isnan(buffer.equal(products, curve, 95))


def made_buffers(degrees=buffer.DEGREES):
    """Return utilisations: anycast switching needs a tenth of the buffer; 20 points per decade."""
    axes = {"bundling_degree": degrees, "anycast": ("yes", "no"), "buffer_products": buffer.PRODUCTS}
    tenfold = [[10 if anycast == "yes" and degree > 1 else 1 for anycast in axes["anycast"]] for degree in degrees]
    utilisation = 80 + 20 * np.log10(np.multiply.outer(tenfold, buffer.PRODUCTS))
    values = np.array([utilisation + seed for seed in range(3)])
    return {"utilisation_pct": cells(values, **axes), "dropped_pct": cells(np.full(values.shape, 0.1), **axes)}


def by_mode(values, **axes):
    """Return cells over some axes, with and without anycast switching."""
    return cells(values, **axes, anycast=("yes", "no"))


def test_buffer_saving_matches_hand_calculation():
    one, chosen = defaults("lbas/buffer")
    evaluation = one.evaluate(chosen, {"buffers": Finished(made_buffers())})
    saved = [row for row in evaluation.rows if row.metric == "saved_pct"]
    assert [(row.key["bundling_degree"], row.key["buffer_products"]) for row in saved] == [
        (degree, reference) for degree in (2, 5, 10) for reference in (0.1, 0.3)
    ]
    assert [row.measured for row in saved] == pytest.approx([90] * 6)
    assert all(row.n == 3 for row in saved)
    (drawn,) = figures(shown("lbas/buffer", evaluation))
    assert "b_D = 10" in drawn.svg


def test_unreachable_utilisation_has_no_saving():
    """One of three seeds reaches 80 % exactly at 0.3 C RTT, two stay at 70 %; without, 60 + 20 = 80 % at 0.3."""
    found = made_buffers(degrees=(2,))
    # By seed and buffer, with and without anycast switching.
    reached = [[80.0 if product >= 0.3 and seed == 0 else 70.0 for product in buffer.PRODUCTS] for seed in range(3)]
    found["utilisation_pct"].values[:, 0, 0] = reached
    found["utilisation_pct"].values[:, 0, 1] = [80.0 if product == 0.3 else 75.0 for product in buffer.PRODUCTS]
    one, chosen = defaults("lbas/buffer")
    evaluation = one.evaluate(chosen, {"buffers": Finished(found)})
    (needed,) = [
        row for row in evaluation.rows if row.metric == "equal_buffer_products" and row.key["buffer_products"] == 0.3
    ]
    assert (needed.measured, needed.n) == (0.3, 1)
    assert evaluation.notes[2].startswith("b_D = 2, 0.3 C RTT: in 2 of 3 runs anycast switching does not reach")
    # No seed reaches it, so there is only a note.
    found["utilisation_pct"].values[:, 0, 0] = 70.0
    evaluation = one.evaluate(chosen, {"buffers": Finished(found)})
    assert {row.metric for row in evaluation.rows if "anycast" not in row.key} == set()
    assert [note.split(" runs")[0] for note in evaluation.notes[1:]] == [
        "b_D = 2, 0.1 C RTT: in 3 of 3",
        "b_D = 2, 0.3 C RTT: in 3 of 3",
    ]


def test_buffers_of_the_grid():
    one, chosen = defaults("lbas/buffer")
    study = one.studies(chosen, Options())["buffers"]
    assert len(study.branches) == 4 * 2 * 5
    assert study.branches[0].scenario.summary()["parameters"]["buffer"] == "12500 B"
    assert len(one.studies(chosen, QUICK)["buffers"].branches) == 2 * 2 * 2


def test_the_load_of_short_flows_and_udp():
    """25 flows/s of 50 kB are 10 Mb/s of payload, a tenth of a lightpath; 10 sources of 500 kb/s are 5 Mb/s."""
    for load, arrivals in mix.ARRIVALS.items():
        assert 8 * arrivals * mix.SHORT_MEAN_BYTES / 1e6 / smaller.RATE_MBPS == pytest.approx(load / 100)
    # b_D = 5: the load of five lightpaths.
    settings = mix.traffic(5, 10, 50)
    assert {setting["rate"] for setting in settings["traffic"]} == {"500000 bps"}
    assert [setting["arrivals"] for setting in settings["flows"][2:]] == ["125 flows/s"] * 2


def test_completion_times_and_datagrams_by_hand():
    """Flow 0 starts in the warm-up and does not count; 1 and 2 take 100 and 300 ms; 3 is unfinished after 51 s."""
    second = 10**12
    short = {
        "start_ps": np.array([1, 7, 8, 9]) * second,
        "time_ps": np.array([9 * second, 7 * second + second // 10, 8 * second + 3 * second // 10, 60 * second]),
        "finished": np.array([1, 1, 1, 0]),
    }
    # Two groups, seconds 0 to 7: datagrams before 6 s do not count.
    late = np.array([[9] * 6 + [3, 5]] * 2)
    datagrams = {
        "interval_s": 1.0,
        "groups": ["a", "b"],
        "arrived_packets": late,
        "lost_packets": np.array([[7] * 6 + [0, 4], [7] * 6 + [0, 0]]),
        "delay_sum_ps": late * 50 * 10**9,
    }
    ports = {
        "ports": ["a", "b"],
        "interval_s": 1.0,
        **{name: np.ones((2, 1)) for name in ("bytes", "dropped_bytes", "mean_bytes", "longest_ps")},
    }
    found, times = mix.measure(run({"short": short, "udp": datagrams, "lightpaths": ports, "metro": metro(ports)}), 6)
    assert times.values == pytest.approx([100, 300, math.inf])
    # A third of the flows take longer than 51 s, two thirds at most 300 ms, so the median is at most 300 ms.
    assert found["completion_mean_ms"] == pytest.approx((math.inf, (100 + 300 + 51_000) / 3))
    assert found["completion_p50_ms"] == pytest.approx((300, 300))
    assert found["completion_p95_ms"] == pytest.approx((math.inf, 51_000))
    assert found["unfinished_pct"] == pytest.approx((100 / 3,) * 2)
    # 16 arrived and 4 were lost: 20 %.
    assert found["udp_loss_pct"] == pytest.approx((20, 20))
    assert found["udp_delay_ms"] == pytest.approx((50, 50))


def metro(ports):
    return {**ports, "ports": ["ML0->L", "L->ML0"]}


def test_the_mix_is_shown():
    one, chosen = defaults("lbas/mix")
    place = {"profile": ("rfc",), "bundling_degree": (2,), "short_flows_pct": (10,)}
    means = by_mode([[[[[200.0, 200.0]]]], [[[[201.0, 201.0]]]]], **place)
    times = np.empty(means.values.shape, dtype=object)
    for at in np.ndindex(*times.shape):
        times[at] = np.array([100.0, 200.0, 400.0])
    metrics = Cells(means.values[..., None], (*means.axes, Axis("metric", ("completion_mean_ms",))), means.seeds)
    evaluation = one.evaluate(chosen, {"mix": Finished((metrics, Samples(times, means.axes, means.seeds)))})
    assert [row.measured for row in evaluation.rows] == [200.5, 200.5, 0]
    assert evaluation.rows[0].key == {"profile": "rfc", "bundling_degree": 2, "short_flows_pct": 10, "anycast": "yes"}
    curve = evaluation.series[0]
    assert (curve.x[0], curve.y[0]) == (100, 100)
    assert sorted(curve.x) == curve.x
    assert len(figures(shown("lbas/mix", evaluation))) == 1


def measured_of(*cells):
    return outcome.Measured({cell: {1: batches(0.08)} for cell in cells})


def test_trends_pair_combinations_that_differ_in_one_property():
    two, five, more = Cell(2, 10, True), Cell(5, 10, True), Cell(5, 25, True)
    both = [mode for cell in (two, five, more) for mode in (cell, cell.without)]
    found = trends.trends(trends.COPY, measured_of(*both))
    assert {name: item.pairs for name, item in found.items()} == {
        "anycast switching": [(cell, cell.without) for cell in (two, five, more)],
        "larger bundles (b_D = 5 against 2), with anycast": [(five, two)],
        "larger bundles (b_D = 5 against 2), without": [(five.without, two.without)],
        "more flows (25 against 10), with anycast": [(more, five)],
        "more flows (25 against 10), without": [(more.without, five.without)],
    }


def test_trends_are_over_the_same_pairs_in_both_modes_and_between_the_ends_of_the_network():
    """All b_D with 100 flows, but 10 only without anycast switching: neither mode has both ends."""
    cells = [cell for cell in CELLS if cell.flows == 100 and (not cell.anycast or cell.bundling_degree < 10)]
    assert list(trends.trends(trends.OF_PAPER, measured_of(*cells))) == ["anycast switching"]
    found = trends.trends(trends.OF_PAPER, measured_of(*CELLS[:4], *CELLS[24:26]))
    assert found["larger bundles (b_D = 10 against 2), without"].pairs == [(CELLS[25], CELLS[1])]
    # 250 flows at b_D = 2 are not an end of the paper's 100 to 500.
    assert "more flows (500 against 100), without" not in found
    # Without a common seed no pair can be made.
    apart = outcome.Measured({CELLS[0]: {1: batches(0.08)}, CELLS[1]: {2: batches(0.08)}})
    assert trends.trends(trends.OF_PAPER, apart) == {}


def test_changes_by_hand():
    """80 and 84 Mb/s against 70 and 78; drops of 3 against 4; queues of 50 against 25 kB of 125 kB."""
    cells = [Cell(degree, 10, anycast) for degree in (2, 5) for anycast in (True, False)]
    values = [
        batches(0.080, 1, 0.05),
        batches(0.070, 2, 0.025),
        batches(0.084, 2, 0.05),
        batches(0.078, 2, 0.025),
    ]
    measured = outcome.Measured({cell: {1: value} for cell, value in zip(cells, values, strict=True)})
    found = trends.rows_of(trends.COPY, "a", measured)
    of_trend = {row.metric: row.measured for row in found if row.key["trend"] == "anycast switching"}
    assert of_trend == {"pairs": 2, "utilisation_points": 8, "queue_points": 20, "drop_change_pct": -25}
    lossless = outcome.Measured({cell: {1: batches(0.08, 0)} for cell in cells})
    assert "drop_change_pct" not in {row.metric for row in trends.rows_of(trends.COPY, "a", lossless)}


def counted(gains=(0.0,), degrees=(2,), flows=(10,)):
    """Return port counters of the copy with each sender: 80 Mb/s, and a gain per seed with anycast switching."""
    place = {"profile": smaller.SENDERS, "bundling_degree": degrees, "flows_per_lightpath": flows}
    shape = [len(values) for values in place.values()]
    modes = [[0.08 + gain, 0.08] for gain in gains]
    taken = np.array([np.broadcast_to(of_seed, (*shape, 2)) for of_seed in modes])
    values = {"throughput_gbps": taken, "drop_mbps": np.full(taken.shape, 0.1), "queue_mb": np.full(taken.shape, 0.03)}
    return {name: by_mode(array, **place) for name, array in values.items()}


def test_trends_of_stored_runs(tmp_path, monkeypatch):
    """The published values as outcomes: 1.47 Gb/s more at b_D = 2 with 100 flows are 14.7 points."""
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    keep(as_printed(without=CELLS[2:]), {})
    one, chosen = defaults("lbas/trends")
    evaluation = one.evaluate(chosen, {"long flows": Finished(counted())})
    kept = [row for row in evaluation.rows if row.key["network"] == "paper, long runs"]
    assert {row.metric: row.measured for row in kept} == pytest.approx(
        # 8.39 - 6.92 of 10 Gb/s, 5.76 - 5.97 of 12.5 MB, 43.93 / 50.64 - 1.
        {"pairs": 1, "utilisation_points": 14.7, "queue_points": -1.68, "drop_change_pct": -13.25},
        abs=0.01,
    )
    assert [item["cell"] for item in evaluation.kept][:2] == ["2-100-anycast", "2-100-destination"]
    told = "paper, long runs, inet-2011. anycast switching: 2-100-anycast against 2-100-destination."
    assert evaluation.notes[1] == told
    assert {row.key["profile"] for row in evaluation.rows if row.key["network"] == "smaller copy"} == {*smaller.SENDERS}


def test_senders_of_today_are_shown():
    one, chosen = defaults("lbas/today")
    shares = smaller.shares(counted(gains=(0.001, 0.002), degrees=(2, 5), flows=(10, 25)))
    evaluation = one.evaluate(chosen, {"long flows": Finished(shares)})
    assert len(evaluation.rows) == 5 * 4 * 3 * 3
    gain = next(row for row in evaluation.rows if row.metric == "utilisation_points")
    assert (gain.measured, gain.key["profile"], "anycast" in gain.key) == (1.5, "inet-2011", True)
    (drawn,) = figures(shown("lbas/today", evaluation))
    assert "BBR" in drawn.svg


def test_choices_change_one_thing():
    one, chosen = defaults("lbas/choices")
    study = one.studies(chosen, Options())["choices"]
    worlds = [branch.scenario.summary()["parameters"] for branch in study.branches[::2]]
    base = worlds[0]
    changed = [{name for name in base if world[name] != base[name]} for world in worlds]
    assert changed[0] == set()
    assert all(len(item) == 1 or item == {"K", "hosts"} for item in changed[1:])
    counts = {"throughput_gbps": [0.08, 0.07], "drop_mbps": [0.1, 0.1], "queue_mb": [0.03, 0.03]}
    found = smaller.shares({name: by_mode([[values]], choice=("as assumed",)) for name, values in counts.items()})
    evaluation = one.evaluate(chosen, {"choices": Finished(found)})
    assert [row.measured for row in evaluation.rows if row.metric.startswith("utilisation")] == [80, 70, 10]
    assert len(figures(shown("lbas/choices", evaluation))) == 1


def test_scales_by_hand(tmp_path, monkeypatch):
    """1 Gb/s with 100 flows: 12.5 MB / 1500 B / 100 = 83 segments per flow, buffers of 1.25 MB; the paper has 833."""
    one = scale.Scale(1000, 100, 60)
    assert (one.key(anycast=True)["share_segments"], one.buffer_bytes) == (83, 1_250_000)
    assert scale.PAPER_SCALE.key(anycast=True)["share_segments"] == 833
    assert scale.PAPER_SCALE.buffer_bytes == 12_500_000
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    keep(as_printed(without=CELLS[1:]), {})
    exhibit, chosen = defaults("lbas/scale")
    found = {row.metric: row for row in exhibit.evaluate(chosen, {}).rows}
    assert found["utilisation_pct"].measured == pytest.approx(83.9, abs=0.01)
    assert found["utilisation_pct"].n == 1
    # 43.93 Mb/s where the law gives 0.0223.
    assert found["drops_over_law"].measured == pytest.approx(43.93 / 0.0223, rel=0.01)


@pytest.mark.parametrize("id_", ["lbas/trends", "lbas/scale"])
def test_stored_runs_are_not_compared_with_other_settings(id_, tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    keep(as_printed(), {})
    one, _ = defaults(id_)
    done = {"long flows": Finished(counted())}
    for settings, kept in (({}, True), ({"start_spread_s": "6"}, False)):
        evaluation = one.evaluate(assume.values(one.assumed, settings), done)
        of_paper = [row for row in evaluation.rows if row.key.get("network") != "smaller copy"]
        assert bool(of_paper) == bool(evaluation.kept) == kept
        assert ("Stored long runs are omitted, because they have other settings." in evaluation.notes) != kept


@pytest.mark.parametrize("id_", ["lbas/buffer", "lbas/choices", "lbas/scale", "lbas/today", "lbas/trends"])
def test_quick_size_is_one_short_run(id_):
    one, chosen = defaults(id_)
    for name, study in one.studies(chosen, QUICK).items():
        assert one.seeds(name, Size("quick")) == 1
        assert one.seeds(name, Size.asked(True, 3)) == 3
        assert one.seeds(name, Size("seeds=3", 3)) == 3
        assert study.branches[0].scenario.summary()["parameters"]["warm_up"] == "4 s"
