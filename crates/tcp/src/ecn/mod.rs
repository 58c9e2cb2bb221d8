//! Explicit congestion notification: negotiation, and feedback of marks.
//!
//! [`Receiver`](crate::Receiver)'s module contains the reports of the receiver. The sender's state of marks
//! ([`crate::marks`]) reduces the window, by an amount that congestion control determines.

mod counters;
mod counts;
mod negotiation;

use optcp_units::{Bytes, registry};

pub use counters::ByteCounters;
pub(crate) use counters::{Known, ace};
pub use counts::PacketCounts;
pub(crate) use negotiation::{INITIAL_COUNT, agreed, answers, asks, codepoint_flags};

registry! {
    /// ECN mode that the sender requests.
    pub enum Ecn ("ecn") {
        "off" => Off: "no ECN: no packet is ECN-capable", "RFC 9293";
        "rfc3168" => Rfc3168: "every ACK echoes a mark until the sender confirms its window reduction", "RFC 3168 section 6.1";
        "dctcp" => Dctcp: "an ACK echoes whether the acknowledged segments were marked", "RFC 8257 section 3.2";
        "accurate" => Accurate: "every ACK carries the number of marked packets, modulo 8 in TCP", "RFC 9768 section 3.2; RFC 9000 section 19.3.2";
    }
}

registry! {
    /// ECN mode that the receiver accepts.
    pub enum ReceiverEcn ("receiver_ecn") {
        "as-asked" => AsAsked: "the mode that the sender requests", "both ends are alike";
        "off" => Off: "nothing", "no ECN";
        "rfc3168" => Rfc3168: "echoes a mark until CWR arrives", "RFC 3168 section 6.1.3";
        "dctcp" => Dctcp: "echoes in each ACK the marks of its segments", "RFC 8257 section 3.2";
        "accurate" => Accurate: "counts marks if the sender requests it, else as `rfc3168`", "RFC 9768 section 3.1";
    }
}

registry! {
    /// ECN-capable packets of a connection with ECN.
    pub enum EctPackets ("ect_packets") {
        "data" => Data: "data sent for the first time", "RFC 3168 sections 6.1.1, 6.1.4 and 6.1.5";
        "established" => Established: "with counted marks, all packets except the SYN exchange; else `data`", "RFC 8311 section 4.3; Linux";
        "all" => All: "all packets, including the SYN exchange", "RFC 8311 section 4.3; Linux with DCTCP";
    }
}

impl ReceiverEcn {
    /// Returns the mode at the receiver of a sender that requests `asked`.
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

/// Interpretation of an ACK's flags by the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    /// No feedback.
    #[default]
    None,
    /// ECE: any marks (RFC 3168).
    Classic,
    /// ACE: number of marks (RFC 9768).
    Accurate,
    /// ECN counts of QUIC (RFC 9000 section 19.3.2), which need no negotiation.
    Counts,
}

/// Received data by codepoint, as an ACK reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnCounters {
    /// AccECN option of TCP.
    Bytes(ByteCounters),
    /// ECN counts of QUIC.
    Packets(PacketCounts),
}

impl EcnCounters {
    /// Returns the size that they add to an ACK.
    #[must_use]
    pub fn size(self) -> Bytes {
        match self {
            EcnCounters::Bytes(counters) => counters.size(),
            EcnCounters::Packets(counts) => counts.size(),
        }
    }

    /// Returns the counters of the AccECN option.
    #[must_use]
    pub const fn bytes(self) -> Option<ByteCounters> {
        match self {
            EcnCounters::Bytes(counters) => Some(counters),
            EcnCounters::Packets(_) => None,
        }
    }

    /// Returns the counts of QUIC.
    #[must_use]
    pub const fn packets(self) -> Option<PacketCounts> {
        match self {
            EcnCounters::Bytes(_) => None,
            EcnCounters::Packets(counts) => Some(counts),
        }
    }
}
