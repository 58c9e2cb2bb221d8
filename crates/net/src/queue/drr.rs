//! Deficit round robin (DRR).

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::num::NonZeroU32;

use optcp_units::{Bytes, Time};

use super::fifo::Fifo;
use super::parameters::parameters;
use super::{Fate, Fates, Link, OnDeparture, flow_and_direction};
use crate::{DropReason, Packet};

/// Deficit round robin: serves flows in turn, by bytes.
///
/// # Model
/// Each flow and direction has a queue. At its turn a flow sends while its deficit lasts, which grows per turn by the
/// quantum times (class + 1); classes are weights. A flow without packets loses its deficit. If the queue is full, the
/// oldest packet of the flow with most bytes is dropped.
///
/// # References
/// M. Shreedhar, G. Varghese: Efficient fair queuing using deficit round-robin, IEEE/ACM ToN 4(3), 1996; dropping from
/// the longest queue after P. McKenney: Stochastic fairness queueing, 1990.
///
/// # Limitations
/// The limit applies to all flows together and counts the packet in transmission. There are as many queues as flows: no
/// hash collisions.
#[derive(Clone, Debug)]
pub struct Drr {
    quantum: i64,
    link: Link,
    /// Place in `queues` by flow and direction, while it has a queue.
    places: Vec<Option<NonZeroU32>>,
    queues: Vec<FlowQueue>,
    /// Places of unused queues.
    free: Vec<usize>,
    /// Places of flows with packets in the order of service.
    turns: VecDeque<usize>,
    packets: usize,
    bytes: u64,
}

parameters! {
    /// Parameters of [`Drr`].
    pub struct DrrParameters {
        /// Bytes per turn of a flow of class 0.
        quantum: Bytes = Bytes::new(1514), "Linux, drr: the MTU of the link";
    }
    wrong |it| {
        "quantum" if it.quantum == Bytes::ZERO => "above zero";
    }
}

#[derive(Clone, Debug, Default)]
struct FlowQueue {
    /// Flow and direction.
    flow: usize,
    waiting: Fifo,
    deficit: i64,
}

impl Drr {
    fn count_off(&mut self, packet: Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size());
    }

    /// Returns the place of the queue of a flow and direction, and adds the flow to the round if necessary.
    fn place(&mut self, flow: usize) -> usize {
        if self.places.len() <= flow {
            self.places.resize(flow + 1, None);
        }
        if let Some(place) = self.places[flow] {
            return place.get() as usize - 1;
        }
        let place = self.free.pop().unwrap_or(self.queues.len());
        if place == self.queues.len() {
            self.queues.push(FlowQueue::default());
        }
        (self.queues[place].flow, self.queues[place].deficit) = (flow, 0);
        self.places[flow] = u32::try_from(place + 1).ok().and_then(NonZeroU32::new);
        self.turns.push_back(place);
        place
    }

    /// Ends the turn of a flow without packets.
    fn end_turn(&mut self) {
        if let Some(place) = self.turns.pop_front() {
            self.places[self.queues[place].flow] = None;
            self.free.push(place);
        }
    }

    /// Drops the oldest packet of the flow with most bytes; of several such flows, the lowest-numbered one.
    fn make_room(&mut self) -> Option<Packet> {
        let bytes_and_flow = |&place: &usize| {
            let queue = &self.queues[place];
            (queue.waiting.bytes(), Reverse(queue.flow))
        };
        let longest = self.turns.iter().copied().max_by_key(bytes_and_flow)?;
        let (packet, _) = self.queues[longest].waiting.pop()?;
        self.count_off(packet);
        Some(packet)
    }
}

impl OnDeparture for Drr {
    type Parameters = DrrParameters;

    fn new(parameters: &DrrParameters, link: &Link) -> Self {
        Drr {
            quantum: i64::try_from(parameters.quantum.count()).unwrap_or(i64::MAX / 16),
            link: link.clone(),
            places: Vec::new(),
            queues: Vec::new(),
            free: Vec::new(),
            turns: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        sending: Option<Packet>,
        fates: &mut Fates,
    ) -> Result<(), DropReason> {
        let (beside, bytes) =
            (usize::from(sending.is_some()), sending.map_or(0, |p| u64::from(p.size())));
        if !self.link.limit.has_room(beside, bytes, packet.size()) {
            return Err(DropReason::QueueFull);
        }
        while !self.link.limit.has_room(beside + self.packets, bytes + self.bytes, packet.size())
            && let Some(oldest) = self.make_room()
        {
            fates.push((oldest, Fate::Dropped(DropReason::PushedOut)));
        }
        let place = self.place(flow_and_direction(packet));
        self.queues[place].waiting.push(now, packet);
        self.packets += 1;
        self.bytes += u64::from(packet.size());
        Ok(())
    }

    fn dequeue(&mut self, _: Time, _: &mut Fates) -> Option<(Packet, Time)> {
        loop {
            let &place = self.turns.front()?;
            let queue = &mut self.queues[place];
            let Some(packet) = queue.waiting.first() else {
                // All of its packets were dropped in favour of others.
                self.end_turn();
                continue;
            };
            if queue.deficit < i64::from(packet.size()) {
                let weight = 1 + self.link.class(packet) as i64;
                queue.deficit += self.quantum.saturating_mul(weight);
                self.turns.rotate_left(1);
                continue;
            }
            queue.deficit -= i64::from(packet.size());
            let sent = queue.waiting.pop();
            if queue.waiting.is_empty() {
                self.end_turn();
            }
            self.count_off(packet);
            return sent;
        }
    }

    fn len(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn list(&self, packets: &mut Vec<Packet>) {
        packets.extend(self.turns.iter().flat_map(|&place| self.queues[place].waiting.iter()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowId, Label, QueueLimit};

    fn packet_of(flow: u32, seq: u32, size: u16) -> Packet {
        Packet::data(FlowId::new(flow), Label(0), seq, size, 0)
    }

    /// Flow 2 has class 2, therefore weight 3.
    fn queue(limit: QueueLimit) -> Drr {
        let link = Link { classes: [0, 0, 2].into(), ..crate::queue::tests::link(limit) };
        Drr::new(&DrrParameters::default(), &link)
    }

    fn fill(queue: &mut Drr, flow: u32, packets: u32, size: u16) -> Fates {
        let mut fates = Fates::new();
        for seq in 0..packets {
            assert_eq!(
                queue.enqueue(Time::ZERO, packet_of(flow, seq, size), None, &mut fates),
                Ok(())
            );
        }
        fates
    }

    /// Shreedhar and Varghese, lemma 2: the weighted bytes sent by two backlogged flows differ by at most a quantum and
    /// two packets.
    #[test]
    fn flows_share_link_by_bytes_and_weights() {
        let mut queue = queue(QueueLimit::Unlimited);
        fill(&mut queue, 0, 500, 1500);
        fill(&mut queue, 1, 1500, 400);
        fill(&mut queue, 2, 500, 1500);
        let (mut sent, mut fates) = ([0_i64; 3], Fates::new());
        for _ in 0..600 {
            let packet = queue.dequeue(Time::ZERO, &mut fates).unwrap().0;
            sent[packet.flow().index()] += i64::from(packet.size());
            let shares = [sent[0], sent[1], sent[2] / 3];
            let spread = shares.iter().max().unwrap() - shares.iter().min().unwrap();
            assert!(spread <= 1514 + 2 * 1500, "{shares:?}");
        }
    }

    #[test]
    fn longest_flow_loses_packets_when_queue_is_full() {
        let mut queue = queue(QueueLimit::Packets(4));
        assert_eq!(fill(&mut queue, 0, 4, 1500), []);
        let lost = fill(&mut queue, 1, 2, 100);
        assert_eq!(
            lost,
            [0, 1].map(|seq| (packet_of(0, seq, 1500), Fate::Dropped(DropReason::PushedOut)))
        );
        let mut fates = Fates::new();
        let sent: Vec<Packet> = (0..9)
            .map_while(|_| queue.dequeue(Time::ZERO, &mut fates))
            .map(|(packet, _)| packet)
            .collect();
        assert_eq!((sent.len(), queue.len(), queue.bytes()), (4, 0, 0));
        assert_eq!(sent[..2], [packet_of(0, 2, 1500), packet_of(1, 0, 100)]);
    }
}
