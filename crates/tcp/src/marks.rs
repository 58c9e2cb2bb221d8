//! What the sender makes of marks that ACKs report, and what its segments say.
//!
//! # Models
//! An ACK that reports marks asks for a reduction, once in a window of data: behind one, whether a mark or a loss led to it,
//! further marks ask for none until more is acknowledged than was sent then. The next new segment carries CWR. An ACK that
//! reports marks does not grow the window.
//! # Source
//! RFC 3168 sections 6.1.2, 6.1.4 and 6.1.5; RFC 8257 section 3.3 leaves this as it is; RFC 9768 section 3.2.2 for the counts.
//! # Parameters
//! `ecn`, `receiver_ecn`, `ect_packets`, `abe`, `rate_reduction`.
//! # Limits
//! A window of one segment is not made smaller by a mark (RFC 3168 would have it wait for the timer). A SYN that is sent
//! again asks for nothing, and with `ecn = "accurate"` the third; what an earlier one asked for may be agreed to all the same.
//! Behind a SYN exchange ACKs that acknowledge no data report nothing: they may be the SYN-ACK again.

use optcp_units::{Codepoint, Marking};

use crate::acknowledgment::Ack;
use crate::config::{Config, Ecn, EctPackets};
use crate::ecn::{ByteCounters, Feedback, INITIAL_COUNT, Known, ace, agreed, answers, asks, told};
use crate::seq::Seq;
use crate::tcb::Tcb;

/// See the module's text.
#[derive(Clone, Debug)]
pub(crate) struct EcnSender {
    asked: Ecn,
    feedback: Feedback,
    /// The codepoint of new data.
    ect: Codepoint,
    /// Which packets have it.
    ect_packets: EctPackets,
    /// SYNs sent.
    syns: u32,
    /// How the first segment of data tells what codepoint the SYN-ACK had (RFC 9768 section 3.2.2.1).
    tells: Option<u8>,
    /// The next new segment carries CWR.
    announces: bool,
    /// One past the highest segment sent when a mark reduced the window, and when a loss did.
    marked_until: Option<Seq>,
    lost_until: Option<Seq>,
    known: Known,
    /// ACKs of this end that were marked, as its own segments report them.
    packets: u32,
    /// What the ACK says that is being looked at, until it is counted.
    pending: Option<(u8, Option<ByteCounters>)>,
    /// Whether that ACK reports marks.
    echoes: bool,
    pub(crate) delivered_ce: u64,
    pub(crate) reductions: u64,
}

/// What a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It opens the connection.
    Syn,
    /// Data that was never sent before.
    New,
    /// Data that was.
    Again,
}

impl EcnSender {
    /// The state at the start; `None` if nothing is asked for.
    pub(crate) fn new(config: &Config) -> Option<Self> {
        let asked = config.ecn;
        let own = config.receiver_ecn.of(asked);
        let (_, answer) = answers(own, asks(asked), Codepoint::NotEct);
        let mss = u32::try_from(config.mss.count()).unwrap_or(u32::MAX);
        let feedback = agreed(asked, answer);
        (asked != Ecn::Off).then(|| EcnSender {
            asked,
            feedback: if config.handshake { Feedback::None } else { feedback },
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
            echoes: false,
            delivered_ce: 0,
            reductions: 0,
        })
    }

    /// What it understands of ACKs.
    pub(crate) const fn feedback(&self) -> Feedback {
        self.feedback
    }

    /// The SYN-ACK has come.
    fn open(&mut self, marking: Marking) {
        self.feedback = agreed(self.asked, marking.flags());
        self.ect = ect(self.ect, self.feedback);
        if self.feedback == Feedback::Accurate {
            self.tells = Some(told(marking.codepoint()));
            self.packets += u32::from(marking.is_ce());
        }
    }

    /// An ACK has come that is not older than others.
    fn receive(&mut self, ack: &Ack) {
        self.packets = self.packets.wrapping_add(u32::from(ack.marking.is_ce()));
        self.echoes = self.feedback == Feedback::Classic && ack.marking.has(Marking::ECE);
        self.pending = Some((ack.marking.flags(), ack.counters));
    }

    /// An ACK has come that reports nothing.
    fn pass_over(&mut self) {
        (self.pending, self.echoes) = (None, false);
    }

    /// It tells of `delivered` segments for the first time: how many of these were marked.
    pub(crate) fn deliver(&mut self, delivered: u32) -> u32 {
        let Some((flags, counters)) = self.pending.take() else { return 0 };
        let marked = match self.feedback {
            Feedback::None => 0,
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

    /// Whether the ACK that is being looked at reports marks.
    #[inline]
    pub(crate) const fn echoes(&self) -> bool {
        self.echoes
    }

    /// Whether it asks for a reduction, with everything below `una` acknowledged.
    fn asks(&self, una: Seq) -> bool {
        let over = |until: Option<Seq>| until.is_none_or(|until| una > until);
        self.echoes && over(self.marked_until) && over(self.lost_until)
    }

    /// Whether the window was reduced for a mark in this window of data.
    pub(crate) fn reducing(&self, una: Seq) -> bool {
        self.marked_until.is_some_and(|until| una <= until)
    }

    /// A mark leads to a reduction, with everything below `max` sent.
    fn on_reduction(&mut self, max: Seq) {
        self.marked_until = Some(max);
        self.announces = true;
    }

    /// A loss does.
    pub(crate) fn on_loss(&mut self, max: Seq) {
        self.lost_until = Some(max);
        self.announces = true;
    }

    /// The last reduction is taken back.
    pub(crate) fn on_undo(&mut self) {
        (self.announces, self.lost_until) = (false, None);
    }

    /// What the headers of a segment say that leaves now.
    fn marking(&mut self, kind: Kind) -> Marking {
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
            (_, Feedback::None) => Marking::NONE,
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

/// What a connection does about marks.
impl Tcb {
    /// An ACK that is no older than others may say something of marks; whether it `opens` the connection.
    // Apart from what every ACK does, as few connections know of marks.
    #[inline(never)]
    pub(crate) fn hear(&mut self, ack: &Ack, opens: bool) {
        let Some(ecn) = &mut self.ecn else { return };
        // What acknowledges no data may be the SYN-ACK again, whose flags say something else.
        let bare = self.config.handshake && ack.seq == Seq::ZERO.next();
        match (opens, bare) {
            (true, _) => ecn.open(ack.marking),
            (false, true) => ecn.pass_over(),
            (false, false) => ecn.receive(ack),
        }
    }

    /// What the headers of a segment that is sent now say of congestion.
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

    /// Congestion control learns what is understood of marks.
    pub(crate) fn tell_feedback(&mut self) {
        if let Some(ecn) = &self.ecn {
            self.congestion.on_feedback(ecn.feedback());
        }
    }

    /// Whether a mark reduced the window in this window of data as a loss would have.
    pub(crate) fn is_reduced_enough(&self) -> bool {
        self.reduces_for_mark() && self.congestion.marks_are_losses()
    }

    /// Whether a mark reduced the window in this window of data.
    pub(crate) fn reduces_for_mark(&self) -> bool {
        self.ecn.as_ref().is_some_and(|ecn| ecn.reducing(self.una))
    }

    /// Whether the ACK that is being looked at reports marks, which keeps the window from growing (RFC 3168 section
    /// 6.1.2).
    pub(crate) fn echoes(&self) -> bool {
        self.ecn.as_ref().is_some_and(|ecn| ecn.echoes())
    }

    /// Reduces the window if the ACK reports a mark, and none was answered in this window of data: ssthresh and cwnd
    /// become what congestion control answers. Gives whether there is a reduction.
    pub(crate) fn reduce_for_mark(&mut self) -> bool {
        let Some(ecn) = &mut self.ecn else { return false };
        // What no recovery has counted tells of nothing that was delivered.
        ecn.deliver(0);
        if !ecn.asks(self.una) {
            return false;
        }
        ecn.on_reduction(self.max);
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

/// The codepoint of a sender that would have `ect`: what cannot tell how many were marked must not claim to (RFC 9331
/// section 4.2).
fn ect(ect: Codepoint, feedback: Feedback) -> Codepoint {
    if feedback == Feedback::Accurate { ect } else { Codepoint::Ect0 }
}
