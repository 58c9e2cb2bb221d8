//! Tail loss probes.
//!
//! # Models
//! When ACKs stop for two round trips with data outstanding, one segment is sent: a new one if there is
//! one, else the last again. Its ACK shows what SACK needs to see to repair the rest without a timeout.
//! A probe that itself repaired the only loss halves the window.
//! # Source
//! RFC 8985 section 7.
//! # Parameters
//! `tail_loss_probe`.
//! # Limits
//! The receiver's greatest ACK delay is taken to be 200 ms where a single segment is outstanding.

use optcp_units::{Duration, Time};

use crate::seq::Seq;

/// TLP.max_ack_delay of RFC 8985 section 7.2: what Linux takes.
const MAX_ACK_DELAY: Duration = Duration::from_ms(200);
/// PTO without a measured round trip (RFC 8985 section 7.2).
const UNMEASURED: Duration = Duration::from_secs(1);

/// What the ACK of a probe means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing yet, or nothing was lost.
    Nothing,
    /// The probe repaired a loss: congestion.
    Repaired,
}

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub(super) struct TailLossProbe {
    deadline: Option<Time>,
    /// One past the highest segment sent when the probe was: TLP.end_seq.
    end: Option<Seq>,
    /// Whether the probe was a retransmission.
    again: bool,
    /// Whether a probe is to be sent now.
    pub(super) due: bool,
}

impl TailLossProbe {
    pub(super) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Puts the probe off, `outstanding` segments being so, or off for good. It is never later than
    /// the retransmission timer at `rto`.
    pub(super) fn schedule(
        &mut self,
        now: Time,
        outstanding: u32,
        srtt: Option<Duration>,
        rto: Option<Time>,
    ) {
        if outstanding == 0 || self.end.is_some() {
            self.deadline = None;
            return;
        }
        let timeout = srtt.map_or(UNMEASURED, |srtt| {
            let twice = srtt * 2;
            if outstanding == 1 { twice + MAX_ACK_DELAY } else { twice }
        });
        let at = now + timeout;
        self.deadline = Some(rto.map_or(at, |rto| at.min(rto)));
    }

    pub(super) fn cancel(&mut self) {
        self.deadline = None;
        self.due = false;
    }

    /// The time has come.
    pub(super) fn expire(&mut self) {
        self.deadline = None;
        self.due = true;
    }

    /// The probe is sent.
    pub(super) fn on_sent(&mut self, end: Seq, again: bool) {
        self.due = false;
        self.end = Some(end);
        self.again = again;
    }

    /// A recovery or a timeout makes the probe's ACK meaningless.
    pub(super) fn forget(&mut self) {
        self.cancel();
        self.end = None;
    }

    /// RFC 8985 section 7.4: an ACK for everything below `ack`, with `duplicate` the segments that it
    /// reports as come twice, and `plain` if it carries nothing new at all.
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
