//! Explicit congestion notification: what both ends agree upon, and how packets carry counts of marks.
//!
//! What the receiver reports is in [`Receiver`](crate::Receiver)'s module. The sender's window is reduced where it keeps
//! what it knows of marks, and congestion control answers by how much.

mod counters;
mod negotiation;

use optcp_units::registry;

pub use counters::ByteCounters;
pub(crate) use counters::{Known, ace};
pub(crate) use negotiation::{INITIAL_COUNT, agreed, answers, asks, told};

registry! {
    /// What the sender asks for about marks.
    pub enum Ecn ("ecn") {
        "off" => Off: "no packet takes a mark", "RFC 9293";
        "rfc3168" => Rfc3168: "every ACK echoes a mark until the sender says that it has reduced its window", "RFC 3168 section 6.1";
        "dctcp" => Dctcp: "an ACK echoes whether the segments were marked that it acknowledges", "RFC 8257 section 3.2";
        "accurate" => Accurate: "every ACK carries how many packets were marked, modulo 8", "RFC 9768 section 3.2";
    }
}

registry! {
    /// What the receiver agrees to about marks.
    pub enum ReceiverEcn ("receiver_ecn") {
        "as-asked" => AsAsked: "what the sender asks for", "both ends are alike";
        "off" => Off: "nothing", "RFC 9293";
        "rfc3168" => Rfc3168: "echoing a mark until CWR comes", "RFC 3168 section 6.1.3";
        "dctcp" => Dctcp: "echoing in each ACK what its segments brought", "RFC 8257 section 3.2";
        "accurate" => Accurate: "counting, if that is asked for; else as `rfc3168`", "RFC 9768 section 3.1";
    }
}

registry! {
    /// Which packets of a connection with ECN may be marked.
    pub enum EctPackets ("ect_packets") {
        "data" => Data: "data that is sent for the first time", "RFC 3168 sections 6.1.1, 6.1.4 and 6.1.5";
        "established" => Established: "where marks are counted, every packet but those of the SYN exchange; else data", "RFC 8311 section 4.3; Linux";
        "all" => All: "every packet, the SYN exchange too", "RFC 8311 section 4.3; Linux with DCTCP";
    }
}

impl ReceiverEcn {
    /// What it is at a receiver of a sender that asks for `asked`.
    pub(crate) const fn of(self, asked: Ecn) -> Ecn {
        match self {
            ReceiverEcn::AsAsked => asked,
            ReceiverEcn::Off => Ecn::Off,
            ReceiverEcn::Rfc3168 => Ecn::Rfc3168,
            ReceiverEcn::Dctcp => Ecn::Dctcp,
            ReceiverEcn::Accurate => Ecn::Accurate,
        }
    }
}

/// What the sender understands of an ACK's flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    /// Nothing.
    #[default]
    None,
    /// Whether there were marks: ECE (RFC 3168).
    Classic,
    /// How many: the field ACE (RFC 9768).
    Accurate,
}
