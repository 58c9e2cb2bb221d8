//! Delayed ACKs as in Linux.
//!
//! # Model
//! An ACK waits for a second segment or its timer, with these exceptions, which are acknowledged immediately:
//!
//! - segments at the start of a connection (`quick_acks`);
//! - segments after a duplicate one, or after one that arrived more than an RTO after its predecessor;
//! - segments that increase the receive window.
//!
//! The window grows by two segments per segment up to the buffer size. The buffer grows once per
//! RTT in which more was delivered than in any earlier RTT (dynamic right-sizing). It grows to
//! twice that amount, and by twice the amount in proportion to the growth.
//!
//! # References
//! Behaviour of Linux 6.18, recorded (see the page on evidence); Fisk and Feng, "Dynamic right-sizing", 2001.
//!
//! # Parameters
//! `ack_delay`, `quick_acks`, `mss`, `expiry`.
//!
//! # Limitations
//! - The application reads immediately. The buffer has no maximum size, and the sender does not use this
//!   window but `window_limit`.
//! - A segment takes 8/5 of its size in the buffer.
//! - Segments at the end of a burst are not acknowledged early (Linux sets PSH on them). ACKs of out-of-order
//!   segments are not delayed by a millisecond.

use optcp_units::{Duration, Time};

use super::super::round_trip::RoundTrip;
use crate::config::Config;
use crate::rtt::TimerClock;
use crate::seq::Seq;

/// Default of Linux's `tcp_rmem`: initial buffer size, and the part of it that is window, in bytes.
const BUFFER: u64 = 131_072;
const FIRST_WINDOW: u64 = 65_535;
/// Number of segments read in the first RTT without buffer growth.
const FIRST_COPY: u64 = 10;
/// Time added to the RTT for the receiver's timeout.
const LEAST_TIMEOUT: Duration = Duration::from_ms(200);

/// State of Linux's delayed ACKs.
#[derive(Clone, Debug)]
pub struct Linux {
    delay: Duration,
    clock: TimerClock,
    quick_acks: u32,
    /// `true`: segment 0 is a SYN, which is not data.
    handshake: bool,
    /// Bytes of a segment.
    segment: u64,
    /// Window in bytes, and its maximum.
    window: u64,
    room: u64,
    /// Maximum bytes delivered in an RTT.
    copied: u64,
    /// First segment and start of the current RTT.
    since: (Seq, Time),
    round_trip: RoundTrip,
    /// Arrival of the last in-order segment.
    last: Option<Time>,
}

impl Linux {
    pub(super) fn new(config: &Config, clock_phase: Duration) -> Self {
        let segment = config.mss.count().max(1);
        Linux {
            delay: config.ack_delay,
            clock: TimerClock::new(config, clock_phase),
            quick_acks: config.quick_acks,
            handshake: config.handshake,
            segment,
            window: FIRST_WINDOW / segment * segment,
            room: room(BUFFER, segment),
            copied: FIRST_COPY * segment,
            since: (Seq::ZERO, Time::ZERO),
            round_trip: RoundTrip::new(config),
            last: None,
        }
    }

    /// Returns the time until which an ACK that is due now may wait.
    pub(super) fn deadline(&self, now: Time) -> Time {
        self.clock.due_beside_rto(now, self.delay)
    }

    /// Processes in-order data up to `next`, with `quick` immediate ACKs left. Returns the new number of
    /// immediate ACKs.
    pub(super) fn on_in_order(&mut self, now: Time, seq: Seq, next: Seq, quick: u32) -> u32 {
        if self.handshake && seq == Seq::ZERO {
            self.since = (next, now);
            return quick.saturating_add(1);
        }
        self.round_trip.on_in_order(now, seq);
        let timeout = self.round_trip.shortest().map(|shortest| shortest + LEAST_TIMEOUT);
        let late = self.last.zip(timeout).is_some_and(|(last, timeout)| now - last > timeout);
        self.last = Some(now);
        let quick = if late { quick.max(self.quick_acks) } else { quick };
        let grows = self.window < self.room;
        if grows {
            self.window = self.room.min(self.window.saturating_add(2 * self.segment));
        }
        self.read(now, next);
        // An odd number: one more if none is left.
        if grows { quick | 1 } else { quick }
    }

    /// Records that the application has read everything below `next`.
    fn read(&mut self, now: Time, next: Seq) {
        let (seq, at) = self.since;
        if self.round_trip.shortest().is_none_or(|shortest| now - at < shortest) {
            return;
        }
        self.since = (next, now);
        let copied = u64::from(next - seq) * self.segment;
        if copied > self.copied {
            // The product exceeds 64 bits for some gigabytes per RTT.
            let (twice, before) = (2 * u128::from(copied), u128::from(self.copied));
            let growth = twice * (u128::from(copied) - before) / before;
            let room = u64::try_from(twice + 2 * growth).unwrap_or(u64::MAX);
            self.room = self.room.max(room.saturating_sub(self.segment));
            self.copied = copied;
        }
    }

    pub(super) fn on_gap(&mut self) {
        self.round_trip.on_gap();
    }

    pub(super) fn on_ack(&mut self, now: Time, next: Seq) {
        self.round_trip.on_ack(now, next);
    }
}

/// Returns the window of a buffer of `bytes`, with space for the segment that arrives.
fn room(bytes: u64, segment: u64) -> u64 {
    bytes * 5 / 8 - segment
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::receiver::Receiver;

    /// Returns the number of segments per ACK of a transfer after a SYN. Flights have the given
    /// sizes, segments arrive every 1.2 ms, and RTTs are 100 ms.
    fn covered(flights: &[u32]) -> Vec<u32> {
        let config = Config { handshake: true, ..Profile::Linux6.config() };
        let mut receiver = Receiver::new(&config, Duration::ZERO);
        let at = |us: u64| Time::ZERO + Duration::from_us(us);
        assert!(
            receiver
                .handle_segment(at(0), Seq::ZERO, 0, 64, optcp_units::Marking::NONE)
                .ack
                .is_some()
        );
        let (mut seq, mut acked, mut covered) = (Seq::new(1), Seq::new(1), Vec::new());
        for (flight, &segments) in (1..).zip(flights) {
            for place in 0..u64::from(segments) {
                let now = at(100_000 * flight + 1_200 * place);
                if let Some(ack) =
                    receiver.handle_segment(now, seq, 0, 64, optcp_units::Marking::NONE).ack
                {
                    covered.push(ack.seq - acked);
                    acked = ack.seq;
                }
                seq += 1;
            }
        }
        covered
    }

    /// Linux 6.18, recorded: slow start of 600 segments over 10 Mb/s and 100 ms. Sixteen quick
    /// ACKs, and six while the window grows from 64 to 79 KB, then five pairs. The second flight
    /// enlarges the buffer. Each segment then has an ACK until the window has grown to the buffer
    /// (31 here, 32 there), then pairs follow.
    #[test]
    fn each_segment_is_acknowledged_while_the_window_grows() {
        let want = [[1; 22].as_slice(), &[2; 5], &[1; 31], &[2; 3]].concat();
        assert_eq!(covered(&[10, 20, 40]), want);
    }
}
