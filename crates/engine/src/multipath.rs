//! Senders and receivers of subflows: scheduling and delivery of the data of their connection.

use optcp_net::{FlowId, Packet};
use optcp_tcp::congestion::event::SubflowState;
use optcp_tcp::{Ack, Seq};
use optcp_units::{Duration, Time};

use crate::connection::Multipath;
use crate::model::Model;
use crate::observe::{Cause, Observer, Record};

impl<O: Observer> Model<O> {
    /// Returns the connection of a subflow, if the flow is one.
    #[inline]
    pub(crate) fn connection_of(&self, flow: FlowId) -> Option<usize> {
        let number = *self.connection_at.get(flow.index())?;
        number.map(|number| number as usize)
    }

    /// Prepares a subflow's sender for an input: whether it has data to send, and the states of all subflows.
    fn prepare(&mut self, number: usize, subflow: usize) {
        let Multipath { ref connection, first, count, .. } = self.connections[number];
        let is_supplied = connection.offer(subflow).is_some();
        let senders = &mut self.senders[first..first + count];
        senders[subflow].sender.set_supplied(is_supplied);
        if senders[subflow].sender.config().congestion.is_coupled() {
            let states: Vec<SubflowState> =
                senders.iter().map(|end| end.sender.subflow_state()).collect();
            senders[subflow].sender.couple(&states, subflow);
        }
    }

    /// Passes an ACK to its sender.
    #[inline]
    pub(crate) fn handle_ack(&mut self, id: FlowId, ack: &Ack) {
        let now = self.event.time();
        match self.connection_of(id) {
            None => self.senders[id.index()].sender.handle_ack(now, ack),
            Some(number) => self.handle_subflow_ack(number, id, ack),
        }
    }

    // Few runs have connections over several subflows.
    #[cold]
    #[inline(never)]
    fn handle_subflow_ack(&mut self, number: usize, id: FlowId, ack: &Ack) {
        let now = self.event.time();
        let subflow = id.index() - self.connections[number].first;
        self.prepare(number, subflow);
        let sender = &mut self.senders[id.index()].sender;
        sender.handle_ack(now, ack);
        let una = sender.una();
        self.connections[number].connection.on_ack(subflow, una, ack.data);
    }

    /// Fires the timer of a sender.
    #[inline]
    pub(crate) fn fire_timer(&mut self, id: FlowId, now: Time) {
        let Some(number) = self.connection_of(id) else {
            return self.expire_sender(id, now);
        };
        let subflow = id.index() - self.connections[number].first;
        self.prepare(number, subflow);
        let timeouts = |model: &Self| model.senders[id.index()].sender.counts().timeouts;
        let before = timeouts(self);
        self.expire_sender(id, now);
        if timeouts(self) > before {
            self.connections[number].connection.on_timeout(subflow);
        }
    }

    /// Ends the connection of a subflow that gave up, if no other subflow is left.
    pub(crate) fn abort_connection(&mut self, id: FlowId) {
        let Some(number) = self.connection_of(id) else { return };
        let connection = &self.connections[number];
        if connection.aborted(&self.senders).is_some() {
            self.record(Record::Aborted { flow: connection.id });
        }
    }

    /// Adds data that the application of a flow writes.
    pub(crate) fn supply(&mut self, id: FlowId, segments: u32) {
        match self.connection_of(id) {
            None => self.senders[id.index()].sender.supply(segments),
            Some(number) => self.connections[number].connection.supply(segments),
        }
    }

    /// Starts to send what all subflows of a connection may send after an input of the subflow `id`.
    pub(crate) fn open_subflows(&mut self, number: usize, id: FlowId) {
        let Multipath { connection, first, count, has_joined, touched, .. } =
            &mut self.connections[number];
        connection.set_open(id.index() - *first, true);
        touched.fill(false);
        touched[id.index() - *first] = true;
        let leading = &self.senders[*first].sender;
        // As in Linux, the first data ACK shows that the receiver can accept other subflows.
        let may_join = !leading.config().handshake || connection.has_data_ack();
        if !*has_joined && may_join {
            *has_joined = true;
            touched.fill(true);
            for subflow in 1..*count {
                self.senders[*first + subflow].sender.start();
                connection.set_open(subflow, true);
            }
        }
    }

    /// Returns the subflows that have had an input or sent a segment since [`Model::open_subflows`].
    pub(crate) fn touched_subflows(&self, number: usize) -> Vec<FlowId> {
        let Multipath { first, touched, .. } = &self.connections[number];
        let flows = (*first..).zip(touched).filter(|(_, touched)| **touched);
        flows.map(|(flow, _)| FlowId::at(flow)).collect()
    }
}

impl<O: Observer> Model<O> {
    /// Returns the next segment that any subflow of a connection sends now, if any. `id` is the subflow with the input,
    /// which may also retransmit.
    pub(crate) fn next_of_connection(&mut self, number: usize, id: FlowId) -> Option<Packet> {
        let Multipath { ref connection, first, count, .. } = self.connections[number];
        let senders = &self.senders[first..first + count];
        let srtt: Vec<Option<Duration>> =
            senders.iter().map(|end| end.sender.subflow_state().srtt).collect();
        for subflow in connection.order(&srtt) {
            let connection = &self.connections[number].connection;
            let is_supplied = connection.offer(subflow).is_some();
            let has_input = first + subflow == id.index();
            if !connection.is_open(subflow) || !(is_supplied || has_input) {
                continue;
            }
            let flow = FlowId::at(first + subflow);
            self.senders[flow.index()].sender.set_supplied(is_supplied);
            if let Some(packet) = self.next_of_subflow(flow, (number, subflow), &srtt) {
                self.connections[number].touched[subflow] = true;
                return Some(packet);
            }
            // Its window is closed until its next input.
            self.connections[number].connection.set_open(subflow, !is_supplied);
        }
        None
    }

    /// Returns the next segment of a subflow, if it may send one.
    fn next_of_subflow(
        &mut self,
        flow: FlowId,
        (number, subflow): (usize, usize),
        srtt: &[Option<Duration>],
    ) -> Option<Packet> {
        let now = self.now();
        let segment = self.senders[flow.index()].sender.poll_transmit(now)?;
        let Multipath { connection, first, .. } = &mut self.connections[number];
        let is_syn =
            segment.seq == Seq::ZERO && self.senders[flow.index()].sender.config().handshake;
        if !segment.retransmission && !is_syn {
            let assigned = connection.assign(subflow, now, srtt);
            for slow in assigned.penalised {
                let sender = &mut self.senders[*first + slow].sender;
                sender.set_cwnd(sender.window().cwnd / 2.0);
            }
            if connection.is_last(assigned.data) {
                self.receivers[flow.index()].receiver.push(segment.seq);
            }
        }
        // Data numbers in records begin at 1; zero means none.
        let data = connection.data(subflow, segment.seq).map_or(0, |data| data + 1);
        let packet = self.senders[flow.index()].close(flow, &segment);
        self.sent(packet, segment.retransmission, data);
        Some(packet)
    }

    /// Delivers segments that have become in order on a subflow, up to `end`, to its connection.
    pub(crate) fn deliver_data(&mut self, id: FlowId, segments: u32) {
        if let Some(number) = self.connection_of(id) {
            self.deliver_to_connection(number, id, segments);
        }
    }

    #[cold]
    #[inline(never)]
    fn deliver_to_connection(&mut self, number: usize, id: FlowId, segments: u32) {
        let end = self.receivers[id.index()].receiver.next();
        let now = self.now();
        let Multipath { connection, first, id: flow, last_progress, .. } =
            &mut self.connections[number];
        let new = connection.receive(id.index() - *first, end - segments, end);
        if new > 0 {
            *last_progress = now;
            let (flow, mss) = (*flow, self.receivers[id.index()].mss());
            self.record(Record::Progress { flow, bytes: u64::from(new) * mss });
        }
    }

    /// Returns the data ACK that an ACK of a flow carries, if the flow is a subflow.
    #[inline]
    pub(crate) fn data_ack(&self, id: FlowId) -> Option<u32> {
        self.connection_of(id).map(|number| self.connections[number].connection.data_ack())
    }

    /// Records the states of the senders of all subflows that have changed, and returns their numbers.
    pub(crate) fn record_subflows(&mut self, number: usize, cause: Cause) -> Vec<FlowId> {
        let touched = self.touched_subflows(number);
        touched.iter().for_each(|&flow| self.record_update(flow, cause));
        touched
    }
}
