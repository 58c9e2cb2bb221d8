//! RTT estimate of a receiver without timestamps.
//!
//! # Model
//! The time for one window of data. A window grows by at most one segment per acknowledged segment
//! and starts with at most ten. The ACK of everything below `n` therefore allows a sender at most 2
//! n + 10 segments. The first segment beyond that answers a later ACK. It arrives at least one RTT
//! later, and in slow start not much more. A sender that starts with a SYN sends nothing else until
//! the SYN-ACK, so that the first data measure the RTT exactly. The minimum counts. A gap aborts
//! the measurement, because duplicate ACKs allow further segments.
//!
//! # References
//! OpTCP, from RFC 5681 section 3.1 (growth) and RFC 6928 (ten segments). Fisk and Feng, "Dynamic
//! right-sizing", 2001, use the advertised window in the same way.
//!
//! # Parameters
//! `handshake`.
//!
//! # Limitations
//! In a short slow start without SYN, the first measurement is up to four RTTs. Later ones do not improve it,
//! because in congestion avoidance the bound is far above the data sent. As a minimum, the estimate does not
//! follow a path that becomes longer.

use optcp_units::{Duration, Time};

use crate::config::Config;
use crate::seq::Seq;

/// Maximum initial window (RFC 6928 section 2).
const INITIAL_WINDOW: u32 = 10;

/// RTT estimate of a receiver.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    handshake: bool,
    /// First segment that only a later ACK can release, and send time of the current ACK.
    under_way: Option<(Seq, Time)>,
    shortest: Option<Duration>,
}

impl RoundTrip {
    pub(super) fn new(config: &Config) -> Self {
        RoundTrip { handshake: config.handshake, under_way: None, shortest: None }
    }

    /// Records an ACK for everything below `next`, sent without a gap.
    pub(super) fn on_ack(&mut self, now: Time, next: Seq) {
        if self.under_way.is_none() {
            let of_syn = self.handshake && next == Seq::ZERO.next();
            let growth = if of_syn { 0 } else { (next - Seq::ZERO).saturating_add(INITIAL_WINDOW) };
            let beyond = next.saturating_add(growth);
            self.under_way = Some((beyond, now));
        }
    }

    /// Records the arrival of in-order segment `seq`.
    pub(super) fn on_in_order(&mut self, now: Time, seq: Seq) {
        if let Some((beyond, since)) = self.under_way
            && seq >= beyond
        {
            let took = now - since;
            self.shortest = Some(self.shortest.map_or(took, |shortest| shortest.min(took)));
            self.under_way = None;
        }
    }

    pub(super) fn on_gap(&mut self) {
        self.under_way = None;
    }

    pub(super) fn shortest(&self) -> Option<Duration> {
        self.shortest
    }
}
