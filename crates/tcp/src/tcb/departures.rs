//! Permission to send, and departures of segments.

use optcp_units::{Bytes, Duration, Time};

use super::Tcb;
use crate::config::Pacing;
use crate::info::Tally;
use crate::pacing;
use crate::seq::Seq;

impl Tcb {
    /// Records the departure of a packet with `in_flight` packets in flight, for congestion controls that use
    /// deliveries.
    pub(crate) fn on_sent(&mut self, number: Seq, in_flight: u32) {
        if let Some(rate) = &self.delivery {
            self.congestion.on_sent(number, in_flight, rate);
        }
    }

    /// Processes a write after everything was sent, with `carried` segments in flight. The application limits
    /// the delivery rate, unless the window does or a loss is being repaired.
    pub(crate) fn on_write(&mut self, carried: u32, tally: Tally) {
        let room = carried < self.window.segments(self.mss) && tally.lost <= tally.retransmitted;
        if let Some(rate) = &mut self.delivery
            && room
        {
            rate.mark_limited(carried);
        }
    }

    /// Records that no segment may be sent now, with an estimated `carried` segments in the network.
    pub(crate) fn on_pause(&mut self, carried: u32) {
        let limited = carried >= self.window.segments(self.mss());
        self.window_use.on_pause(self.una, self.max, limited);
    }

    /// Takes the segment to retransmit first. An ACK may have covered it while it waited.
    pub(crate) fn take_demanded(&mut self) -> Option<Seq> {
        self.retransmit.take().filter(|&seq| seq >= self.una)
    }

    /// Returns the next segment that may be sent now, if any.
    #[inline]
    pub(crate) fn next_segment(&mut self) -> Option<Seq> {
        if let Some(seq) = self.take_demanded() {
            return Some(seq);
        }
        if self.nxt >= self.end {
            return None;
        }
        let limit = self.window_limit;
        let cwnd = self.window.segments(self.mss());
        let flight = self.nxt - self.una;
        if self.allowance > 0 && flight < cwnd.saturating_add(self.inflation).min(limit) {
            self.allowance -= 1;
        } else if self.limited > 0
            && (self.nxt >= self.max || self.config.limited_transmit_again)
            && flight < cwnd.saturating_add(self.duplicates).min(limit)
        {
            // RFC 3042: at most two segments beyond cwnd, but not beyond the receive window.
            self.limited -= 1;
            self.limited_sent += 1;
        } else {
            return None;
        }
        self.nxt += 1;
        Some(self.nxt - 1)
    }

    /// Records the departure of segment `seq` if departure times matter: for the delivery-rate estimator, and
    /// for pacing the next segment.
    #[inline(never)]
    pub(crate) fn depart(&mut self, seq: Seq, number: Seq, now: Time) {
        let outstanding = self.outstanding();
        if let Some(rate) = &mut self.delivery {
            if !outstanding && rate.is_limited() {
                self.congestion.on_restart(&mut self.window, self.mss, now, rate);
            }
            rate.on_sent(number, now, outstanding);
        }
        // The ten unpaced segments are data segments.
        if self.config.handshake && seq == Seq::ZERO {
            return;
        }
        let cwnd = self.window.segments(self.mss());
        let interval = match self.config.pacing {
            Pacing::None => None,
            Pacing::Bucket => {
                let rate = self.bucket_rate();
                self.pacer.take_token(now, rate);
                None
            }
            Pacing::Window => {
                let flight = self.max.max(seq.next()) - self.una;
                let slow = self.window.cwnd < self.window.ssthresh / 2.0;
                Some(pacing::window_interval(cwnd.max(flight), slow, self.timer.srtt()))
            }
            Pacing::Rate => {
                // The rate of some controls counts headers, and the wait after a segment only its payload.
                let whole = self.congestion.interval(cwnd, self.timer.srtt());
                let (headers, wire) = (self.congestion.paces_headers(), self.wire_size(seq));
                let share = |whole| pacing::payload_share(whole, self.config.mss, wire);
                if headers { whole.map(share) } else { whole }
            }
        };
        if let Some(interval) = interval {
            self.pacer.on_sent(now, interval);
        }
    }

    /// Returns whether pacing holds the next segment.
    #[inline]
    pub(crate) fn paces(&mut self, now: Time) -> bool {
        if !self.pacer.holds(now) {
            return false;
        }
        if self.config.pacing != Pacing::Bucket {
            return true;
        }
        let rate = self.bucket_rate();
        !self.pacer.refill(now, rate)
    }

    /// Returns the quantities from which the bucket of tokens is filled.
    fn bucket_rate(&self) -> pacing::Rate {
        let initial = Duration::from_ps(self.config.initial_rto.as_ps() / 3);
        let srtt = self.timer.srtt().unwrap_or(initial);
        pacing::Rate { window: self.window.segments(self.mss), srtt }
    }

    /// Returns the size of a segment on the wire; the SYN has only a header.
    pub(crate) fn wire_size(&self, seq: Seq) -> Bytes {
        if self.config.handshake && seq == Seq::ZERO {
            self.config.opening_size()
        } else {
            self.config.segment_wire_size()
        }
    }
}
