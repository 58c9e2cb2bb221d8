//! What a packet that is looked at more closely finds, and which lane is opened for those behind it.

use optcp_net::{Backlog, DropReason, NEVER_SENT, Packet, PortId, QueueLimit};
use optcp_units::{Duration, Time};

use super::PortMut;
use super::cold::{Watched, length};
use super::hot::ServiceMode;
use super::sizes::SizeQueue;
use crate::model::Model;
use crate::observe::{Observer, Record};

/// Packets that wait longer, 53 days, take the lane for what is rare: without them nothing overflows that is
/// added up for a packet. An instant, this, the longest transmission (a packet of 65535 B at 1 b/s: 6 days) and
/// the longest delay fit into 64 bits, and what is sent is sent before [`NEVER_SENT`].
const MAX_FAST_WAIT_PS: u64 = 1 << 62;

impl PortMut<'_> {
    /// Tells the observer of what has been sent before `limit`.
    pub(in crate::fast) fn report_sent<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        id: PortId,
        limit: Time,
    ) {
        self.cold.report_sent(model, id, limit.as_ps());
    }

    /// A packet comes to the port: when it arrives at the far end, unless it is lost. It may have been marked then.
    pub(in crate::fast) fn admit<O: Observer>(
        &mut self,
        model: &mut Model<O>,
        id: PortId,
        packet: &mut Packet,
    ) -> Option<Time> {
        let now = model.now();
        let came = *packet;
        self.cold.report_sent(model, id, now.as_ps() + 1);
        let refused = match self.cold.losses.iter_mut().find_map(|loss| loss.take(came)) {
            None if self.cold.dark.is_some() => {
                self.cold.transmit_to_failed_link(now, packet.size());
                Some(DropReason::LinkDown)
            }
            None => {
                self.choose_lane(now.as_ps(), packet.size());
                let fits = self.fits(now.as_ps(), packet.size());
                self.judge(now, fits, packet).err()
            }
            lost => lost,
        };
        if let Some(reason) = refused {
            self.hot.counts.dropped += 1;
            self.cold.dropped_bytes += u64::from(packet.size());
            model.lose(id, came, reason);
            return None;
        }
        let begins = self.hot.free_at.max(now.as_ps());
        let sent = (begins + self.cold.transmission(packet.size())).min(NEVER_SENT.as_ps());
        self.backlog.accept(self.hot, packet.size(), now.as_ps(), sent);
        if sent == NEVER_SENT.as_ps() {
            self.backlog.longest_wait = u64::MAX;
        }
        let arrival = self.cold.arrival(Time::from_ps(self.hot.accept(sent)));
        model.record(Record::Accepted { port: id, packet: came });
        if *packet != came {
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

    /// The discipline looks at a packet that comes, and may mark it: why it is lost, if it is.
    fn judge(&mut self, now: Time, fits: bool, packet: &mut Packet) -> Result<(), DropReason> {
        let Some(discipline) = &mut self.cold.discipline else {
            return if fits { Ok(()) } else { Err(DropReason::QueueFull) };
        };
        let (queue, until) = (&self.backlog.queue, Time::from_ps(self.hot.free_at));
        let (packets, bytes) = (queue.len(), queue.bytes());
        *packet = discipline.judge(&Backlog { now, packets, bytes, until, fits }, *packet)?;
        Ok(())
    }

    /// Decides which lane packets take from now on, of which one of this size has come.
    fn choose_lane(&mut self, now: u64, size: u16) {
        let cold = &*self.cold;
        match self.hot.service_mode {
            ServiceMode::OneSize | ServiceMode::AnySize if self.hot.is_open_for(size) => {}
            ServiceMode::OneSize => {
                self.leave_lane_of_one_size(now);
                self.open_lane_of_any_size(size);
            }
            ServiceMode::AnySize => self.open_lane_of_any_size(size),
            ServiceMode::General if !cold.is_plain() => {}
            ServiceMode::General if cold.mixed || cold.tallied || cold.counted => {
                self.open_lane_of_any_size(size);
            }
            ServiceMode::General => self.open_lane_of_one_size(size),
        }
    }

    fn open_lane_of_one_size(&mut self, size: u16) {
        let transmission = self.cold.transmission(size);
        let packets = match self.cold.config.limit {
            QueueLimit::Unlimited => None,
            QueueLimit::Packets(limit) => Some(u64::from(limit)),
            QueueLimit::Bytes(limit) => Some(limit / u64::from(size)),
        };
        // The packet in transmission counts: with n places, n - 1 whole transmissions may be ahead.
        let longest = packets.map_or(Some(MAX_FAST_WAIT_PS), |packets| {
            let ahead = packets.checked_sub(1)?.saturating_mul(transmission);
            (ahead <= MAX_FAST_WAIT_PS).then_some(ahead)
        });
        let Some(longest) = longest else {
            // Not even one packet of this size fits, or more than time can tell.
            self.cold.mixed = true;
            self.hot.keeps = true;
            return;
        };
        self.hot.service_mode = ServiceMode::OneSize;
        (self.hot.smallest, self.hot.sizes) = (size, 1);
        (self.hot.transmission, self.hot.per_byte) = (transmission, 0);
        self.hot.room = 0;
        self.hot.fills_backlog = false;
        self.hot.longest = longest;
    }

    /// Opens the lane for packets of this size beside those for which one is open already.
    fn open_lane_of_any_size(&mut self, size: u16) {
        let (hot, cold) = (&mut *self.hot, &*self.cold);
        let (smallest, largest) = match hot.service_mode {
            ServiceMode::OneSize | ServiceMode::AnySize => {
                let last = hot.smallest + (hot.sizes - 1);
                (hot.smallest.min(size), last.max(size))
            }
            // A port that was closed and opened again still holds others.
            ServiceMode::General => (self.backlog.queue)
                .sizes_from(0)
                .fold((size, size), |(least, most), held| (least.min(held), most.max(held))),
        };
        let fits = cold.config.limit.has_room(0, 0, largest);
        let sizes = (largest - smallest).checked_add(1).filter(|_| fits && cold.per_byte > 0);
        let Some(sizes) = sizes else { return hot.leave_lanes() };
        hot.service_mode = ServiceMode::AnySize;
        (hot.smallest, hot.sizes) = (smallest, sizes);
        (hot.transmission, hot.per_byte) = (0, cold.per_byte);
        hot.room = 0;
        hot.fills_backlog = hot.keeps || cold.tallied;
        // The packet in transmission is counted whole, and the next one must fit beside it.
        let surely = match cold.config.limit {
            QueueLimit::Unlimited => u64::MAX,
            QueueLimit::Packets(limit) => u64::from(limit).saturating_sub(2) * u64::from(smallest),
            QueueLimit::Bytes(limit) => limit.saturating_sub(2 * u64::from(largest)),
        };
        hot.longest = surely.saturating_mul(u64::from(cold.per_byte)).min(MAX_FAST_WAIT_PS);
    }

    /// What the transmitter's time has told so far is kept packet by packet from now on.
    pub(super) fn leave_lane_of_one_size(&mut self, now: u64) {
        self.cold.mixed = true;
        if self.cold.config.limit != QueueLimit::Unlimited {
            let (free_at, transmission) = (self.hot.free_at, self.hot.transmission);
            let ahead = free_at.saturating_sub(now).div_ceil(transmission);
            let sizes = (0..ahead).map(|_| self.hot.smallest).collect();
            let behind_first = ahead.saturating_sub(1) * transmission;
            self.backlog.queue = SizeQueue::of(sizes, free_at.saturating_sub(behind_first));
            self.hot.keeps = true;
        }
    }

    /// Whether a packet of this size has a place in the queue.
    fn fits(&mut self, now: u64, size: u16) -> bool {
        let limit = self.cold.config.limit;
        if self.hot.service_mode == ServiceMode::OneSize {
            return limit == QueueLimit::Unlimited || self.hot.waits(now) <= self.hot.longest;
        }
        self.forget_sent(now);
        let queue = &self.backlog.queue;
        if self.hot.service_mode == ServiceMode::AnySize {
            let largest = (self.hot.smallest + (self.hot.sizes - 1)).max(1);
            let transmission = u64::from(self.hot.per_byte) * u64::from(largest);
            let rare = MAX_FAST_WAIT_PS.saturating_sub(self.hot.waits(now)) / transmission;
            let room = limit.room(queue.len(), queue.bytes(), largest).min(rare);
            self.hot.room = u16::try_from(room).unwrap_or(u16::MAX);
        }
        limit.has_room(queue.len(), queue.bytes(), size)
    }

    /// Forgets what has been sent at `now` or before.
    #[inline]
    pub(super) fn forget_sent(&mut self, now: u64) {
        let (queue, cold) = (&mut self.backlog.queue, &mut *self.cold);
        let sent = queue.forget_sent(now, |size| cold.transmission(size));
        cold.jitters.drain(..sent.min(cold.jitters.len()));
    }
}
