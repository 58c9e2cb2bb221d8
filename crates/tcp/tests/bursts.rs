//! Recovery from a burst of losses in one window, computed by hand from RFC 6675 and Sack1.
//!
//! A window of `W` segments is sent at once, and its first `B` are lost. Without limited transmit, with
//! unlimited data and a path that only delays: all segments sent within an RTT arrive together.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use optcp_tcp::config::{Config, RecoveryKind};
use optcp_tcp::{Profile, Receiver, Sender, Seq};
use optcp_units::{Bytes, Duration, Marking, Time};

const ROUND_TRIP: Duration = Duration::from_ms(100);

/// Recovery of a burst of losses.
#[derive(Debug, PartialEq, Eq)]
struct Repair {
    /// Round trips from the first retransmission until everything sent before it is acknowledged.
    round_trips: u32,
    retransmissions: u64,
}

/// Runs the burst; `None` if the retransmission timer had to help.
fn repair(recovery: RecoveryKind, window: u32, burst: u32) -> Option<Repair> {
    let config = Arc::new(Config {
        mss: Bytes::new(1000),
        initial_window: window,
        limited_transmit: false,
        recovery,
        ..Profile::Rfc.config()
    });
    let mut receiver = Receiver::new(&config, Duration::ZERO);
    let mut sender = Sender::new(config, None, Duration::ZERO);
    let sent = |sender: &mut Sender, now| -> Vec<Seq> {
        std::iter::from_fn(|| sender.poll_transmit(now)).map(|segment| segment.seq).collect()
    };
    sender.start();
    let mut now = Time::ZERO;
    let mut underway = sent(&mut sender, now);
    underway.drain(..burst as usize);
    let mut round_trips = 0;
    while sender.una() < Seq::new(window) {
        if underway.is_empty() {
            let due = sender.deadline().unwrap();
            sender.handle_timer(due);
            assert_eq!(sender.counts().timeouts, 1);
            return None;
        }
        now = now + ROUND_TRIP;
        round_trips += u32::from(sender.in_recovery());
        for seq in std::mem::take(&mut underway) {
            let ack = receiver.handle_segment(now, seq, 0, 64, Marking::NONE).ack.unwrap();
            sender.handle_ack(now, &ack);
            underway.extend(sent(&mut sender, now));
        }
    }
    Some(Repair { round_trips, retransmissions: sender.counts().retransmissions })
}

/// RFC 6675 section 5: three SACKed segments above a gap mark it as lost, and lost segments leave
/// the pipe. The `W - B` duplicate ACKs of the window therefore release `W/2` segments in all, gaps
/// first. The duplicate ACKs of the next round trip release the rest. Every gap is retransmitted
/// once.
#[test]
fn sack_retransmits_half_a_window_per_round_trip() {
    for window in [10, 20, 40_u32] {
        for burst in 1..=window - 3 {
            let law = Repair {
                round_trips: burst.div_ceil(window / 2),
                retransmissions: u64::from(burst),
            };
            let got = repair(RecoveryKind::Sack, window, burst);
            assert_eq!(got, Some(law), "W {window} B {burst}");
        }
    }
}

/// Fall and Floyd 1996: lost segments stay in the pipe. The third duplicate ACK leaves `W - 3`
/// there, and the others reduce it to `B`. In addition to the first retransmission they release
/// `W/2 - B` segments, or none. A partial ACK subtracts two, so the number of transmissions doubles
/// every round trip. If the first one leaves `B - 2` of at least `W/2`, it releases nothing. No
/// further ACK arrives, and the recovery waits for the RTO.
#[test]
fn sack1_doubles_every_round_trip_or_stalls() {
    for window in [10, 20, 40_u32] {
        let half = window / 2;
        for burst in 1..=window - 3 {
            let got = repair(RecoveryKind::Sack1, window, burst);
            if burst >= half + 2 {
                assert_eq!(got, None, "W {window} B {burst}");
                continue;
            }
            let mut released = 1 + half.saturating_sub(burst);
            let (mut round_trips, mut total) = (1, released);
            // The excess over half a window, which the first partial ACK removes, opens nothing.
            let mut excess = burst.saturating_sub(half);
            while total < burst {
                released = 2 * released - std::mem::take(&mut excess);
                total += released;
                round_trips += 1;
            }
            let law = Repair { round_trips, retransmissions: u64::from(burst) };
            assert_eq!(got, Some(law), "W {window} B {burst}");
        }
    }
}
