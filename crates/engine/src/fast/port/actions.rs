//! Control actions on a port.

use std::collections::VecDeque;

use optcp_des::Due;
use optcp_net::{DropReason, FailedLinkQueue, Packet};
use optcp_units::{Duration, Time};

use super::PortMut;
use super::hot::ServiceMode;
use super::reports::Ends;
use super::sizes::SizeQueue;

impl PortMut<'_> {
    /// Takes the link out of service at `now`. `pending` are the packets behind the port in order of arrival.
    ///
    /// Calls `lost` for each of them and for the contents of a stepped port, packets on the link first.
    pub(in crate::fast) fn fail(
        &mut self,
        now: Time,
        pending: &[Due<Packet>],
        mut lost: impl FnMut(Packet, DropReason),
    ) {
        if let Some(stepped) = &mut self.cold.stepped {
            return stepped.fail(now, pending.iter().map(|due| due.item), lost);
        }
        if self.cold.tallied {
            self.backlog.byte_time -= self.as_ref().byte_time_after(now, pending.iter().copied());
            self.cold.dropped_bytes +=
                pending.iter().map(|due| u64::from(due.item.size())).sum::<u64>();
        }
        let port = self.as_ref();
        let ends = port.ends();
        let (queued, under_way): (Vec<&Due<Packet>>, Vec<&Due<Packet>>) =
            pending.iter().partition(|due| port.sent_at(&ends, due) >= now.as_ps());
        let queued = port.in_order(queued);
        self.start_failed_queue(&ends, &queued);
        under_way.iter().for_each(|due| lost(due.item, DropReason::LostInFlight));
        queued.iter().for_each(|due| lost(due.item, DropReason::QueueFlushed));
        self.hot.counts.dropped += pending.len() as u64;
        self.hot.free_at = 0;
        self.hot.reset_service_mode();
        let cold = &mut *self.cold;
        cold.last_arrival = None;
        // Packets that were not sent have used no random numbers.
        let first = ends.and_then(|ends| ends.iter().position(|&end| end >= now.as_ps()));
        if let Some(jitter) = first.and_then(|first| cold.jitters.get(first)) {
            cold.config.jitter = Some(jitter.clone());
        }
        cold.jitters.clear();
        self.backlog.queue.clear();
        if let Some(discipline) = &mut cold.discipline {
            discipline.restart();
        }
        cold.watched.iter_mut().for_each(VecDeque::clear);
    }

    /// Changes the propagation delay for transmissions that begin at `now` or later.
    ///
    /// `pending` are the packets behind the port in order of arrival. Calls `moved` for each whose arrival time
    /// changes.
    pub(in crate::fast) fn set_delay(
        &mut self,
        now: Time,
        delay: Duration,
        pending: &[Due<Packet>],
        mut moved: impl FnMut(u32, Time),
    ) {
        if let Some(stepped) = &mut self.cold.stepped {
            return stepped.set_delay(delay);
        }
        let port = self.as_ref();
        let in_order = port.in_order(pending);
        if !self.hot.keeps_queue {
            let ends = port.ends();
            let wait = |due: &&&Due<Packet>| port.sent_at(&ends, due) >= now.as_ps();
            let first = in_order.iter().find(wait).map_or(0, |due| port.sent_at(&ends, due));
            let sizes = in_order.iter().filter(wait).map(|due| due.item.size()).collect();
            self.backlog.queue = SizeQueue::of(sizes, first);
            self.hot.keeps_queue = true;
        }
        self.hot.reset_service_mode();
        self.hot.delay = delay.as_ps();
        let (queue, cold) = (&self.backlog.queue, &mut *self.cold);
        cold.delay_changed = true;
        let ends = queue.ends(|size| cold.transmission(size));
        let Some(mut first) = ends.iter().position(|&end| end >= now.as_ps()) else { return };
        // A packet in transmission keeps its delay.
        let size = queue.sizes_from(first).next().unwrap_or(0);
        let begun = ends[first] - cold.transmission(size);
        first += usize::from(begun < now.as_ps());
        let changed = ends.len() - first;
        if let Some(jitter) = cold.jitters.get(first) {
            cold.config.jitter = Some(jitter.clone());
            cold.jitters.truncate(first);
        }
        let (before, after) = in_order.split_at(in_order.len() - changed);
        cold.last_arrival = before.iter().map(|due| due.at).max();
        for (due, &end) in after.iter().zip(&ends[first..]) {
            moved(due.ordinal, cold.arrival(Time::from_ps(end) + delay));
        }
    }

    /// Takes the link out of service administratively: packets that the port holds are still sent and arrive. `pending`
    /// are the packets behind the port.
    pub(in crate::fast) fn close(&mut self, now: Time, pending: &[Due<Packet>]) {
        if let Some(stepped) = &mut self.cold.stepped {
            return stepped.close();
        }
        let port = self.as_ref();
        let ends = port.ends();
        let queued = pending.iter().filter(|due| port.sent_at(&ends, due) >= now.as_ps());
        let queued = port.in_order(queued);
        self.start_failed_queue(&ends, &queued);
        if self.hot.service_mode == ServiceMode::OneSize {
            // Actions precede other events, so a transmission that ends now is still in progress.
            self.leave_one_size_mode(now.as_ps().saturating_sub(1));
        }
        self.hot.reset_service_mode();
    }

    /// Continues to serve the queue without a link. `queued` are the queued packets, oldest first; `ends` as in
    /// [`PortRef::ends`](super::PortRef).
    fn start_failed_queue(&mut self, ends: &Ends, queued: &[&Due<Packet>]) {
        // A second failure changes nothing.
        if self.cold.failed_queue.is_none() {
            let sizes = queued.iter().map(|due| due.item.size());
            let transmission = |size| Duration::from_ps(self.cold.transmission(size));
            let first_end = queued.first().map_or(0, |due| self.as_ref().sent_at(ends, due));
            let ends = (Time::from_ps(first_end), Time::from_ps(self.hot.free_at));
            let failed_queue = FailedLinkQueue::new(ends, sizes, transmission);
            self.cold.failed_queue = Some(Box::new(failed_queue));
        }
    }

    /// Puts the link back into service.
    pub(in crate::fast) fn restore(&mut self) {
        match &mut self.cold.stepped {
            Some(stepped) => stepped.restore(),
            None => self.cold.failed_queue = None,
        }
    }
}
