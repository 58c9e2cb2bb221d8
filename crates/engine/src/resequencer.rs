//! Resequencing of packets that travel two paths: the first copy of each packet passes, in order.
//!
//! # Model
//! The bridge numbers packets. The node where the paths meet passes the packet with the next number, and discards copies
//! of packets that have passed. Other packets wait in a buffer, each for at most a given time. When this time ends, all
//! packets up to this one pass. A missing packet that arrives later passes at once.
//!
//! # References
//! RFC 9550 (packet ordering function); RFC 8655 (replication and elimination); IEEE 802.1CB.
//!
//! # Limitations
//! The buffer is unlimited; its maximum is reported. Numbers take no bytes in packets.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use optcp_net::{DropReason, Packet, PortId, SelectorId};
use optcp_units::Time;

use crate::blueprint::ResequencerSpec;
use crate::model::{Model, Onward};
use crate::observe::Observer;

/// Bound of the set of missing packets. Older ones are considered lost.
const MOST_MISSING: usize = 1 << 16;

/// Maximum use of a resequencing buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferUse {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Packet, and the port over which it arrived.
type Arrived = (Packet, Option<PortId>);

/// State of a resequencer.
#[derive(Clone, Debug)]
pub(crate) struct Resequencer {
    spec: ResequencerSpec,
    /// Number of packets at the bridge so far.
    sent: u64,
    /// Next number to pass.
    next: u64,
    held: BTreeMap<u64, Arrived>,
    /// Ends of the waiting times, with the numbers of the packets, in order. Some packets have passed.
    ends: VecDeque<(Time, u64)>,
    missing: BTreeSet<u64>,
    held_bytes: u64,
    most: BufferUse,
    /// Packets that pass now, in order.
    passing: Vec<Arrived>,
    /// Time of its entry in the event queue.
    timer_entry: Time,
}

impl Resequencer {
    pub(crate) fn new(spec: ResequencerSpec) -> Self {
        Resequencer {
            spec,
            sent: 0,
            next: 0,
            held: BTreeMap::new(),
            ends: VecDeque::new(),
            missing: BTreeSet::new(),
            held_bytes: 0,
            most: BufferUse::default(),
            passing: Vec::new(),
            timer_entry: Time::MAX,
        }
    }

    /// Handles a packet with a number. Returns `false` if it is another copy of a packet that has arrived.
    fn arrive(&mut self, number: u64, packet: Packet, from: Option<PortId>, now: Time) -> bool {
        if number < self.next {
            let passes = self.missing.remove(&number);
            self.passing.extend(passes.then_some((packet, from)));
            return passes;
        }
        if number > self.next {
            if self.held.contains_key(&number) {
                return false;
            }
            self.held.insert(number, (packet, from));
            self.ends.push_back((now + self.spec.wait, number));
            self.held_bytes += u64::from(packet.size());
            let packets = self.held.len() as u64;
            self.most.packets = self.most.packets.max(packets);
            self.most.bytes = self.most.bytes.max(self.held_bytes);
            return true;
        }
        self.passing.push((packet, from));
        self.next += 1;
        self.pass_consecutive();
        true
    }

    fn pass_consecutive(&mut self) {
        while let Some(held) = self.held.remove(&self.next) {
            self.held_bytes -= u64::from(held.0.size());
            self.passing.push(held);
            self.next += 1;
        }
    }

    /// Passes all packets up to the last one whose waiting time is over.
    fn expire(&mut self, now: Time) {
        let mut last = None;
        while let Some((_, number)) = self.ends.front().copied().filter(|&(end, _)| end <= now) {
            last = last.max(Some(number).filter(|number| self.held.contains_key(number)));
            self.ends.pop_front();
        }
        let Some(last) = last else { return };
        while self.next <= last {
            self.pass_consecutive();
            if self.next <= last {
                self.missing.insert(self.next);
                self.next += 1;
            }
        }
        self.pass_consecutive();
        while self.missing.len() > MOST_MISSING {
            self.missing.pop_first();
        }
    }

    /// Returns the time at which the waiting time of a packet ends next.
    fn due(&mut self) -> Option<Time> {
        while let Some(&(end, number)) = self.ends.front() {
            if self.held.contains_key(&number) {
                return Some(end);
            }
            self.ends.pop_front();
        }
        None
    }
}

impl<O: Observer> Model<O> {
    /// Returns the resequencer of a selector.
    pub(crate) fn resequencer_at(&self, selector: SelectorId) -> Option<u32> {
        let of_selector = |one: &Resequencer| one.spec.selector == selector;
        (0..).zip(&self.resequencers).find(|(_, one)| of_selector(one)).map(|(number, _)| number)
    }

    /// Numbers a packet that a bridge copies, if its copies are put in order.
    pub(crate) fn number_packet(&mut self, bridge: u32, copy: Packet) {
        let mut resequencers = (0..).zip(&mut self.resequencers);
        let Some((which, one)) = resequencers.find(|(_, one)| one.spec.bridge == bridge) else {
            return;
        };
        let number = one.sent;
        one.sent += 1;
        self.in_flight.set_sequence(copy, (which, number));
    }

    /// Handles a packet at a resequencer. `packet` has the label behind it.
    pub(crate) fn at_resequencer(
        &mut self,
        which: u32,
        packet: Packet,
        from: Option<PortId>,
        port: PortId,
    ) -> Onward {
        let now = self.now();
        let number = self.in_flight.sequence(packet).filter(|sequence| sequence.0 == which);
        let one = &mut self.resequencers[which as usize];
        match number {
            Some((_, number)) if one.arrive(number, packet, from, now) => Onward::Released(which),
            _ => {
                self.lose(port, packet, DropReason::NotSelected);
                Onward::Lost
            }
        }
    }

    /// Returns the packets that pass now, in order.
    pub(crate) fn take_passing(&mut self, which: u32) -> Vec<Arrived> {
        std::mem::take(&mut self.resequencers[which as usize].passing)
    }

    /// Returns the time of a resequencer's next event, unless an earlier or equal one exists.
    pub(crate) fn next_resequencing(&mut self, which: u32) -> Option<Time> {
        let one = &mut self.resequencers[which as usize];
        let due = one.due().filter(|&due| due < one.timer_entry)?;
        one.timer_entry = due;
        Some(due)
    }

    /// Passes the packets that have waited for long enough. Returns `false` if the event is obsolete.
    pub(crate) fn expire_resequencer(&mut self, which: u32) -> bool {
        let now = self.now();
        let one = &mut self.resequencers[which as usize];
        if one.timer_entry != now {
            return false;
        }
        one.timer_entry = Time::MAX;
        one.expire(now);
        true
    }

    /// Returns the packets in resequencing buffers.
    pub(crate) fn in_resequencers(&self) -> impl Iterator<Item = Packet> {
        self.resequencers.iter().flat_map(|one| one.held.values().map(|&(packet, _)| packet))
    }

    /// Returns the maximum use of each buffer.
    pub(crate) fn buffer_uses(&self) -> Vec<BufferUse> {
        self.resequencers.iter().map(|one| one.most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optcp_net::{FlowId, Label};
    use optcp_units::Duration;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn resequencer() -> Resequencer {
        let wait = Duration::from_ms(10);
        Resequencer::new(ResequencerSpec { bridge: 0, selector: 0, wait })
    }

    /// Returns the sequence numbers of the packets that pass when these numbers arrive at these times in ms.
    fn passed(one: &mut Resequencer, arrivals: &[(u64, u64)]) -> Vec<u32> {
        for &(ms, number) in arrivals {
            let seq = u32::try_from(number).expect("a small number");
            let packet = Packet::ack(FlowId::at(0), Label(0), seq, 40, 0);
            one.expire(at(ms));
            one.arrive(number, packet, None, at(ms));
        }
        std::mem::take(&mut one.passing).iter().map(|(packet, _)| packet.seq).collect()
    }

    #[test]
    fn first_copy_of_each_packet_passes_in_order() {
        let mut one = resequencer();
        assert_eq!(passed(&mut one, &[(0, 0), (1, 1), (2, 0), (3, 2), (3, 1)]), [0, 1, 2]);
        assert_eq!(passed(&mut one, &[(4, 5), (4, 4), (5, 5), (6, 3), (7, 4)]), [3, 4, 5]);
        assert_eq!(one.most, BufferUse { packets: 2, bytes: 80 });
    }

    /// Packet 1 is lost on both paths: packet 2 waits from 1 ms to 11 ms. Packet 4 arrives at 8 ms.
    #[test]
    fn packets_wait_no_longer_than_given() {
        let mut one = resequencer();
        assert_eq!(passed(&mut one, &[(0, 0), (1, 2), (8, 4)]), [0]);
        one.expire(at(10));
        assert_eq!(passed(&mut one, &[]), [0_u32; 0]);
        one.expire(at(11));
        assert_eq!(passed(&mut one, &[]), [2]);
        assert_eq!(one.due(), Some(at(18)));
        assert_eq!(passed(&mut one, &[(12, 3)]), [3, 4]);
    }

    #[test]
    fn missing_packet_passes_late_and_once() {
        let mut one = resequencer();
        assert_eq!(passed(&mut one, &[(0, 0), (1, 2), (11, 3), (12, 1), (13, 1)]), [0, 2, 3, 1]);
    }
}
