//! A port by arithmetic: when a packet comes it is known at once when it will have been sent.
//!
//! What waits in the queue is never listed. The transmitter is busy until an instant, which tells how much
//! waits; where that is not enough (packets of several sizes under a limit, a delay that varies), the ends
//! of transmissions to come are kept beside.

use std::collections::VecDeque;

use optcp_des::{Class, Due, Key};
use optcp_net::{DropReason, Jitter, Loss, Packet, PortConfig, PortCounts, PortId, QueueLimit};
use optcp_units::{Bytes, Duration, Time};

use crate::model::Model;
use crate::observe::{Observer, Record};

/// What every packet needs, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Port {
    /// When everything that has been accepted will have been sent, in picoseconds.
    free_at: u64,
    /// Propagation delay in picoseconds.
    delay: u64,
    /// The size of the packets that take the short way; 0 if none does.
    size: u16,
    /// How long one of these is sent.
    transmission: u64,
    /// The longest time until `free_at` with which one more of these is accepted.
    longest: u64,
    counts: PortCounts,
}

/// What few packets need.
#[derive(Clone, Debug)]
pub(super) struct Details {
    config: PortConfig,
    /// Picoseconds for a byte where that is a whole number, else 0.
    per_byte: u64,
    up: bool,
    losses: Box<[Loss]>,
    /// Packets of several sizes have come.
    mixed: bool,
    /// Whether the delay has been changed: it no longer tells arrivals from ends of transmissions.
    moved: bool,
    /// Transmissions that had not ended when the last packet came, where these are kept.
    departures: Option<VecDeque<Departure>>,
    /// Bytes of `departures`.
    queued: u64,
    /// What each of `departures` found of the random stream.
    jitters: VecDeque<Jitter>,
    /// The latest arrival at the far end so far.
    last_arrival: Option<Time>,
    /// Transmissions that are still to be told to the observer, if it watches the port.
    watched: Option<VecDeque<(u64, Packet)>>,
}

/// The end of a transmission.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: u64,
    size: u16,
}

/// A packet that a port has accepted: when it arrives at the far end, and its number there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted {
    pub(super) arrival: Time,
    pub(super) ordinal: u32,
}

impl Port {
    pub(super) fn new(config: &PortConfig) -> Self {
        Port {
            free_at: 0,
            delay: config.delay.as_ps(),
            size: 0,
            transmission: 0,
            longest: 0,
            counts: PortCounts::default(),
        }
    }

    pub(super) fn counts(&self) -> PortCounts {
        self.counts
    }

    pub(super) fn is_untouched(&self) -> bool {
        self.counts == PortCounts::default()
    }

    /// A packet comes to the port.
    #[inline(always)]
    pub(super) fn admit<O: Observer>(
        &mut self,
        details: &mut [Details],
        model: &mut Model<O>,
        id: PortId,
        packet: Packet,
    ) -> Option<Accepted> {
        if packet.size != self.size {
            return self.admit_otherwise(&mut details[id as usize], model, id, packet);
        }
        let now = model.now().as_ps();
        if self.free_at.saturating_sub(now) > self.longest {
            self.counts.dropped += 1;
            model.lose(id, packet, DropReason::QueueFull);
            return None;
        }
        self.free_at = self.free_at.max(now) + self.transmission;
        let arrival = Time::from_ps(self.free_at + self.delay);
        model.record(Record::Accepted { port: id, packet });
        Some(Accepted { arrival, ordinal: self.next_ordinal() })
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "ordinals count modulo 2^32")]
    fn next_ordinal(&mut self) -> u32 {
        self.counts.accepted += 1;
        self.counts.accepted as u32
    }

    #[inline(never)]
    fn admit_otherwise<O: Observer>(
        &mut self,
        details: &mut Details,
        model: &mut Model<O>,
        id: PortId,
        packet: Packet,
    ) -> Option<Accepted> {
        let now = model.now();
        details.tell(model, id, now.as_ps() + 1);
        let refused = match details.losses.iter_mut().find_map(|loss| loss.take(packet)) {
            None if !details.up => Some(DropReason::LinkDown),
            None => {
                self.choose_way(details, now.as_ps(), packet.size);
                (!self.fits(details, now.as_ps(), packet.size)).then_some(DropReason::QueueFull)
            }
            lost => lost,
        };
        if let Some(reason) = refused {
            self.counts.dropped += 1;
            model.lose(id, packet, reason);
            return None;
        }
        self.free_at = self.free_at.max(now.as_ps()) + details.transmission(packet.size);
        let sent = self.free_at;
        if let Some(departures) = &mut details.departures {
            departures.push_back(Departure { at: sent, size: packet.size });
            details.queued += u64::from(packet.size);
        }
        let arrival = details.arrival(Time::from_ps(sent + self.delay));
        model.record(Record::Accepted { port: id, packet });
        if let Some(watched) = &mut details.watched {
            watched.push_back((sent, packet));
            let packets = length(watched);
            model.record(Record::QueueLength { port: id, packets });
        }
        Some(Accepted { arrival, ordinal: self.next_ordinal() })
    }

    /// Decides whether packets of this size take the short way from now on.
    fn choose_way(&mut self, details: &mut Details, now: u64, size: u16) {
        if !details.is_plain() || details.mixed {
            return;
        }
        if self.size == 0 {
            self.size = size;
            self.transmission = details.transmission(size);
            let packets = match details.config.limit {
                QueueLimit::Unlimited => None,
                QueueLimit::Packets(limit) => Some(u64::from(limit)),
                QueueLimit::Bytes(limit) => Some(limit / u64::from(size)),
            };
            // The packet in transmission counts: with n places, n - 1 whole transmissions may be ahead.
            self.longest = packets.map_or(u64::MAX, |packets| {
                packets.saturating_sub(1).saturating_mul(self.transmission)
            });
            if packets == Some(0) {
                // Not even one packet of this size fits.
                self.size = 0;
                details.mixed = true;
                details.departures = Some(VecDeque::new());
            }
            return;
        }
        self.list_departures(details, now);
    }

    /// Ends the short way: from now on each transmission that the queue's limit depends on is listed.
    fn list_departures(&mut self, details: &mut Details, now: u64) {
        details.mixed = true;
        if details.config.limit != QueueLimit::Unlimited {
            let ahead = self.free_at.saturating_sub(now).div_ceil(self.transmission);
            let departure = |before: u64| Departure {
                at: self.free_at - before * self.transmission,
                size: self.size,
            };
            details.departures = Some((0..ahead).rev().map(departure).collect());
            details.queued = ahead * u64::from(self.size);
        }
        self.size = 0;
    }

    /// Whether a packet of this size has a place in the queue.
    fn fits(&self, details: &mut Details, now: u64, size: u16) -> bool {
        if self.size == size {
            return self.free_at.saturating_sub(now) <= self.longest;
        }
        let Details { departures, queued, jitters, .. } = details;
        if let Some(departures) = departures {
            while let Some(&Departure { at, size }) = departures.front()
                && at <= now
            {
                departures.pop_front();
                jitters.pop_front();
                *queued -= u64::from(size);
            }
        }
        match (details.config.limit, &details.departures) {
            (QueueLimit::Packets(limit), Some(departures)) => departures.len() < limit as usize,
            (QueueLimit::Bytes(limit), Some(_)) => details.queued + u64::from(size) <= limit,
            _ => true,
        }
    }

    /// The link fails at `now`. `pending` are the packets in the port, in the order of arrivals; calls
    /// `lost` for each, those under way first.
    pub(super) fn fail(
        &mut self,
        details: &mut Details,
        now: Time,
        pending: &[Due<Packet>],
        mut lost: impl FnMut(Packet, DropReason),
    ) {
        let (mut queued, under_way): (Vec<&Due<Packet>>, Vec<&Due<Packet>>) =
            pending.iter().partition(|due| self.sent_at(details, due) >= now.as_ps());
        queued.sort_unstable_by_key(|due| self.age(due.ordinal));
        under_way.iter().for_each(|due| lost(due.item, DropReason::LostInFlight));
        queued.iter().rev().for_each(|due| lost(due.item, DropReason::QueueFlushed));
        self.counts.dropped += pending.len() as u64;
        self.free_at = 0;
        self.size = 0;
        details.up = false;
        details.queued = 0;
        details.last_arrival = None;
        // What was not sent has drawn nothing.
        let first = details.first_departure_from(now.as_ps());
        if let Some(jitter) = first.and_then(|first| details.jitters.get(first)) {
            details.config.jitter = Some(jitter.clone());
        }
        details.jitters.clear();
        details.departures.iter_mut().for_each(VecDeque::clear);
        details.watched.iter_mut().for_each(VecDeque::clear);
    }

    /// Packets whose transmission begins at `now` or later take `delay` along the pipe. `pending` are the
    /// packets in the port, in the order of arrivals; calls `moved` for each whose arrival changes.
    pub(super) fn set_delay(
        &mut self,
        details: &mut Details,
        now: Time,
        delay: Duration,
        pending: &[Due<Packet>],
        mut moved: impl FnMut(u32, Time),
    ) {
        let mut in_order: Vec<&Due<Packet>> = pending.iter().collect();
        in_order.sort_unstable_by_key(|due| std::cmp::Reverse(self.age(due.ordinal)));
        if details.departures.is_none() {
            let departure = |due: &&Due<Packet>| Departure {
                at: self.sent_at(details, due),
                size: due.item.size,
            };
            let departures: VecDeque<Departure> =
                in_order.iter().map(departure).filter(|sent| sent.at >= now.as_ps()).collect();
            details.queued = departures.iter().map(|sent| u64::from(sent.size)).sum();
            details.departures = Some(departures);
        }
        self.size = 0;
        self.delay = delay.as_ps();
        details.moved = true;
        let Some(mut first) = details.first_departure_from(now.as_ps()) else { return };
        let departures = details.departures.take().unwrap_or_default();
        // One that is being sent keeps the delay that it began with.
        let begun = departures[first].at - details.transmission(departures[first].size);
        first += usize::from(begun < now.as_ps());
        let changed = departures.len() - first;
        if let Some(jitter) = details.jitters.get(first) {
            details.config.jitter = Some(jitter.clone());
            details.jitters.truncate(first);
        }
        let (before, after) = in_order.split_at(in_order.len() - changed);
        details.last_arrival = before.iter().map(|due| due.at).max();
        for (due, sent) in after.iter().zip(departures.range(first..)) {
            moved(due.ordinal, details.arrival(Time::from_ps(sent.at) + delay));
        }
        details.departures = Some(departures);
    }

    /// How many packets were accepted after this one.
    #[expect(clippy::cast_possible_truncation, reason = "ordinals count modulo 2^32")]
    fn age(&self, ordinal: u32) -> u32 {
        (self.counts.accepted as u32).wrapping_sub(ordinal)
    }

    /// When a packet in the port is or was sent; zero where it is long ago.
    fn sent_at(&self, details: &Details, due: &Due<Packet>) -> u64 {
        match &details.departures {
            None => due.at.as_ps() - self.delay,
            Some(departures) => departures
                .len()
                .checked_sub(self.age(due.ordinal) as usize + 1)
                .map_or(0, |place| departures[place].at),
        }
    }

    /// How many of the packets in the port, `pending`, have not been sent before `now`.
    pub(super) fn queue_length(
        &self,
        details: &Details,
        now: Time,
        pending: impl Iterator<Item = Due<Packet>>,
    ) -> u64 {
        pending.filter(|due| self.sent_at(details, due) >= now.as_ps()).count() as u64
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
        let mut pending: Vec<Due<Packet>> = pending.collect();
        pending.sort_unstable_by_key(|due| std::cmp::Reverse(self.age(due.ordinal)));
        let next = self.free_at.max(now.as_ps()) + self.delay;
        !pending.is_sorted_by_key(|due| due.at)
            || pending.last().is_some_and(|last| last.at.as_ps() > next)
    }

    /// The link is taken out of service at `now`; what the port holds is still sent.
    pub(super) fn close(&mut self, details: &mut Details, now: Time) {
        details.up = false;
        if self.size != 0 {
            self.list_departures(details, now.as_ps());
        }
    }

    /// The link works again.
    pub(super) fn restore(details: &mut Details) {
        details.up = true;
    }
}

impl Details {
    pub(super) fn new(config: &PortConfig, losses: &[Loss], watched: bool) -> Self {
        // What the transmitter's time does not tell must be kept from the first packet on.
        let counts = (watched || !losses.is_empty()) && config.limit != QueueLimit::Unlimited;
        let keeps = counts || config.jitter.is_some();
        Details {
            per_byte: config.rate.per_byte().map_or(0, Duration::as_ps),
            up: true,
            losses: losses.into(),
            mixed: false,
            moved: false,
            departures: keeps.then(VecDeque::new),
            queued: 0,
            jitters: VecDeque::new(),
            last_arrival: None,
            watched: watched.then(VecDeque::new),
            config: config.clone(),
        }
    }

    pub(super) fn is_watched(&self) -> bool {
        self.watched.is_some()
    }

    /// Whether packets of one size can take the short way.
    fn is_plain(&self) -> bool {
        self.up
            && self.losses.is_empty()
            && self.config.jitter.is_none()
            && self.watched.is_none()
            && !self.moved
    }

    fn transmission(&self, size: u16) -> u64 {
        match self.per_byte {
            0 => self.config.rate.transmission_time(Bytes::new(u64::from(size))).as_ps(),
            per_byte => per_byte * u64::from(size),
        }
    }

    /// When a packet arrives that would do so at `at` but for jitter.
    fn arrival(&mut self, at: Time) -> Time {
        let Some(jitter) = &mut self.config.jitter else { return at };
        self.jitters.push_back(jitter.clone());
        let arrival = jitter.arrival(at, self.last_arrival);
        self.last_arrival = self.last_arrival.max(Some(arrival));
        arrival
    }

    /// The place of the first transmission that ends at `now` or later.
    fn first_departure_from(&self, now: u64) -> Option<usize> {
        self.departures.as_ref()?.iter().position(|sent| sent.at >= now)
    }

    /// Tells the observer of what has been sent before `limit`.
    pub(super) fn tell<O: Observer>(&mut self, model: &mut Model<O>, id: PortId, limit: u64) {
        let Some(watched) = &mut self.watched else { return };
        let event = model.event;
        while let Some(&(sent, packet)) = watched.front()
            && sent < limit
        {
            watched.pop_front();
            model.event = Key::new(Time::from_ps(sent), Class::TransmissionEnd, id, 0);
            model.record(Record::Transmitted { port: id, packet });
            let packets = length(watched);
            model.record(Record::QueueLength { port: id, packets });
        }
        model.event = event;
    }
}

fn length<T>(queue: &VecDeque<T>) -> u32 {
    u32::try_from(queue.len()).unwrap_or(u32::MAX)
}
