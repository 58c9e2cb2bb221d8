//! Duplicate-ACK suppression that ends by itself.
//!
//! # Models
//! As [`Das`](super::Das), for a time after the first suppressed segment, and after each segment in order
//! that leaves a hole before the suppressed ones. If the hole is still there then, as many duplicate ACKs
//! are sent at once as segments have come beyond it, three at most: the sender needs three, and after its
//! window's last segment nothing more comes that could bring one. From then on every segment beyond the
//! hole brings its duplicate ACK. The next segment in order ends all of it.
//!
//! With SACK the ACKs of segments in order, too, keep silent meanwhile about what lies beyond: three
//! segments in a block are as good as three duplicate ACKs (RFC 6675, `IsLost`).
//!
//! The time is a bound of how long a segment may come after those that overtook it.
//!
//! * With timestamps: twice what the way of the last segment in order was longer than that of the first
//!   suppressed one, and a tick. Timestamps tell when both were sent, by the sender's clock, and the
//!   difference of two differences does not depend on how the clocks stand. A tick, since timestamps are
//!   cut to whole ticks; twice, since the queue on the longer way may have grown.
//! * Without: a round trip, measured as [`RoundTrip`] says. Before the first measurement nothing is
//!   suppressed.
//! # Source
//! OpTCP: a repair of what the paper's Fig. 6(c) promises. RFC 5681 section 3.2 for the three.
//! # Parameters
//! `timestamps`, `timestamp_tick`.
//! # Limits
//! A segment that comes later than the bound is taken for lost: without timestamps where the paths
//! differ by more than a round trip of the shortest path. Duplicate ACKs that are held back come about a
//! round trip later than the plain receiver's. The tick of the sender's timestamps is taken as known;
//! receivers learn it by comparing with their own clock.

use optcp_units::{Duration, Time};

use super::super::round_trip::RoundTrip;
use super::das::Das;
use super::seen::Seen;
use crate::acknowledgment::Timestamp;
use crate::config::Config;
use crate::seq::Seq;

/// What a fast retransmit takes (RFC 5681 section 3.2).
const ENOUGH: u32 = 3;

/// See the module's text.
#[derive(Clone, Debug)]
pub struct DasBounded {
    das: Das,
    bound: Bound,
    hold: Hold,
}

/// How the time is found.
#[derive(Clone, Debug)]
enum Bound {
    /// When the last segment in order came, and its timestamp.
    Timestamps {
        tick: Duration,
        last: Option<(Time, Timestamp)>,
    },
    RoundTrip(RoundTrip),
}

/// How it stands with the present hole.
#[derive(Clone, Copy, Debug)]
enum Hold {
    /// Nothing has been suppressed.
    None,
    /// Something has, and may be so until then; for how long after each segment in order.
    Until(Time, Duration),
    /// The time was over then: so many duplicate ACKs are to be sent.
    Releasing(Time, u32),
    /// Nothing is suppressed any more.
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

    /// `whole`: nothing lies beyond a hole after it.
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
            round_trip.on_hole();
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

    /// Whether ACKs of segments in order say nothing of what lies beyond.
    pub(super) fn withholds(&self) -> bool {
        matches!(self.hold, Hold::Until(..))
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        match self.hold {
            Hold::Until(at, _) | Hold::Releasing(at, _) => Some(at),
            Hold::None | Hold::Over => None,
        }
    }

    /// `beyond`: how many segments lie beyond the hole.
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
    /// For how long duplicate ACKs are held back from this first segment on.
    fn after(&self, first: Seen) -> Option<Duration> {
        match *self {
            Bound::RoundTrip(ref round_trip) => round_trip.shortest(),
            Bound::Timestamps { tick, last } => {
                let (at, stamp) = last?;
                // How much later than the last segment in order this one was sent, and how much later it came.
                // It may also be older: the last in order may have been sent again.
                let ticks = first.stamp.wrapping_sub(stamp).cast_signed().max(0);
                let sent = (tick * u64::from(ticks.cast_unsigned())).as_ps();
                let longer = sent.saturating_sub((first.at - at).as_ps());
                Some(Duration::from_ps(longer) * 2 + tick)
            }
        }
    }
}
