//! Tail loss probes (TLP): scheduling and interpretation of their ACKs.
//!
//! # Model
//! If no ACK arrives for two RTTs with data outstanding, one segment is sent: a new one if possible,
//! otherwise the last one again. Its ACK gives SACK the information to repair the rest without an RTO. A
//! probe that repaired the only loss halves the window.
//!
//! # References
//! RFC 8985 section 7. With a timer wheel, a transmission schedules the probe as in Linux: at most one RTO after the last
//! transmission of the oldest segment. New data after a probe schedule it too. No second probe is sent then, but the RTO
//! counts again from the last transmission of the oldest segment (`tcp_send_loss_probe` and `tcp_rearm_rto`).
//!
//! # Parameters
//! `tail_loss_probe`.
//!
//! # Limitations
//! The maximum ACK delay of the receiver is assumed to be 200 ms if a single segment is outstanding.

use optcp_units::{Duration, Time};

use crate::rtt::RetransmissionTimer;
use crate::seq::Seq;

/// TLP.max_ack_delay of RFC 8985 section 7.2, with Linux's value.
const MAX_ACK_DELAY: Duration = Duration::from_ms(200);
/// PTO without an RTT sample (RFC 8985 section 7.2).
const UNMEASURED: Duration = Duration::from_secs(1);

/// Meaning of a probe's ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Not known yet, or no loss.
    Nothing,
    /// The probe repaired a loss, which indicates congestion.
    Repaired,
}

/// State of tail loss probes.
#[derive(Clone, Debug, Default)]
pub(super) struct TailLossProbe {
    deadline: Option<Time>,
    /// TLP.end_seq: one past the highest segment sent when the probe was sent.
    end: Option<Seq>,
    /// `true`: the probe was a retransmission.
    again: bool,
    /// `true`: a probe is to be sent now.
    pub(super) due: bool,
}

impl TailLossProbe {
    pub(super) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Reschedules the probe for the given number of outstanding segments, or cancels it. It is never later
    /// than the retransmission timer. `oldest`: time of the last transmission of the oldest segment, if a transmission
    /// reschedules the probe.
    pub(super) fn schedule(
        &mut self,
        now: Time,
        outstanding: u32,
        timer: &RetransmissionTimer,
        oldest: Option<Time>,
    ) {
        let clock = timer.clock();
        if outstanding == 0 || (self.end.is_some() && !(clock.is_wheel() && oldest.is_some())) {
            self.deadline = None;
            return;
        }
        let timeout = timer.srtt().map_or(UNMEASURED, |srtt| {
            srtt * 2 + if outstanding == 1 { MAX_ACK_DELAY } else { clock.margin() }
        });
        let due = oldest.filter(|_| clock.is_wheel()).map(|sent| sent + timer.rto());
        let left = due.filter(|&due| due > now).map(|due| due - now);
        let at = clock.due_beside_rto(now, left.map_or(timeout, |left| left.min(timeout)));
        self.deadline = Some(timer.deadline().map_or(at, |rto| at.min(rto)));
    }

    /// Returns whether the ACK of the last probe has not arrived.
    pub(super) fn is_outstanding(&self) -> bool {
        self.end.is_some()
    }

    /// Returns whether everything below `end` was sent before the last probe, or is the probe.
    pub(super) fn is_after(&self, end: Seq) -> bool {
        self.end.is_some_and(|probed| end <= probed)
    }

    pub(super) fn cancel(&mut self) {
        self.deadline = None;
        self.due = false;
    }

    /// Makes the probe due.
    pub(super) fn expire(&mut self) {
        self.deadline = None;
        self.due = true;
    }

    /// Records the transmission of the probe.
    pub(super) fn on_sent(&mut self, end: Seq, again: bool) {
        self.due = false;
        self.end = Some(end);
        self.again = again;
    }

    /// Discards the probe after a recovery or an RTO, which makes its ACK meaningless.
    pub(super) fn forget(&mut self) {
        self.cancel();
        self.end = None;
    }

    /// RFC 8985 section 7.4: processes an ACK for everything below `ack`. `duplicate`: segments reported as
    /// duplicates. `plain`: the ACK contains nothing new.
    pub(super) fn on_ack(
        &mut self,
        ack: Seq,
        duplicate: Option<(Seq, Seq)>,
        plain: bool,
    ) -> Verdict {
        let Some(end) = self.end.filter(|&end| ack >= end) else { return Verdict::Nothing };
        let both_arrived = duplicate.is_some_and(|block| block.1 == end) || (ack == end && plain);
        if !self.again || both_arrived {
            self.end = None;
            Verdict::Nothing
        } else if ack > end {
            self.end = None;
            Verdict::Repaired
        } else {
            Verdict::Nothing
        }
    }
}
