//! Fair queueing with controlled delay.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::num::NonZeroU32;

use optcp_des::mix;
use optcp_units::{Bytes, Duration, Time};

use super::codel::{CodelParameters, Law};
use super::fifo::Fifo;
use super::parameters::parameters;
use super::{Fate, Fates, Link, OnDeparture, flow_and_direction};
use crate::{DropReason, Packet, QueueLimit};

/// A queue for each flow, served in turn by bytes, flows that have just begun first; in each queue the control law of
/// CoDel.
///
/// # Models
/// Packets go to one of `flows` queues by a hash of their flow and direction. Queues are served by deficit round robin
/// with a quantum; a queue that was empty is served ahead of the others until its quantum is used. Where the limit is
/// exceeded, up to 64 packets, at most half, are dropped from the head of the queue with most bytes.
/// # Source
/// RFC 8290, section 4; CoDel as in [`Codel`](super::codel::Codel).
/// # Parameters
/// Those of [`FqCodelParameters`], and the limit, which counts the packet in transmission.
/// # Limits
/// The hash is SplitMix64 of flow and direction, with a seed of the port's own that each run draws.
/// CoDel spares the last packet of each queue (`mtu`), as RFC 8290 applies RFC 8289; Linux spares it only where no other queue
/// holds one.
#[derive(Clone, Debug)]
pub struct FqCodel {
    parameters: CodelParameters,
    quantum: i64,
    limit: QueueLimit,
    seed: u64,
    /// By number, the place of a queue among `queues` once a packet has come to it.
    places: Vec<Option<NonZeroU32>>,
    queues: Vec<FlowQueue>,
    /// Places of queues that have just become active, and the others that hold packets or did a turn ago.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    packets: usize,
    bytes: u64,
}

parameters! {
    /// What [`FqCodel`] is told.
    pub struct FqCodelParameters {
        /// How long packets may wait.
        target: Duration = Duration::from_ms(5), "RFC 8290 section 5.2.2";
        /// For how long they must have waited longer before any is dropped.
        interval: Duration = Duration::from_ms(100), "RFC 8290 section 5.2.1";
        /// With no more than this left in a queue none of it is dropped.
        mtu: Bytes = Bytes::new(1500), "RFC 8289 section 5.2: the MTU of the link";
        /// What a queue may send a turn.
        quantum: Bytes = Bytes::new(1514), "RFC 8290 section 5.2.4";
        /// How many queues there are.
        flows: u32 = 1024, "RFC 8290 section 5.2.5";
        /// Whether packets that take marks are marked where they would be dropped.
        ecn: bool = true, "RFC 8290 section 5.2.6";
        /// Packets that take marks are marked if they have waited longer than this.
        ce_threshold: Option<Duration> = None, "RFC 8290 section 5.2.7: off";
    }
    wrong |it| {
        "interval" if it.interval == Duration::ZERO => "above zero";
        "target" if it.target == Duration::ZERO => "above zero";
        "quantum" if it.quantum == Bytes::ZERO => "above zero";
        "flows" if it.flows == 0 || it.flows > 65_536 => "from 1 to 65536";
    }
}

/// The most packets that make room at once.
const BATCH: usize = 64;

#[derive(Clone, Debug, Default)]
struct FlowQueue {
    number: usize,
    waiting: Fifo,
    law: Law,
    deficit: i64,
    active: bool,
}

impl FqCodel {
    /// The place of the queue of a packet.
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of queues")]
    fn place(&mut self, packet: Packet) -> usize {
        let hash = mix(self.seed ^ mix(flow_and_direction(packet) as u64));
        let number = ((u128::from(hash) * self.places.len() as u128) >> 64) as usize;
        if let Some(place) = self.places[number] {
            return place.get() as usize - 1;
        }
        self.queues.push(FlowQueue { number, ..FlowQueue::default() });
        self.places[number] = u32::try_from(self.queues.len()).ok().and_then(NonZeroU32::new);
        self.queues.len() - 1
    }

    /// Drops from the head of the queue with most bytes; of several, of that with the least number.
    fn make_room(&mut self, fates: &mut Fates) {
        let fat = |&place: &usize| {
            let queue = &self.queues[place];
            (queue.waiting.bytes(), Reverse(queue.number))
        };
        let fattest = (0..self.queues.len()).max_by_key(fat);
        let Some(fattest) = fattest else { return };
        let half = self.queues[fattest].waiting.len().div_ceil(2);
        for _ in 0..half.min(BATCH) {
            let Some((packet, _)) = self.queues[fattest].waiting.pop() else { return };
            self.count_off(packet);
            fates.push((packet, Fate::Dropped(DropReason::PushedOut)));
        }
    }

    fn count_off(&mut self, packet: Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size());
    }
}

impl OnDeparture for FqCodel {
    type Parameters = FqCodelParameters;

    fn new(parameters: &FqCodelParameters, link: &Link) -> Self {
        let &FqCodelParameters { target, interval, mtu, quantum, flows, ecn, ce_threshold } =
            parameters;
        FqCodel {
            parameters: CodelParameters { target, interval, mtu, ecn, ce_threshold },
            quantum: i64::try_from(quantum.count()).unwrap_or(i64::MAX / 2),
            limit: link.limit,
            seed: link.stream.clone().map_or(0, |mut stream| stream.next_u64()),
            places: vec![None; flows as usize],
            queues: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
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
        if !self.limit.has_room(beside, bytes, packet.size()) {
            return Err(DropReason::QueueFull);
        }
        while !self.limit.has_room(beside + self.packets, bytes + self.bytes, packet.size()) {
            self.make_room(fates);
        }
        let place = self.place(packet);
        let queue = &mut self.queues[place];
        queue.waiting.push(now, packet);
        if !queue.active {
            queue.active = true;
            queue.deficit = self.quantum;
            self.new.push_back(place);
        }
        self.packets += 1;
        self.bytes += u64::from(packet.size());
        Ok(())
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<(Packet, Time)> {
        loop {
            let fresh = !self.new.is_empty();
            let list = if fresh { &mut self.new } else { &mut self.old };
            let &place = list.front()?;
            let queue = &mut self.queues[place];
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            let told = fates.len();
            let sent = queue.law.dequeue(now, &self.parameters, &mut queue.waiting, fates);
            if let Some((packet, _)) = sent {
                queue.deficit -= i64::from(packet.size());
            } else {
                list.pop_front();
                // A queue that was new goes to the end of the old ones once: else it could be new again at once and
                // starve them (RFC 8290 section 4.2).
                if fresh && !self.old.is_empty() {
                    self.old.push_back(place);
                } else {
                    queue.active = false;
                }
            }
            let dropped = fates[told..].iter().filter(|(_, fate)| *fate != Fate::Marked);
            let lost: Vec<Packet> = dropped.map(|&(packet, _)| packet).collect();
            let gone = sent.map(|(packet, _)| packet);
            lost.into_iter().chain(gone).for_each(|packet| self.count_off(packet));
            if sent.is_some() {
                return sent;
            }
        }
    }

    fn len(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn list(&self, packets: &mut Vec<Packet>) {
        let active = self.new.iter().chain(&self.old);
        packets.extend(active.flat_map(|&place| self.queues[place].waiting.iter()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::link;
    use crate::{FlowId, Label};

    fn of(flow: u32, seq: u32, size: u16) -> Packet {
        Packet::data(FlowId::new(flow), Label(0), seq, size, 0)
    }

    fn queue(limit: QueueLimit) -> FqCodel {
        FqCodel::new(&FqCodelParameters::default(), &link(limit))
    }

    fn sent(queue: &mut FqCodel, packets: usize) -> Vec<(u32, u32)> {
        let mut fates = Fates::new();
        let sent = (0..packets).map_while(|_| queue.dequeue(Time::ZERO, &mut fates));
        sent.map(|(packet, _)| (packet.flow().number(), packet.seq)).collect()
    }

    fn fill(queue: &mut FqCodel, flow: u32, packets: u32, size: u16) -> Fates {
        let mut fates = Fates::new();
        for seq in 0..packets {
            assert_eq!(queue.enqueue(Time::ZERO, of(flow, seq, size), None, &mut fates), Ok(()));
        }
        fates
    }

    /// Bytes, not packets, are shared: of one flow with 1500 B and one with 500 B a packet of the first goes with three
    /// of the second.
    #[test]
    fn flows_share_by_bytes() {
        let mut queue = queue(QueueLimit::Unlimited);
        fill(&mut queue, 1, 400, 1500);
        fill(&mut queue, 2, 1200, 500);
        let flows = sent(&mut queue, 400);
        let first = flows.iter().filter(|&&(flow, _)| flow == 1).count();
        assert!((98..=102).contains(&first), "{first}");
    }

    /// A flow that begins is served ahead of those that have a queue.
    #[test]
    fn a_sparse_flow_goes_first() {
        let mut queue = queue(QueueLimit::Unlimited);
        fill(&mut queue, 1, 100, 1500);
        fill(&mut queue, 2, 100, 1500);
        sent(&mut queue, 10);
        fill(&mut queue, 3, 1, 100);
        assert_eq!(sent(&mut queue, 1), [(3, 0)]);
    }

    /// Ten places, all taken by flow 1: the eleventh packet, of flow 2, takes half of flow 1's, the oldest.
    #[test]
    fn the_fattest_flow_makes_room() {
        let mut queue = queue(QueueLimit::Packets(10));
        assert_eq!(fill(&mut queue, 1, 10, 1500), []);
        let lost: Vec<u32> =
            fill(&mut queue, 2, 1, 100).iter().map(|(packet, _)| packet.seq).collect();
        assert_eq!(lost, [0, 1, 2, 3, 4]);
        assert_eq!((queue.len(), queue.bytes()), (6, 5 * 1500 + 100));
    }
}
