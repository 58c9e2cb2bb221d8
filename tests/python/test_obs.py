"""OBS paper: its formulas compared with hand calculations, and its judges with known cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handmade import HandMade, run
from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp.data.samples import Samples
from optcp.errors import RunFailed
from optcp.papers import assume, judge
from optcp_papers.obs import (
    fig3,
    fig5,
    fig6,
    fig10,
    fig11,
    fig12,
    fig13,
    fig14,
    fig15,
    fig16,
    fig17,
    goodput,
    points,
    trains,
)
from optcp_papers.obs.paper import (
    ACK_TIMER,
    BESIDE,
    TIMER,
    TIMERS_S,
    WORLD,
    bursts_by_size,
    equation_3,
    equation_5,
    goodput_mbps,
    mean_size,
    numbers,
    rtt0_s,
    segments_per_burst,
)
from optcp_papers.obs.traces import Trace

PS = 1_000_000_000_000
FILES = 20


def alone(series, seeds=1):
    """Return a grid of one combination whose files are all equal."""
    return HandMade({}, [[series]] * seeds)


def test_equation_3_matches_paper():
    # 100 Mb/s are 8333.3 segments of 1500 B per second: at 1 ms N_max = floor(44 / 8.33) = 5 bursts and one with the
    # remaining 2.33, so 44 in 6.
    assert equation_3(1e-3, 100) == pytest.approx(44 / 6)
    assert equation_3(1e-3, 100, opener=True) == pytest.approx(44 / 5)  # 9, 9, 9, 9, 8
    assert equation_3(3e-3, 100) == pytest.approx(44 / 2)  # 25 and 19
    assert equation_3(1e-5, 100) == equation_3(1e-4, 100) == 1
    assert equation_3(1e-2, 100) == 44


def test_equation_5_matches_paper():
    # 100 ms over 120 ms, and over 300 ms.
    assert equation_5(1e-2, 0.1) == pytest.approx(5 / 6)
    assert equation_5(1e-1, 0.1) == pytest.approx(1 / 3)


def test_round_trip_follows_configured_delays():
    """50 ms each way, and 60 ms with 1 ms on each of two access links."""
    chosen = assume.values(WORLD, {})
    assert rtt0_s(chosen) == pytest.approx(0.1)
    assert rtt0_s(assume.values(WORLD, {"path_delay_ms": "60", "access_delay_ms": "1"})) == pytest.approx(0.124)


def test_trace_without_recovery_is_refused():
    quiet = Trace(
        np.zeros(2), np.ones(2), np.ones(2, int), ["slow-start"] * 2, np.zeros(2), np.zeros((0, 2)), np.zeros(0)
    )
    with pytest.raises(RunFailed, match="never in fast recovery"):
        quiet.span()
    with pytest.raises(RunFailed, match="ended before"):
        replace(quiet, phase=["slow-start", "recovery"]).span()


def test_goodput_is_data_over_transfer_time():
    rows = {"time_ps": [21 * PS], "start_ps": [PS], "bytes": [20_000_000], "finished": [True]}
    series = {"completions": {name: np.array(values) for name, values in rows.items()}}
    assert goodput_mbps(alone(series)).values.tolist() == [pytest.approx(8.0)]  # 160 Mb in 20 s
    late = {"completions": {**series["completions"], "finished": np.array([False])}}
    with pytest.raises(RunFailed, match="seed 2: the file did not end"):
        goodput_mbps(HandMade({"timer_s": (1, 2)}, [[series, series], [series, late]]))


def test_only_bursts_towards_the_server_with_segments_count():
    rows = {
        "ports": ["E->F", "F->E"],
        "port": np.array([0, 0, 0, 1]),
        "segments": np.array([0, 1, 4, 9]),
        "bursts": np.array([7, 2, 3, 5]),
    }
    assert segments_per_burst(alone({"segments-per-burst": rows})).values.tolist() == [pytest.approx(14 / 5)]
    counts = bursts_by_size(alone({"segments-per-burst": rows}, 2))
    assert [counts.at(segments=size).values.tolist() for size in (1, 4, 9)] == [[2, 2], [3, 3], [0, 0]]


def test_round_trip_is_from_segment_to_its_ack():
    rows = {
        "events": ["sent", "acked"],
        "event": np.array([0, 0, 1]),
        "seq": np.array([0, 1, 2]),
        "time_ps": np.array([0, PS // 10, 3 * PS // 10]),
    }
    assert fig17.longest_round_trip_s(run({"packets": rows})) == pytest.approx(0.2)


def test_recoveries_and_timeouts_are_loss_events():
    rows = {"events": ["overtaken", "resent", "recovery", "timeout"], "event": np.array([0, 1, 1, 2, 3, 3])}
    assert fig16.loss_events(alone({"reordering": rows})).values.tolist() == [3]


def spread(mean):
    """Return values around a mean, with a relatively small spread."""
    return mean * (1 + 0.01 * np.random.default_rng(1).standard_normal(FILES))


def holds(parts):
    return judge.combine(parts)[0]


def files(values, axes):
    """Return cells with the same values in every file."""
    return Cells(np.broadcast_to(values, (FILES, *map(len, axes))), axes, tuple(range(1, FILES + 1)))


def papers_world():
    """Return goodput as in the paper: a hill over the timer, lower for Reno in the middle and with background."""
    result = files([3, 3, 3, 4, 4.5, 4.5, 4, 3, 1.5], goodput.AXES).values.copy()
    reno, beside = (slice(None), 0), (slice(None), slice(None), 1)
    middle = [TIMERS_S.index(timer) for timer in goodput.MIDDLE_S]
    result[(*reno, slice(None), middle)] -= 0.3
    result[(*beside, middle)] -= 0.2
    result[(*beside, -1)] += 0.5
    noise = spread(1)[:, None, None, None]
    return Cells(result * noise, goodput.AXES, tuple(range(1, FILES + 1)))


def test_judges_accept_values_of_paper():
    world = papers_world()
    for judges in goodput.STATEMENTS.values():
        assert holds(judges(world)) is True
    assert holds(fig15.delayed_is_lower(0.9 * world, world)) is True


def test_judges_reject_reversed_values():
    turned = 5 - papers_world()
    for judges in goodput.STATEMENTS.values():
        assert holds(judges(turned)) is False


def test_loss_events_as_one_over_segments_have_slope_minus_one():
    segments = np.outer(np.ones(FILES), [1.0, 2.0, 4.0, 8.0])
    estimate, samples = goodput.slope(segments, 16 / segments)
    assert estimate == pytest.approx(-1)
    assert samples == pytest.approx(-1)


def test_lossless_files_have_infinite_slope():
    """Two of three files lose nothing with the longer timer, so some resamples have no loss at all."""
    segments = np.outer(np.ones(3), [1.0, 2.0])
    losses = np.array([[2.0, 0.0], [2.0, 0.0], [2.0, 3.0]])
    estimate, samples = goodput.slope(segments, losses)
    # Mean losses of 2 and 1 over segments of 1 and 2.
    assert estimate == pytest.approx(-1)
    assert np.isneginf(samples).any()
    assert not np.isnan(samples).any()


def test_single_flow_mean_is_compared_with_both_equations():
    means = files([equation_3(timer, 100, opener=True) for timer in TIMERS_S], (ACK_TIMER, BESIDE, TIMER))
    assert holds(fig14.follows_equation(means, 100, opener=True)) is True
    assert holds(fig14.follows_equation(means, 100, opener=False)) is False


def sizes(*cells, axes=()):
    """Return bursts of each combination by number of segments, equal in every file."""
    bursts = np.zeros((len(cells), 44))
    for place, counts in enumerate(cells):
        for size, count in counts.items():
            bursts[place, size - 1] = count
    return files(bursts if axes else bursts[0], (*axes, numbers("segments", range(1, 45))))


def test_means_and_shares_of_a_histogram():
    one = sizes({2: 6, 44: 2, 3: 2})
    assert mean_size(one).values == pytest.approx((12 + 88 + 6) / 10)
    assert fig10.pct(one)[44] == pytest.approx(20)
    assert fig10.even_pct(one) == pytest.approx(80)


def test_histograms_of_whole_and_broken_trains():
    whole = sizes({8: 1, 9: 4}, {44: 95, 2: 5}, axes=(Axis("timer_s", ("0.001", "0.01")),))
    assert holds(fig10.whole_trains(whole)) is True
    assert holds(fig10.breaks_up(sizes({2: 30, 44: 40, 7: 20}))) is True
    assert holds(fig10.breaks_up(sizes({44: 98, 2: 2}))) is False


SENT = np.array([[PS, 500], [PS, 501], [PS, 543]])


def recovery(cwnd, *, exit_ms, timeouts=0, flight=44):
    """Return a trace that enters recovery with 44 segments in flight at 1 s."""
    at_s = np.concatenate([[0.9], 1 + np.linspace(0, 0.004, len(cwnd)), [1 + exit_ms / 1e3]])
    phase = ["slow-start", *["recovery"] * len(cwnd), "avoidance"]
    windows = np.array([460.0, *cwnd, 22.0])
    counts = np.full(windows.size, timeouts)
    return Trace(at_s, windows, np.full(windows.size, flight), phase, counts, SENT, np.full(43, 1.001))


def test_steps_of_reno_and_sack():
    reno = recovery([25, 26, 27], exit_ms=100.2)
    assert holds(fig3.reno_steps(reno, 0.1003)) is True
    assert holds(fig3.reno_steps(reno, 0.1)) is False
    assert holds(fig3.reno_steps(recovery([25, 27], exit_ms=100.2), 0.1003)) is False
    sack = recovery([22, 22], exit_ms=100.2)
    assert holds(fig3.sack_steps(sack, reno)) is True
    assert holds(fig3.sack_steps(recovery([22, 23], exit_ms=100.2), reno)) is False
    assert holds(fig3.sack_steps(recovery([22, 22], exit_ms=101.2), reno)) is False


def test_sack_can_take_two_round_trips_above_half_window():
    one, two = recovery([22, 22], exit_ms=104), recovery([22, 22], exit_ms=204)
    assert holds(fig6.repairs({2: one, 23: two}, 0.107)) is True
    assert holds(fig6.repairs({22: two}, 0.107)) is False
    assert holds(fig6.repairs({2: recovery([22, 22], exit_ms=104, timeouts=1)}, 0.107)) is False


def two_lost(*, resumed_s=5.1, cwnd=1.0):
    """Return Reno's trace around the loss of two segments: recovery from 3.6 to 3.7 s, RTO at 5.1 s."""
    at_s = np.array([3.5, 3.6, 3.6, 3.61, 3.7, 5.1])
    windows = np.array([500.0, 25.0, 26.0, 64.0, 22.0, cwnd])
    sent = [[34, 500], [34, 501], [35, 543], [36, 500], [int(10 * resumed_s), 501]]
    return Trace(
        at_s,
        windows,
        np.full(6, 44),
        ["slow-start", "recovery", "recovery", "recovery", "avoidance", "loss"],
        np.array([0, 0, 0, 0, 0, 1]),
        np.array(sent) * [PS // 10, 1],
        np.array([3.59, 3.6, 3.605, 3.61]),
    )


def test_reno_waits_for_the_timer_after_a_partial_ack():
    assert holds(fig5.waits(two_lost())) is True
    assert holds(fig5.waits(two_lost(cwnd=2.0))) is False
    # A segment is sent one second after the partial ACK.
    assert holds(fig5.waits(two_lost(resumed_s=4.7))) is False


def test_points_of_paper_are_found():
    found = points.numbered(two_lost(), "detection")
    assert [(number, point.at_s[0], point.cwnd[0]) for number, point in found.items()] == [
        (1, 3.6, 500.0),
        (2, 3.6, 25.0),
        (3, 3.605, 26.0),
        (4, 3.7, 22.0),
        (5, 5.1, 1.0),
    ]
    assert found[3].cwnd.tolist() == [26.0, 64.0]
    # The loss is when the first lost segment was sent, before its detection.
    assert points.lost_at_s(two_lost()) == 3.4


def late_by_rule():
    """Return RTOs by the rule for two losses, and always for more; axes of a sender without the check."""
    late = np.full(fig5.POSSIBLE.shape[1:], np.nan)
    late[fig5.POSSIBLE[0]] = 1
    for place, receiver_window in enumerate(fig5.RECEIVER_WINDOWS):
        needs = [fig5.needs_timeout(receiver_window, window) for window in fig5.WINDOWS]
        late[place, 0] = needs
    return late


def test_the_rule_of_fall_and_floyd():
    # "less than 10 packets", "within two packets of the receiver's advertised window"
    needs = [window for window in fig5.WINDOWS if fig5.needs_timeout(44, window)]
    assert needs == [4, 5, 6, 7, 8, 9, 42, 43, 44]

    def holds_with(*wrong):
        late = late_by_rule()
        for window in wrong:
            late[1, 0, fig5.WINDOWS.index(window)] = True
        return holds(fig5.follows_rule(Cells(late[None], fig5.AXES[1:], (1,))))

    assert holds_with() is True
    # One wrong window at a border is allowed, two are not.
    assert holds_with(10) is True
    assert holds_with(10, 11) is False


def test_last_timeout_count_belongs_to_its_case():
    """With two losses windows of at least 4 are possible, with eight those of at least 9."""
    cases = int(fig5.POSSIBLE.sum())
    runs = [{"tcp": {"timeouts": np.array([0, int(place == 0)])}} for place in range(cases)]
    late = fig5.timeouts(HandMade({"cell": range(cases)}, [runs]))
    assert late.at(recover_check="no", receiver_window=44, lost=2, window=4).values.tolist() == [1]
    assert np.nansum(late.values) == 1
    most = late.at(recover_check="yes", receiver_window=200, lost=8)
    assert list(fig5.by_window(most)) == list(range(9, 45))


def test_lost_whole_window_times_out_equally():
    out = recovery([1], exit_ms=5, timeouts=1)
    silent = Trace(out.at_s, out.cwnd, out.flight, out.phase, out.timeouts, out.sent, np.zeros(0))
    assert holds(fig6.both_time_out(silent, silent)) is True
    other = Trace(out.at_s, out.cwnd, out.flight, out.phase, out.timeouts, out.sent + 1, np.zeros(0))
    assert holds(fig6.both_time_out(silent, other)) is False
    assert holds(fig6.both_time_out(out, out)) is False


SLOW_START = [1, 1, 2, 4, 8, 16, 32]


def test_rounds_are_counted_from_the_first_full_window_on():
    assert trains.by_round(np.array([*SLOW_START, 44, 44, 44])).tolist() == [1, 1, 1]
    # 20 and 24; 40 and 4 of a burst of 10, whose other 6 belong to the next round.
    assert trains.by_round(np.array([*SLOW_START, 20, 24, 40, 10, 38])).tolist() == [2, 2, 2]


def test_train_has_bursts_with_segments_of_file():
    rows = {
        "ports": ["E->F", "F->E"],
        "port": np.array([0, 1, 0, 0, 0]),
        "segments": np.array([1, 5, 0, 3, 2]),
    }
    one, other = trains.trains(alone({"bursts": rows}, 2)).values
    assert one.tolist() == other.tolist() == [1, 3, 2]


def of_files(made):
    result = np.empty(FILES, dtype=object)
    for file in range(FILES):
        result[file] = np.array([*SLOW_START, *made(file)])
    return Samples(result, (), tuple(range(1, FILES + 1)))


def test_judgement_of_whole_and_broken_train():
    whole = np.array([*SLOW_START, *[44] * 20])
    sent_ps = np.repeat(np.arange(30), 44)[: 64 + 44 * 20] * PS
    # Of 44 packets after the first 64, 24 leave one second before the others.
    assert holds(fig11.stays_whole(whole, sent_ps, 0.005)) is False
    together = np.concatenate([np.zeros(64), np.repeat(np.arange(1, 21), 44)]) * PS
    assert holds(fig11.stays_whole(whole, together, 0.005)) is True
    broken = of_files(lambda file: [*[44] * 6, *[4] * (500 + file)])
    assert holds(fig12.breaks_up(broken)) is True
    assert holds(fig13.settles(fig13.parts_of(broken))) is True
    growing = of_files(lambda file: [*[4] * (100 + file), *[44] * 20])
    assert holds(fig13.settles(fig13.parts_of(growing))) is False
