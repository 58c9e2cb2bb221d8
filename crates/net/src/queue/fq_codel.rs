//! Fair queueing with controlled delay (FQ-CoDel).

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

/// FQ-CoDel: one CoDel queue per flow, served in turn by bytes, new flows first.
///
/// # Model
/// Packets enter one of `flows` queues by a hash of flow and direction. Queues are served by deficit round robin with a
/// quantum; a queue that was empty is served before others until its quantum is used. If the limit is exceeded, up to
/// 64 packets, at most half of them, are dropped from the head of the queue with most bytes.
///
/// # References
/// RFC 8290, section 4; CoDel as in [`Codel`](super::codel::Codel).
///
/// # Limitations
/// - The limit counts the packet in transmission.
/// - The hash is SplitMix64 of flow and direction, with a seed per port that each run draws.
/// - CoDel never drops the last `mtu` bytes of each queue, as RFC 8290 applies RFC 8289. Linux does so only if no other
///   queue has packets.
#[derive(Clone, Debug)]
pub struct FqCodel {
    parameters: CodelParameters,
    quantum: i64,
    limit: QueueLimit,
    seed: u64,
    /// Place in `queues` by queue number, after its first packet.
    places: Vec<Option<NonZeroU32>>,
    queues: Vec<FlowQueue>,
    /// Places of queues that have just become active, and of other queues with packets now or one turn ago.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    packets: usize,
    bytes: u64,
}

parameters! {
    /// Parameters of [`FqCodel`].
    pub struct FqCodelParameters {
        /// Acceptable queueing delay.
        target: Duration = Duration::from_ms(5), "RFC 8290 section 5.2.2";
        /// Time for which the delay must exceed `target` before the first drop.
        interval: Duration = Duration::from_ms(100), "RFC 8290 section 5.2.1";
        /// Queue length in bytes up to which no packet is dropped.
        mtu: Bytes = Bytes::new(1500), "RFC 8289 section 5.2: the MTU of the link";
        /// Bytes per turn of a queue.
        quantum: Bytes = Bytes::new(1514), "RFC 8290 section 5.2.4";
        /// Number of queues.
        flows: u32 = 1024, "RFC 8290 section 5.2.5";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = true, "RFC 8290 section 5.2.6";
        /// Queueing delay above which ECN-capable packets are marked.
        ce_threshold: Option<Duration> = None, "RFC 8290 section 5.2.7: off";
    }
    wrong |it| {
        "interval" if it.interval == Duration::ZERO => "above zero";
        "target" if it.target == Duration::ZERO => "above zero";
        "quantum" if it.quantum == Bytes::ZERO => "above zero";
        "flows" if it.flows == 0 || it.flows > 65_536 => "from 1 to 65536";
    }
}

/// Maximum number of packets dropped at once.
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
    /// Returns the place of a packet's queue.
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

    /// Drops from the head of the queue with most bytes; of several such queues, the lowest-numbered one.
    fn make_room(&mut self, fates: &mut Fates) {
        let bytes_and_number = |&place: &usize| {
            let queue = &self.queues[place];
            (queue.waiting.bytes(), Reverse(queue.number))
        };
        let largest = (0..self.queues.len()).max_by_key(bytes_and_number);
        let Some(largest) = largest else { return };
        let half = self.queues[largest].waiting.len().div_ceil(2);
        for _ in 0..half.min(BATCH) {
            let Some((packet, _)) = self.queues[largest].waiting.pop() else { return };
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
            let reported = fates.len();
            let sent = queue.law.dequeue(now, &self.parameters, &mut queue.waiting, fates);
            if let Some((packet, _)) = sent {
                queue.deficit -= i64::from(packet.size());
            } else {
                list.pop_front();
                // A new queue moves to the end of the old ones once. Otherwise it could become new again immediately
                // and starve them (RFC 8290 section 4.2).
                if fresh && !self.old.is_empty() {
                    self.old.push_back(place);
                } else {
                    queue.active = false;
                }
            }
            let dropped = fates[reported..].iter().filter(|(_, fate)| *fate != Fate::Marked);
            let lost: Vec<Packet> = dropped.map(|&(packet, _)| packet).collect();
            let departed = sent.map(|(packet, _)| packet);
            lost.into_iter().chain(departed).for_each(|packet| self.count_off(packet));
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

    fn packet_of(flow: u32, seq: u32, size: u16) -> Packet {
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
            assert_eq!(
                queue.enqueue(Time::ZERO, packet_of(flow, seq, size), None, &mut fates),
                Ok(())
            );
        }
        fates
    }

    /// Bytes are shared, not packets: for each packet of a flow with 1500 B, a flow with 500 B sends three.
    #[test]
    fn flows_share_link_by_bytes() {
        let mut queue = queue(QueueLimit::Unlimited);
        fill(&mut queue, 1, 400, 1500);
        fill(&mut queue, 2, 1200, 500);
        let flows = sent(&mut queue, 400);
        let first = flows.iter().filter(|&&(flow, _)| flow == 1).count();
        assert!((98..=102).contains(&first), "{first}");
    }

    /// A new flow is served before flows with a queue.
    #[test]
    fn new_flow_is_served_first() {
        let mut queue = queue(QueueLimit::Unlimited);
        fill(&mut queue, 1, 100, 1500);
        fill(&mut queue, 2, 100, 1500);
        sent(&mut queue, 10);
        fill(&mut queue, 3, 1, 100);
        assert_eq!(sent(&mut queue, 1), [(3, 0)]);
    }

    /// All ten places hold packets of flow 1. The eleventh packet, of flow 2, drops the oldest half of them.
    #[test]
    fn largest_flow_loses_packets_when_queue_is_full() {
        let mut queue = queue(QueueLimit::Packets(10));
        assert_eq!(fill(&mut queue, 1, 10, 1500), []);
        let lost: Vec<u32> =
            fill(&mut queue, 2, 1, 100).iter().map(|(packet, _)| packet.seq).collect();
        assert_eq!(lost, [0, 1, 2, 3, 4]);
        assert_eq!((queue.len(), queue.bytes()), (6, 5 * 1500 + 100));
    }
}
