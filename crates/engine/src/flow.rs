//! Connection in a run: both ends, and the conversion of segments and ACKs to packets.

use std::sync::Arc;

use optcp_net::{FlowId, Label, Packet, PortId};
use optcp_tcp::{Ack, Config, Receiver, Sender, Seq};
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
        }
    }
}

/// Receiving end of a flow.
#[derive(Clone, Debug)]
pub(crate) struct ReceivingEnd {
    pub(crate) receiver: Receiver,
    pub(crate) acks: Label,
    /// Size of an ACK whose only option is a timestamp.
    plain_ack: u16,
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
            plain_ack: wire(config.ack_wire_size(&Ack::cumulative(Seq::ZERO))),
            timer_entry: Time::MAX,
            config,
        }
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
        SendingEnd { sender, data: self.acks, notified_by: None, timer_entry: Time::MAX }
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
        let segments = self.receiver.next().number().saturating_sub(self.config.handshake.into());
        u64::from(segments) * self.config.mss.count()
    }

    /// Returns the packet that carries an ACK.
    #[inline]
    pub(crate) fn close(&self, id: FlowId, ack: Ack, in_flight: &mut InFlightStore) -> Packet {
        let (seq, marking) = (ack.seq.number(), ack.marking);
        if ack.sack.is_none() && ack.stamp.is_none() && ack.counters.is_none() {
            return Packet::ack(id, self.acks, seq, self.plain_ack, ack.echo).saying(marking);
        }
        let size = wire(self.config.ack_wire_size(&ack));
        Packet::ack_stored(id, self.acks, seq, size, in_flight.store_ack(ack)).saying(marking)
    }
}

/// Converts a size to the type of packets. Sizes above the IP limit are rejected when a scenario is checked.
pub(crate) fn wire(size: Bytes) -> u16 {
    u16::try_from(size.count()).unwrap_or(u16::MAX)
}
