//! Loss recovery: reactions to ACKs and RTOs while data are missing.
//!
//! To add a recovery, write a file with an `impl` of `policy::Recovery`, or of the trait shared by
//! recoveries that count duplicate ACKs. Then add one line below, and its name in [`RecoveryKind`].

mod newreno;
mod policy;
mod quic;
mod reno;
mod sack;
mod sack1;
mod tahoe;

use optcp_units::{Time, states};

use crate::acknowledgment::Ack;
use crate::config::{Config, RecoveryKind};
use crate::info::Tally;
use crate::seq::Seq;
use crate::tcb::Tcb;

use policy::Recovery;

pub use newreno::NewReno;
pub use quic::Quic;
pub use reno::Reno;
pub use sack::{Sack, SackPerNetwork};
pub use sack1::Sack1;
pub use tahoe::Tahoe;

states! { $
    /// State of the selected recovery.
    #[derive(Clone, Debug)]
    pub enum LossRecovery, each! {
        Tahoe: Tahoe,
        Reno: Reno,
        NewReno: NewReno,
        Sack: Box<Sack>,
        SackPerNetwork: Box<SackPerNetwork>,
        Sack1: Box<Sack1>,
        Quic: Box<Quic>,
    }
}

impl LossRecovery {
    /// Returns the state at the start of a connection.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        match config.recovery {
            RecoveryKind::Tahoe => LossRecovery::Tahoe(Tahoe),
            RecoveryKind::Reno => LossRecovery::Reno(Reno::default()),
            RecoveryKind::NewReno => LossRecovery::NewReno(NewReno::default()),
            RecoveryKind::Sack => LossRecovery::Sack(Box::new(Sack::new(config))),
            RecoveryKind::Sack1 => LossRecovery::Sack1(Box::default()),
            RecoveryKind::Quic => LossRecovery::Quic(Box::new(Quic::new(config))),
        }
    }

    /// Returns whether fast recovery is in progress.
    #[must_use]
    #[inline]
    pub fn in_recovery(&self) -> bool {
        each!(self, it => it.in_recovery())
    }

    /// See [`Recovery::in_loss`].
    pub(crate) fn in_loss(&self, tcb: &Tcb) -> bool {
        each!(self, it => it.in_loss(tcb))
    }

    /// See [`Recovery::tally`].
    pub(crate) fn tally(&self, tcb: &Tcb) -> Tally {
        each!(self, it => it.tally(tcb))
    }

    /// See [`Recovery::on_ack`].
    #[inline]
    pub(crate) fn on_ack(&mut self, tcb: &mut Tcb, now: Time, ack: &Ack) {
        each!(self, it => it.on_ack(tcb, now, ack));
    }

    /// See [`Recovery::on_marks`].
    // Not inlined, because few connections use ECN.
    #[inline(never)]
    pub(crate) fn on_marks(&mut self, tcb: &mut Tcb) {
        each!(self, it => it.on_marks(tcb));
    }

    /// See [`Recovery::on_timeout`].
    pub(crate) fn on_timeout(&mut self, tcb: &mut Tcb, now: Time) {
        each!(self, it => it.on_timeout(tcb, now));
    }

    /// See [`Recovery::next_segment`].
    #[inline]
    pub(crate) fn next_segment(&mut self, tcb: &mut Tcb) -> Option<Seq> {
        each!(self, it => it.next_segment(tcb))
    }

    /// See [`Recovery::probes`].
    pub(crate) fn probes(&self) -> bool {
        each!(self, it => it.probes())
    }

    /// See [`Recovery::carried`].
    #[inline]
    pub(crate) fn carried(&self, tcb: &Tcb) -> u32 {
        each!(self, it => it.carried(tcb))
    }

    /// See [`Recovery::number`].
    #[inline]
    pub(crate) fn number(&self, seq: Seq) -> Seq {
        each!(self, it => it.number(seq))
    }

    /// See [`Recovery::on_sent`].
    #[inline]
    pub(crate) fn on_sent(&mut self, tcb: &mut Tcb, seq: Seq, now: Time) {
        each!(self, it => it.on_sent(tcb, seq, now));
    }

    /// See [`Recovery::deadline`].
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        each!(self, it => it.deadline())
    }

    /// Enables separate state for `networks` networks, of which `present` is active. Only SACK can tell which
    /// network lost a segment.
    pub(crate) fn enable_per_network_state(&mut self, tcb: &mut Tcb, networks: u8, present: u8) {
        if let LossRecovery::Sack(sack) = self {
            let sack = sack.as_ref().clone();
            let divided = SackPerNetwork::new(sack, tcb, networks, present);
            *self = LossRecovery::SackPerNetwork(Box::new(divided));
        }
    }

    /// Activates a network.
    pub(crate) fn change_network(&mut self, tcb: &mut Tcb, now: Time, network: u8) {
        if let LossRecovery::SackPerNetwork(sack) = self {
            sack.change_network(tcb, now, network);
        }
    }

    /// See [`Recovery::on_timer`].
    pub(crate) fn on_timer(&mut self, tcb: &mut Tcb, now: Time) -> bool {
        each!(self, it => it.on_timer(tcb, now))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use optcp_units::Duration;

    use super::*;
    use crate::{Config, Profile, Sender};

    fn released(sender: &mut Sender) -> Vec<u32> {
        let sent = std::iter::from_fn(|| sender.poll_transmit(Time::ZERO));
        sent.map(|sent| sent.seq.number()).collect()
    }

    /// RFC 3042 section 2: one new segment for each of the first two duplicate ACKs. RFC 5681 section 3.2:
    /// they do not count as flight when ssthresh is set.
    #[test]
    fn limited_transmit_releases_one_segment_a_duplicate_ack() {
        let config = Config { initial_window: 10, ..Profile::Rfc.config() };
        let mut sender = Sender::new(Arc::new(config), None, Duration::ZERO);
        sender.start();
        assert_eq!(released(&mut sender), (0..10).collect::<Vec<_>>());
        // Slow start: two segments for the first ACK, so that 11 are in flight.
        let ack = Ack::cumulative(Seq::new(1));
        sender.handle_ack(Time::ZERO, &ack);
        assert_eq!(released(&mut sender), [10, 11]);
        sender.handle_ack(Time::ZERO, &ack);
        assert_eq!(released(&mut sender), [12]);
        sender.handle_ack(Time::ZERO, &ack);
        assert_eq!(released(&mut sender), [13]);
        sender.handle_ack(Time::ZERO, &ack);
        assert_eq!(released(&mut sender), [1]);
        // Half of the 11 segments of 1460 bytes, not of the 13 in flight.
        assert_eq!(sender.window().ssthresh.to_bits(), 8030_f64.to_bits());
    }

    /// RFC 3042 section 2: the first two duplicate ACKs only release new data. After an RTO, all ten segments
    /// await retransmission and one is retransmitted; the ACKs of segments that were not lost release none of
    /// the others. With ns-2's `singledup_`, each releases the next one.
    #[test]
    fn limited_transmit_does_not_retransmit() {
        for (limited_transmit_again, expected) in
            [(false, [vec![], vec![]]), (true, [vec![1], vec![2]])]
        {
            let config =
                Config { initial_window: 10, limited_transmit_again, ..Profile::Rfc.config() };
            let mut sender = Sender::new(Arc::new(config), None, Duration::ZERO);
            sender.start();
            assert_eq!(released(&mut sender), (0..10).collect::<Vec<_>>());
            let expiry = sender.deadline().unwrap();
            sender.handle_timer(expiry);
            assert_eq!(released(&mut sender), [0]);
            for released_by in expected {
                sender.handle_ack(expiry, &Ack::cumulative(Seq::ZERO));
                assert_eq!(released(&mut sender), released_by);
            }
        }
    }
}
