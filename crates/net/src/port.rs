//! A port: queue and transmitter of one direction of a link.
//!
//! # Models
//! A queue with a discipline, and a store-and-forward transmitter of fixed rate in front of a pipe of fixed
//! delay, which is its owner's.
//! # Source
//! Store and forward (RFC 1242 section 3.8): a packet is in the port until its last bit has left.
//! # Parameters
//! `rate`, `delay`, `limit`, `jitter`.
//! # Limits
//! A failure empties the port: what waits, what is being sent, what is under way.
//! A port that is held has a transmitter that takes nothing out of the queue: how long packets will wait there, of which
//! bundles and disciplines may ask, is told as if it were not held.
//! Maintenance closes it instead: nothing comes in, what is in it still arrives.

use std::sync::Arc;

use optcp_des::Stream;
use optcp_units::{Bytes, Duration, Rate, Time};

use crate::queue::{Discipline, Fate, Fates, Fifo, Link, Queue, QueueKind};
use crate::schedule::Drift;
use crate::transmission::{NEVER_SENT, transmission_time};
use crate::{
    ArrivalState, DropReason, FailedLinkQueue, Jitter, Loss, Packet, PortCounts, QueueLimit, Tally,
};

/// What a port is like.
#[derive(Clone, Debug, PartialEq)]
pub struct PortConfig {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Queue limit.
    pub limit: QueueLimit,
    /// How packets are kept beside the propagation delay, if they are.
    pub jitter: Option<Jitter>,
    /// Its queue discipline; `None` is drop-tail.
    pub managed: Option<Box<Managed>>,
    /// Whether its transmitter takes nothing out of the queue until it is opened, or ever, since others take what waits.
    pub held: bool,
    /// Whether packets behind it keep their order although its delay changes.
    pub ordered: bool,
}

/// A queue discipline, and what a run has for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Managed {
    /// The discipline with its parameters.
    pub discipline: Discipline,
    /// What it draws from, if it does.
    pub stream: Option<Stream>,
    /// The class of each flow, by number; none is class 0 for all.
    pub classes: Arc<[u8]>,
}

impl PortConfig {
    /// A drop-tail port without jitter, of which no schedule changes anything.
    #[must_use]
    pub const fn new(rate: Rate, delay: Duration, limit: QueueLimit) -> Self {
        PortConfig { rate, delay, limit, jitter: None, managed: None, held: false, ordered: false }
    }

    fn link(&self) -> Link {
        let managed = self.managed.as_deref();
        Link {
            limit: self.limit,
            rate: self.rate,
            stream: managed.and_then(|managed| managed.stream.clone()),
            classes: managed.map_or_else(Arc::default, |managed| Arc::clone(&managed.classes)),
        }
    }

    /// The state of a discipline other than drop-tail that decides when a packet comes.
    #[must_use]
    pub fn decides_on_arrival(&self) -> Option<ArrivalState> {
        match self.managed.as_deref()?.discipline.queue(&self.link()) {
            Queue::InOrder(state, ..) => Some(state),
            Queue::Kept(_) => None,
        }
    }

    /// Whether a discipline decides when the transmitter is free.
    #[must_use]
    pub fn decides_on_departure(&self) -> bool {
        let managed = self.managed.as_deref();
        managed.is_some_and(|managed| managed.discipline.kind().decides_on_departure())
    }

    fn queue(&self) -> Queue {
        let drop_tail = Discipline::of(QueueKind::DropTail);
        let discipline = self.managed.as_ref().map_or(&drop_tail, |managed| &managed.discipline);
        discipline.queue(&self.link())
    }
}

/// A transmission that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// When it ends.
    pub until: Time,
    /// Its ordinal.
    pub ordinal: u32,
}

/// What became of a packet that came to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It waits.
    Queued,
    /// The transmitter was idle: it is being sent.
    Sending(Transmission),
    /// It is lost.
    Dropped(DropReason),
}

/// The end of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The packet that left the transmitter.
    pub packet: Packet,
    /// How long it waited for the transmitter.
    pub waited: Duration,
    /// When it arrives at the far end.
    pub arrival: Time,
    /// Whether the line has spoilt it: it does not arrive.
    pub spoilt: bool,
    /// The transmission that begins.
    pub next: Option<Transmission>,
}

/// One direction of a link, up to the last bit sent.
#[derive(Clone, Debug)]
pub struct Port {
    config: PortConfig,
    /// What the transmitter does while the link is out of service.
    dark: Option<Box<FailedLinkQueue>>,
    /// What waits.
    queue: Queue,
    /// What became of packets otherwise, and is still to be told.
    fates: Fates,
    /// Whether it sets the flag ECE in what comes.
    sets_ece: bool,
    /// How its delay changes, and since when; it takes the place of that of `config`.
    drift: Option<(Time, Drift)>,
    /// The packet in transmission.
    sending: Option<Packet>,
    /// How long that waited.
    waited: Duration,
    /// The propagation delay of the packet in transmission: the one in force when its first bit left.
    delay: Duration,
    /// Transmissions begun, modulo 2^32; a failure counts too, so that the end of a transmission
    /// that the failure cut off is told apart.
    transmissions: u32,
    losses: Box<[Loss]>,
    /// When the packet in transmission will have been sent.
    sending_until: Time,
    /// When everything in the queue will have been sent.
    busy_until: Time,
    /// The latest arrival at the far end so far, where there is jitter.
    last_arrival: Option<Time>,
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
            queue: config.queue(),
            fates: Fates::new(),
            dark: None,
            sets_ece: false,
            drift: None,
            config,
            sending: None,
            waited: Duration::ZERO,
            transmissions: 0,
            losses: Box::default(),
            sending_until: Time::ZERO,
            busy_until: Time::ZERO,
            last_arrival: None,
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
        let sending = self.sending.map_or(0, |sending| u64::from(sending.size()));
        self.tally.byte_time + stood * u128::from(self.queue.bytes() + sending)
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
        self.dark.as_ref().map_or(self.queue_length(), |dark| dark.packets(now))
    }

    /// Packets in the queue, the one in transmission included.
    #[must_use]
    pub fn queue_length(&self) -> usize {
        usize::from(self.sending.is_some()) + self.queue.len()
    }

    /// What is in the queue, the packet in transmission first.
    pub fn inside(&self) -> impl Iterator<Item = Packet> {
        self.sending.into_iter().chain(self.queue.list())
    }

    /// Whether no packet has come to it yet.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.counts() == PortCounts::default()
    }

    /// What becomes of the flag ECE from now on in TCP packets that come: it is set, or stays as it is.
    pub fn set_ece(&mut self, sets: bool) {
        self.sets_ece = sets;
    }

    /// A packet that comes to the port, as it enters it.
    #[inline]
    #[must_use]
    pub fn enters(&self, packet: Packet) -> Packet {
        if self.sets_ece { packet.with_ece() } else { packet }
    }

    /// A packet comes to the port, as [`enters`](Self::enters) gives it.
    pub fn admit(&mut self, now: Time, packet: Packet) -> Admission {
        match self.losses.iter_mut().find_map(|loss| loss.take(packet)) {
            Some(lost) => {
                self.tally.lose(packet.size());
                Admission::Dropped(lost)
            }
            None => self.admit_copy(now, packet),
        }
    }

    /// How many copies come behind a packet that has found a place.
    pub fn copies(&mut self, packet: Packet) -> usize {
        self.losses.iter_mut().map(|loss| usize::from(loss.doubles(packet))).sum()
    }

    /// A copy comes, which no loss before the queue concerns.
    pub fn admit_copy(&mut self, now: Time, packet: Packet) -> Admission {
        let size = packet.size();
        let transmission = transmission_time(self.config.rate, size);
        let refused = match &mut self.dark {
            Some(dark) => {
                dark.take(now, size, transmission, self.config.limit);
                Err(DropReason::LinkDown)
            }
            None => {
                self.settle(now);
                let until = self.busy_until;
                self.queue.enqueue(now, until, packet, self.sending, &mut self.fates)
            }
        };
        if let Err(reason) = refused {
            self.tally.lose(size);
            return Admission::Dropped(reason);
        }
        self.tally.accept(size);
        if !self.config.held {
            self.busy_until = (self.busy_until.max(now) + transmission).min(NEVER_SENT);
        }
        self.count_fates(0);
        if self.config.held {
            self.busy_until = self.if_sent_from(now);
        }
        let wait = match self.busy_until {
            NEVER_SENT => u64::MAX,
            until => (until - now).as_ps(),
        };
        self.tally.longest = self.tally.longest.max(wait);
        match self.sending {
            Some(_) => Admission::Queued,
            None => self.send_next(now).map_or(Admission::Queued, Admission::Sending),
        }
    }

    /// Counts the fates from this place on.
    fn count_fates(&mut self, from: usize) {
        for &(packet, fate) in &self.fates[from..] {
            match fate {
                Fate::Marked => self.tally.marked += 1,
                Fate::Dropped(_) => {
                    self.tally.lose(packet.size());
                    // A queue that takes for ever stays so, and of one that is held it is told anew.
                    if self.busy_until < NEVER_SENT && !self.config.held {
                        let transmission = transmission_time(self.config.rate, packet.size());
                        let until = self.busy_until.as_ps() - transmission.as_ps();
                        self.busy_until = Time::from_ps(until);
                    }
                }
            }
        }
    }

    /// Whether [`fates`](Self::fates) has any.
    #[inline]
    #[must_use]
    pub fn has_fates(&self) -> bool {
        !self.fates.is_empty()
    }

    /// Packets that the discipline has marked, or lost although they had been accepted, since this was asked last.
    #[inline]
    pub fn fates(&mut self) -> impl Iterator<Item = (Packet, Fate)> {
        self.fates.drain(..)
    }

    /// Whether its transmitter could send a packet at once.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.sending.is_none() && self.dark.is_none() && !self.config.held && self.queue.len() == 0
    }

    /// Another transmitter takes a packet out of the queue: the packet, and how long it waited.
    pub fn release(&mut self, now: Time) -> Option<(Packet, Duration)> {
        if self.queue.len() == 0 {
            return None;
        }
        self.settle(now);
        let told = self.fates.len();
        let next = self.queue.dequeue(now, &mut self.fates);
        self.count_fates(told);
        self.busy_until = self.if_sent_from(now);
        next.map(|(packet, since)| (packet, now.saturating_since(since)))
    }

    /// When the transmitter could begin what waits.
    fn may_begin(&self, now: Time) -> Time {
        if self.sending.is_some() { self.sending_until } else { now }
    }

    /// When everything that waits would have been sent if it were not held.
    fn if_sent_from(&self, now: Time) -> Time {
        let bytes = Bytes::new(self.queue.bytes());
        (self.may_begin(now) + self.config.rate.transmission_time(bytes)).min(NEVER_SENT)
    }

    /// When everything in the queue will have been sent at the present rate.
    fn last_sent(&self, now: Time) -> Time {
        let waiting = self.queue.list().into_iter();
        let sum =
            |until, packet: Packet| until + transmission_time(self.config.rate, packet.size());
        waiting.fold(self.may_begin(now), sum).min(NEVER_SENT)
    }

    /// Transmissions that begin from now on are this fast.
    pub fn set_rate(&mut self, now: Time, rate: Rate) {
        self.config.rate = rate;
        if self.busy_until > now {
            self.busy_until = self.last_sent(now);
        }
    }

    /// The queue holds so much from now on: what it loses for that, the youngest packets that it has.
    pub fn set_limit(&mut self, now: Time, limit: QueueLimit) -> Vec<Packet> {
        self.settle(now);
        self.config.limit = limit;
        let lost = self.queue.limit(limit, self.sending);
        lost.iter().for_each(|packet| self.tally.lose(packet.size()));
        if !lost.is_empty() {
            self.busy_until = self.last_sent(now);
        }
        lost
    }

    /// Its transmitter takes packets out of the queue from now on, or no longer: the transmission that begins, if one does.
    /// What is being sent goes on.
    pub fn open(&mut self, now: Time, open: bool) -> Option<Transmission> {
        self.config.held = !open;
        if self.config.held || self.queue.len() == 0 {
            return None;
        }
        self.busy_until = self.last_sent(now);
        if self.sending.is_some() {
            return None;
        }
        // One that is taken out of service in an orderly way sends what it has.
        self.settle(now);
        self.send_next(now)
    }

    /// The transmitter is free.
    fn send_next(&mut self, now: Time) -> Option<Transmission> {
        if self.config.held {
            return None;
        }
        let told = self.fates.len();
        let next = self.queue.dequeue(now, &mut self.fates);
        self.count_fates(told);
        self.sending = next.map(|(packet, _)| packet);
        let (packet, since) = next?;
        self.waited = now.saturating_since(since);
        self.transmissions = self.transmissions.wrapping_add(1);
        self.delay = match self.drift {
            Some((since, drift)) => drift.after(now.saturating_since(since)),
            None => self.config.delay,
        };
        self.sending_until = now + transmission_time(self.config.rate, packet.size());
        Some(Transmission { until: self.sending_until, ordinal: self.transmissions })
    }

    /// The transmission `ordinal` ends now, unless a failure cut it off.
    pub fn finish_transmission(&mut self, now: Time, ordinal: u32) -> Option<Sent> {
        if ordinal != self.transmissions {
            return None;
        }
        self.settle(now);
        let (packet, waited) = (self.sending.take()?, self.waited);
        let spoilt = self.losses.iter_mut().any(|loss| loss.spoils(packet));
        let mut arrival = now + self.delay;
        if spoilt {
            self.tally.lose(packet.size());
        } else if let Some(jitter) = &mut self.config.jitter {
            arrival = jitter.arrival(arrival, self.last_arrival);
            self.last_arrival = Some(arrival);
        } else if self.config.ordered {
            arrival = self.last_arrival.map_or(arrival, |last| arrival.max(last));
            self.last_arrival = Some(arrival);
        }
        Some(Sent { packet, waited, arrival, spoilt, next: self.send_next(now) })
    }

    /// Something in the place of queue and transmitter has sent a packet: its ordinal.
    pub fn launch(&mut self, packet: Packet) -> u32 {
        self.tally.accept(packet.size());
        self.transmissions = self.transmissions.wrapping_add(1);
        self.transmissions
    }

    /// The same, but the packet is lost on the way.
    pub fn drop_burst(&mut self, packet: Packet) {
        self.tally.lose(packet.size());
    }

    /// The link fails: calls `lost` for every packet in the port, those `under_way` first.
    pub fn fail(
        &mut self,
        now: Time,
        under_way: impl IntoIterator<Item = Packet>,
        mut lost: impl FnMut(Packet, DropReason),
    ) {
        self.settle(now);
        self.go_dark();
        self.busy_until = Time::ZERO;
        self.last_arrival = None;
        self.transmissions = self.transmissions.wrapping_add(1);
        let mut lose = |packet: Packet, reason| {
            self.tally.lose(packet.size());
            lost(packet, reason);
        };
        under_way.into_iter().for_each(|packet| lose(packet, DropReason::LostInFlight));
        let waiting = self.queue.list();
        match &mut self.queue {
            Queue::InOrder(state, fifo, _) => {
                state.restart();
                *fifo = Fifo::default();
            }
            kept @ Queue::Kept(_) => *kept = self.config.queue(),
        }
        let queued = self.sending.take().into_iter().chain(waiting);
        queued.for_each(|packet| lose(packet, DropReason::QueueFlushed));
    }

    /// The link is taken out of service in an orderly way: what the port holds is still sent and
    /// arrives.
    pub fn close(&mut self) {
        self.go_dark();
    }

    fn go_dark(&mut self) {
        // Whatever takes it out of service a second time: the transmitter is at it already.
        if self.dark.is_none() {
            let sizes = self.inside().map(|packet| packet.size());
            let transmission = |size| transmission_time(self.config.rate, size);
            let ends = (self.sending_until, self.busy_until);
            self.dark = Some(Box::new(FailedLinkQueue::new(ends, sizes, transmission)));
        }
    }

    /// The link works again.
    pub fn restore(&mut self) {
        self.dark = None;
    }

    /// How long what is in the port takes along the pipe at least, but for a drift: one in transmission keeps the delay that
    /// it began with.
    #[must_use]
    pub fn least_delay(&self) -> Duration {
        match self.sending {
            Some(_) if self.delay < self.config.delay => self.delay,
            _ => self.config.delay,
        }
    }

    /// Packets whose transmission begins from now on take `delay` along the pipe.
    pub fn set_delay(&mut self, delay: Duration) {
        self.config.delay = delay;
        self.drift = None;
    }

    /// The same, where the delay changes evenly from now on.
    pub fn set_drift(&mut self, now: Time, drift: Drift) {
        self.drift = Some((now, drift));
    }
}
