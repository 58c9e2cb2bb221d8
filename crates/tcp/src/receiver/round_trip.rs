//! The round trip, as a receiver can know it without timestamps.
//!
//! # Models
//! The time that one window takes. A window grows by a segment at most for each segment acknowledged, and
//! begins with ten at most: with the ACK for everything below `n` a sender may go as far as twice `n` and
//! ten, so the first segment beyond answers a later ACK. It comes a round trip after that, or more; in slow
//! start little more. A sender that opens with a SYN sends nothing else before its ACK, so that the first
//! data measures exactly. The shortest time counts. A hole gives the measurement up: duplicate ACKs let
//! more be sent.
//! # Source
//! OpTCP, from RFC 5681 section 3.1 (growth) and RFC 6928 (ten segments). Fisk and Feng, "Dynamic
//! right-sizing", 2001, measure so with the window that the receiver advertises.
//! # Parameters
//! `handshake`.
//! # Limits
//! In a short slow start without a SYN the first measurement is up to four round trips, and later ones
//! do not better it, since in congestion avoidance the bound is far beyond what is sent. Being the
//! shortest, it does not follow a path that becomes longer.

use optcp_units::{Duration, Time};

use crate::config::Config;
use crate::seq::Seq;

/// The greatest initial window (RFC 6928 section 2).
const INITIAL_WINDOW: u32 = 10;

/// See the module's text.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    handshake: bool,
    /// The first segment that only a later ACK can release, and when this one was sent.
    under_way: Option<(Seq, Time)>,
    shortest: Option<Duration>,
}

impl RoundTrip {
    pub(super) fn new(config: &Config) -> Self {
        RoundTrip { handshake: config.handshake, under_way: None, shortest: None }
    }

    /// An ACK for everything below `next` is sent while nothing is missing.
    pub(super) fn on_ack(&mut self, now: Time, next: Seq) {
        if self.under_way.is_none() {
            let of_syn = self.handshake && next == Seq::ZERO.next();
            let growth = if of_syn { 0 } else { (next - Seq::ZERO).saturating_add(INITIAL_WINDOW) };
            let beyond = next.saturating_add(growth);
            self.under_way = Some((beyond, now));
        }
    }

    /// Segment `seq` has come, and is in order.
    pub(super) fn on_in_order(&mut self, now: Time, seq: Seq) {
        if let Some((beyond, since)) = self.under_way
            && seq >= beyond
        {
            let took = now - since;
            self.shortest = Some(self.shortest.map_or(took, |shortest| shortest.min(took)));
            self.under_way = None;
        }
    }

    pub(super) fn on_hole(&mut self) {
        self.under_way = None;
    }

    pub(super) fn shortest(&self) -> Option<Duration> {
        self.shortest
    }
}
