//! Duplicate-ACK suppression with a time limit.
//!
//! # Model
//! As [`Das`](super::Das), but limited in time after the first suppressed segment, and after each
//! in-order segment that leaves a gap before the suppressed ones. If the gap still exists then, up
//! to three duplicate ACKs are sent at once, one per out-of-order segment. The sender needs three,
//! and possibly no further segment arrives to trigger one. From then on, every out-of-order segment
//! triggers its duplicate ACK. The next in-order segment resets the state.
//!
//! With SACK, ACKs of in-order segments also omit the out-of-order segments during this time. The
//! reason is that three segments in a block count like three duplicate ACKs (RFC 6675, `IsLost`).
//!
//! The limit bounds the time between overtaking segments and a segment that they overtook:
//!
//! - With timestamps: twice the delay difference between the last in-order segment and the first suppressed
//!   one, plus one tick. Timestamps give the send times of both by the sender's clock, so that the difference
//!   does not depend on clock offsets. One tick covers the rounding of timestamps. The factor of two covers
//!   queue growth on the longer path.
//! - Without timestamps: one RTT, measured by [`RoundTrip`]. Nothing is suppressed before the first
//!   measurement.
//!
//! # References
//! OpTCP: a correction towards the result of the paper's Fig. 6(c). RFC 5681 section 3.2 for the three
//! duplicate ACKs.
//!
//! # Parameters
//! `timestamps`, `timestamp_tick`.
//!
//! # Limitations
//! A segment later than the limit counts as lost. Without timestamps, this happens if the paths differ by
//! more than one RTT of the shortest path. Withheld duplicate ACKs are sent about one RTT later than by a
//! plain receiver. The tick of the sender's timestamps is assumed to be known; real receivers estimate it
//! with their own clock.

use optcp_units::{Duration, Time};

use super::super::round_trip::RoundTrip;
use super::das::Das;
use super::seen::Seen;
use crate::acknowledgment::Timestamp;
use crate::config::Config;
use crate::seq::Seq;

/// Number of duplicate ACKs for a fast retransmit (RFC 5681 section 3.2).
const ENOUGH: u32 = 3;

/// State of suppression with a time limit.
#[derive(Clone, Debug)]
pub struct DasBounded {
    das: Das,
    bound: Bound,
    hold: Hold,
}

/// Source of the time limit.
#[derive(Clone, Debug)]
enum Bound {
    /// Arrival time and timestamp of the last in-order segment.
    Timestamps {
        tick: Duration,
        last: Option<(Time, Timestamp)>,
    },
    RoundTrip(RoundTrip),
}

/// State of the current gap.
#[derive(Clone, Copy, Debug)]
enum Hold {
    /// Nothing has been suppressed.
    None,
    /// Suppression until this time, and its duration after each in-order segment.
    Until(Time, Duration),
    /// The limit expired at this time; number of duplicate ACKs still to send.
    Releasing(Time, u32),
    /// Suppression has ended.
    Over,
}

impl DasBounded {
    pub(super) fn new(config: &Config) -> Self {
        let bound = if config.timestamps {
            Bound::Timestamps { tick: config.timestamp_tick, last: None }
        } else {
            Bound::RoundTrip(RoundTrip::new(config))
        };
        DasBounded { das: Das::default(), bound, hold: Hold::None }
    }

    /// Processes an in-order segment. `whole`: no gap remains.
    pub(super) fn on_in_order(&mut self, segment: Seen, whole: bool) {
        self.das.on_in_order(segment);
        self.hold = match self.hold {
            Hold::Until(_, span) if !whole => Hold::Until(segment.at + span, span),
            _ => Hold::None,
        };
        match &mut self.bound {
            Bound::Timestamps { last, .. } => *last = Some((segment.at, segment.stamp)),
            Bound::RoundTrip(round_trip) => round_trip.on_in_order(segment.at, segment.seq),
        }
    }

    pub(super) fn on_ack(&mut self, now: Time, next: Seq) {
        if let Bound::RoundTrip(round_trip) = &mut self.bound {
            round_trip.on_ack(now, next);
        }
    }

    pub(super) fn answers(&mut self, segment: Seen) -> bool {
        if let Bound::RoundTrip(round_trip) = &mut self.bound {
            round_trip.on_gap();
        }
        if self.das.answers(segment) {
            return true;
        }
        match self.hold {
            Hold::Releasing(..) | Hold::Over => return true,
            Hold::Until(..) => {}
            Hold::None => match self.bound.after(segment) {
                Some(span) => self.hold = Hold::Until(segment.at + span, span),
                None => return true,
            },
        }
        false
    }

    /// Returns whether ACKs of in-order segments omit out-of-order segments.
    pub(super) fn withholds(&self) -> bool {
        matches!(self.hold, Hold::Until(..))
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        match self.hold {
            Hold::Until(at, _) | Hold::Releasing(at, _) => Some(at),
            Hold::None | Hold::Over => None,
        }
    }

    /// Starts the release of withheld ACKs. `beyond`: number of out-of-order segments.
    pub(super) fn on_release(&mut self, beyond: u32) {
        let (at, left) = match self.hold {
            Hold::Until(at, _) => (at, beyond.min(ENOUGH)),
            Hold::Releasing(at, left) => (at, left),
            Hold::None | Hold::Over => return,
        };
        self.hold = if left > 1 { Hold::Releasing(at, left - 1) } else { Hold::Over };
    }
}

impl Bound {
    /// Returns the duration of suppression, starting with this first segment.
    fn after(&self, first: Seen) -> Option<Duration> {
        match *self {
            Bound::RoundTrip(ref round_trip) => round_trip.shortest(),
            Bound::Timestamps { tick, last } => {
                let (at, stamp) = last?;
                // Difference to the last in-order segment in send time and in arrival time. The segment may
                // also be a tick older, if the in-order one was retransmitted.
                let ticks = first.stamp.wrapping_sub(stamp).cast_signed().max(0);
                let sent = (tick * u64::from(ticks.cast_unsigned())).as_ps();
                let longer = sent.saturating_sub((first.at - at).as_ps());
                Some(Duration::from_ps(longer) * 2 + tick)
            }
        }
    }
}
