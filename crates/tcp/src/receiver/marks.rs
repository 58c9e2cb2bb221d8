//! How the receiver reports marks.
//!
//! # Models
//! `rfc3168`: after a mark ACKs carry ECE until a segment with CWR comes. `dctcp`: ECE says whether the last segment was
//! marked; where that changes, what waits is acknowledged first, and the segment itself at once. `accurate`: each ACK
//! carries the last three bits of the count of marked packets, and the AccECN option beside if there is room; a mark
//! behind a segment without one, and each second mark, is acknowledged at once.
//! # Source
//! RFC 3168 section 6.1.3; RFC 8257 section 3.2, with the two ACKs that it allows; RFC 9768 sections 3.2.1 to 3.2.3.
//! With `ack = "linux"` also what Linux acknowledges at once: the first two segments from a mark or from one that takes
//! none on, and each with CWR.
//! # Parameters
//! `ecn`, `receiver_ecn`, `ect_packets`, `accecn_option`, `ack`.
//! # Limits
//! RFC 9768 would have three marks for one ACK where no data waits to be acknowledged; here it is two there too.

use optcp_units::{Codepoint, Marking};

use crate::acknowledgment::{Ack, SackBlocks};
use crate::config::{AckKind, Config, Ecn, EctPackets};
use crate::ecn::{ByteCounters, Feedback, INITIAL_COUNT, ace, answers, asks};

/// Marks since the last ACK that bring one (RFC 9768 section 3.2.2.5.1).
const MARKS_AN_ACK: u32 = 2;
/// Segments that Linux acknowledges at once from a mark on.
const QUICK_ACKS: u32 = 2;
/// The room for options (RFC 9293 section 3.1).
const OPTIONS: u64 = 40;

/// See the module's text.
#[derive(Clone, Debug)]
pub(super) struct EcnReceiver {
    config: Choices,
    /// What is in force; off until a SYN has come, if there is to be one.
    mode: Ecn,
    /// Whether a SYN has come, and the flags of the SYN-ACK until data comes.
    asked: bool,
    syn_ack: Option<u8>,
    /// Whether the SYN has come again.
    bare_syn_ack: bool,
    /// ECE: until CWR comes, or while the last segment was marked.
    echo: bool,
    /// Whether anything came that could have been marked.
    seen: bool,
    /// Packets marked CE, and those since the last ACK.
    packets: u32,
    unreported: u32,
    bytes: ByteCounters,
    /// An ACK that goes in front of the one for the segment that came last.
    earlier: Option<Ack>,
}

#[derive(Clone, Copy, Debug)]
struct Choices {
    own: Ecn,
    /// What ACKs carry, if they may be marked.
    ect: Codepoint,
    ect_packets: EctPackets,
    linux: bool,
    option: bool,
    timestamps: u64,
    sack_header: u64,
    mss: u32,
}

/// What follows from a segment's marking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// What waits is acknowledged first, as things were before the segment came.
    pub(super) first: bool,
    /// The segment is acknowledged at once.
    pub(super) at_once: bool,
    /// So many segments from this one on are acknowledged at once.
    pub(super) quick: u32,
}

impl EcnReceiver {
    /// The state at the start; `None` if the ends agree upon nothing whatever happens.
    pub(super) fn new(config: &Config) -> Option<Self> {
        let own = config.receiver_ecn.of(config.ecn);
        let (mode, _) = answers(own, asks(config.ecn), Codepoint::NotEct);
        let choices = Choices {
            own,
            ect: config.ect(),
            ect_packets: config.ect_packets,
            linux: config.ack == AckKind::Linux,
            option: config.accecn_option,
            timestamps: config.timestamp_size().count(),
            sack_header: config.sack_header.count(),
            mss: u32::try_from(config.mss.count()).unwrap_or(u32::MAX),
        };
        (mode != Ecn::Off).then_some(EcnReceiver {
            config: choices,
            mode: if config.handshake { Ecn::Off } else { mode },
            asked: false,
            syn_ack: None,
            bare_syn_ack: false,
            echo: false,
            seen: false,
            packets: INITIAL_COUNT,
            unreported: 0,
            bytes: ByteCounters::INITIAL,
            earlier: None,
        })
    }

    /// A SYN has come. The first one decides.
    pub(super) fn on_syn(&mut self, marking: Marking) {
        if self.asked {
            // The option may be why the SYN-ACK was lost (RFC 9768 section 3.2.3.2.1).
            self.bare_syn_ack = true;
        } else {
            let (mode, flags) = answers(self.config.own, marking.flags(), marking.codepoint());
            (self.asked, self.mode, self.syn_ack) = (true, mode, Some(flags));
        }
    }

    /// The other end has agreed to `feedback`.
    pub(super) fn agree(&mut self, feedback: Feedback) {
        self.asked = true;
        self.mode = match feedback {
            Feedback::None => Ecn::Off,
            Feedback::Classic if self.config.own == Ecn::Dctcp => Ecn::Dctcp,
            Feedback::Classic => Ecn::Rfc3168,
            Feedback::Accurate => Ecn::Accurate,
        };
    }

    /// A segment without data has come.
    pub(super) fn count_bare(&mut self, marking: Marking) {
        self.syn_ack = None;
        if self.mode == Ecn::Accurate && marking.is_ce() {
            self.packets = self.packets.wrapping_add(1);
        }
    }

    /// A data segment has come; `waits` says whether an ACK does.
    pub(super) fn on_segment(&mut self, marking: Marking, waits: bool) -> Seen {
        let (marked, takes_marks) = (marking.is_ce(), marking.takes_marks());
        let mut seen = Seen::default();
        self.syn_ack = None;
        match self.mode {
            Ecn::Off => return seen,
            Ecn::Rfc3168 => {
                if marking.has(Marking::CWR) {
                    self.echo = false;
                    seen.at_once = self.config.linux;
                }
                if self.config.linux && ((marked && !self.echo) || (!takes_marks && self.seen)) {
                    seen.quick = QUICK_ACKS;
                }
                self.echo |= marked;
            }
            Ecn::Dctcp => {
                seen.at_once = self.config.linux && marking.has(Marking::CWR);
                // What takes no mark says nothing of the path.
                if takes_marks && marked != self.echo {
                    seen = Seen { first: waits, at_once: true, quick: 0 };
                }
            }
            Ecn::Accurate => {
                if marked {
                    seen.at_once = !self.echo || self.unreported + 1 >= MARKS_AN_ACK;
                }
            }
        }
        self.seen |= takes_marks;
        seen
    }

    /// The same segment, once what waited is acknowledged.
    pub(super) fn count(&mut self, marking: Marking) {
        match self.mode {
            Ecn::Off | Ecn::Rfc3168 => {}
            Ecn::Dctcp if marking.takes_marks() => self.echo = marking.is_ce(),
            Ecn::Dctcp => {}
            Ecn::Accurate => {
                self.echo = marking.is_ce();
                self.packets = self.packets.wrapping_add(u32::from(self.echo));
                self.unreported += u32::from(self.echo);
                self.bytes.add(marking.codepoint(), self.config.mss);
            }
        }
    }

    /// What the headers of an ACK say that is sent now.
    pub(super) fn marking(&self) -> Marking {
        let flags = match (self.mode, self.syn_ack) {
            (Ecn::Off, _) => return Marking::NONE,
            (_, Some(flags)) => flags,
            (Ecn::Rfc3168 | Ecn::Dctcp, _) => {
                if self.echo {
                    Marking::ECE
                } else {
                    0
                }
            }
            (Ecn::Accurate, _) => ace(self.packets),
        };
        let takes_marks = match self.config.ect_packets {
            EctPackets::Data => false,
            EctPackets::Established => self.mode == Ecn::Accurate && self.syn_ack.is_none(),
            EctPackets::All => true,
        };
        let ect = if self.mode == Ecn::Accurate { self.config.ect } else { Codepoint::Ect0 };
        Marking::new(if takes_marks { ect } else { Codepoint::NotEct }, flags)
    }

    /// The AccECN option of an ACK that is sent now with these SACK blocks, if it carries one.
    pub(super) fn option(&mut self, sack: Option<&SackBlocks>) -> Option<ByteCounters> {
        self.unreported = 0;
        let bare = self.syn_ack.is_some() && self.bare_syn_ack;
        if self.mode != Ecn::Accurate || !self.config.option || bare {
            return None;
        }
        let blocks =
            sack.map_or(0, |sack| self.config.sack_header + 8 * sack.as_slice().len() as u64);
        self.bytes.fitting(OPTIONS.saturating_sub(self.config.timestamps + blocks))
    }

    /// An ACK that goes in front of the next one.
    pub(super) fn keep(&mut self, ack: Ack) {
        self.earlier = Some(ack);
    }

    /// Gives it.
    pub(super) fn take(&mut self) -> Option<Ack> {
        self.earlier.take()
    }
}
