//! ECN feedback of the receiver.
//!
//! # Model
//! - `rfc3168`: after a mark, ACKs carry ECE until a segment with CWR arrives.
//! - `dctcp`: ECE reports whether the last segment was marked. At a change, delayed data are acknowledged
//!   first, and the segment itself immediately.
//! - `accurate`: each ACK carries the last three bits of the number of marked packets, and the AccECN option
//!   if it fits. A mark after an unmarked segment, and every second mark, is acknowledged immediately.
//!
//! # References
//! RFC 3168 section 6.1.3; RFC 8257 section 3.2, with the two ACKs that it allows; RFC 9768 sections 3.2.1 to
//! 3.2.3. With `ack = "linux"` also Linux's immediate ACKs: the first two segments after a mark or after one
//! that is not ECN-capable, and each segment with CWR.
//!
//! # Parameters
//! `ecn`, `receiver_ecn`, `ect_packets`, `accecn_option`, `ack`.
//!
//! # Limitations
//! RFC 9768 requires three marks per ACK if no data wait for acknowledgment; here two are used in this case,
//! too.

use optcp_units::{Codepoint, Marking};

use crate::acknowledgment::{Ack, SackBlocks};
use crate::config::{AckKind, Config, Ecn, EctPackets};
use crate::ecn::{ByteCounters, Feedback, INITIAL_COUNT, ace, answers, asks};

/// Number of marks since the last ACK that triggers an ACK (RFC 9768 section 3.2.2.5.1).
const MARKS_AN_ACK: u32 = 2;
/// Number of segments that Linux acknowledges immediately from a mark on.
const QUICK_ACKS: u32 = 2;
/// Maximum size of options (RFC 9293 section 3.1).
const OPTIONS: u64 = 40;

/// ECN state of a receiver.
#[derive(Clone, Debug)]
pub(super) struct EcnReceiver {
    config: Choices,
    /// Active mode; off until a SYN has arrived, if one is expected.
    mode: Ecn,
    /// `true`: a SYN has arrived. Also the flags of the SYN-ACK, until data arrive.
    asked: bool,
    syn_ack: Option<u8>,
    /// `true`: the SYN has arrived again.
    bare_syn_ack: bool,
    /// ECE: until CWR arrives, or while the last segment was marked.
    echo: bool,
    /// `true`: an ECN-capable packet has arrived.
    seen: bool,
    /// Number of packets marked CE, and of those since the last ACK.
    packets: u32,
    unreported: u32,
    bytes: ByteCounters,
    /// ACK to send ahead of the ACK for the last segment.
    earlier: Option<Ack>,
}

#[derive(Clone, Copy, Debug)]
struct Choices {
    own: Ecn,
    /// Codepoint of ACKs, if they are ECN-capable.
    ect: Codepoint,
    ect_packets: EctPackets,
    linux: bool,
    option: bool,
    timestamps: u64,
    sack_header: u64,
    mss: u32,
}

/// Consequences of a segment's ECN marking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// `true`: delayed data are acknowledged first, with the previous state.
    pub(super) first: bool,
    /// `true`: the segment is acknowledged immediately.
    pub(super) at_once: bool,
    /// Number of segments, from this one on, that are acknowledged immediately.
    pub(super) quick: u32,
}

impl EcnReceiver {
    /// Returns the initial state; `None` if the ends cannot agree on ECN.
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

    /// Processes a SYN. The first one decides the mode.
    pub(super) fn on_syn(&mut self, marking: Marking) {
        if self.asked {
            // The option may have caused the loss of the SYN-ACK (RFC 9768 section 3.2.3.2.1).
            self.bare_syn_ack = true;
        } else {
            let (mode, flags) = answers(self.config.own, marking.flags(), marking.codepoint());
            (self.asked, self.mode, self.syn_ack) = (true, mode, Some(flags));
        }
    }

    /// Sets the feedback that the other end has accepted.
    pub(super) fn agree(&mut self, feedback: Feedback) {
        self.asked = true;
        self.mode = match feedback {
            Feedback::None | Feedback::Counts => Ecn::Off,
            Feedback::Classic if self.config.own == Ecn::Dctcp => Ecn::Dctcp,
            Feedback::Classic => Ecn::Rfc3168,
            Feedback::Accurate => Ecn::Accurate,
        };
    }

    /// Processes a segment without data.
    pub(super) fn count_bare(&mut self, marking: Marking) {
        self.syn_ack = None;
        if self.mode == Ecn::Accurate && marking.is_ce() {
            self.packets = self.packets.wrapping_add(1);
        }
    }

    /// Processes a data segment. `waits`: a delayed ACK is pending.
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
                // A packet that is not ECN-capable does not describe the path.
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

    /// Counts the same segment after the delayed data were acknowledged.
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

    /// Returns the ECN fields of an ACK that is sent now.
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

    /// Returns the AccECN option of an ACK with these SACK blocks, if it has one.
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

    /// Stores an ACK to send before the next one.
    pub(super) fn keep(&mut self, ack: Ack) {
        self.earlier = Some(ack);
    }

    /// Takes the stored ACK.
    pub(super) fn take(&mut self) -> Option<Ack> {
        self.earlier.take()
    }
}
