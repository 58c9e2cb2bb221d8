//! Records of a run, which observers receive.

use optcp_net::{DropReason, FlowId, Packet, PortId};
use optcp_optical::switching::FibreId;
use optcp_tcp::{SackBlocks, Snapshot};
use optcp_units::{Duration, Marking};

/// Cause of a sender's update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// Start of the flow, or a write of its application.
    Start = 0,
    /// Arrival of an ACK.
    Ack = 1,
    /// Retransmission timeout.
    Timer = 2,
}

impl Cause {
    /// Names in results, by number.
    pub const NAMES: [&'static str; 3] = ["start", "ack", "timer"];
}

/// Declares the records, and their kinds without the fields.
macro_rules! records {
    ($( $(#[$doc:meta])* $Kind:ident { $($fields:tt)* } )+) => {
        /// Something that happened in a run. Observers receive no other data but counters.
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
            /// Number of kinds.
            pub(super) const COUNT: usize = [$( RecordKind::$Kind, )+].len();
        }

        impl Record {
            /// Returns the kind of the record.
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
    /// A sender sent a data segment.
    Sent {
        /// Flow.
        flow: FlowId,
        /// Segment number.
        seq: u32,
        /// Whether it is a retransmission.
        again: bool,
        /// Size on the wire in bytes.
        size: u16,
        /// ECN bits of the headers.
        marking: Marking,
        /// Data number in a connection over several subflows, from 1; zero without one.
        data: u32,
    }
    /// In-order data grew at a receiver.
    Progress {
        /// Flow.
        flow: FlowId,
        /// New in-order bytes.
        bytes: u64,
    }
    /// An ACK arrived at its sender.
    Acknowledged {
        /// Flow.
        flow: FlowId,
        /// Acknowledgement number.
        seq: u32,
        /// Size on the wire in bytes.
        size: u16,
        /// SACK blocks, if any.
        sack: Option<SackBlocks>,
        /// ECN bits of the headers.
        marking: Marking,
    }
    /// A data segment arrived at its receiver.
    Arrived {
        /// Flow.
        flow: FlowId,
        /// Segment number.
        seq: u32,
        /// Size on the wire in bytes.
        size: u16,
        /// ECN bits of the headers.
        marking: Marking,
        /// Whether another copy of the packet has arrived before.
        second: bool,
    }
    /// A sender has processed an event.
    Updated {
        /// Flow.
        flow: FlowId,
        /// Event.
        cause: Cause,
        /// State of the sender afterwards.
        snapshot: Snapshot,
    }
    /// A sender gave up, or all subflows of a connection have.
    Aborted {
        /// Flow or connection.
        flow: FlowId,
    }
    /// A source sent a datagram.
    DatagramSent {
        /// Source, by its flow number.
        flow: FlowId,
        /// Datagram number.
        seq: u32,
        /// Size on the wire in bytes.
        size: u16,
        /// ECN bits of the header.
        marking: Marking,
    }
    /// A datagram arrived at its sink.
    DatagramArrived {
        /// Source, by its flow number.
        flow: FlowId,
        /// Datagram number.
        seq: u32,
        /// Size on the wire in bytes.
        size: u16,
        /// One-way delay including queues.
        delay: Duration,
        /// ECN bits of the header.
        marking: Marking,
        /// Whether another copy of the datagram has arrived before.
        second: bool,
    }
    /// An operation of an application began.
    OperationOpened {
        /// Operation.
        operation: u32,
    }
    /// An operation of an application ended.
    OperationClosed {
        /// Operation.
        operation: u32,
    }
    /// A port accepted a packet.
    Accepted {
        /// Port.
        port: PortId,
        /// Packet.
        packet: Packet,
    }
    /// A watched port finished the transmission of a packet.
    Transmitted {
        /// Port.
        port: PortId,
        /// Packet.
        packet: Packet,
        /// Queueing delay until the start of the transmission.
        waited: Duration,
    }
    /// The queue length of a watched port has changed.
    QueueLength {
        /// Port.
        port: PortId,
        /// Packets in the queue, including the one in transmission.
        packets: u32,
    }
    /// A burst left an assembler with the packets of its class accepted since the last one.
    BurstSent {
        /// Port that the assembler replaces.
        port: PortId,
        /// Number of earlier bursts, modulo 2^31.
        number: u32,
        /// Class; 0 if bursts carry all classes.
        class: u8,
        /// Number of packets.
        packets: u32,
        /// Sum of the packet sizes.
        bytes: u64,
        /// Whether it is lost immediately: at random, or at the first fibre.
        lost: bool,
    }
    /// A burst in flight is lost.
    BurstLost {
        /// Port that the assembler replaces.
        port: PortId,
        /// Burst number of the assembler.
        number: u32,
        /// Class.
        class: u8,
        /// Reason.
        reason: DropReason,
    }
    /// A control packet requested a wavelength.
    FibreAsked {
        /// Port that the assembler replaces.
        port: PortId,
        /// Burst number of the assembler.
        number: u32,
        /// Fibre.
        fibre: FibreId,
        /// Reserved wavelength; `None` if all were busy.
        wavelength: Option<u32>,
    }
    /// A queue marked a packet instead of dropping it (congestion experienced).
    Marked {
        /// Port.
        port: PortId,
        /// Packet.
        packet: Packet,
    }
    /// A queue cut a segment to its header.
    Trimmed {
        /// Port.
        port: PortId,
        /// Packet after the cut.
        packet: Packet,
    }
    /// The header of a trimmed segment arrived at its receiver.
    ArrivedTrimmed {
        /// Flow.
        flow: FlowId,
        /// Segment number.
        seq: u32,
        /// Size on the wire in bytes.
        size: u16,
        /// ECN bits of the headers.
        marking: Marking,
    }
    /// A packet or a copy was dropped.
    Dropped {
        /// Port at or behind which it was dropped.
        port: PortId,
        /// Packet.
        packet: Packet,
        /// Reason.
        reason: DropReason,
    }
    /// A packet is lost: it was dropped, and no copy of it has arrived or is in flight. The event is the drop that
    /// counts, which may be earlier than the event that revealed the loss.
    Lost {
        /// Flow of the packet.
        flow: FlowId,
        /// Reason of the drop.
        reason: DropReason,
    }
}
