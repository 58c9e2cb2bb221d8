//! Observation: models hand out records, reducers make metrics of them.

mod burst_sizes;
mod bursts;
mod completions;
mod datagrams;
mod digest;
mod drops;
mod intervals;
mod listed;
mod packets;
mod queue;
mod reordering;
mod senders;

use optcp_des::Key;
use optcp_net::{DropReason, FlowId, Packet, PortId};
use optcp_optical::switching::FibreId;
use optcp_tcp::{SackBlocks, Snapshot};
use optcp_units::{Duration, Time};

pub use burst_sizes::BurstSizes;
pub use bursts::{BurstRow, Bursts, SentBurst};
pub use completions::{CompletionRow, Completions};
pub use datagrams::{DatagramSums, Datagrams};
pub use digest::{Digest, hex};
pub use drops::{DropRow, Drops};
pub use intervals::IntervalSums;
pub use packets::{PacketEvent, PacketRow, Packets};
pub use queue::Queue;
pub use reordering::{Reordering, ReorderingEvent, ReorderingRow};
pub use senders::{Cause, SenderRow, Senders};

/// Something that happened. The only way out of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record {
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
    },
    /// In-order data grew at a receiver.
    Progress {
        /// The flow.
        flow: FlowId,
        /// Newly in-order bytes.
        bytes: u64,
    },
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
    },
    /// A data segment came to its receiver.
    Arrived {
        /// The flow.
        flow: FlowId,
        /// The segment.
        seq: u32,
        /// Its size on the wire in bytes.
        size: u16,
    },
    /// A sender has dealt with what came to it.
    Updated {
        /// The flow.
        flow: FlowId,
        /// What came.
        cause: Cause,
        /// The sender's variables now.
        snapshot: Snapshot,
    },
    /// A source sent a datagram.
    DatagramSent {
        /// The source, by its number as a flow.
        flow: FlowId,
        /// The datagram's number.
        seq: u32,
        /// Its size on the wire in bytes.
        size: u16,
    },
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
    },
    /// A port took a packet.
    Accepted {
        /// The port.
        port: PortId,
        /// The packet.
        packet: Packet,
    },
    /// A watched port sent the last bit of a packet.
    Transmitted {
        /// The port.
        port: PortId,
        /// The packet.
        packet: Packet,
    },
    /// The queue of a watched port has another length.
    QueueLength {
        /// The port.
        port: PortId,
        /// Packets in it now, the one in transmission included.
        packets: u32,
    },
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
    },
    /// A burst that was under way is lost.
    BurstLost {
        /// The port in whose place the assembler stands.
        port: PortId,
        /// The burst's number there.
        number: u32,
    },
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
    },
    /// A packet was lost.
    Dropped {
        /// The port at or behind which it happened.
        port: PortId,
        /// The packet.
        packet: Packet,
        /// Why.
        reason: DropReason,
    },
}

/// What watches a run. Dispatch is static: with `()` no record is even built.
///
/// Kernels agree on the records and on the event to which each belongs, and on their order within
/// one port, and within one end of a flow. Records of different ones may come in another order: who
/// lists them sorts them by event, stably.
pub trait Observer {
    /// Whether it takes any record at all.
    const TAKES_RECORDS: bool = true;

    /// Takes a record that belongs to `event`.
    fn record(&mut self, event: Key, record: Record);

    /// Whether it wants [`Record::Updated`], which takes work to make.
    fn wants_updates(&self) -> bool {
        false
    }

    /// Whether it wants [`Record::Transmitted`] and [`Record::QueueLength`] of a port, which take work
    /// to make.
    fn watches(&self, port: PortId) -> bool {
        let _ = port;
        false
    }

    /// The run ends at `at`.
    fn finish(&mut self, at: Time) {
        let _ = at;
    }
}

impl Observer for () {
    const TAKES_RECORDS: bool = false;

    #[inline(always)]
    fn record(&mut self, _: Key, _: Record) {}
}

/// The reducers that a scenario asks for.
#[derive(Clone, Debug, Default)]
pub struct Reducers {
    /// The running digest, if wanted.
    pub digest: Option<Digest>,
    /// Goodput series: newly in-order bytes at receivers, by flow (the gmpls paper's equation 4).
    pub goodput: Vec<IntervalSums>,
    /// Load series: bytes whose last bit was sent, by port.
    pub load: Vec<IntervalSums>,
    /// Lists of drops.
    pub drops: Vec<Drops>,
    /// Queue series.
    pub queue: Vec<Queue>,
    /// Lists of senders' variables.
    pub senders: Vec<Senders>,
    /// Lists of packet events.
    pub packets: Vec<Packets>,
    /// Lists of what reordering did.
    pub reordering: Vec<Reordering>,
    /// Lists of flows that end.
    pub completions: Vec<Completions>,
    /// Datagram series.
    pub datagrams: Vec<Datagrams>,
    /// Lists of bursts.
    pub bursts: Vec<Bursts>,
    /// Histograms of segments a burst.
    pub burst_sizes: Vec<BurstSizes>,
}

impl Observer for Reducers {
    #[inline]
    fn record(&mut self, event: Key, record: Record) {
        let at = event.time();
        if let Some(digest) = &mut self.digest {
            digest.record(at, record);
        }
        match record {
            Record::Progress { flow, bytes } => {
                self.goodput.iter_mut().for_each(|g| g.add(at, flow, bytes));
                self.completions.iter_mut().for_each(|c| c.progress(event, flow, bytes));
            }
            Record::Transmitted { port, packet } => {
                self.load.iter_mut().for_each(|l| l.add(at, port, u64::from(packet.size())));
            }
            Record::QueueLength { port, packets } => {
                self.queue.iter_mut().for_each(|q| q.change(at, port, packets));
            }
            Record::Dropped { port, packet, reason } => {
                self.drops.iter_mut().for_each(|d| d.add(event, port, packet, reason));
                self.datagrams.iter_mut().for_each(|d| d.lost(at, packet));
            }
            Record::DatagramSent { flow, size, .. } => {
                self.datagrams.iter_mut().for_each(|d| d.sent(at, flow, size));
            }
            Record::DatagramArrived { flow, size, delay, .. } => {
                self.datagrams.iter_mut().for_each(|d| d.arrived(at, flow, size, delay));
            }
            Record::Updated { flow, cause, snapshot } => {
                self.senders.iter_mut().for_each(|s| s.add(event, flow, cause, snapshot));
            }
            Record::Accepted { port, packet } => {
                self.bursts.iter_mut().for_each(|b| b.gathered(port, packet));
                self.burst_sizes.iter_mut().for_each(|b| b.gathered(port, packet));
            }
            Record::BurstSent { port, number, packets, bytes, lost } => {
                let burst = SentBurst { number, packets, bytes, lost };
                self.bursts.iter_mut().for_each(|b| b.sent(event, port, burst));
                self.burst_sizes.iter_mut().for_each(|b| b.sent(port));
            }
            Record::BurstLost { port, number } => {
                self.bursts.iter_mut().for_each(|b| b.lost(port, number));
            }
            Record::Sent { .. }
            | Record::Arrived { .. }
            | Record::Acknowledged { .. }
            | Record::FibreAsked { .. } => {}
        }
        self.packets.iter_mut().for_each(|p| p.add(event, record));
        self.reordering.iter_mut().for_each(|r| r.add(event, record));
    }

    fn wants_updates(&self) -> bool {
        !self.senders.is_empty() || !self.reordering.is_empty()
    }

    fn watches(&self, port: PortId) -> bool {
        self.load.iter().any(|load| load.table.counts(port))
            || self.queue.iter().any(|queue| queue.watches(port))
            || self.packets.iter().any(|packets| packets.watches(port))
    }

    fn finish(&mut self, at: Time) {
        self.queue.iter_mut().for_each(|q| q.finish(at));
        self.drops.iter_mut().for_each(Drops::finish);
        self.completions.iter_mut().for_each(|c| c.finish(at));
        self.bursts.iter_mut().for_each(Bursts::finish);
        self.senders.iter_mut().for_each(Senders::finish);
        self.packets.iter_mut().for_each(Packets::finish);
        self.reordering.iter_mut().for_each(Reordering::finish);
    }
}
