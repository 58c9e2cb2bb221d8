//! A port: queue, transmitter and pipe of one direction of a link.
//!
//! # Models
//! A drop-tail queue limited in packets or bytes, a store-and-forward transmitter of fixed rate, and
//! a pipe of fixed delay.
//! # Source
//! The limit counts the packet in transmission, as ns-2's drop-tail does.
//! # Parameters
//! `rate`, `delay`, `limit`, `jitter`.
//! # Limits
//! One class of service. A failure empties the port: what waits, what is being sent, what is under way.
//! Maintenance closes it instead: nothing comes in, what is in it still arrives.

use std::collections::VecDeque;

use optcp_units::{Bytes, Duration, Rate, Time};

use crate::{Dark, DropReason, Jitter, Loss, Packet};

/// How much a queue holds, the packet in transmission included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// As much as comes.
    Unlimited,
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(u64),
}

impl QueueLimit {
    /// Whether a packet of `size` bytes has a place beside so many packets of so many bytes.
    #[inline]
    #[must_use]
    pub const fn has_room(self, packets: usize, bytes: u64, size: u16) -> bool {
        match self {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => packets < limit as usize,
            QueueLimit::Bytes(limit) => bytes + size as u64 <= limit,
        }
    }
}

/// What a port is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Queue limit.
    pub limit: QueueLimit,
    /// How packets are kept beside the propagation delay, if they are.
    pub jitter: Option<Jitter>,
}

/// What a port has done so far, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Accepted into the queue: one packet-hop each.
    pub accepted: u64,
    /// Dropped, here or on the link.
    pub dropped: u64,
}

/// What has gone into a port so far, and for how long it stood in its queue. A packet that is being sent
/// is in the queue, whole, until its last bit has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets accepted.
    pub packets: u64,
    /// Bytes accepted.
    pub bytes: u64,
    /// Packets dropped, here or on the link.
    pub dropped: u64,
    /// Bytes dropped.
    pub dropped_bytes: u64,
    /// The bytes in the queue, integrated over time: bytes times picoseconds.
    pub byte_time: u128,
    /// The longest time from a packet's arrival until everything in the queue, itself included, could have
    /// been sent, in picoseconds; the greatest number if it never will.
    pub longest: u64,
}

impl Tally {
    /// A packet of `size` bytes is lost.
    #[inline]
    pub fn lose(&mut self, size: u16) {
        self.dropped += 1;
        self.dropped_bytes += u64::from(size);
    }
}

/// What became of a packet that came to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It waits.
    Queued,
    /// The transmitter was idle: it is being sent, until the given instant.
    Sending {
        /// End of its transmission.
        until: Time,
        /// The transmission's ordinal.
        ordinal: u32,
    },
    /// It is lost.
    Dropped(DropReason),
}

/// A packet on its way along the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Underway {
    arrival: Time,
    ordinal: u32,
    packet: Packet,
}

/// When a transmission ends of which no run sees the end: the transmitter is busy for ever. The longest delay
/// can be added to it.
pub const NEVER_SENT: Time = Time::from_ps(1 << 63);

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Port {
    config: PortConfig,
    /// What the transmitter does while the link is out of service.
    dark: Option<Box<Dark>>,
    /// The packet in transmission is at the front.
    queue: VecDeque<Packet>,
    queued_bytes: u64,
    /// The propagation delay of the packet in transmission: the one in force when its first bit left.
    delay: Duration,
    /// Ascending by (arrival, ordinal).
    pipe: VecDeque<Underway>,
    /// Transmissions begun, modulo 2^32; a failure counts too, so that the end of a transmission
    /// that the failure cut off is told apart.
    transmissions: u32,
    losses: Box<[Loss]>,
    /// When the packet in transmission will have been sent.
    sending_until: Time,
    /// When everything in the queue will have been sent.
    busy_until: Time,
    /// `byte_time` is that up to `tallied_at`.
    tally: Tally,
    tallied_at: Time,
}

impl Port {
    /// An empty port in service.
    #[must_use]
    pub fn new(config: PortConfig) -> Self {
        Port {
            delay: config.delay,
            config,
            dark: None,
            queue: VecDeque::new(),
            queued_bytes: 0,
            pipe: VecDeque::new(),
            transmissions: 0,
            losses: Box::default(),
            sending_until: Time::ZERO,
            busy_until: Time::ZERO,
            tally: Tally::default(),
            tallied_at: Time::ZERO,
        }
    }

    /// Loses packets at the entry, in each of these ways, one after the other.
    #[must_use]
    pub fn with_losses(mut self, losses: Vec<Loss>) -> Self {
        self.losses = losses.into();
        self
    }

    /// What the port is like.
    #[must_use]
    pub fn config(&self) -> &PortConfig {
        &self.config
    }

    /// What it has done.
    #[must_use]
    pub fn counts(&self) -> PortCounts {
        PortCounts { accepted: self.tally.packets, dropped: self.tally.dropped }
    }

    /// The same and more, up to `now`.
    #[must_use]
    pub fn tally(&self, now: Time) -> Tally {
        Tally { byte_time: self.byte_time(now), ..self.tally }
    }

    fn byte_time(&self, now: Time) -> u128 {
        let stood = u128::from((now - self.tallied_at).as_ps());
        self.tally.byte_time + stood * u128::from(self.queued_bytes)
    }

    /// The queue changes.
    fn settle(&mut self, now: Time) {
        self.tally.byte_time = self.byte_time(now);
        self.tallied_at = now;
    }

    /// When everything in the queue will have been sent, as the node sees it: zero before the first packet, and
    /// after the repair of a failure.
    #[must_use]
    pub fn busy_until(&self) -> Time {
        self.dark.as_ref().map_or(self.busy_until, |dark| dark.busy_until())
    }

    /// Packets in the queue at `now`, the one in transmission included, as the node sees it.
    #[must_use]
    pub fn packets(&self, now: Time) -> usize {
        self.dark.as_ref().map_or(self.queue.len(), |dark| dark.packets(now))
    }

    /// Packets in the queue, the one in transmission included.
    #[must_use]
    pub fn queue_length(&self) -> usize {
        self.queue.len()
    }

    /// Bytes in the queue, the packet in transmission included.
    #[must_use]
    pub fn queue_bytes(&self) -> u64 {
        self.queued_bytes
    }

    /// Packets in the queue and under way.
    #[must_use]
    pub fn holds(&self) -> u64 {
        (self.queue.len() + self.pipe.len()) as u64
    }

    /// Whether no packet has come to it yet.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.counts() == PortCounts::default()
    }

    /// A packet comes to the port.
    pub fn admit(&mut self, now: Time, packet: Packet) -> Admission {
        if let Some(reason) = self.losses.iter_mut().find_map(|loss| loss.take(packet)) {
            self.tally.lose(packet.size());
            return Admission::Dropped(reason);
        }
        if let Some(dark) = &mut self.dark {
            let PortConfig { rate, limit, .. } = self.config;
            dark.take(now, packet.size(), transmission_time(rate, packet.size()), limit);
            self.tally.lose(packet.size());
            return Admission::Dropped(DropReason::LinkDown);
        }
        if !self.config.limit.has_room(self.queue.len(), self.queued_bytes, packet.size()) {
            self.tally.lose(packet.size());
            return Admission::Dropped(DropReason::QueueFull);
        }
        self.settle(now);
        self.tally.packets += 1;
        self.tally.bytes += u64::from(packet.size());
        let transmission = transmission_time(self.config.rate, packet.size());
        self.busy_until = (self.busy_until.max(now) + transmission).min(NEVER_SENT);
        let wait = match self.busy_until {
            NEVER_SENT => u64::MAX,
            until => (until - now).as_ps(),
        };
        self.tally.longest = self.tally.longest.max(wait);
        self.queued_bytes += u64::from(packet.size());
        self.queue.push_back(packet);
        if self.queue.len() == 1 { self.send(now, packet) } else { Admission::Queued }
    }

    fn send(&mut self, now: Time, packet: Packet) -> Admission {
        self.transmissions = self.transmissions.wrapping_add(1);
        self.delay = self.config.delay;
        self.sending_until = now + transmission_time(self.config.rate, packet.size());
        Admission::Sending { until: self.sending_until, ordinal: self.transmissions }
    }

    /// The transmission `ordinal` ends now, unless a failure cut it off.
    ///
    /// Returns the packet that was sent, the event of its arrival if the pipe has no earlier one,
    /// and the next transmission.
    pub fn finish_transmission(&mut self, now: Time, ordinal: u32) -> Option<Sent> {
        if ordinal != self.transmissions {
            return None;
        }
        self.settle(now);
        let packet = self.queue.pop_front()?;
        self.queued_bytes -= u64::from(packet.size());
        let mut arrival = now + self.delay;
        if let Some(jitter) = &mut self.config.jitter {
            arrival = jitter.arrival(arrival, self.pipe.back().map(|before| before.arrival));
        }
        let first_arrival = self.put_under_way(Underway { arrival, ordinal, packet });
        let next = self.queue.front().copied().map(|next| self.send(now, next));
        Some(Sent { packet, first_arrival, next })
    }

    /// Says when and with which ordinal it arrives, if it is now the first to arrive.
    fn put_under_way(&mut self, underway: Underway) -> Option<(Time, u32)> {
        // A pipe whose delay was shortened is overtaken; otherwise the place is at the end.
        let mut place = self.pipe.len();
        while place > 0 && self.pipe[place - 1].arrival > underway.arrival {
            place -= 1;
        }
        if place == self.pipe.len() {
            self.pipe.push_back(underway);
        } else {
            self.pipe.insert(place, underway);
        }
        (place == 0).then_some((underway.arrival, underway.ordinal))
    }

    /// A packet that something in the place of queue and transmitter has sent is under way, and arrives
    /// at `arrival`. Returns the event of its arrival if the pipe has no earlier one.
    pub fn launch(&mut self, arrival: Time, packet: Packet) -> Option<(Time, u32)> {
        self.tally.packets += 1;
        self.tally.bytes += u64::from(packet.size());
        self.transmissions = self.transmissions.wrapping_add(1);
        self.put_under_way(Underway { arrival, ordinal: self.transmissions, packet })
    }

    /// The same, but the packet is lost on the way.
    pub fn launch_in_vain(&mut self, packet: Packet) {
        self.tally.lose(packet.size());
    }

    /// The packet of transmission `ordinal` comes out of the pipe, unless the event is stale.
    ///
    /// Returns the packet and the event of the one behind it.
    pub fn take_arrival(&mut self, now: Time, ordinal: u32) -> Option<Arrived> {
        let first = self.pipe.front()?;
        if first.arrival != now || first.ordinal != ordinal {
            return None;
        }
        let packet = self.pipe.pop_front()?.packet;
        Some(Arrived { packet, next: self.pipe.front().map(|u| (u.arrival, u.ordinal)) })
    }

    /// The link fails: calls `lost` for every packet in the port, those under way first.
    pub fn fail(&mut self, now: Time, mut lost: impl FnMut(Packet, DropReason)) {
        self.settle(now);
        self.go_dark();
        self.busy_until = Time::ZERO;
        self.transmissions = self.transmissions.wrapping_add(1);
        let mut lose = |packet: Packet, reason| {
            self.tally.lose(packet.size());
            lost(packet, reason);
        };
        self.pipe.drain(..).for_each(|u| lose(u.packet, DropReason::LostInFlight));
        self.queue.drain(..).for_each(|packet| lose(packet, DropReason::QueueFlushed));
        self.queued_bytes = 0;
    }

    /// The link is taken out of service in an orderly way: what the port holds is still sent and
    /// arrives.
    pub fn close(&mut self) {
        self.go_dark();
    }

    fn go_dark(&mut self) {
        // Whatever takes it out of service a second time: the transmitter is at it already.
        if self.dark.is_none() {
            let sizes = self.queue.iter().map(|packet| packet.size());
            let transmission = |size| transmission_time(self.config.rate, size);
            let ends = (self.sending_until, self.busy_until);
            self.dark = Some(Box::new(Dark::new(ends, sizes, transmission)));
        }
    }

    /// The link works again.
    pub fn restore(&mut self) {
        self.dark = None;
    }

    /// Packets whose transmission begins from now on take `delay` along the pipe.
    pub fn set_delay(&mut self, delay: Duration) {
        self.config.delay = delay;
    }
}

fn transmission_time(rate: Rate, size: u16) -> Duration {
    rate.transmission_time(Bytes::new(u64::from(size)))
}

/// The end of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The packet that left the transmitter.
    pub packet: Packet,
    /// Instant and ordinal of its arrival, if it is now the first to arrive.
    pub first_arrival: Option<(Time, u32)>,
    /// The transmission that begins, as [`Admission::Sending`].
    pub next: Option<Admission>,
}

/// A packet at the far end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The packet.
    pub packet: Packet,
    /// Instant and ordinal of the next arrival.
    pub next: Option<(Time, u32)>,
}
