//! Loss recovery: what ACKs and timeouts do while data is missing.

mod newreno;
mod reno;
mod sack;
mod sack1;
mod tahoe;

use optcp_units::Time;

use crate::acknowledgment::Ack;
use crate::config::{AfterTimeout, Config, RecoveryKind};
use crate::core::Core;
use crate::info::Tally;
use crate::seq::Seq;

pub use newreno::NewReno;
pub use reno::Reno;
pub use sack::Sack;
pub use sack1::Sack1;
pub use tahoe::Tahoe;

/// Duplicate ACKs that start a fast retransmit (RFC 5681 section 3.2).
const DUP_THRESH: u32 = 3;

/// The state of the chosen recovery. During recovery it alone writes the window,
/// unless congestion control governs that.
#[derive(Clone, Debug)]
pub enum LossRecovery {
    /// See [`Tahoe`].
    Tahoe(Tahoe),
    /// See [`Reno`].
    Reno(Reno),
    /// See [`NewReno`].
    NewReno(NewReno),
    /// See [`Sack`].
    Sack(Box<Sack>),
    /// See [`Sack1`].
    Sack1(Box<Sack1>),
}

impl LossRecovery {
    /// The state at the start of a connection.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        match config.recovery {
            RecoveryKind::Tahoe => LossRecovery::Tahoe(Tahoe),
            RecoveryKind::Reno => LossRecovery::Reno(Reno::default()),
            RecoveryKind::NewReno => LossRecovery::NewReno(NewReno::default()),
            RecoveryKind::Sack => LossRecovery::Sack(Box::new(Sack::new(config))),
            RecoveryKind::Sack1 => LossRecovery::Sack1(Box::default()),
        }
    }

    /// Whether fast recovery is under way.
    #[must_use]
    #[inline]
    pub fn in_recovery(&self) -> bool {
        match self {
            LossRecovery::Tahoe(_) => false,
            LossRecovery::Reno(r) => r.in_recovery(),
            LossRecovery::NewReno(r) => r.in_recovery(),
            LossRecovery::Sack(r) => r.in_recovery(),
            LossRecovery::Sack1(r) => r.in_recovery(),
        }
    }

    /// Whether a timeout's losses are being repaired.
    pub(crate) fn in_loss(&self, core: &Core) -> bool {
        match self {
            LossRecovery::Sack(r) => r.in_loss(),
            _ => core.repairs_timeout(),
        }
    }

    /// What is known of the outstanding segments.
    pub(crate) fn tally(&self, core: &Core) -> Tally {
        match self {
            LossRecovery::Sack(r) => r.tally(),
            // Without SACK each duplicate ACK stands for a segment that arrived beyond the hole.
            _ => {
                let (sacked, hole) = (core.duplicates, u32::from(self.in_recovery()));
                Tally { sacked, lost: hole, retransmitted: hole, reordering: DUP_THRESH }
            }
        }
    }

    /// An ACK of data that was sent.
    #[inline]
    pub(crate) fn on_ack(&mut self, core: &mut Core, now: Time, ack: &Ack) {
        match self {
            LossRecovery::Sack(r) => r.on_ack(core, now, ack),
            LossRecovery::Sack1(r) => r.on_ack(core, now, ack),
            _ if ack.seq > core.una => {
                self.on_new_ack(core, now, ack);
                if core.config.after_timeout == AfterTimeout::First && core.repairs_timeout() {
                    core.retransmit = Some(core.una);
                }
            }
            _ if ack.seq == core.una && core.outstanding() => {
                core.duplicates += 1;
                self.on_duplicate_ack(core, now);
            }
            _ => {}
        }
    }

    /// A duplicate ACK; `core.duplicates` counts it already.
    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time) {
        match self {
            LossRecovery::Tahoe(r) => r.on_duplicate_ack(core, now),
            LossRecovery::Reno(r) => r.on_duplicate_ack(core, now),
            LossRecovery::NewReno(r) => r.on_duplicate_ack(core, now),
            LossRecovery::Sack(_) | LossRecovery::Sack1(_) => {}
        }
    }

    /// An ACK of new data.
    fn on_new_ack(&mut self, core: &mut Core, now: Time, ack: &Ack) {
        match self {
            LossRecovery::Tahoe(r) => r.on_new_ack(core, now, ack),
            LossRecovery::Reno(r) => r.on_new_ack(core, now, ack),
            LossRecovery::NewReno(r) => r.on_new_ack(core, now, ack),
            LossRecovery::Sack(_) | LossRecovery::Sack1(_) => {}
        }
    }

    /// The retransmission timer expired: whatever was under way is over. The window is still what it was.
    pub(crate) fn on_timeout(&mut self, core: &mut Core, now: Time) {
        match self {
            LossRecovery::Sack(r) => return r.on_timeout(core, now),
            LossRecovery::Sack1(r) => return r.on_timeout(core),
            LossRecovery::Tahoe(_) => {}
            LossRecovery::Reno(r) => *r = Reno::default(),
            LossRecovery::NewReno(r) => *r = NewReno::default(),
        }
        let keeps = matches!(self, LossRecovery::Tahoe(_)) && core.config.tahoe_keeps_duplicates;
        if !keeps {
            core.duplicates = 0;
        }
        core.send_again_after_timeout();
    }

    /// The next segment that may be sent now, if any.
    #[inline]
    pub(crate) fn next_segment(&mut self, core: &mut Core) -> Option<Seq> {
        match self {
            LossRecovery::Sack(r) => r.next_segment(core),
            LossRecovery::Sack1(r) => r.next_segment(core),
            _ => core.next_segment(),
        }
    }

    /// Segments that the network is held to carry, as the window counts them.
    #[inline]
    pub(crate) fn carried(&self, core: &Core) -> u32 {
        match self {
            LossRecovery::Sack(r) => r.carried(core),
            _ => core.nxt - core.una,
        }
    }

    /// A segment is sent.
    #[inline]
    pub(crate) fn on_sent(&mut self, core: &Core, seq: Seq, now: Time) {
        if let LossRecovery::Sack(r) = self {
            r.on_sent(core, seq, now);
        }
    }

    /// When a timer of its own is due.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        match self {
            LossRecovery::Sack(r) => r.deadline(),
            _ => None,
        }
    }

    /// A timer of its own has expired.
    pub(crate) fn on_timer(&mut self, core: &mut Core, now: Time) {
        if let LossRecovery::Sack(r) = self {
            r.on_timer(core, now);
        }
    }
}

/// The first two duplicate ACKs may release a new segment each (RFC 3042).
fn limited_transmit(core: &mut Core) {
    if core.config.limited_transmit && core.duplicates < DUP_THRESH {
        core.limited = 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use optcp_units::Duration;

    use super::*;
    use crate::{Config, Profile, Sender};

    fn released(sender: &mut Sender) -> Vec<Seq> {
        std::iter::from_fn(|| sender.poll_transmit(Time::ZERO)).map(|sent| sent.seq).collect()
    }

    /// RFC 3042 section 2: one new segment for each of the first two duplicate ACKs; RFC 5681 section
    /// 3.2: they do not count as flight when ssthresh is set.
    #[test]
    fn limited_transmit_releases_one_segment_a_duplicate_ack() {
        let config = Config { initial_window: 10, ..Profile::Rfc.config() };
        let mut sender = Sender::new(Arc::new(config), None, Duration::ZERO);
        sender.start();
        assert_eq!(released(&mut sender), (0..10).collect::<Vec<_>>());
        // Slow start: two segments for the first ACK; 11 are in flight then.
        let ack = Ack::cumulative(1);
        sender.handle_ack(Time::ZERO, &ack);
        assert_eq!(released(&mut sender), [10, 11]);
        sender.handle_ack(Time::ZERO, &ack);
        assert_eq!(released(&mut sender), [12]);
        sender.handle_ack(Time::ZERO, &ack);
        assert_eq!(released(&mut sender), [13]);
        sender.handle_ack(Time::ZERO, &ack);
        assert_eq!(released(&mut sender), [1]);
        // Half of the 11 segments of 1460 bytes, not of the 13 that are out.
        assert_eq!(sender.window().ssthresh.to_bits(), 8030_f64.to_bits());
    }
}
