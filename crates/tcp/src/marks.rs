//! ECN at the sender: reaction to reported marks, and ECN fields of its segments.
//!
//! # Model
//! An ACK that reports marks triggers a reduction, once per window of data. After a reduction by a
//! mark or a loss, further marks have no effect until all data sent before it are acknowledged. The
//! next new segment carries CWR. An ACK that reports marks does not increase the window.
//!
//! # References
//! RFC 3168 sections 6.1.2, 6.1.4 and 6.1.5, which RFC 8257 section 3.3 does not change; RFC 9768 section
//! 3.2.2 for the counts.
//!
//! # Parameters
//! `ecn`, `receiver_ecn`, `ect_packets`, `abe`, `rate_reduction`.
//!
//! # Limitations
//! - A mark does not reduce a window of one segment (RFC 3168 requires waiting for the timer).
//! - A retransmitted SYN requests nothing; with `ecn = "accurate"` this applies from the third SYN. The
//!   receiver may still accept the request of an earlier SYN.
//! - After a SYN exchange, ACKs without new data report nothing: they may be a repeated SYN-ACK.

use optcp_units::{Codepoint, Marking};

use crate::acknowledgment::Ack;
use crate::config::{Config, Ecn, EctPackets, RecoveryKind};
use crate::ecn::{
    ByteCounters, EcnCounters, Feedback, INITIAL_COUNT, Known, ace, agreed, answers, asks,
    codepoint_flags,
};
use crate::seq::Seq;
use crate::tcb::Tcb;

/// ECN state of a sender.
#[derive(Clone, Debug)]
pub(crate) struct EcnSender {
    asked: Ecn,
    feedback: Feedback,
    /// Codepoint of new data.
    ect: Codepoint,
    /// Packets that carry the codepoint.
    ect_packets: EctPackets,
    /// Number of SYNs sent.
    syns: u32,
    /// ACE value with which the first data segment reports the codepoint of the SYN-ACK (RFC 9768 section
    /// 3.2.2.1).
    tells: Option<u8>,
    /// `true`: the next new segment carries CWR.
    announces: bool,
    /// One past the highest segment sent when a mark, or a loss, last reduced the window.
    marked_until: Option<Seq>,
    lost_until: Option<Seq>,
    known: Known,
    /// Number of marked ACKs, reported in the sender's segments.
    packets: u32,
    /// ECN fields of the current ACK, until they are counted.
    pending: Option<(u8, Option<ByteCounters>)>,
    /// Number of marks that the current ACK of QUIC reports, until they are counted.
    counted: u32,
    /// `true`: the current ACK reports marks.
    echoes: bool,
    pub(crate) delivered_ce: u64,
    pub(crate) reductions: u64,
}

/// Type of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// SYN.
    Syn,
    /// New data.
    New,
    /// Retransmission.
    Again,
}

impl EcnSender {
    /// Returns the initial state; `None` without ECN.
    pub(crate) fn new(config: &Config) -> Option<Self> {
        let asked = config.ecn;
        let own = config.receiver_ecn.of(asked);
        let (_, answer) = answers(own, asks(asked), Codepoint::NotEct);
        let mss = u32::try_from(config.mss.count()).unwrap_or(u32::MAX);
        let feedback = agreed(asked, answer);
        let current = match config.recovery {
            RecoveryKind::Quic => Feedback::Counts,
            _ if config.handshake => Feedback::None,
            _ => feedback,
        };
        (asked != Ecn::Off).then(|| EcnSender {
            asked,
            feedback: current,
            ect: ect(config.ect(), feedback),
            ect_packets: config.ect_packets,
            syns: 0,
            tells: None,
            announces: false,
            marked_until: None,
            lost_until: None,
            known: Known::new(INITIAL_COUNT, mss),
            packets: INITIAL_COUNT,
            pending: None,
            counted: 0,
            echoes: false,
            delivered_ce: 0,
            reductions: 0,
        })
    }

    /// Returns the ECN feedback that it interprets.
    pub(crate) const fn feedback(&self) -> Feedback {
        self.feedback
    }

    /// Processes the SYN-ACK.
    fn open(&mut self, marking: Marking) {
        self.feedback = agreed(self.asked, marking.flags());
        self.ect = ect(self.ect, self.feedback);
        if self.feedback == Feedback::Accurate {
            self.tells = Some(codepoint_flags(marking.codepoint()));
            self.packets += u32::from(marking.is_ce());
        }
    }

    /// Processes an ACK that is not older than others.
    fn receive(&mut self, ack: &Ack) {
        self.packets = self.packets.wrapping_add(u32::from(ack.marking.is_ce()));
        self.echoes = self.feedback == Feedback::Classic && ack.marking.has(Marking::ECE);
        let counters = ack.counters.and_then(EcnCounters::bytes);
        self.pending = Some((ack.marking.flags(), counters));
    }

    /// Processes an ACK that reports nothing.
    fn pass_over(&mut self) {
        (self.pending, self.echoes) = (None, false);
    }

    /// Sets the codepoint of the next packet of QUIC.
    pub(crate) fn set_codepoint(&mut self, ect: Codepoint) {
        self.ect = ect;
    }

    /// Records that the current ACK of QUIC reports `marked` more marks.
    pub(crate) fn count(&mut self, marked: u32) {
        self.counted = marked;
    }

    /// Returns the number of marked segments of `delivered` newly reported ones.
    pub(crate) fn deliver(&mut self, delivered: u32) -> u32 {
        if self.feedback == Feedback::Counts {
            let marked = std::mem::take(&mut self.counted);
            self.delivered_ce += u64::from(marked);
            return marked;
        }
        let Some((flags, counters)) = self.pending.take() else { return 0 };
        let marked = match self.feedback {
            Feedback::None | Feedback::Counts => 0,
            Feedback::Classic => {
                if self.echoes {
                    delivered
                } else {
                    0
                }
            }
            Feedback::Accurate => self.known.take(flags, counters, delivered),
        };
        self.echoes |= marked > 0;
        self.delivered_ce += u64::from(marked);
        marked
    }

    /// Returns whether the current ACK reports marks.
    #[inline]
    pub(crate) const fn echoes(&self) -> bool {
        self.echoes
    }

    /// Returns whether the current ACK requires a reduction, given the cumulative ACK `una`.
    fn asks(&self, una: Seq) -> bool {
        let over = |until: Option<Seq>| until.is_none_or(|until| una > until);
        self.echoes && over(self.marked_until) && over(self.lost_until)
    }

    /// Returns whether a mark reduced the window in the current window of data.
    pub(crate) fn reducing(&self, una: Seq) -> bool {
        self.marked_until.is_some_and(|until| una <= until)
    }

    /// Records a reduction by a mark, with everything below `max` sent.
    fn on_reduction(&mut self, max: Seq) {
        self.marked_until = Some(max);
        self.announces = true;
    }

    /// Records a reduction by a loss.
    pub(crate) fn on_loss(&mut self, max: Seq) {
        self.lost_until = Some(max);
        self.announces = true;
    }

    /// Records that the last reduction was undone.
    pub(crate) fn on_undo(&mut self) {
        (self.announces, self.lost_until) = (false, None);
    }

    /// Returns the ECN fields of a segment that is sent now.
    fn marking(&mut self, kind: Kind) -> Marking {
        if self.feedback == Feedback::Counts {
            return Marking::new(self.ect, 0);
        }
        let takes_marks = match self.ect_packets {
            EctPackets::Data => kind == Kind::New,
            EctPackets::Established => {
                kind == Kind::New || (kind == Kind::Again && self.feedback == Feedback::Accurate)
            }
            EctPackets::All => true,
        };
        let ect = if takes_marks { self.ect } else { Codepoint::NotEct };
        match (kind, self.feedback) {
            (Kind::Syn, _) => {
                self.syns += 1;
                let tries = if self.asked == Ecn::Accurate { 2 } else { 1 };
                if self.syns <= tries { Marking::new(ect, asks(self.asked)) } else { Marking::NONE }
            }
            (_, Feedback::None | Feedback::Counts) => Marking::NONE,
            (_, Feedback::Classic) => {
                let cwr = kind == Kind::New && std::mem::take(&mut self.announces);
                Marking::new(ect, if cwr { Marking::CWR } else { 0 })
            }
            (_, Feedback::Accurate) => {
                let flags = self.tells.take().unwrap_or(ace(self.packets));
                Marking::new(ect, flags)
            }
        }
    }
}

/// ECN reactions of a connection.
impl Tcb {
    /// Processes the ECN fields of an ACK that is not older than others. `opens`: it opens the connection.
    // Not inlined, because few connections use ECN.
    #[inline(never)]
    pub(crate) fn hear(&mut self, ack: &Ack, opens: bool) {
        let Some(ecn) = &mut self.ecn else { return };
        if ecn.feedback == Feedback::Counts {
            return;
        }
        // An ACK without new data may be a repeated SYN-ACK, whose flags have another meaning.
        let bare = self.config.handshake && ack.seq == Seq::ZERO.next();
        match (opens, bare) {
            (true, _) => ecn.open(ack.marking),
            (false, true) => ecn.pass_over(),
            (false, false) => ecn.receive(ack),
        }
    }

    /// Returns the ECN fields of a segment that is sent now.
    #[inline(never)]
    pub(crate) fn marking(&mut self, seq: Seq, again: bool) -> Marking {
        let syn = self.config.handshake && seq == Seq::ZERO;
        let kind = match () {
            () if syn => Kind::Syn,
            () if again => Kind::Again,
            () => Kind::New,
        };
        self.ecn.as_mut().map_or(Marking::NONE, |ecn| ecn.marking(kind))
    }

    /// Notifies congestion control of the negotiated feedback.
    pub(crate) fn tell_feedback(&mut self) {
        if let Some(ecn) = &self.ecn {
            self.congestion.on_feedback(ecn.feedback());
        }
    }

    /// Returns whether a mark reduced the window in this window of data as much as a loss would have.
    pub(crate) fn is_reduced_enough(&self) -> bool {
        self.reduces_for_mark() && self.congestion.marks_are_losses()
    }

    /// Returns whether a mark reduced the window in this window of data.
    pub(crate) fn reduces_for_mark(&self) -> bool {
        self.ecn.as_ref().is_some_and(|ecn| ecn.reducing(self.una))
    }

    /// Returns whether the current ACK reports marks and must not increase the window (RFC 3168 section
    /// 6.1.2).
    pub(crate) fn echoes(&self) -> bool {
        self.ecn.as_ref().is_some_and(|ecn| ecn.echoes())
    }

    /// Reduces the window if the ACK reports a mark, and no mark was answered in this window of data.
    /// Congestion control determines ssthresh and cwnd. Returns whether the window was reduced.
    pub(crate) fn reduce_for_mark(&mut self) -> bool {
        let Some(ecn) = &mut self.ecn else { return false };
        // Without newly delivered segments, the count is discarded.
        ecn.deliver(0);
        if !ecn.asks(self.una) {
            return false;
        }
        ecn.on_reduction(self.max);
        self.answer_mark()
    }

    /// Reduces the window for a mark. Returns whether congestion control requests a reduction.
    pub(crate) fn answer_mark(&mut self) -> bool {
        let (mss, amount) = (self.mss(), self.at_stake());
        let Some(answer) = self.congestion.on_mark(&self.window, mss, amount) else { return false };
        let beta = self.config.congestion.abe().filter(|_| self.config.abe);
        let answer = beta.map_or(answer, |beta| amount * beta);
        if self.congestion.marks_exact() {
            self.window.ssthresh = answer.max(2.0 * mss);
            self.window.cwnd = self.window.ssthresh;
        } else {
            self.round_ssthresh(answer);
            self.shrink(answer);
        }
        if let Some(ecn) = &mut self.ecn {
            ecn.reductions += 1;
        }
        true
    }
}

/// Returns the codepoint for a sender that requests `ect`: without accurate feedback it must not use ECT(1)
/// (RFC 9331 section 4.2).
fn ect(ect: Codepoint, feedback: Feedback) -> Codepoint {
    if feedback == Feedback::Accurate { ect } else { Codepoint::Ect0 }
}
