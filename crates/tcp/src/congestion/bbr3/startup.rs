//! Ends of STARTUP and DRAIN.
//!
//! # Model
//! STARTUP ends when the pipe is full. It also ends after an RTT of fast recovery that lost more than 2 % in
//! at least six places. In that case, the flight delivered in this RTT, or the BDP if larger, bounds the
//! window. DRAIN ends when at most one BDP is in flight, or after three RTTs.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 sections 5.3.1 and 5.3.2.

use super::state::State;
use super::undo::Left;
use super::{Bbr3, Gain, Present};
use crate::congestion::event::Repair;
use crate::seq::Seq;

/// Places of an RTT in which something is lost that end STARTUP (`BBRStartupFullLossCnt`).
const PLACES: u32 = 6;
/// RTTs after which DRAIN ends anyway.
const LONGEST_DRAIN: u64 = 3;

/// The places of an RTT in which something was lost: runs of consecutive segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    count: u32,
    last: Option<Seq>,
}

impl Places {
    pub(super) fn on_lost(&mut self, seq: Seq) {
        let goes_on = self.last.is_some_and(|last| last.next() == seq);
        self.count += u32::from(!goes_on);
        self.last = Some(seq);
    }
}

impl Bbr3 {
    /// `EnterStartup`.
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// `CheckStartupDone`.
    pub(super) fn check_startup(&mut self, at: &Present<'_>) {
        if self.state == State::Startup && self.loses_too_much(at) {
            self.undo.left = Some(Left::Startup);
            self.full.reached = true;
            let product = self.product(Gain::ONE);
            self.long.limit = Some(product.max(self.short.latest_in_flight));
        }
        if self.short.ends_round {
            self.places = Places::default();
        }
        if self.state == State::Startup && self.full.reached {
            self.state = State::Drain { since: self.rounds.count };
        }
    }

    /// `CheckStartupHighLoss`: an RTT is over that began with the first loss of a fast recovery, or inside it.
    fn loses_too_much(&self, at: &Present<'_>) -> bool {
        self.short.ends_round
            && at.ack.repair == Repair::Losses
            && self.places.count >= PLACES
            && at.flight.is_some_and(|flight| self.flights.too_high(flight))
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain(&mut self, at: &Present<'_>) {
        if let State::Drain { since } = self.state
            && (at.ack.in_flight <= self.in_flight(Gain::ONE, at.mss)
                || self.rounds.count > since + LONGEST_DRAIN)
        {
            self.start_down(at.ack.now, at.delivered);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 5.3.1.3: 1 to 3, 7, and 9 to 10 are three discontiguous ranges.
    #[test]
    fn consecutive_losses_count_as_one_place() {
        let mut places = Places::default();
        [1, 2, 3, 7, 9, 10].into_iter().for_each(|seq| places.on_lost(Seq::new(seq)));
        assert_eq!(places.count, 3);
    }
}
