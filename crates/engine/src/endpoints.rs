//! Packet handling at endpoints: arrivals, answers of receivers, and segments of senders.

use optcp_net::{FlowId, Packet};
use optcp_tcp::{Ack, Seq, Timestamp};
use optcp_units::Duration;

use crate::datagrams::Datagrams;
use crate::external::Delivery;
use crate::model::Model;
use crate::observe::{Cause, Observer, Record};

impl<O: Observer> Model<O> {
    /// Registers an arrival at an endpoint. Returns the packet and whether another copy has arrived before.
    #[inline]
    fn arrives(&mut self, packet: Packet) -> (Packet, bool) {
        match packet.copy_of() {
            None => {
                self.counts.delivered += 1;
                (packet, false)
            }
            Some(number) => self.copy_arrives(packet, number),
        }
    }

    // Copies are rare. A separate function keeps them out of the hot path.
    #[cold]
    #[inline(never)]
    fn copy_arrives(&mut self, packet: Packet, number: u32) -> (Packet, bool) {
        let (packet, first) = self.in_flight.copy_arrives(packet, number);
        if first {
            self.counts.delivered += 1;
        } else {
            self.counts.copies_discarded += 1;
        }
        (packet, !first)
    }

    /// Returns the source of datagrams with this flow number.
    pub(crate) fn source(&mut self, id: FlowId) -> &mut Datagrams {
        let place = id.index() - self.senders.len();
        &mut self.datagrams[place]
    }

    /// Returns the datagram that a source sends now.
    pub(crate) fn send_datagram(&mut self, id: FlowId) -> Packet {
        let now = self.now();
        let place = id.index() - self.senders.len();
        let packet = self.datagrams[place].send(id, now, &mut self.in_flight);
        self.counts.sent += 1;
        let (seq, size, marking) = (packet.seq, packet.size(), packet.marking());
        self.record(Record::DatagramSent { flow: id, seq, size, marking });
        packet
    }

    /// Handles a datagram at its sink.
    ///
    /// Receiving a segment looks up the flow anyway. Datagrams are recognised by the failed look-up, at no cost for
    /// segments.
    #[inline(never)]
    pub(crate) fn sink(&mut self, packet: Packet) {
        let (packet, second) = self.arrives(packet);
        let (flow, now) = (packet.flow(), self.now());
        let sent = self.in_flight.take_datagram(packet);
        let delay = sent.as_ref().map_or(Duration::ZERO, |sent| now - sent.at);
        let (seq, size, marking) = (packet.seq, packet.size(), packet.marking());
        if let Some(bytes) = sent.and_then(|sent| sent.bytes) {
            let progress = self.source(flow).progress(now, &bytes);
            self.deliveries.push(Delivery { source: flow, at: now, marking, bytes });
            if let Some((flow, bytes)) = progress {
                self.record(Record::Progress { flow, bytes });
            }
        }
        self.record(Record::DatagramArrived { flow, seq, size, delay, marking, second });
    }

    /// Handles a data segment at its receiver. Returns the ACK to send immediately, if any.
    #[inline(always)]
    pub(crate) fn receive(&mut self, packet: Packet) -> Option<Packet> {
        let (packet, second) = self.arrives(packet);
        let (id, now) = (packet.flow(), self.now());
        let (seq, size, marking) = (packet.seq, packet.size(), packet.marking());
        if self.receivers[id.index()].is_trimmed(seq, size) {
            return Some(self.receive_trimmed(packet));
        }
        self.record(Record::Arrived { flow: id, seq, size, marking, second });
        let end = &mut self.receivers[id.index()];
        let seq = Seq::new(seq);
        let (stamp, ttl) = (packet.options, packet.ttl());
        end.receiver.note_flow_label(packet.flow_label());
        if let Some(echo) = end.receiver.handle_plain_segment(seq, stamp) {
            end.last_progress = now;
            let bytes = end.progress(seq, 1);
            self.record(Record::Progress { flow: id, bytes });
            return Some(self.send_plain_ack(id, seq.next(), echo));
        }
        let arrival = end.receiver.handle_other_segment(now, seq, stamp, ttl, marking);
        if arrival.progress > 0 {
            end.last_progress = now;
            let bytes = end.progress(seq, arrival.progress);
            self.record(Record::Progress { flow: id, bytes });
            self.deliver_data(id, arrival.progress);
        }
        arrival.ack.map(|ack| self.send_ack(id, ack))
    }

    /// Returns the packet for an ACK of everything below `seq`, whose last segment has just come in order. A subflow also
    /// delivers that segment to its connection.
    #[inline(always)]
    fn send_plain_ack(&mut self, id: FlowId, seq: Seq, echo: Timestamp) -> Packet {
        // ACKs of subflows have data numbers.
        if !self.connections.is_empty() {
            self.deliver_data(id, 1);
            return self.send_ack(id, Ack { echo, ..Ack::cumulative(seq) });
        }
        self.counts.sent += 1;
        self.receivers[id.index()].close_plain(id, seq, echo)
    }

    /// Handles the header of a trimmed segment at its receiver. Returns the ACK that reports it.
    #[cold]
    #[inline(never)]
    fn receive_trimmed(&mut self, packet: Packet) -> Packet {
        let (id, now) = (packet.flow(), self.now());
        let (seq, size, marking) = (packet.seq, packet.size(), packet.marking());
        self.record(Record::ArrivedTrimmed { flow: id, seq, size, marking });
        let receiver = &mut self.receivers[id.index()].receiver;
        let ack = receiver.handle_trimmed(now, Seq::new(seq), marking);
        self.send_ack(id, ack)
    }

    /// Returns the ACK to send before the one that [`Model::receive`] returned, if any.
    #[inline(always)]
    pub(crate) fn earlier_ack(&mut self, id: FlowId) -> Option<Packet> {
        let has_earlier = self.receivers[id.index()].receiver.has_earlier();
        if has_earlier { self.take_earlier_ack(id) } else { None }
    }

    #[cold]
    #[inline(never)]
    fn take_earlier_ack(&mut self, id: FlowId) -> Option<Packet> {
        let ack = self.receivers[id.index()].receiver.take_earlier()?;
        Some(self.send_ack(id, ack))
    }

    /// Returns the packet for an ACK that a receiver sends now.
    #[inline(always)]
    pub(crate) fn send_ack(&mut self, id: FlowId, mut ack: Ack) -> Packet {
        self.counts.sent += 1;
        if !self.connections.is_empty() {
            ack.data = self.data_ack(id);
        }
        self.receivers[id.index()].close(id, ack, &mut self.in_flight)
    }

    /// Handles an ACK at its sender. The caller must poll the sender for segments afterwards.
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, packet: Packet) {
        let (packet, _) = self.arrives(packet);
        let id = packet.flow();
        let ack = self.in_flight.open(packet);
        let (seq, size, sack, marking) = (packet.seq, packet.size(), ack.sack, ack.marking);
        self.record(Record::Acknowledged { flow: id, seq, size, sack, marking });
        self.handle_ack(id, &ack);
    }

    /// Notifies a sender of the network that carries its data. The sender transmits at its next event.
    pub(crate) fn notice(&mut self, id: FlowId) {
        let now = self.now();
        let end = &mut self.senders[id.index()];
        if let Some(queue) = end.notified_by {
            end.sender.change_network(now, self.schedule_state.known(queue, now));
        }
    }

    /// Returns the next segment that a sender sends now, if any.
    #[inline]
    pub(crate) fn next_segment(&mut self, id: FlowId) -> Option<Packet> {
        let now = self.now();
        let end = &mut self.senders[id.index()];
        let segment = end.sender.poll_transmit(now)?;
        let packet = end.close(id, &segment);
        self.sent(packet, segment.retransmission, 0);
        Some(packet)
    }

    /// Counts a segment that a sender sends now, with data number `data` of its connection or zero.
    #[inline]
    pub(crate) fn sent(&mut self, packet: Packet, again: bool, data: u32) {
        let (flow, seq) = (packet.flow(), packet.seq);
        let (size, marking) = (packet.size(), packet.marking());
        self.counts.sent += 1;
        self.record(Record::Sent { flow, seq, again, size, marking, data });
    }

    /// Records the state of a sender after it has sent all it can.
    #[inline]
    pub(crate) fn record_update(&mut self, id: FlowId, cause: Cause) {
        if self.observer.wants_updates() {
            let snapshot = self.senders[id.index()].sender.snapshot();
            self.record(Record::Updated { flow: id, cause, snapshot });
        }
    }
}
