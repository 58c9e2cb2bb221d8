//! What an ACK counts for when the window grows.
//!
//! # Models
//! `once`: an ACK of new data is one segment, however much it acknowledges. `bytes`: it counts for what
//! it acknowledges; in slow start for two segments at most, in the slow start after a timeout for one.
//! `segments`: it counts for every segment of which no ACK had told before; what slow start does not
//! need to reach ssthresh counts for congestion avoidance.
//! # Source
//! RFC 5681 section 3.1 (`once`); RFC 3465 sections 2.1 to 2.3 with L = 2 (`bytes`); behaviour of
//! Linux (`segments`).
//! # Parameters
//! `ack_counting`.
//! # Limits
//! Segments are full ones, so bytes are counted as segments.

use super::event::AckEvent;
use optcp_units::registry;

registry! {
    /// What an ACK of new data counts for when the window grows.
    pub enum AckCounting ("ack_counting") {
        "once" => Once: "one segment, however much it acknowledges", "RFC 5681 section 3.1";
        "bytes" => Bytes: "what it acknowledges; in slow start two segments at most, one after a timeout", "RFC 3465";
        "segments" => Segments: "every segment that no ACK had reported; what passes ssthresh counts for congestion avoidance", "Linux";
    }
}

/// L of RFC 3465 in segments.
const LIMIT: u32 = 2;

impl AckCounting {
    /// Segments that an ACK counts for in slow start; `after_timeout` in one that a timeout began.
    pub(super) fn in_slow_start(self, ack: &AckEvent, after_timeout: bool) -> u32 {
        match self {
            AckCounting::Once => 1,
            AckCounting::Bytes if after_timeout => ack.acked.min(1),
            AckCounting::Bytes => ack.acked.min(LIMIT),
            AckCounting::Segments => ack.delivered,
        }
    }

    /// Segments that an ACK counts for in congestion avoidance.
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

    /// An ACK for five segments, two of which SACK had told of.
    #[test]
    fn an_ack_of_five_segments_counts_for_one_two_five_or_what_is_new() {
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
