//! Connection in a run: both ends, and the conversion of segments and ACKs to packets.

use std::sync::Arc;

use optcp_net::{FlowId, Label, Packet, PortId};
use optcp_tcp::{Ack, Config, Receiver, Sender, Seq, Timestamp, Transmission};
use optcp_units::{Bytes, Duration, Time};

use crate::in_flight::InFlightStore;
use crate::{FlowSpec, QueueSpec};

/// Sending end of a flow.
#[derive(Clone, Debug)]
pub(crate) struct SendingEnd {
    pub(crate) sender: Sender,
    pub(crate) data: Label,
    /// Queue that notifies the sender of its current path.
    pub(crate) notified_by: Option<PortId>,
    /// Time of the sender's entry in the event queue, never after the deadline. Older entries are obsolete.
    pub(crate) timer_entry: Time,
    /// `true`: it is a subflow, and sends the data of a connection.
    pub(crate) is_subflow: bool,
}

impl SendingEnd {
    /// Creates the sending end. `queues` may contain the queue that notifies it.
    pub(crate) fn new(spec: &FlowSpec, queues: &[QueueSpec]) -> Self {
        let mut sender = Sender::new(Arc::clone(&spec.config), spec.segments, spec.clock_phase);
        sender.withhold(spec.writes.iter().map(|(_, segments)| segments).sum());
        if let Some(queue) = queues.iter().find(|queue| Some(queue.port) == spec.notified_by) {
            let ways = u8::try_from(queue.ways.len()).expect("paths are numbered in a byte");
            sender.enable_per_network_state(ways, queue.served.unwrap_or(0));
        }
        SendingEnd {
            sender,
            data: spec.data,
            notified_by: spec.notified_by,
            timer_entry: Time::MAX,
            is_subflow: false,
        }
    }

    /// Returns the packet that carries a segment.
    #[inline]
    pub(crate) fn close(&self, id: FlowId, segment: &Transmission) -> Packet {
        let (seq, size) = (segment.seq.number(), wire(segment.size));
        Packet::data(id, self.data, seq, size, segment.stamp)
            .labelled(self.sender.flow_label())
            .saying(segment.marking)
    }

    /// Makes it a subflow, which sends the data of a connection.
    pub(crate) fn become_subflow(&mut self) {
        self.is_subflow = true;
        self.sender.set_supplied(false);
    }
}

/// Receiving end of a flow.
#[derive(Clone, Debug)]
pub(crate) struct ReceivingEnd {
    pub(crate) receiver: Receiver,
    pub(crate) acks: Label,
    /// Whether an application reacts to arrivals.
    pub(crate) is_read: bool,
    /// Time at which data became in order for the last time.
    pub(crate) last_progress: Time,
    /// Size of an ACK whose only option is a timestamp.
    plain_ack: u16,
    /// Shorter segments than this were trimmed; zero if the flow is not trimmed.
    full: u16,
    /// Time of the receiver's entry in the event queue, as in [`SendingEnd`].
    pub(crate) timer_entry: Time,
    config: Arc<Config>,
}

impl ReceivingEnd {
    pub(crate) fn new(spec: &FlowSpec) -> Self {
        let config = Arc::clone(&spec.config);
        let mut receiver = Receiver::new(&config, spec.ack_clock_phase);
        if let Some(last) = spec.segments.and_then(|segments| segments.checked_sub(1)) {
            receiver.push(Seq::new(last) + u32::from(config.handshake));
        }
        ReceivingEnd {
            receiver,
            acks: spec.acks,
            is_read: false,
            last_progress: Time::ZERO,
            plain_ack: wire(config.ack_wire_size(&Ack::cumulative(Seq::ZERO))),
            full: if config.trims() { wire(config.segment_wire_size()) } else { 0 },
            timer_entry: Time::MAX,
            config,
        }
    }

    /// Returns whether a data segment of this size was trimmed. A SYN has no data to cut.
    #[inline]
    pub(crate) fn is_trimmed(&self, seq: u32, size: u16) -> bool {
        size < self.full && !(seq == 0 && self.config.handshake)
    }

    /// Returns a placeholder for a receiving end that another thread owns.
    pub(crate) fn placeholder(&self) -> Self {
        let config = Arc::clone(&self.config);
        let receiver = Receiver::new(&config, Duration::ZERO);
        ReceivingEnd { receiver, timer_entry: Time::MAX, config, ..*self }
    }

    /// Returns a placeholder for the sending end of the same flow.
    pub(crate) fn placeholder_of_other(&self) -> SendingEnd {
        let sender = Sender::new(Arc::clone(&self.config), Some(0), Duration::ZERO);
        let data = self.acks;
        SendingEnd { sender, data, notified_by: None, timer_entry: Time::MAX, is_subflow: false }
    }

    /// Returns the bytes of data in a full segment.
    pub(crate) fn mss(&self) -> u64 {
        self.config.mss.count()
    }

    /// Returns the size of a full segment on the wire.
    pub(crate) fn segment_size(&self) -> Bytes {
        self.config.mss + self.config.header
    }

    /// Returns the bytes in `segments` segments that `seq` has completed in order. A SYN uses a number but carries no
    /// data.
    pub(crate) fn progress(&self, seq: Seq, segments: u32) -> u64 {
        let syn = u32::from(self.config.handshake && seq == Seq::ZERO);
        u64::from(segments - syn) * self.config.mss.count()
    }

    /// Returns the in-order data so far.
    pub(crate) fn delivered_bytes(&self) -> u64 {
        u64::from(self.delivered_segments()) * self.config.mss.count()
    }

    /// Returns the in-order data segments so far.
    pub(crate) fn delivered_segments(&self) -> u32 {
        self.receiver.next().number().saturating_sub(self.config.handshake.into())
    }

    /// Marks a data segment as the last of a message.
    pub(crate) fn push_segment(&mut self, number: u32) {
        self.receiver.push(Seq::new(number) + u32::from(self.config.handshake));
    }

    /// Returns the packet that carries a cumulative ACK with no option but a timestamp.
    #[inline]
    pub(crate) fn close_plain(&self, id: FlowId, seq: Seq, echo: Timestamp) -> Packet {
        let packet = Packet::ack(id, self.acks, seq.number(), self.plain_ack, echo);
        packet.labelled(self.receiver.flow_label())
    }

    /// Returns the packet that carries an ACK.
    #[inline]
    pub(crate) fn close(&self, id: FlowId, ack: Ack, in_flight: &mut InFlightStore) -> Packet {
        let marking = ack.marking;
        if ack.sack.is_none() && ack.stamp.is_none() && ack.counters.is_none() && ack.data.is_none()
        {
            return self.close_plain(id, ack.seq, ack.echo).saying(marking);
        }
        let size = wire(self.config.ack_wire_size(&ack));
        let (seq, stored) = (ack.seq.number(), in_flight.store_ack(ack));
        let packet = Packet::ack_stored(id, self.acks, seq, size, stored);
        packet.labelled(self.receiver.flow_label()).saying(marking)
    }
}

/// Converts a size to the type of packets. Sizes above the IP limit are rejected when a scenario is checked.
pub(crate) fn wire(size: Bytes) -> u16 {
    u16::try_from(size.count()).unwrap_or(u16::MAX)
}
