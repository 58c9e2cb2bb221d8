"""The obs paper: its formulas against hand calculations, and its judges against cases that are known."""

from __future__ import annotations

import numpy as np
import pytest

from optcp.papers import judge
from optcp.papers.obs import fig3, fig6, fig10, fig11, fig14, fig15, fig16, fig17, goodput
from optcp.papers.obs.paper import TIMERS_S, Cell, equation_3, equation_5, goodput_mbps, mean_segments
from optcp.papers.obs.traces import Trace
from optcp.study import RunData

PS = 1_000_000_000_000
FILES = 20


def run(series):
    return RunData(1, "", None, "", {}, {}, None, [], None, 0.0, series)


def test_equation_3_is_that_of_the_paper():
    # 100 Mb/s are 8333.3 segments of 1500 B a second: at 1 ms N_max = floor(44 / 8.33) = 5 bursts and one of the
    # 2.33 that are left, 44 in 6.
    assert equation_3(1e-3, 100) == pytest.approx(44 / 6)
    assert equation_3(1e-3, 100, opener=True) == pytest.approx(44 / 5)  # 9, 9, 9, 9, 8
    assert equation_3(3e-3, 100) == pytest.approx(44 / 2)  # 25 and 19
    assert equation_3(1e-5, 100) == equation_3(1e-4, 100) == 1
    assert equation_3(1e-2, 100) == 44


def test_equation_5_is_that_of_the_paper():
    # 100 ms over 120 ms, and over 300 ms.
    assert equation_5(1e-2) == pytest.approx(5 / 6)
    assert equation_5(1e-1) == pytest.approx(1 / 3)


def test_goodput_is_data_over_the_time_that_the_file_took():
    rows = {"time_ps": [21 * PS], "start_ps": [PS], "bytes": [20_000_000], "finished": [True]}
    series = {"completions": {name: np.array(values) for name, values in rows.items()}}
    assert goodput_mbps(run(series)) == pytest.approx(8.0)  # 160 Mb in 20 s
    series["completions"]["finished"][0] = False
    with pytest.raises(ValueError, match="did not end"):
        goodput_mbps(run(series))


def test_only_bursts_towards_the_server_with_segments_count():
    rows = {
        "ports": ["E->F", "F->E"],
        "port": np.array([0, 0, 0, 1]),
        "segments": np.array([0, 1, 4, 9]),
        "bursts": np.array([7, 2, 3, 5]),
    }
    assert mean_segments(run({"segments-per-burst": rows})) == pytest.approx(14 / 5)
    assert np.isnan(mean_segments(run({})))


def test_a_round_trip_is_from_a_segment_to_the_ack_of_it():
    rows = {
        "events": ["sent", "acked"],
        "event": np.array([0, 0, 1]),
        "seq": np.array([0, 1, 2]),
        "time_ps": np.array([0, PS // 10, 3 * PS // 10]),
    }
    assert fig17.longest_round_trip_s(run({"packets": rows})) == pytest.approx(0.2)


def test_recoveries_and_timeouts_are_loss_events():
    rows = {"events": ["overtaken", "resent", "recovery", "timeout"], "event": np.array([0, 1, 1, 2, 3, 3])}
    assert fig16.loss_events(run({"reordering": rows})) == 3


def spread(mean):
    """Values around a mean, with a spread that is small against it."""
    return mean * (1 + 0.01 * np.random.default_rng(1).standard_normal(FILES))


def holds(parts):
    return judge.combine(parts)[0]


def papers_world(ack_timer):
    """Goodput as the paper has it: a hill over the timer, lower for Reno in the middle and with background."""
    shape = dict(zip(TIMERS_S, (3, 3, 3, 4, 4.5, 4.5, 4, 3, 1.5), strict=True))
    found = {}
    for cell in goodput.cells(ack_timer):
        value = shape[cell.timer_s]
        if cell.timer_s in goodput.MIDDLE_S:
            value -= 0.3 * (cell.recovery == "reno") + 0.2 * (cell.background == "yes")
        if cell.timer_s == goodput.HIGHEST_S and cell.background == "yes":
            value += 0.5
        found[cell] = spread(value)
    return found


def test_the_papers_own_world_bears_its_statements_out():
    world = papers_world("none")
    for judges in goodput.STATEMENTS.values():
        assert holds(judges(world, "none")) is True
    lower = {Cell(c.timer_s, c.background, "tick", c.recovery): 0.9 * values for c, values in world.items()}
    assert holds(fig15.delayed_is_lower(lower, world)) is True


def test_a_world_turned_round_does_not():
    world = papers_world("none")
    turned = {cell: 5 - values for cell, values in world.items()}
    for judges in goodput.STATEMENTS.values():
        assert holds(judges(turned, "none")) is False


def test_loss_events_as_one_over_segments_have_slope_minus_one():
    segments = np.outer(np.ones(FILES), [1.0, 2.0, 4.0, 8.0])
    estimate, samples = goodput.slope(segments, 16 / segments)
    assert estimate == pytest.approx(-1)
    assert samples == pytest.approx(-1)


def test_the_mean_of_a_single_flow_is_held_against_both_readings():
    alone = {Cell(timer, "no"): np.full(FILES, equation_3(timer, 100, opener=True)) for timer in TIMERS_S}
    assert holds(fig14.follows_equation(alone, 100, opener=True)) is True
    assert holds(fig14.follows_equation(alone, 100, opener=False)) is False


def sizes(counts, files=FILES):
    """Bursts by number of segments, the same in every file."""
    bursts = np.zeros((files, 45), dtype=np.int64)
    for size, count in counts.items():
        bursts[:, size] = count
    return fig10.Sizes(bursts)


def test_means_and_shares_of_a_histogram():
    one = sizes({2: 6, 44: 2, 3: 2})
    assert one.means() == pytest.approx((12 + 88 + 6) / 10)
    assert one.pct()[44] == pytest.approx(20)
    assert one.even_pct() == pytest.approx(80)


def test_trains_that_stay_whole_and_trains_that_break_up():
    whole = {Cell(1e-3, "no"): sizes({8: 1, 9: 4}), Cell(1e-2, "no"): sizes({44: 95, 2: 5})}
    assert holds(fig10.whole_trains(whole)) is True
    broken = {Cell(1e-2, "no", "tick"): sizes({2: 30, 44: 40, 7: 20})}
    assert holds(fig10.breaks_up(broken, "tick")) is True
    assert holds(fig10.breaks_up({Cell(1e-2, "no", "exact"): sizes({44: 98, 2: 2})}, "exact")) is False


def recovery(cwnd, *, exit_ms, timeouts=0, flight=44):
    """A trace that enters recovery with 44 segments in flight at 1 s."""
    at_s = np.concatenate([[0.9], 1 + np.linspace(0, 0.004, len(cwnd)), [1 + exit_ms / 1e3]])
    phase = ["slow-start", *["recovery"] * len(cwnd), "avoidance"]
    windows = np.array([460.0, *cwnd, 22.0])
    counts = np.full(windows.size, timeouts)
    return Trace(at_s, windows, np.full(windows.size, flight), phase, counts, np.zeros((3, 2), dtype=np.int64), 43)


def test_steps_of_reno_and_sack():
    reno = recovery([25, 26, 27], exit_ms=100.2)
    assert holds(fig3.reno_steps(reno, 0.1003)) is True
    assert holds(fig3.reno_steps(reno, 0.1)) is False
    assert holds(fig3.reno_steps(recovery([25, 27], exit_ms=100.2), 0.1003)) is False
    sack = recovery([22, 22], exit_ms=100.2)
    assert holds(fig3.sack_steps(sack, reno)) is True
    assert holds(fig3.sack_steps(recovery([22, 23], exit_ms=100.2), reno)) is False
    assert holds(fig3.sack_steps(recovery([22, 22], exit_ms=101.2), reno)) is False


def test_sack_may_take_two_round_trips_beyond_half_a_window():
    one, two = recovery([22, 22], exit_ms=104), recovery([22, 22], exit_ms=204)
    assert holds(fig6.repairs({2: one, 23: two}, 0.107)) is True
    assert holds(fig6.repairs({22: two}, 0.107)) is False
    assert holds(fig6.repairs({2: recovery([22, 22], exit_ms=104, timeouts=1)}, 0.107)) is False


def test_a_whole_window_times_out_alike():
    out = recovery([1], exit_ms=5, timeouts=1)
    silent = Trace(out.at_s, out.cwnd, out.flight, out.phase, out.timeouts, out.sent, 0)
    assert holds(fig6.both_time_out(silent, silent)) is True
    other = Trace(out.at_s, out.cwnd, out.flight, out.phase, out.timeouts, out.sent + 1, 0)
    assert holds(fig6.both_time_out(silent, other)) is False
    assert holds(fig6.both_time_out(out, out)) is False


SLOW_START = [1, 1, 2, 4, 8, 16, 32]


def test_rounds_are_counted_from_the_first_full_window_on():
    whole = fig11.Train(np.array([*SLOW_START, 44, 44, 44]))
    assert whole.by_round().tolist() == [1, 1, 1]
    # 20 and 24; 40 and 4 of a burst of 10, whose other 6 belong to the next round.
    split = fig11.Train(np.array([*SLOW_START, 20, 24, 40, 10, 38]))
    assert split.by_round().tolist() == [2, 2, 2]


def test_a_train_that_stays_whole_and_one_that_breaks_up():
    whole = fig11.Train(np.array([*SLOW_START, *[44] * 20]))
    sent_ps = np.repeat(np.arange(30), 44)[: 64 + 44 * 20] * PS
    # Of 44 packets behind the first 64, 24 leave a second before the others.
    assert holds(fig11.stays_whole(whole, sent_ps, 0.005)) is False
    together = np.concatenate([np.zeros(64), np.repeat(np.arange(1, 21), 44)]) * PS
    assert holds(fig11.stays_whole(whole, together, 0.005)) is True
    broken = [fig11.Train(np.array([*SLOW_START, *[44] * 6, *[4] * (500 + file)])) for file in range(FILES)]
    assert holds(fig11.breaks_up(broken)) is True
    assert holds(fig11.settles(broken)) is True
    growing = [fig11.Train(np.array([*SLOW_START, *[4] * (100 + file), *[44] * 20])) for file in range(FILES)]
    assert holds(fig11.settles(growing)) is False
