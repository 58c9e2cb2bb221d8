//! General mode: admission of a packet with all checks, and the choice of the mode for later packets.

use optcp_net::{Backlog, DropReason, NEVER_SENT, Packet, PortId, QueueLimit};
use optcp_units::{Duration, Time};

use super::PortMut;
use super::cold::{Watched, length};
use super::hot::ServiceMode;
use super::sizes::SizeQueue;
use crate::model::Model;
use crate::observe::{Observer, Record};

/// Maximum queueing delay outside general mode, in picoseconds (53 days).
///
/// This bound prevents overflow. The current time, this delay, the longest transmission (65535 B at
/// 1 b/s: 6 days) and the longest propagation delay together fit in 64 bits. Such transmissions end
/// before [`NEVER_SENT`].
const MAX_FAST_WAIT_PS: u64 = 1 << 62;

impl PortMut<'_> {
    /// Reports transmissions before `limit` to the observer.
    pub(in crate::fast) fn report_sent<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        id: PortId,
        limit: Time,
    ) {
        self.cold.report_sent(model, id, limit.as_ps());
    }

    /// Admits a packet, which the port may mark. Returns its arrival time at the far end unless it is lost.
    pub(in crate::fast) fn admit<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        id: PortId,
        packet: &mut Packet,
    ) -> Option<Time> {
        let now = model.now();
        let original = *packet;
        self.cold.report_sent(model, id, now.as_ps() + 1);
        let refused = match self.cold.losses.iter_mut().find_map(|loss| loss.take(original)) {
            None if self.cold.failed_queue.is_some() => {
                self.cold.transmit_to_failed_link(now, packet.size());
                Some(DropReason::LinkDown)
            }
            None => {
                self.choose_service_mode(now.as_ps(), packet.size());
                let fits = self.fits(now.as_ps(), packet.size());
                self.judge(now, fits, packet).err()
            }
            lost => lost,
        };
        if let Some(reason) = refused {
            self.hot.counts.dropped += 1;
            self.cold.dropped_bytes += u64::from(packet.size());
            model.lose(id, original, reason);
            return None;
        }
        let begins = self.hot.free_at.max(now.as_ps());
        let sent = (begins + self.cold.transmission(packet.size())).min(NEVER_SENT.as_ps());
        self.backlog.accept(self.hot, packet.size(), now.as_ps(), sent);
        if sent == NEVER_SENT.as_ps() {
            self.backlog.longest_wait = u64::MAX;
        }
        let arrival = self.cold.arrival(Time::from_ps(self.hot.accept(sent)));
        model.record(Record::Accepted { port: id, packet: original });
        if *packet != original {
            self.cold.marked += 1;
            model.mark(id, *packet);
        }
        if let Some(watched) = &mut self.cold.watched {
            let waited = Duration::from_ps(begins - now.as_ps());
            watched.push_back(Watched { sent, waited, packet: *packet });
            let packets = length(watched);
            model.record(Record::QueueLength { port: id, packets });
        }
        Some(arrival)
    }

    /// Applies the queue discipline to an arriving packet, which it may mark. Returns the reason for a drop as an
    /// error.
    fn judge(&mut self, now: Time, fits: bool, packet: &mut Packet) -> Result<(), DropReason> {
        let Some(discipline) = &mut self.cold.discipline else {
            return if fits { Ok(()) } else { Err(DropReason::QueueFull) };
        };
        let (queue, until) = (&self.backlog.queue, Time::from_ps(self.hot.free_at));
        let (packets, bytes) = (queue.len(), queue.bytes());
        *packet = discipline.judge(&Backlog { now, packets, bytes, until, fits }, *packet)?;
        Ok(())
    }

    /// Chooses the mode for later packets after the arrival of a packet of this size.
    fn choose_service_mode(&mut self, now: u64, size: u16) {
        let cold = &*self.cold;
        match self.hot.service_mode {
            ServiceMode::OneSize | ServiceMode::AnySize if self.hot.is_open_for(size) => {}
            ServiceMode::OneSize => {
                self.leave_one_size_mode(now);
                self.enter_any_size_mode(size);
            }
            ServiceMode::AnySize => self.enter_any_size_mode(size),
            ServiceMode::General if !cold.is_plain() => {}
            ServiceMode::General if cold.has_mixed_sizes || cold.tallied || cold.counted => {
                self.enter_any_size_mode(size);
            }
            ServiceMode::General => self.enter_one_size_mode(size),
        }
    }

    fn enter_one_size_mode(&mut self, size: u16) {
        let transmission = self.cold.transmission(size);
        let packets = match self.cold.config.limit {
            QueueLimit::Unlimited => None,
            QueueLimit::Packets(limit) => Some(u64::from(limit)),
            QueueLimit::Bytes(limit) => Some(limit / u64::from(size)),
        };
        // The packet in transmission occupies a place: with n places, n - 1 whole transmissions may be ahead.
        let max_wait = packets.map_or(Some(MAX_FAST_WAIT_PS), |packets| {
            let ahead = packets.checked_sub(1)?.saturating_mul(transmission);
            (ahead <= MAX_FAST_WAIT_PS).then_some(ahead)
        });
        let Some(max_wait) = max_wait else {
            // No packet of this size fits, or a full queue would exceed `MAX_FAST_WAIT_PS`.
            self.cold.has_mixed_sizes = true;
            self.hot.keeps_queue = true;
            return;
        };
        self.hot.service_mode = ServiceMode::OneSize;
        (self.hot.smallest, self.hot.sizes) = (size, 1);
        (self.hot.transmission, self.hot.per_byte) = (transmission, 0);
        self.hot.free_places = 0;
        self.hot.fills_backlog = false;
        self.hot.max_wait = max_wait;
    }

    /// Extends the range of packet sizes of the mode by this size.
    fn enter_any_size_mode(&mut self, size: u16) {
        let (hot, cold) = (&mut *self.hot, &*self.cold);
        let (smallest, largest) = match hot.service_mode {
            ServiceMode::OneSize | ServiceMode::AnySize => {
                let last = hot.smallest + (hot.sizes - 1);
                (hot.smallest.min(size), last.max(size))
            }
            // A port that was closed and reopened may still hold packets of other sizes.
            ServiceMode::General => (self.backlog.queue)
                .sizes_from(0)
                .fold((size, size), |(least, most), held| (least.min(held), most.max(held))),
        };
        let fits = cold.config.limit.has_room(0, 0, largest);
        let sizes = (largest - smallest).checked_add(1).filter(|_| fits && cold.per_byte > 0);
        let Some(sizes) = sizes else { return hot.reset_service_mode() };
        hot.service_mode = ServiceMode::AnySize;
        (hot.smallest, hot.sizes) = (smallest, sizes);
        (hot.transmission, hot.per_byte) = (0, cold.per_byte);
        hot.free_places = 0;
        hot.fills_backlog = hot.keeps_queue || cold.tallied;
        // The packet in transmission counts in full, and the next one must fit in addition.
        let certain = match cold.config.limit {
            QueueLimit::Unlimited => u64::MAX,
            QueueLimit::Packets(limit) => u64::from(limit).saturating_sub(2) * u64::from(smallest),
            QueueLimit::Bytes(limit) => limit.saturating_sub(2 * u64::from(largest)),
        };
        hot.max_wait = certain.saturating_mul(u64::from(cold.per_byte)).min(MAX_FAST_WAIT_PS);
    }

    /// Replaces the queue implied by the busy time by explicit packet sizes.
    pub(super) fn leave_one_size_mode(&mut self, now: u64) {
        self.cold.has_mixed_sizes = true;
        if self.cold.config.limit != QueueLimit::Unlimited {
            let (free_at, transmission) = (self.hot.free_at, self.hot.transmission);
            let ahead = free_at.saturating_sub(now).div_ceil(transmission);
            let sizes = (0..ahead).map(|_| self.hot.smallest).collect();
            let behind_first = ahead.saturating_sub(1) * transmission;
            self.backlog.queue = SizeQueue::of(sizes, free_at.saturating_sub(behind_first));
            self.hot.keeps_queue = true;
        }
    }

    /// Returns whether a packet of this size fits in the queue.
    fn fits(&mut self, now: u64, size: u16) -> bool {
        let limit = self.cold.config.limit;
        if self.hot.service_mode == ServiceMode::OneSize {
            return limit == QueueLimit::Unlimited || self.hot.wait(now) <= self.hot.max_wait;
        }
        self.remove_sent(now);
        let queue = &self.backlog.queue;
        if self.hot.service_mode == ServiceMode::AnySize {
            let largest = (self.hot.smallest + (self.hot.sizes - 1)).max(1);
            let transmission = u64::from(self.hot.per_byte) * u64::from(largest);
            let fast_limit = MAX_FAST_WAIT_PS.saturating_sub(self.hot.wait(now)) / transmission;
            let free_places = limit.room(queue.len(), queue.bytes(), largest).min(fast_limit);
            self.hot.free_places = u16::try_from(free_places).unwrap_or(u16::MAX);
        }
        limit.has_room(queue.len(), queue.bytes(), size)
    }

    /// Removes packets that have been sent by `now`.
    #[inline]
    pub(super) fn remove_sent(&mut self, now: u64) {
        let (queue, cold) = (&mut self.backlog.queue, &mut *self.cold);
        let sent = queue.remove_sent(now, |size| cold.transmission(size));
        cold.jitters.drain(..sent.min(cold.jitters.len()));
    }
}
