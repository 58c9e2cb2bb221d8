//! A port by arithmetic: when a packet comes it is known at once when it will have been sent.
//!
//! What waits in the queue is never listed. The transmitter is busy until an instant, which tells how much
//! waits; where that is not enough (packets of several sizes under a limit, a delay that varies), their
//! sizes are kept beside. There are three lanes: one for packets of the port's only size, one for packets
//! of any size, and one for what is rare: losses, jitter, queues that are watched, links that are down.

use std::collections::VecDeque;

use optcp_des::Due;
use optcp_net::{DarkQueue, DropReason, NEVER_SENT, Packet, PortCounts, PortId, QueueLimit, Tally};
use optcp_units::{Duration, Time};

use super::details::Details;
use super::queue::Queue;
use super::store::Store;
use crate::model::Model;
use crate::observe::{Observer, Record};

/// Packets that wait longer, 53 days, take the lane for what is rare: without them nothing overflows that is
/// added up for a packet. An instant, this, the longest transmission (a packet of 65535 B at 1 b/s: 6 days) and
/// the longest delay fit into 64 bits, and what is sent is sent before [`NEVER_SENT`].
const LONGEST_WAIT: u64 = 1 << 62;

/// What every packet needs, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Port {
    /// When everything that has been accepted will have been sent, in picoseconds.
    pub(super) free_at: u64,
    /// Propagation delay in picoseconds.
    delay: u64,
    /// The longest time until `free_at` with which a packet is surely accepted.
    longest: u64,
    /// A packet is sent for so long, and `per_byte` for each of its bytes.
    transmission: u64,
    counts: PortCounts,
    pub(super) per_byte: u32,
    /// The sizes of the packets that a short lane is open for: the smallest, and how many sizes.
    smallest: u16,
    sizes: u16,
    pub(super) lane: Lane,
    /// Whether every packet goes into the store.
    stores: bool,
    /// Whether its queue is kept there.
    pub(super) keeps: bool,
}

/// How a port deals with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// With one size of them, by arithmetic alone.
    One,
    /// With several.
    Any,
    /// With each as it comes.
    Rare,
}

impl Port {
    pub(super) fn new(details: &Details) -> Self {
        Port {
            free_at: 0,
            delay: details.config.delay.as_ps(),
            longest: 0,
            transmission: 0,
            counts: PortCounts::default(),
            per_byte: 0,
            smallest: 0,
            sizes: 0,
            lane: Lane::Rare,
            stores: false,
            keeps: details.keeps(),
        }
    }

    pub(super) fn counts(&self) -> PortCounts {
        self.counts
    }

    pub(super) fn is_untouched(&self) -> bool {
        self.counts == PortCounts::default()
    }

    /// When everything in the queue will have been sent, as the node sees it; see
    /// [`optcp_net::Port::busy_until`].
    #[inline]
    pub(super) fn busy_until(&self, details: &Details) -> Time {
        match (self.lane, &details.dark) {
            (Lane::Rare, Some(dark)) => dark.busy_until(),
            _ => Time::from_ps(self.free_at),
        }
    }

    /// For how long the transmitter is busy yet.
    #[inline(always)]
    pub(super) fn waits(&self, now: u64) -> u64 {
        self.free_at.saturating_sub(now)
    }

    /// Whether a packet is accepted that has so long to wait, as far as that is easily told.
    #[inline(always)]
    pub(super) fn surely_takes(&self, size: u16, waits: u64) -> bool {
        self.is_open_for(size) && waits <= self.longest
    }

    #[inline(always)]
    fn is_open_for(&self, size: u16) -> bool {
        size.wrapping_sub(self.smallest) < self.sizes
    }

    /// When a packet that comes now will have been sent.
    #[inline(always)]
    pub(super) fn sent(&self, size: u16, now: u64, waits: u64) -> u64 {
        now + waits + self.transmission + u64::from(self.per_byte) * u64::from(size)
    }

    /// Whether accepted packets go into the store.
    #[inline(always)]
    pub(super) fn has_store(&self) -> bool {
        self.stores
    }

    /// A packet is accepted and will have been sent at `sent`: when it arrives at the far end.
    #[inline(always)]
    pub(super) fn accept(&mut self, sent: u64) -> u64 {
        self.free_at = sent;
        self.counts.accepted += 1;
        sent + self.delay
    }

    /// The ordinal of the packet that was accepted last.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "ordinals count modulo 2^32")]
    pub(super) fn last_ordinal(&self) -> u32 {
        self.counts.accepted as u32
    }

    /// A packet of a burst is under way: its ordinal.
    pub(super) fn launch(&mut self) -> u32 {
        self.counts.accepted += 1;
        self.last_ordinal()
    }

    /// So many packets of a burst are lost on the way.
    pub(super) fn launch_in_vain(&mut self, packets: usize) {
        self.counts.dropped += packets as u64;
    }

    /// A packet comes to the port: when it arrives at the far end, unless it is lost.
    pub(super) fn admit<O: Observer>(
        &mut self,
        store: &mut Store,
        details: &mut Details,
        model: &mut Model<O>,
        id: PortId,
        packet: Packet,
    ) -> Option<Time> {
        let now = model.now();
        details.tell(model, id, now.as_ps() + 1);
        let refused = match details.losses.iter_mut().find_map(|loss| loss.take(packet)) {
            None if details.dark.is_some() => {
                details.send_into_the_dark(now, packet.size());
                Some(DropReason::LinkDown)
            }
            None => {
                self.choose_lane(store, details, now.as_ps(), packet.size());
                let fits = self.fits(store, details, now.as_ps(), packet.size());
                (!fits).then_some(DropReason::QueueFull)
            }
            lost => lost,
        };
        if let Some(reason) = refused {
            self.counts.dropped += 1;
            details.dropped_bytes += u64::from(packet.size());
            model.lose(id, packet, reason);
            return None;
        }
        let begins = self.free_at.max(now.as_ps());
        let sent = (begins + details.transmission(packet.size())).min(NEVER_SENT.as_ps());
        store.accept(self, packet.size(), now.as_ps(), sent);
        if sent == NEVER_SENT.as_ps() {
            store.longest_wait = u64::MAX;
        }
        let arrival = details.arrival(Time::from_ps(self.accept(sent)));
        model.record(Record::Accepted { port: id, packet });
        if let Some(watched) = &mut details.watched {
            watched.push_back((sent, packet));
            let packets = length(watched);
            model.record(Record::QueueLength { port: id, packets });
        }
        Some(arrival)
    }

    /// Decides which lane packets take from now on, of which one of this size has come.
    fn choose_lane(&mut self, store: &mut Store, details: &mut Details, now: u64, size: u16) {
        match self.lane {
            Lane::One | Lane::Any if self.is_open_for(size) => {}
            Lane::One => {
                self.leave_lane_of_one_size(store, details, now);
                self.open_lane_of_any_size(store, details, size);
            }
            Lane::Any => self.open_lane_of_any_size(store, details, size),
            Lane::Rare if !details.is_plain() => {}
            Lane::Rare if details.mixed || details.tallied || details.counted => {
                self.open_lane_of_any_size(store, details, size);
            }
            Lane::Rare => self.open_lane_of_one_size(details, size),
        }
    }

    fn open_lane_of_one_size(&mut self, details: &mut Details, size: u16) {
        let transmission = details.transmission(size);
        let packets = match details.config.limit {
            QueueLimit::Unlimited => None,
            QueueLimit::Packets(limit) => Some(u64::from(limit)),
            QueueLimit::Bytes(limit) => Some(limit / u64::from(size)),
        };
        // The packet in transmission counts: with n places, n - 1 whole transmissions may be ahead.
        let longest = packets.map_or(Some(LONGEST_WAIT), |packets| {
            let ahead = packets.checked_sub(1)?.saturating_mul(transmission);
            (ahead <= LONGEST_WAIT).then_some(ahead)
        });
        let Some(longest) = longest else {
            // Not even one packet of this size fits, or more than time can tell.
            details.mixed = true;
            self.keeps = true;
            return;
        };
        self.lane = Lane::One;
        (self.smallest, self.sizes) = (size, 1);
        self.transmission = transmission;
        self.per_byte = 0;
        self.stores = false;
        self.longest = longest;
    }

    /// Opens the lane for packets of this size beside those for which one is open already.
    fn open_lane_of_any_size(&mut self, store: &Store, details: &Details, size: u16) {
        let (smallest, largest) = match self.lane {
            Lane::One | Lane::Any => {
                let last = self.smallest + (self.sizes - 1);
                (self.smallest.min(size), last.max(size))
            }
            // A port that was closed and opened again still holds others.
            Lane::Rare => store
                .queue
                .sizes_from(0)
                .fold((size, size), |(least, most), held| (least.min(held), most.max(held))),
        };
        let fits = details.config.limit.has_room(0, 0, largest);
        let sizes = (largest - smallest).checked_add(1).filter(|_| fits && details.per_byte > 0);
        let Some(sizes) = sizes else { return self.leave_lanes() };
        self.lane = Lane::Any;
        (self.smallest, self.sizes) = (smallest, sizes);
        (self.transmission, self.per_byte) = (0, details.per_byte);
        self.stores = self.keeps || details.tallied;
        // The packet in transmission is counted whole, and the next one must fit beside it.
        let surely = match details.config.limit {
            QueueLimit::Unlimited => u64::MAX,
            QueueLimit::Packets(limit) => u64::from(limit).saturating_sub(2) * u64::from(smallest),
            QueueLimit::Bytes(limit) => limit.saturating_sub(2 * u64::from(largest)),
        };
        self.longest = surely.saturating_mul(u64::from(details.per_byte)).min(LONGEST_WAIT);
    }

    /// What the transmitter's time has told so far is kept packet by packet from now on.
    fn leave_lane_of_one_size(&mut self, store: &mut Store, details: &mut Details, now: u64) {
        details.mixed = true;
        if details.config.limit != QueueLimit::Unlimited {
            let ahead = self.free_at.saturating_sub(now).div_ceil(self.transmission);
            let sizes = (0..ahead).map(|_| self.smallest).collect();
            let behind_first = ahead.saturating_sub(1) * self.transmission;
            store.queue = Queue::of(sizes, self.free_at.saturating_sub(behind_first));
            self.keeps = true;
        }
    }

    /// Whether a packet of this size has a place in the queue.
    fn fits(&self, store: &mut Store, details: &mut Details, now: u64, size: u16) -> bool {
        if self.lane == Lane::One {
            let unlimited = details.config.limit == QueueLimit::Unlimited;
            return unlimited || self.waits(now) <= self.longest;
        }
        let sent = store.queue.forget_sent(now, |size| details.transmission(size));
        details.jitters.drain(..sent.min(details.jitters.len()));
        details.config.limit.has_room(store.queue.len(), store.queue.bytes(), size)
    }

    /// The link fails at `now`. `pending` are the packets in the port, in the order of arrivals; calls
    /// `lost` for each, those under way first.
    pub(super) fn fail(
        &mut self,
        store: &mut Store,
        details: &mut Details,
        now: Time,
        pending: &[Due<Packet>],
        mut lost: impl FnMut(Packet, DropReason),
    ) {
        if details.tallied {
            store.byte_time -= self.byte_time_after(store, details, now, pending.iter().copied());
            details.dropped_bytes +=
                pending.iter().map(|due| u64::from(due.item.size())).sum::<u64>();
        }
        let ends = details.ends(store);
        let (queued, under_way): (Vec<&Due<Packet>>, Vec<&Due<Packet>>) =
            pending.iter().partition(|due| self.sent_at(&ends, due) >= now.as_ps());
        let queued = self.in_order(queued);
        self.go_dark(details, &ends, &queued);
        under_way.iter().for_each(|due| lost(due.item, DropReason::LostInFlight));
        queued.iter().for_each(|due| lost(due.item, DropReason::QueueFlushed));
        self.counts.dropped += pending.len() as u64;
        self.free_at = 0;
        self.leave_lanes();
        details.last_arrival = None;
        // What was not sent has drawn nothing.
        let first = ends.and_then(|ends| ends.iter().position(|&end| end >= now.as_ps()));
        if let Some(jitter) = first.and_then(|first| details.jitters.get(first)) {
            details.config.jitter = Some(jitter.clone());
        }
        details.jitters.clear();
        store.queue.clear();
        details.watched.iter_mut().for_each(VecDeque::clear);
    }

    /// The next packet is looked at anew.
    fn leave_lanes(&mut self) {
        self.lane = Lane::Rare;
        (self.smallest, self.sizes) = (0, 0);
        self.stores = false;
    }

    /// Packets whose transmission begins at `now` or later take `delay` along the pipe. `pending` are the
    /// packets in the port, in the order of arrivals; calls `moved` for each whose arrival changes.
    pub(super) fn set_delay(
        &mut self,
        store: &mut Store,
        details: &mut Details,
        now: Time,
        delay: Duration,
        pending: &[Due<Packet>],
        mut moved: impl FnMut(u32, Time),
    ) {
        let in_order = self.in_order(pending);
        if !self.keeps {
            let ends = details.ends(store);
            let waits = |due: &&&Due<Packet>| self.sent_at(&ends, due) >= now.as_ps();
            let first = in_order.iter().find(waits).map_or(0, |due| self.sent_at(&ends, due));
            let sizes = in_order.iter().filter(waits).map(|due| due.item.size()).collect();
            store.queue = Queue::of(sizes, first);
            self.keeps = true;
        }
        self.leave_lanes();
        self.delay = delay.as_ps();
        details.moved = true;
        let ends = store.queue.ends(|size| details.transmission(size));
        let Some(mut first) = ends.iter().position(|&end| end >= now.as_ps()) else { return };
        // One that is being sent keeps the delay that it began with.
        let size = store.queue.sizes_from(first).next().unwrap_or(0);
        let begun = ends[first] - details.transmission(size);
        first += usize::from(begun < now.as_ps());
        let changed = ends.len() - first;
        if let Some(jitter) = details.jitters.get(first) {
            details.config.jitter = Some(jitter.clone());
            details.jitters.truncate(first);
        }
        let (before, after) = in_order.split_at(in_order.len() - changed);
        details.last_arrival = before.iter().map(|due| due.at).max();
        for (due, &end) in after.iter().zip(&ends[first..]) {
            moved(due.ordinal, details.arrival(Time::from_ps(end) + delay));
        }
    }

    /// How many packets were accepted after this one.
    #[expect(clippy::cast_possible_truncation, reason = "ordinals count modulo 2^32")]
    fn age(&self, ordinal: u32) -> u32 {
        (self.counts.accepted as u32).wrapping_sub(ordinal)
    }

    /// Packets in the port, the oldest first.
    fn in_order<'a>(
        &self,
        pending: impl IntoIterator<Item = &'a Due<Packet>>,
    ) -> Vec<&'a Due<Packet>> {
        let mut in_order: Vec<&Due<Packet>> = pending.into_iter().collect();
        in_order.sort_unstable_by_key(|due| std::cmp::Reverse(self.age(due.ordinal)));
        in_order
    }

    /// When a packet in the port is or was sent, given the `ends` of [`Details::ends`]; zero where it is
    /// long ago.
    fn sent_at(&self, ends: &Option<Vec<u64>>, due: &Due<Packet>) -> u64 {
        match ends {
            None => due.at.as_ps() - self.delay,
            Some(ends) => ends
                .len()
                .checked_sub(self.age(due.ordinal) as usize + 1)
                .map_or(0, |place| ends[place]),
        }
    }

    /// Whether a packet in the port could stand in its queue at `now`, as far as that is easily told.
    pub(super) fn may_hold(&self, details: &Details, due: &Due<Packet>, now: Time) -> bool {
        details.arrivals_vary() || due.at.as_ps() - self.delay > now.as_ps()
    }

    /// How many of the packets in the port, `pending`, have not been sent before `now`.
    pub(super) fn queue_length(
        &self,
        store: &Store,
        details: &Details,
        now: Time,
        pending: impl Iterator<Item = Due<Packet>>,
    ) -> u64 {
        let ends = details.ends(store);
        pending.filter(|due| self.sent_at(&ends, due) >= now.as_ps()).count() as u64
    }

    /// The packets in the queue now, as the node sees it, where these are counted.
    #[inline]
    pub(super) fn packets(&self, store: &mut Store, details: &mut Details, now: Time) -> u64 {
        if let Some(dark) = &details.dark {
            return dark.packets(now) as u64;
        }
        let sent = store.queue.forget_sent(now.as_ps(), |size| details.transmission(size));
        details.jitters.drain(..sent.min(details.jitters.len()));
        store.queue.len() as u64
    }

    /// What has been counted up to `now`; `pending` are the packets in the port.
    pub(super) fn tally(
        &self,
        store: &Store,
        details: &Details,
        now: Time,
        pending: impl Iterator<Item = Due<Packet>>,
    ) -> Tally {
        Tally {
            packets: self.counts.accepted,
            bytes: store.bytes,
            dropped: self.counts.dropped,
            dropped_bytes: details.dropped_bytes,
            byte_time: store.byte_time - self.byte_time_after(store, details, now, pending),
            longest: store.longest_wait,
        }
    }

    /// The part of `byte_time` that lies after `now`.
    fn byte_time_after(
        &self,
        store: &Store,
        details: &Details,
        now: Time,
        pending: impl Iterator<Item = Due<Packet>>,
    ) -> u128 {
        let ends = details.ends(store);
        let after = |due: &Due<Packet>| self.sent_at(&ends, due).saturating_sub(now.as_ps());
        pending.map(|due| u128::from(due.item.size()) * u128::from(after(&due))).sum()
    }

    /// Whether a packet that comes now or later could arrive before one of `pending`.
    pub(super) fn may_overtake(
        &self,
        details: &Details,
        now: Time,
        pending: impl Iterator<Item = Due<Packet>>,
    ) -> bool {
        if !details.moved {
            return false;
        }
        let pending: Vec<Due<Packet>> = pending.collect();
        let pending = self.in_order(&pending);
        let next = self.free_at.max(now.as_ps()) + self.delay;
        !pending.is_sorted_by_key(|due| due.at)
            || pending.last().is_some_and(|last| last.at.as_ps() > next)
    }

    /// The link is taken out of service in an orderly way: what the port holds is still sent and arrives.
    /// `pending` are the packets in the port.
    pub(super) fn close(
        &mut self,
        store: &mut Store,
        details: &mut Details,
        now: Time,
        pending: &[Due<Packet>],
    ) {
        let ends = details.ends(store);
        let queued = pending.iter().filter(|due| self.sent_at(&ends, due) >= now.as_ps());
        self.go_dark(details, &ends, &self.in_order(queued));
        if self.lane == Lane::One {
            // A transmission that ends now has not ended yet: actions come first.
            self.leave_lane_of_one_size(store, details, now.as_ps().saturating_sub(1));
        }
        self.leave_lanes();
    }

    /// The transmitter goes on without a link; `queued` are in its queue, the oldest first. `ends` are those of
    /// [`Details::ends`].
    fn go_dark(&self, details: &mut Details, ends: &Option<Vec<u64>>, queued: &[&Due<Packet>]) {
        // Whatever takes it out of service a second time: the transmitter is at it already.
        if details.dark.is_none() {
            let sizes = queued.iter().map(|due| due.item.size());
            let transmission = |size| Duration::from_ps(details.transmission(size));
            let first_end = queued.first().map_or(0, |due| self.sent_at(ends, due));
            let ends = (Time::from_ps(first_end), Time::from_ps(self.free_at));
            let dark = DarkQueue::new(ends, sizes, transmission);
            details.dark = Some(Box::new(dark));
        }
    }

    /// The link works again.
    pub(super) fn restore(details: &mut Details) {
        details.dark = None;
    }
}

pub(super) fn length<T>(queue: &VecDeque<T>) -> u32 {
    u32::try_from(queue.len()).unwrap_or(u32::MAX)
}
