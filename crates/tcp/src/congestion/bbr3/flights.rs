//! Segments in flight and known losses at the last transmission of each outstanding segment.
//!
//! # Model
//! The loss rate of an RTT is the number of losses detected since a segment was sent, divided by the flight
//! at that time. Above 2 %, losses are excessive.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 sections 4.1.2.2 (`P.tx_in_flight`, `P.lost`) and 5.5.10.2 (`IsInflightTooHigh`,
//! `InflightAtLoss`).
//!
//! # Limitations
//! Counts segments, rounded down, where the draft counts bytes.

use std::collections::VecDeque;

use crate::seq::Seq;

/// One over `BBR.LossThresh` (section 2.8).
const TOLERATED: u32 = 50;

/// State at the last transmission of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flight {
    /// Segments in flight, itself included.
    pub(super) in_flight: u32,
    /// Segments found lost before.
    lost: u32,
    /// `true`: something other than the network limited sending.
    pub(super) limited: bool,
}

/// State of the flights.
#[derive(Clone, Debug, Default)]
pub(super) struct Flights {
    first: Seq,
    sent: VecDeque<Flight>,
    /// Segments found lost so far, modulo 2^32.
    lost: u32,
}

impl Flights {
    pub(super) fn on_sent(&mut self, seq: Seq, in_flight: u32, limited: bool) {
        if self.sent.is_empty() {
            self.first = seq;
        }
        let flight = Flight { in_flight, lost: self.lost, limited };
        match self.sent.get_mut((seq - self.first) as usize) {
            Some(place) => *place = flight,
            None => self.sent.push_back(flight),
        }
    }

    /// A segment is found lost; gives what was so when it was sent.
    pub(super) fn on_lost(&mut self, seq: Seq) -> Option<Flight> {
        self.lost = self.lost.wrapping_add(1);
        self.get(seq)
    }

    pub(super) fn get(&self, seq: Seq) -> Option<Flight> {
        let place = seq.checked_since(self.first)?;
        self.sent.get(place as usize).copied()
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn forget_below(&mut self, una: Seq) {
        let gone = una.saturating_since(self.first) as usize;
        self.sent.drain(..gone.min(self.sent.len()));
        self.first = self.first.max(una);
    }

    /// Returns whether the RTT of a segment has excessive losses (`IsInflightTooHigh`).
    pub(super) fn too_high(&self, flight: Flight) -> bool {
        u64::from(self.since(flight)) * u64::from(TOLERATED) > u64::from(flight.in_flight)
    }

    /// With how many segments in flight the losses passed what is tolerated, of which the last is the segment of
    /// `flight` (`InflightAtLoss`).
    pub(super) fn at_loss(&self, flight: Flight) -> u32 {
        let in_flight = i64::from(flight.in_flight) - 1;
        let lost = i64::from(self.since(flight)) - 1;
        let tolerated = i64::from(TOLERATED);
        let more = (in_flight - tolerated * lost).div_euclid(tolerated - 1);
        u32::try_from((in_flight + more).max(0)).unwrap_or(u32::MAX)
    }

    /// `RS.lost`: segments declared lost since then.
    fn since(&self, flight: Flight) -> u32 {
        self.lost.wrapping_sub(flight.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 segments in flight, of which the first few are lost: 2 of 100 are tolerated, 3 are not. The one that passes
    /// 2 % has 99 before it, of which 2 are lost: (0.02 * 99 - 2) / 0.98 = -0.02 more, rounded down to whole segments.
    #[test]
    fn more_than_two_per_cent_of_a_flight_is_too_much() {
        let mut flights = Flights::default();
        (0..100).for_each(|seq| flights.on_sent(Seq::new(seq), 100, false));
        let verdicts: Vec<bool> = (0..3)
            .map(|seq| {
                let flight = flights.on_lost(Seq::new(seq)).unwrap();
                flights.too_high(flight)
            })
            .collect();
        assert_eq!(verdicts, [false, false, true]);
        let flight = flights.get(Seq::new(2)).unwrap();
        assert_eq!(flights.at_loss(flight), 98);
    }

    /// One of 30 is more than 2 %: (0.02 * 29 - 0) / 0.98 = 0.59 of the segment fitted.
    #[test]
    fn a_short_flight_tolerates_no_loss() {
        let mut flights = Flights::default();
        flights.on_sent(Seq::new(7), 30, true);
        let flight = flights.on_lost(Seq::new(7)).unwrap();
        assert!(flights.too_high(flight) && flight.limited);
        assert_eq!(flights.at_loss(flight), 29);
    }

    /// Retransmissions restart the count, and acknowledged segments are removed.
    #[test]
    fn retransmitted_segment_counts_anew() {
        let mut flights = Flights::default();
        (0..3).for_each(|seq| flights.on_sent(Seq::new(seq), 3, false));
        flights.on_lost(Seq::new(1));
        flights.on_sent(Seq::new(1), 2, false);
        let (first, again) = (flights.get(Seq::new(0)).unwrap(), flights.get(Seq::new(1)).unwrap());
        assert!(flights.too_high(first) && !flights.too_high(again));
        flights.forget_below(Seq::new(2));
        assert_eq!(flights.get(Seq::new(1)), None);
        assert_eq!(flights.get(Seq::new(2)), Some(first));
    }
}
