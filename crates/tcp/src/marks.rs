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
pub(crate) enum Kind {
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
    pub(crate) fn open(&mut self, marking: Marking) {
        self.feedback = agreed(self.asked, marking.flags());
        self.ect = ect(self.ect, self.feedback);
        if self.feedback == Feedback::Accurate {
            self.tells = Some(told(marking.codepoint()));
            self.packets += u32::from(marking.is_ce());
        }
    }

    /// An ACK has come that is not older than others.
    pub(crate) fn receive(&mut self, ack: &Ack) {
        self.packets = self.packets.wrapping_add(u32::from(ack.marking.is_ce()));
        self.echoes = self.feedback == Feedback::Classic && ack.marking.has(Marking::ECE);
        self.pending = Some((ack.marking.flags(), ack.counters));
    }

    /// An ACK has come that reports nothing.
    pub(crate) fn pass_over(&mut self) {
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
    pub(crate) fn asks(&self, una: Seq) -> bool {
        let over = |until: Option<Seq>| until.is_none_or(|until| una > until);
        self.echoes && over(self.marked_until) && over(self.lost_until)
    }

    /// Whether the window was reduced for a mark in this window of data.
    pub(crate) fn reducing(&self, una: Seq) -> bool {
        self.marked_until.is_some_and(|until| una <= until)
    }

    /// A mark leads to a reduction, with everything below `max` sent.
    pub(crate) fn on_reduction(&mut self, max: Seq) {
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
    pub(crate) fn marking(&mut self, kind: Kind) -> Marking {
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

/// The codepoint of a sender that would have `ect`: what cannot tell how many were marked must not claim to (RFC 9331
/// section 4.2).
fn ect(ect: Codepoint, feedback: Feedback) -> Codepoint {
    if feedback == Feedback::Accurate { ect } else { Codepoint::Ect0 }
}
