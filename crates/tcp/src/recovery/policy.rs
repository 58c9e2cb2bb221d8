//! What a loss recovery is.

use optcp_units::Time;

use crate::acknowledgment::Ack;
use crate::config::AfterTimeout;
use crate::core::Core;
use crate::info::Tally;
use crate::seq::Seq;

/// Duplicate ACKs that start a fast retransmit (RFC 5681 section 3.2).
pub(crate) const DUP_THRESH: u32 = 3;

/// What ACKs and timeouts do while data is missing. During a recovery it alone writes the window, unless
/// congestion control does.
pub(crate) trait Recovery {
    /// Whether fast recovery is under way.
    fn in_recovery(&self) -> bool {
        false
    }

    /// Whether a timeout's losses are being repaired.
    fn in_loss(&self, core: &Core) -> bool {
        core.repairs_timeout()
    }

    /// What is known of the outstanding segments. Without SACK each duplicate ACK stands for a segment that
    /// arrived beyond the hole.
    fn tally(&self, core: &Core) -> Tally {
        let (sacked, hole) = (core.duplicates, u32::from(self.in_recovery()));
        Tally { sacked, lost: hole, retransmitted: hole, reordering: DUP_THRESH }
    }

    /// An ACK of data that was sent.
    fn on_ack(&mut self, core: &mut Core, now: Time, ack: &Ack);

    /// The retransmission timer expired: whatever was under way is over. The window is still what it was.
    fn on_timeout(&mut self, core: &mut Core, now: Time);

    /// The next segment that may be sent now, if any.
    fn next_segment(&mut self, core: &mut Core) -> Option<Seq> {
        core.next_segment()
    }

    /// Segments that the network is held to carry, as the window counts them.
    fn carried(&self, core: &Core) -> u32 {
        core.nxt - core.una
    }

    /// A segment is sent.
    fn on_sent(&mut self, _core: &mut Core, _seq: Seq, _now: Time) {}

    /// When a timer of its own is due.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// A timer of its own has expired.
    fn on_timer(&mut self, _core: &mut Core, _now: Time) {}
}

/// A recovery that knows of losses by duplicate ACKs alone.
pub(super) trait CountsDuplicates {
    /// See [`Recovery::in_recovery`].
    fn recovers(&self) -> bool {
        false
    }

    /// A duplicate ACK; `core.duplicates` counts it already.
    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time);

    /// An ACK of new data.
    fn on_new_ack(&mut self, core: &mut Core, now: Time, ack: &Ack);

    /// The retransmission timer expired: back to the start.
    fn restart(&mut self, core: &mut Core);
}

impl<R: CountsDuplicates> Recovery for R {
    #[inline]
    fn in_recovery(&self) -> bool {
        self.recovers()
    }

    #[inline]
    fn on_ack(&mut self, core: &mut Core, now: Time, ack: &Ack) {
        if ack.seq > core.una {
            self.on_new_ack(core, now, ack);
            if core.config.after_timeout == AfterTimeout::First && core.repairs_timeout() {
                core.retransmit = Some(core.una);
            }
        } else if ack.seq == core.una && core.outstanding() {
            core.duplicates += 1;
            core.observe(now, 0, 1, None);
            self.on_duplicate_ack(core, now);
        }
    }

    fn on_timeout(&mut self, core: &mut Core, _now: Time) {
        self.restart(core);
        core.send_again_after_timeout();
    }
}

/// The first two duplicate ACKs may release a new segment each (RFC 3042).
pub(super) fn limited_transmit(core: &mut Core) {
    if core.config.limited_transmit && core.duplicates < DUP_THRESH {
        core.limited = 1;
    }
}
