//! A connection in a run: its two ends, and how their segments and ACKs become packets.

use std::sync::Arc;

use optcp_net::{FlowId, Label, Packet, PortId};
use optcp_tcp::{Ack, Config, Receiver, Sender, Seq};
use optcp_units::{Bytes, Duration, Time};

use crate::in_flight::InFlightStore;
use crate::{FlowSpec, QueueSpec};

/// The sending end of a flow, and where it puts its segments.
#[derive(Clone, Debug)]
pub(crate) struct SendingEnd {
    pub(crate) sender: Sender,
    pub(crate) data: Label,
    /// The queue that tells the sender over which way it is served.
    pub(crate) notified_by: Option<PortId>,
    /// The calendar entry of the timer: there is one at most that counts, never later than the deadline.
    pub(crate) timer_entry: Time,
}

impl SendingEnd {
    /// One of `queues` may tell the sender over which way it is served.
    pub(crate) fn new(spec: &FlowSpec, queues: &[QueueSpec]) -> Self {
        let mut sender = Sender::new(Arc::clone(&spec.config), spec.segments, spec.clock_phase);
        sender.withhold(spec.writes.iter().map(|(_, segments)| segments).sum());
        if let Some(queue) = queues.iter().find(|queue| Some(queue.port) == spec.notified_by) {
            let ways = u8::try_from(queue.ways.len()).expect("ways are numbered in a byte");
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

/// The receiving end of a flow, and where it puts its ACKs.
#[derive(Clone, Debug)]
pub(crate) struct ReceivingEnd {
    pub(crate) receiver: Receiver,
    pub(crate) acks: Label,
    /// The size of an ACK that carries no options but a timestamp.
    plain_ack: u16,
    /// As that of the sending end.
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

    /// Stands for it where another thread has it.
    pub(crate) fn placeholder(&self) -> Self {
        let config = Arc::clone(&self.config);
        let receiver = Receiver::new(&config, Duration::ZERO);
        ReceivingEnd { receiver, timer_entry: Time::MAX, config, ..*self }
    }

    /// Stands for the other end of the flow.
    pub(crate) fn placeholder_of_other(&self) -> SendingEnd {
        let sender = Sender::new(Arc::clone(&self.config), Some(0), Duration::ZERO);
        SendingEnd { sender, data: self.acks, notified_by: None, timer_entry: Time::MAX }
    }

    /// The size of a full segment on the wire.
    pub(crate) fn segment_size(&self) -> Bytes {
        self.config.mss + self.config.header
    }

    /// The bytes of data in the segments that `seq` has brought in order. A SYN takes a number but carries no data.
    pub(crate) fn progress(&self, seq: Seq, segments: u32) -> u64 {
        let syn = u32::from(self.config.handshake && seq == Seq::ZERO);
        u64::from(segments - syn) * self.config.mss.count()
    }

    /// The packet that carries an ACK.
    #[inline]
    pub(crate) fn close(&self, id: FlowId, ack: Ack, in_flight: &mut InFlightStore) -> Packet {
        let (seq, marking) = (ack.seq.number(), ack.marking);
        if ack.sack.is_none() && ack.stamp.is_none() && ack.counters.is_none() {
            return Packet::ack(id, self.acks, seq, self.plain_ack, ack.echo).saying(marking);
        }
        let size = wire(self.config.ack_wire_size(&ack));
        Packet::ack_kept(id, self.acks, seq, size, in_flight.store_ack(ack)).saying(marking)
    }
}

/// A size as packets carry it: scenarios are checked for what exceeds IP's limit.
pub(crate) fn wire(size: Bytes) -> u16 {
    u16::try_from(size.count()).unwrap_or(u16::MAX)
}
