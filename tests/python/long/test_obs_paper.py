"""Experiments of the OBS paper with the compiled simulator, compared with published values and formulas."""

import json

import pytest

RTT0_S = 0.1


def reproduced(command, tmp_path, exhibit, *words):
    command("reproduce", exhibit, *words, "--out", "out")
    return json.loads((tmp_path / "out" / f"{exhibit}.json").read_text())


def values(found, metric, *keys):
    return {
        tuple(row["key"].get(key) for key in keys): row["measured"] for row in found["rows"] if row["metric"] == metric
    }


def test_bursts_hold_8_or_9_segments_at_1_ms_and_44_at_10_ms(command, tmp_path):
    found = reproduced(command, tmp_path, "obs/fig10", "--seeds", 2)
    bars = {
        (curve["key"]["timer_s"], curve["key"]["ack_timer"], curve["key"]["background"]): dict(
            zip(curve["x"], curve["y"], strict=True)
        )
        for curve in found["series"]
    }
    # Section IV.B: "most of the bursts carry 8 or 9 segments for the medium source, and 44 [...] for the fast source".
    medium = bars[1e-3, "none", "no"]
    assert medium[8] + medium[9] > 90
    assert bars[1e-2, "none", "no"][44] > 90
    # Both timers of delayed ACKs are simulated. The paper's peak at two segments without background needs the tick.
    assert {kind for _, kind, _ in bars} == {"none", "exact", "tick"}
    tick = bars[1e-2, "tick", "no"]
    assert tick[2] == max(tick.values())
    assert bars[1e-2, "exact", "no"].get(2, 0) < 1
    # With background both timers have their maximum at multiples of two.
    for kind in ("exact", "tick"):
        beside = bars[1e-2, kind, "yes"]
        assert sum(share for size, share in beside.items() if size % 2 == 0) > 80


def test_the_delay_penalty_follows_equation_5(command, tmp_path):
    found = values(
        reproduced(command, tmp_path, "obs/fig17", "--seeds", 1), "f_delay", "timer_s", "background", "ack_timer"
    )
    alone = {timer: merit for (timer, background, ack), merit in found.items() if (background, ack) == ("no", "none")}
    assert len(alone) == 9
    for timer, merit in alone.items():
        assert merit == pytest.approx(RTT0_S / (RTT0_S + 2 * timer), abs=0.003)


def test_reno_equals_sack_if_burst_holds_whole_window(command, tmp_path):
    found = values(
        reproduced(command, tmp_path, "obs/fig16", "--seeds", 4), "goodput_mbps", "timer_s", "background", "recovery"
    )
    for timer in (1e-2, 3e-2, 1e-1):
        assert found[timer, "no", "reno"] == found[timer, "no", "sack"]
    # Section III.B.2: with several segments per burst SACK repairs losses for which Reno waits for its RTO.
    assert found[1e-3, "no", "sack"] > found[1e-3, "no", "reno"]


def test_two_losses_need_a_timeout_by_the_rule_that_the_paper_quotes(command, tmp_path):
    found = reproduced(command, tmp_path, "obs/fig5")
    assert [claim["holds"] for claim in found["claims"]] == [True, True]
    points = values(found, "cwnd_segments", "point")
    # "flightsize/2 + 3", one more for each further duplicate ACK, half at the partial ACK, one after the timeout.
    assert [points[item,] for item in ("2", "3, first", "4", "5")] == [25, 26, 22, 1]
    # 44 segments minus the two lost ones and the three that started recovery.
    assert points["3, last",] == 25 + 44 - 2 - 3
    after = values(found, "after_loss_ms", "point")
    # Table I: the minimum RTO is 1 s.
    assert after["5",] - after["4",] > 1000


def test_the_background_has_its_nominal_hurst_parameter_in_the_mean_over_seeds(command, tmp_path):
    found = reproduced(command, tmp_path, "obs/background", "--seeds", 10)
    assert values(found, "hurst")[()] == pytest.approx(0.7, abs=0.05)
    (by_seed,) = found["series"]
    assert by_seed["x"] == list(range(1, 11))
    assert sum(by_seed["y"]) / 10 == pytest.approx(values(found, "hurst")[()], abs=1e-3)
    assert {row["metric"]: row["verdict"] for row in found["rows"]} == {
        "hurst": "match",
        "packets_per_s": "match",
        "packet_bits": "match",
    }


def test_bursts_do_not_exceed_size_limit(command, tmp_path):
    found = reproduced(command, tmp_path, "obs/assembly", "--seeds", 1)
    segments = values(found, "segments_per_burst", "assembly", "timer_s", "size_segments", "background")
    assert len(segments) == 35
    for (_, _, size, _), mean in segments.items():
        assert 1 <= mean <= size
    # At 100 Mb/s 1 ms yields 8.33 segments after the one that opens a burst, so a size of 9 is never the limit.
    assert segments["hybrid", 1e-3, 9, "no"] == segments["hybrid", 1e-3, 88, "no"]
    # A whole window of 44 arrives within 10 ms, so smaller sizes decide: 44 in bursts of 22.
    assert segments["hybrid", 1e-2, 22, "no"] == pytest.approx(22, rel=0.02)


def test_contention_and_given_losses_affect_senders_equally(command, tmp_path):
    found = reproduced(command, tmp_path, "obs/emergent", "--seeds", 1)
    goodput = values(found, "goodput_mbps", "timer_s", "recovery", "cross", "losses")
    assert len(goodput) == 2 * 32
    # If a burst holds the whole window, its loss causes an RTO in both.
    for timer in (1e-2, 3e-2):
        for cross in ("one offset", "others ahead"):
            for losses in ("contention", "independent"):
                alike = [goodput[timer, recovery, cross, losses] for recovery in ("reno", "sack")]
                assert alike[0] == pytest.approx(alike[1], rel=1e-3)
    # At most a window of 44 segments of 1460 B per round trip.
    assert max(goodput.values()) < 44 * 1460 * 8 / RTT0_S / 1e6


def test_larger_windows_fill_bursts_up_to_access_rate(command, tmp_path):
    found = reproduced(command, tmp_path, "obs/today", "--seeds", 1)
    segments = values(found, "segments_per_burst", "timer_s", "sender", "background", "ack_timer")
    for (timer, *_), mean in segments.items():
        assert mean <= int(timer * 100e6 / 12000) + 1
    # A window of 44 travels in five bursts at 1 ms, one of 880 segments in bursts of 9.
    assert segments[1e-3, "SACK, 44 segments", "no", "none"] == pytest.approx(44 / 5, rel=0.01)
    assert segments[1e-3, "SACK, 880 segments", "no", "none"] == pytest.approx(9, rel=0.01)
    goodput = values(found, "goodput_mbps", "timer_s", "sender", "background", "ack_timer")
    # At most the rate of the access link, 1460 B of 1500.
    assert max(goodput.values()) < 100 * 1460 / 1500


def test_verdicts_on_windows_and_trains_match_baseline(command):
    figures = [f"obs/fig{number}" for number in (3, 4, 5, 6, 7, 11, 12, 13)]
    command("reproduce", *figures, "--quick", "--check", "--out", "out")
