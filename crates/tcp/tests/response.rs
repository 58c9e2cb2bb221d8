//! Average window of one long-lived flow with periodic losses.

use std::collections::VecDeque;
use std::sync::Arc;

use optcp_tcp::config::{AckCounting, Config, CongestionKind, RecoveryKind, ReductionBasis};
use optcp_tcp::{Ack, Profile, Receiver, Sender, Seq, Timestamp};
use optcp_units::{Duration, Marking, Time};

/// Returns the assumptions of the closed-form response function: every segment is acknowledged and
/// counts, and losses reduce the window, not the flight.
fn model() -> Config {
    Config {
        initial_window: 10,
        initial_ssthresh: Some(10),
        recovery: RecoveryKind::Sack,
        congestion: CongestionKind::Cubic,
        ack_counting: AckCounting::Segments,
        reduction_basis: ReductionBasis::Window,
        ..Profile::Rfc.config()
    }
}

/// cwnd in segments, averaged over the time after the first `warm_up` losses and until `losses`, one for
/// every `period` segments sent. Segments leave a microsecond apart at least.
fn average_window(config: Config, rtt: Duration, period: u32, warm_up: u32, losses: u32) -> f64 {
    let mss = config.mss.count() as f64;
    let mut receiver = Receiver::new(&config, Duration::ZERO);
    let mut sender = Sender::new(Arc::new(config), None, Duration::ZERO);
    let mut segments: VecDeque<(Time, Seq, Timestamp)> = VecDeque::new();
    let mut acks: VecDeque<(Time, Ack)> = VecDeque::new();
    let (mut now, mut free) = (Time::ZERO, Time::ZERO);
    let (mut sent, mut lost) = (0, 0);
    let (mut sum, mut seconds) = (0.0, 0.0);
    sender.start();
    loop {
        while let Some(segment) = sender.poll_transmit(now) {
            sent += 1;
            if sent == period {
                (sent, lost) = (0, lost + 1);
                continue;
            }
            free = free.max(now) + Duration::from_us(1);
            segments.push_back((free + rtt, segment.seq, segment.stamp));
        }
        if lost == losses {
            return sum / seconds;
        }
        let arrival = segments.front().map(|&(at, ..)| at);
        let answer = acks.front().map(|&(at, _)| at);
        let timer = sender.deadline();
        let next = [timer, answer, arrival].into_iter().flatten().min().expect("a timer runs");
        if lost >= warm_up {
            let step = (next - now).as_secs_f64();
            sum += sender.window().cwnd / mss * step;
            seconds += step;
        }
        now = next;
        if timer == Some(now) {
            sender.handle_timer(now);
        } else if answer == Some(now) {
            let (_, ack) = acks.pop_front().expect("an ACK is due");
            sender.handle_ack(now, &ack);
        } else {
            let (at, seq, stamp) = segments.pop_front().expect("a segment is due");
            // The whole round trip lies before the receiver.
            acks.extend(
                receiver.handle_segment(at, seq, stamp, 64, Marking::NONE).ack.map(|ack| (at, ack)),
            );
        }
    }
}

/// RFC 9438 section 5.1: the larger of its equation for the average window, 1.054 (RTT / p)^(3/4),
/// and Reno's sqrt(3 / 2p). Values are from tests/reference/tcp/analytic.json and, for two
/// probabilities in between, computed by hand: 1.2247 / sqrt(1 / 333) and 1.054 * 333.3^(3/4). The
/// formula assumes a window that grows without steps and is reduced without an RTT of recovery.
/// This affects small windows most.
#[test]
fn average_window_of_cubic_matches_the_rfc() {
    let text = include_str!("../../../tests/reference/tcp/analytic.json");
    let file: serde_json::Value = serde_json::from_str(text).expect("the file is JSON");
    let rows = file["rfc9438"]["average_window_deterministic_loss"].as_array().expect("a list");
    let given = rows.iter().map(|row| {
        let [rtt_s, p, window] =
            ["rtt_s", "p", "cubic_C0_4"].map(|key| row[key].as_f64().expect(key));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1/p is whole")]
        let period = (1.0 / p).round() as u32;
        (rtt_s, period, window)
    });
    // Rarer losses take millions of segments.
    let given = given.filter(|&(_, period, _)| period <= 10_000);
    let mut compared = 0;
    for (rtt_s, period, want) in given.chain([(0.1, 333, 22.3), (0.1, 3_333, 82.2)]) {
        let rtt = Duration::from_secs_f64(rtt_s).expect("a duration");
        let got = average_window(model(), rtt, period, 200, 300);
        let what = format!("RTT {rtt_s} s, one in {period}: {got:.1}, formula {want}");
        assert!((got / want - 1.0).abs() < 0.1, "{what}");
        println!("{what}");
        compared += 1;
    }
    assert_eq!(compared, 8);
}
