//! Queries about a port and the packets in it.

use optcp_des::Due;
use optcp_net::{Packet, Tally};
use optcp_units::Time;

use super::{PortMut, PortRef};
use crate::PortState;

/// Departure times of the packets in a queue; `None` if arrival times determine them.
pub(super) type Ends = Option<Vec<u64>>;

impl PortRef<'_> {
    /// Returns how many packets were accepted after this one.
    fn age(&self, ordinal: u32) -> u32 {
        self.hot.last_ordinal().wrapping_sub(ordinal)
    }

    /// Returns the packets in the port, oldest first.
    pub(super) fn in_order<'a>(
        &self,
        pending: impl IntoIterator<Item = &'a Due<Packet>>,
    ) -> Vec<&'a Due<Packet>> {
        let mut in_order: Vec<&Due<Packet>> = pending.into_iter().collect();
        in_order.sort_unstable_by_key(|due| std::cmp::Reverse(self.age(due.ordinal)));
        in_order
    }

    /// Returns the departure times of queued packets if arrival times do not determine them.
    pub(super) fn ends(&self) -> Ends {
        let (queue, cold) = (&self.backlog.queue, self.cold);
        cold.arrivals_vary().then(|| queue.ends(|size| cold.transmission(size)))
    }

    /// Returns the departure time of a packet; zero if it left long ago.
    pub(super) fn sent_at(&self, ends: &Ends, due: &Due<Packet>) -> u64 {
        match ends {
            None => due.at.as_ps() - self.hot.delay,
            Some(ends) => ends
                .len()
                .checked_sub(self.age(due.ordinal) as usize + 1)
                .map_or(0, |place| ends[place]),
        }
    }

    /// Returns whether a packet may still be queued at `now`, without exact computation.
    pub(in crate::fast) fn may_hold(&self, due: &Due<Packet>, now: Time) -> bool {
        match self.cold.stepped {
            Some(_) => false,
            None => self.cold.arrivals_vary() || due.at.as_ps() - self.hot.delay >= now.as_ps(),
        }
    }

    /// Returns the queue length: the packets of `pending` (behind the port) that were not sent before `now`.
    pub(in crate::fast) fn queue_length(
        &self,
        now: Time,
        pending: impl Iterator<Item = Due<Packet>>,
    ) -> u64 {
        if let Some(stepped) = &self.cold.stepped {
            return stepped.queue_length() as u64;
        }
        let ends = self.ends();
        pending.filter(|due| self.sent_at(&ends, due) >= now.as_ps()).count() as u64
    }

    /// Returns the tally until `now`. `pending` are the packets behind the port.
    pub(in crate::fast) fn tally(
        &self,
        now: Time,
        pending: impl Iterator<Item = Due<Packet>>,
    ) -> Tally {
        if let Some(stepped) = &self.cold.stepped {
            return stepped.tally(now);
        }
        Tally {
            packets: self.hot.counts.accepted,
            bytes: self.backlog.bytes,
            dropped: self.hot.counts.dropped,
            dropped_bytes: self.cold.dropped_bytes,
            marked: self.cold.marked,
            byte_time: self.backlog.byte_time - self.byte_time_after(now, pending),
            longest: self.backlog.longest_wait,
        }
    }

    /// Returns the state at `now`. `pending` are the packets behind the port.
    pub(in crate::fast) fn state(&self, now: Time, pending: &[Due<Packet>]) -> PortState {
        if let Some(stepped) = &self.cold.stepped {
            return PortState::of_port(stepped, now);
        }
        let ends = self.ends();
        let queued = || pending.iter().filter(|due| self.sent_at(&ends, due) >= now.as_ps());
        PortState {
            tally: self.tally(now, pending.iter().copied()),
            queue_packets: queued().count() as u64,
            queue_bytes: queued().map(|due| u64::from(due.item.size())).sum(),
            rate: self.rate(),
            is_up: self.cold.failed_queue.is_none(),
        }
    }

    /// Returns the part of `byte_time` after `now`.
    pub(super) fn byte_time_after(
        &self,
        now: Time,
        pending: impl Iterator<Item = Due<Packet>>,
    ) -> u128 {
        let ends = self.ends();
        let after = |due: &Due<Packet>| self.sent_at(&ends, due).saturating_sub(now.as_ps());
        pending.map(|due| u128::from(due.item.size()) * u128::from(after(&due))).sum()
    }

    /// Returns whether a packet that arrives now or later could overtake one of `pending` because of a delay change.
    pub(in crate::fast) fn may_overtake(
        &self,
        now: Time,
        pending: impl Iterator<Item = Due<Packet>>,
    ) -> bool {
        if !self.cold.delay_changed {
            return false;
        }
        let pending: Vec<Due<Packet>> = pending.collect();
        let pending = self.in_order(&pending);
        let next = self.hot.free_at.max(now.as_ps()) + self.hot.delay;
        !pending.is_sorted_by_key(|due| due.at)
            || pending.last().is_some_and(|last| last.at.as_ps() > next)
    }
}

impl PortMut<'_> {
    /// Returns the current queue length from the node's view, where it is counted.
    #[inline]
    pub(in crate::fast) fn packets(&mut self, now: Time) -> u64 {
        if let Some(stepped) = &self.cold.stepped {
            return stepped.packets(now) as u64;
        }
        if let Some(failed_queue) = &self.cold.failed_queue {
            return failed_queue.packets(now) as u64;
        }
        self.remove_sent(now.as_ps());
        self.backlog.queue.len() as u64
    }
}
