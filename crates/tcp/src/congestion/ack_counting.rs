//! Appropriate byte counting: the amount by which an ACK counts towards window growth.
//!
//! # Model
//! - `once`: an ACK of new data counts as one segment.
//! - `bytes`: it counts the acknowledged data; in slow start at most two segments, in slow start after an RTO
//!   one.
//! - `segments`: it counts every newly reported segment. Segments that slow start does not need to reach
//!   ssthresh count for congestion avoidance.
//!
//! # References
//! RFC 5681 section 3.1 (`once`); RFC 3465 sections 2.1 to 2.3 with L = 2 (`bytes`); behaviour of Linux
//! (`segments`).
//!
//! # Parameters
//! `ack_counting`.
//!
//! # Limitations
//! All segments are full, so bytes are counted as segments.

use super::event::AckEvent;
use optcp_units::registry;

registry! {
    /// Amount by which an ACK of new data counts towards window growth.
    pub enum AckCounting ("ack_counting") {
        "once" => Once: "one segment per ACK", "RFC 5681 section 3.1";
        "bytes" => Bytes: "the acknowledged bytes; in slow start at most two segments, after an RTO one", "RFC 3465";
        "segments" => Segments: "every newly delivered segment; segments beyond ssthresh count for congestion avoidance", "Linux";
    }
}

/// L of RFC 3465 in segments.
const LIMIT: u32 = 2;

impl AckCounting {
    /// Returns the number of segments that an ACK counts for in slow start. `after_timeout`: an RTO started
    /// it.
    pub(super) fn in_slow_start(self, ack: &AckEvent, after_timeout: bool) -> u32 {
        match self {
            AckCounting::Once => 1,
            AckCounting::Bytes if after_timeout => ack.acked.min(1),
            AckCounting::Bytes => ack.acked.min(LIMIT),
            AckCounting::Segments => ack.delivered,
        }
    }

    /// Returns the number of segments that an ACK counts for in congestion avoidance.
    pub(super) fn in_avoidance(self, ack: &AckEvent) -> u32 {
        match self {
            AckCounting::Once => 1,
            AckCounting::Bytes => ack.acked,
            AckCounting::Segments => ack.delivered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ACK for five segments, two of which SACK had reported.
    #[test]
    fn ack_counting_of_five_segments() {
        let ack = AckEvent { acked: 5, delivered: 3, ..AckEvent::default() };
        for (counting, counts) in [
            (AckCounting::Once, [1, 1, 1]),
            (AckCounting::Bytes, [2, 1, 5]),
            (AckCounting::Segments, [3, 3, 3]),
        ] {
            let slow_start = [false, true].map(|timeout| counting.in_slow_start(&ack, timeout));
            assert_eq!([slow_start[0], slow_start[1], counting.in_avoidance(&ack)], counts);
        }
    }
}
