//! What models tell: the only way out of a run.

use optcp_net::{DropReason, FlowId, Packet, PortId};
use optcp_optical::switching::FibreId;
use optcp_tcp::{SackBlocks, Snapshot};
use optcp_units::{Duration, Marking};

/// What made a sender look at its variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// It started.
    Start = 0,
    /// An ACK came.
    Ack = 1,
    /// Its retransmission timer expired.
    Timer = 2,
}

impl Cause {
    /// Names in results, in the order of their numbers.
    pub const NAMES: [&'static str; 3] = ["start", "ack", "timer"];
}

/// Declares the records, and their kinds without what is in them.
macro_rules! records {
    ($( $(#[$doc:meta])* $Kind:ident { $($fields:tt)* } )+) => {
        /// Something that happened. The only way out of a run.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Record {
            $( $(#[$doc])* $Kind { $($fields)* }, )+
        }

        /// Kinds of records.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum RecordKind {
            $( $(#[$doc])* $Kind, )+
        }

        impl RecordKind {
            /// How many kinds there are.
            pub(super) const COUNT: usize = [$( RecordKind::$Kind, )+].len();
        }

        impl Record {
            /// Its kind.
            #[inline(always)]
            #[must_use]
            pub const fn kind(&self) -> RecordKind {
                match self {
                    $( Record::$Kind { .. } => RecordKind::$Kind, )+
                }
            }
        }
    };
}

records! {
    /// A sender put a data segment on the network.
    Sent {
        /// The flow.
        flow: FlowId,
        /// The segment.
        seq: u32,
        /// Whether it is a retransmission.
        again: bool,
        /// Its size on the wire in bytes.
        size: u16,
        /// What its headers say of congestion.
        marking: Marking,
    }
    /// In-order data grew at a receiver.
    Progress {
        /// The flow.
        flow: FlowId,
        /// Newly in-order bytes.
        bytes: u64,
    }
    /// An ACK came to its sender.
    Acknowledged {
        /// The flow.
        flow: FlowId,
        /// The number it carries.
        seq: u32,
        /// Its size on the wire in bytes.
        size: u16,
        /// What it says has arrived beyond that, if it does.
        sack: Option<SackBlocks>,
        /// What its headers say of congestion.
        marking: Marking,
    }
    /// A data segment came to its receiver.
    Arrived {
        /// The flow.
        flow: FlowId,
        /// The segment.
        seq: u32,
        /// Its size on the wire in bytes.
        size: u16,
        /// What its headers say of congestion.
        marking: Marking,
        /// Whether it is a copy of a packet that has arrived before.
        second: bool,
    }
    /// A sender has dealt with what came to it.
    Updated {
        /// The flow.
        flow: FlowId,
        /// What came.
        cause: Cause,
        /// The sender's variables now.
        snapshot: Snapshot,
    }
    /// A source sent a datagram.
    DatagramSent {
        /// The source, by its number as a flow.
        flow: FlowId,
        /// The datagram's number.
        seq: u32,
        /// Its size on the wire in bytes.
        size: u16,
        /// What its header says of congestion.
        marking: Marking,
    }
    /// A datagram came to its sink.
    DatagramArrived {
        /// The source, by its number as a flow.
        flow: FlowId,
        /// The datagram's number.
        seq: u32,
        /// Its size on the wire in bytes.
        size: u16,
        /// How long it was under way, queues included.
        delay: Duration,
        /// What its header says of congestion.
        marking: Marking,
        /// Whether it is a copy of a datagram that has arrived before.
        second: bool,
    }
    /// A port took a packet.
    Accepted {
        /// The port.
        port: PortId,
        /// The packet.
        packet: Packet,
    }
    /// A watched port sent the last bit of a packet.
    Transmitted {
        /// The port.
        port: PortId,
        /// The packet.
        packet: Packet,
        /// How long it had waited when its first bit was sent.
        waited: Duration,
    }
    /// The queue of a watched port has another length.
    QueueLength {
        /// The port.
        port: PortId,
        /// Packets in it now, the one in transmission included.
        packets: u32,
    }
    /// A burst left an assembler, with the packets that the port has accepted since the last one.
    BurstSent {
        /// The port in whose place the assembler stands.
        port: PortId,
        /// How many have left it before, modulo 2^31.
        number: u32,
        /// The packets in it.
        packets: u32,
        /// The sum of their sizes.
        bytes: u64,
        /// Whether it is lost at once: by a probability, or on the first of its fibres.
        lost: bool,
    }
    /// A burst that was under way is lost.
    BurstLost {
        /// The port in whose place the assembler stands.
        port: PortId,
        /// The burst's number there.
        number: u32,
    }
    /// A control packet asked for a wavelength.
    FibreAsked {
        /// The port in whose place the assembler stands.
        port: PortId,
        /// The burst's number there.
        number: u32,
        /// The fibre.
        fibre: FibreId,
        /// The wavelength that is reserved; `None` where none was free.
        wavelength: Option<u32>,
    }
    /// A queue marked a packet in place of dropping it: congestion experienced.
    Marked {
        /// The port.
        port: PortId,
        /// The packet.
        packet: Packet,
    }
    /// A packet, or a copy of one, was dropped.
    Dropped {
        /// The port at or behind which it happened.
        port: PortId,
        /// The packet.
        packet: Packet,
        /// Why.
        reason: DropReason,
    }
    /// A packet is lost: it has been dropped, and if it has copies, none has arrived and none is in flight. The event is the
    /// drop that counts, which may be earlier than what made it known.
    Lost {
        /// The packet's flow.
        flow: FlowId,
        /// Why it was dropped.
        reason: DropReason,
    }
}
