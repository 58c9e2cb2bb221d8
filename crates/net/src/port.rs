//! Port: queue and transmitter for one direction of a link.
//!
//! # Model
//! A queue with a discipline, and a store-and-forward transmitter with a fixed rate. The owner of the port models the
//! propagation delay. A failure empties the port: queued packets, the packet in transmission and packets on the link
//! are lost. Maintenance closes the port instead: new packets are dropped, but packets in the port still arrive.
//!
//! # References
//! Store and forward (RFC 1242 section 3.8): a packet is in the port until its last bit has left.
//!
//! # Limitations
//! While the transmitter is held (takes nothing out of the queue), expected queueing delays are computed as if it were
//! not. Bundles and disciplines may use them.

use std::sync::Arc;

use optcp_des::Stream;
use optcp_units::{Bytes, Duration, Rate, Time};

use crate::bucket::{self, Bucket, BucketPlace};
use crate::queue::{Discipline, Fate, Fates, Fifo, Link, Queue, QueueKind};
use crate::schedule::Drift;
use crate::transmission::{NEVER_SENT, transmission_time};
use crate::{
    ArrivalState, Chance, DropReason, FailedLinkQueue, Jitter, Loss, Packet, PortCounts,
    QueueLimit, Tally,
};

/// Configuration of a port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortConfig {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Queue limit.
    pub limit: QueueLimit,
    /// Delay variation, if any.
    pub jitter: Option<Jitter>,
    /// Queue discipline; `None` is drop-tail.
    pub managed: Option<Box<Managed>>,
    /// Whether the transmitter is held: it takes nothing out of the queue until it is opened, or never if other
    /// transmitters serve it.
    pub held: bool,
    /// Whether packets behind the port keep their order when its delay changes.
    pub ordered: bool,
    /// Policers, markers and shapers, in order.
    pub buckets: Vec<Bucket>,
}

/// Queue discipline with its data for a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Managed {
    /// Discipline with its parameters.
    pub discipline: Discipline,
    /// Random stream, if the discipline needs one.
    pub stream: Option<Stream>,
    /// Class by flow; empty means class 0 for all.
    pub classes: Arc<[u8]>,
    /// Whether segments may be trimmed, by flow; empty if none may.
    pub trimmable: Arc<[bool]>,
}

impl PortConfig {
    /// Creates the configuration of a drop-tail port without jitter and without scheduled changes.
    #[must_use]
    pub const fn new(rate: Rate, delay: Duration, limit: QueueLimit) -> Self {
        PortConfig {
            rate,
            delay,
            limit,
            jitter: None,
            managed: None,
            held: false,
            ordered: false,
            buckets: Vec::new(),
        }
    }

    fn link(&self) -> Link {
        let managed = self.managed.as_deref();
        Link {
            limit: self.limit,
            rate: self.rate,
            stream: managed.and_then(|managed| managed.stream.clone()),
            classes: managed.map_or_else(Arc::default, |managed| Arc::clone(&managed.classes)),
            trimmable: managed.map_or_else(Arc::default, |managed| Arc::clone(&managed.trimmable)),
        }
    }

    /// Returns the state of a discipline that decides on arrival, other than drop-tail.
    #[must_use]
    pub fn decides_on_arrival(&self) -> Option<ArrivalState> {
        match self.managed.as_deref()?.discipline.queue(&self.link()) {
            Queue::InOrder(state, ..) => Some(state),
            Queue::Kept(_) => None,
        }
    }

    /// Returns whether the discipline decides when the transmitter is free.
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

/// Transmission that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// End of the transmission.
    pub until: Time,
    /// Ordinal of the transmission.
    pub ordinal: u32,
}

/// Result of a packet's arrival at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The packet is queued.
    Queued,
    /// The transmitter was idle and sends the packet.
    Sending(Transmission),
    /// The packet is dropped.
    Dropped(DropReason),
}

/// End of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Packet that left the transmitter.
    pub packet: Packet,
    /// Queueing delay.
    pub waited: Duration,
    /// Arrival time at the far end.
    pub arrival: Time,
    /// Whether the line corrupted the packet, so that it does not arrive.
    pub corrupted: bool,
    /// Next transmission, which begins now.
    pub next: Option<Transmission>,
}

/// One direction of a link, up to the end of transmission.
#[derive(Clone, Debug)]
pub struct Port {
    config: PortConfig,
    /// Transmit queue while the link is out of service.
    failed_queue: Option<Box<FailedLinkQueue>>,
    /// Queued packets.
    queue: Queue,
    /// Packets marked or dropped by the discipline that have not been reported.
    fates: Fates,
    /// Whether the port sets the ECE flag in arriving packets.
    sets_ece: bool,
    /// Delay drift and its start time; replaces the delay of `config`.
    drift: Option<(Time, Drift)>,
    /// Packet in transmission.
    sending: Option<Packet>,
    /// Queueing delay of the packet in transmission.
    waited: Duration,
    /// Propagation delay of the packet in transmission, fixed when its first bit left.
    delay: Duration,
    /// Transmissions begun, modulo 2^32. A failure also counts, which distinguishes the end of an aborted transmission.
    transmissions: u32,
    losses: Box<[Loss]>,
    /// End of the current transmission.
    sending_until: Time,
    /// Time at which all queued packets will have been sent.
    busy_until: Time,
    /// Latest arrival at the far end so far; maintained with jitter or ordered delivery.
    last_arrival: Option<Time>,
    /// Tally; `byte_time` extends to `tallied_at`.
    tally: Tally,
    tallied_at: Time,
}

impl Port {
    /// Creates an empty port in service.
    #[must_use]
    pub fn new(config: PortConfig) -> Self {
        Port {
            delay: config.delay,
            queue: config.queue(),
            fates: Fates::new(),
            failed_queue: None,
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

    /// Adds loss processes at the entry of the port, applied in this order.
    #[must_use]
    pub fn with_losses(mut self, losses: Vec<Loss>) -> Self {
        self.losses = losses.into();
        self
    }

    /// Returns the packet counts.
    #[must_use]
    pub fn counts(&self) -> PortCounts {
        PortCounts { accepted: self.tally.packets, dropped: self.tally.dropped }
    }

    /// Returns the tally until `now`.
    #[must_use]
    pub fn tally(&self, now: Time) -> Tally {
        Tally { byte_time: self.byte_time(now), ..self.tally }
    }

    fn byte_time(&self, now: Time) -> u128 {
        let elapsed = u128::from((now - self.tallied_at).as_ps());
        let sending = self.sending.map_or(0, |sending| u64::from(sending.size()));
        self.tally.byte_time + elapsed * u128::from(self.queue.bytes() + sending)
    }

    /// Updates the tally before the queue changes.
    fn update_tally(&mut self, now: Time) {
        self.tally.byte_time = self.byte_time(now);
        self.tallied_at = now;
    }

    /// Returns the time at which the queue will be empty, from the node's view; zero before the first packet and after
    /// a repair.
    #[must_use]
    pub fn busy_until(&self) -> Time {
        self.failed_queue.as_ref().map_or(self.busy_until, |failed_queue| failed_queue.busy_until())
    }

    /// Returns the number of packets in the queue at `now`, including the one in transmission, from the node's view.
    #[must_use]
    pub fn packets(&self, now: Time) -> usize {
        self.failed_queue
            .as_ref()
            .map_or(self.queue_length(), |failed_queue| failed_queue.packets(now))
    }

    /// Returns the number of packets in the queue, including the one in transmission.
    #[must_use]
    pub fn queue_length(&self) -> usize {
        usize::from(self.sending.is_some()) + self.queue.len()
    }

    /// Returns the packets in the queue, starting with the one in transmission.
    pub fn inside(&self) -> impl Iterator<Item = Packet> {
        self.sending.into_iter().chain(self.queue.list())
    }

    /// Returns the current rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.config.rate
    }

    /// Returns whether the link is in service.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.failed_queue.is_none()
    }

    /// Returns whether no packet has arrived yet.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.counts() == PortCounts::default()
    }

    /// Sets the probability of scheduled losses before the queue.
    pub fn set_loss(&mut self, chance: Chance) {
        self.losses.iter_mut().for_each(|loss| loss.set_scheduled(chance));
    }

    /// Sets whether the port sets the ECE flag in arriving TCP packets.
    pub fn set_ece(&mut self, sets: bool) {
        self.sets_ece = sets;
    }

    /// Returns an arriving packet as it enters the port.
    #[inline]
    #[must_use]
    pub fn enters(&self, packet: Packet) -> Packet {
        if self.sets_ece { packet.with_ece() } else { packet }
    }

    /// Handles an arriving packet that [`enters`](Self::enters) has processed.
    pub fn admit(&mut self, now: Time, packet: Packet) -> Admission {
        match self.losses.iter_mut().find_map(|loss| loss.take(packet)) {
            Some(lost) => self.refuse(packet, lost),
            None => {
                match bucket::meter(&mut self.config.buckets, BucketPlace::Ingress, now, packet) {
                    Some(metered) => self.admit_metered(now, packet, metered),
                    None => self.refuse(packet, DropReason::Policed),
                }
            }
        }
    }

    fn refuse(&mut self, packet: Packet, reason: DropReason) -> Admission {
        self.tally.lose(packet.size());
        Admission::Dropped(reason)
    }

    /// Returns the number of duplicates that follow an accepted packet.
    pub fn copies(&mut self, packet: Packet) -> usize {
        self.losses.iter_mut().map(|loss| usize::from(loss.duplicates(packet))).sum()
    }

    /// Handles a duplicate, which losses and buckets before the queue do not affect.
    pub fn admit_copy(&mut self, now: Time, packet: Packet) -> Admission {
        self.admit_metered(now, packet, packet)
    }

    /// Handles a packet that becomes `metered` before the queue.
    fn admit_metered(&mut self, now: Time, packet: Packet, metered: Packet) -> Admission {
        let refused = match &mut self.failed_queue {
            Some(failed_queue) => {
                let size = packet.size();
                let transmission = transmission_time(self.config.rate, size);
                failed_queue.take(now, size, transmission, self.config.limit);
                Err(DropReason::LinkDown)
            }
            None => {
                self.update_tally(now);
                let until = self.busy_until;
                if metered.marking() != packet.marking() {
                    self.fates.push((metered, Fate::Marked));
                }
                let refused =
                    self.queue.enqueue(now, until, metered, self.sending, &mut self.fates);
                if refused.is_err() {
                    self.fates.clear();
                }
                refused
            }
        };
        if let Err(reason) = refused {
            return self.refuse(packet, reason);
        }
        let size = self.accepted(packet).size();
        self.tally.accept(size);
        if !self.is_estimated() {
            let transmission = transmission_time(self.config.rate, size);
            self.busy_until = (self.busy_until.max(now) + transmission).min(NEVER_SENT);
        }
        self.count_fates(0);
        if self.is_estimated() {
            self.busy_until = self.end_without_hold(now);
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

    /// Counts the fates from index `from` on.
    fn count_fates(&mut self, from: usize) {
        for &(packet, fate) in &self.fates[from..] {
            match fate {
                Fate::Marked => self.tally.marked += 1,
                Fate::Trimmed => {}
                Fate::Dropped(_) => {
                    self.tally.lose(packet.size());
                    // A queue that is never sent stays so; an estimate is recomputed.
                    if self.busy_until < NEVER_SENT && !self.is_estimated() {
                        let transmission = transmission_time(self.config.rate, packet.size());
                        let until = self.busy_until.as_ps() - transmission.as_ps();
                        self.busy_until = Time::from_ps(until);
                    }
                }
            }
        }
    }

    /// Returns whether [`fates`](Self::fates) has any.
    #[inline]
    #[must_use]
    pub fn has_fates(&self) -> bool {
        !self.fates.is_empty()
    }

    /// Returns a packet that was just accepted as the queue keeps it, before the next call of [`fates`](Self::fates).
    #[inline]
    #[must_use]
    pub fn accepted(&self, packet: Packet) -> Packet {
        let trimmed = self.fates.iter().any(|&(_, fate)| fate == Fate::Trimmed);
        if trimmed { packet.trimmed() } else { packet }
    }

    /// Removes and returns the packets that the discipline has marked, trimmed, or dropped after acceptance, since the
    /// last call.
    #[inline]
    pub fn fates(&mut self) -> impl Iterator<Item = (Packet, Fate)> {
        self.fates.drain(..)
    }

    /// Returns whether the transmitter could send a packet immediately.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.sending.is_none()
            && self.failed_queue.is_none()
            && !self.config.held
            && self.queue.len() == 0
    }

    /// Removes the next packet for another transmitter. Returns it with its queueing delay.
    pub fn release(&mut self, now: Time) -> Option<(Packet, Duration)> {
        if self.queue.len() == 0 {
            return None;
        }
        self.update_tally(now);
        let reported = self.fates.len();
        let next = self.queue.dequeue(now, &mut self.fates);
        self.count_fates(reported);
        self.busy_until = self.end_without_hold(now);
        next.map(|(packet, since)| (packet, now.saturating_since(since)))
    }

    /// Returns the time at which the transmitter could begin with queued packets.
    fn may_begin(&self, now: Time) -> Time {
        if self.sending.is_some() { self.sending_until } else { now }
    }

    /// Returns whether the time at which the queue will be empty is an estimate from its bytes.
    fn is_estimated(&self) -> bool {
        self.config.held || bucket::shapes(&self.config.buckets)
    }

    /// Returns the time at which all queued packets would have been sent without the hold. With shapers, it is not
    /// before the time at which they have tokens for all packets.
    fn end_without_hold(&self, now: Time) -> Time {
        let (begin, bytes) = (self.may_begin(now), self.queue.bytes());
        let sent = begin + self.config.rate.transmission_time(Bytes::new(bytes));
        bucket::ready(&self.config.buckets, begin, bytes).max(sent).min(NEVER_SENT)
    }

    /// Returns the time at which all queued packets will have been sent at the current rate.
    fn last_sent(&self, now: Time) -> Time {
        if bucket::shapes(&self.config.buckets) {
            return self.end_without_hold(now);
        }
        let waiting = self.queue.list().into_iter();
        let sum =
            |until, packet: Packet| until + transmission_time(self.config.rate, packet.size());
        waiting.fold(self.may_begin(now), sum).min(NEVER_SENT)
    }

    /// Sets the rate of transmissions that begin from now on.
    pub fn set_rate(&mut self, now: Time, rate: Rate) {
        self.config.rate = rate;
        if self.busy_until > now {
            self.busy_until = self.last_sent(now);
        }
    }

    /// Sets the queue limit. Returns the packets that exceed it, which are the youngest.
    pub fn set_limit(&mut self, now: Time, limit: QueueLimit) -> Vec<Packet> {
        self.update_tally(now);
        self.config.limit = limit;
        let lost = self.queue.limit(limit, self.sending);
        lost.iter().for_each(|packet| self.tally.lose(packet.size()));
        if !lost.is_empty() {
            self.busy_until = self.last_sent(now);
        }
        lost
    }

    /// Opens or holds the transmitter. Returns the transmission that begins, if any. A transmission in progress
    /// continues.
    pub fn open(&mut self, now: Time, open: bool) -> Option<Transmission> {
        self.config.held = !open;
        if self.config.held || self.queue.len() == 0 {
            return None;
        }
        self.busy_until = self.last_sent(now);
        if self.sending.is_some() {
            return None;
        }
        // A port that is out of service for maintenance still sends its packets.
        self.update_tally(now);
        self.send_next(now)
    }

    /// Starts the next transmission.
    fn send_next(&mut self, now: Time) -> Option<Transmission> {
        if self.config.held {
            return None;
        }
        let reported = self.fates.len();
        let next = self.take_next(now);
        self.count_fates(reported);
        self.sending = next.map(|(packet, _)| packet);
        let (packet, since) = next?;
        let begins = bucket::begin(&mut self.config.buckets, now, packet);
        self.waited = begins.saturating_since(since);
        self.transmissions = self.transmissions.wrapping_add(1);
        self.delay = match self.drift {
            Some((since, drift)) => drift.after(begins.saturating_since(since)),
            None => self.config.delay,
        };
        self.sending_until = begins + transmission_time(self.config.rate, packet.size());
        if bucket::shapes(&self.config.buckets) {
            self.busy_until = self.end_without_hold(now);
        }
        Some(Transmission { until: self.sending_until, ordinal: self.transmissions })
    }

    /// Removes the next packet that passes the buckets behind the queue. Returns it with its arrival time.
    fn take_next(&mut self, now: Time) -> Option<(Packet, Time)> {
        loop {
            let (packet, since) = self.queue.dequeue(now, &mut self.fates)?;
            match bucket::meter(&mut self.config.buckets, BucketPlace::Egress, now, packet) {
                Some(metered) => {
                    if metered.marking() != packet.marking() {
                        self.fates.push((metered, Fate::Marked));
                    }
                    return Some((metered, since));
                }
                None => self.fates.push((packet, Fate::Dropped(DropReason::PolicedEgress))),
            }
        }
    }

    /// Ends the transmission `ordinal`, unless a failure aborted it.
    pub fn finish_transmission(&mut self, now: Time, ordinal: u32) -> Option<Sent> {
        if ordinal != self.transmissions {
            return None;
        }
        self.update_tally(now);
        let (packet, waited) = (self.sending.take()?, self.waited);
        let corrupted = self.losses.iter_mut().any(|loss| loss.corrupts(packet));
        let mut arrival = now + self.delay;
        if corrupted {
            self.tally.lose(packet.size());
        } else if let Some(jitter) = &mut self.config.jitter {
            arrival = jitter.arrival(arrival, self.last_arrival);
            self.last_arrival = Some(arrival);
        } else if self.config.ordered {
            arrival = self.last_arrival.map_or(arrival, |last| arrival.max(last));
            self.last_arrival = Some(arrival);
        }
        Some(Sent { packet, waited, arrival, corrupted, next: self.send_next(now) })
    }

    /// Counts a packet that another sender than the queue has sent. Returns its ordinal.
    pub fn launch(&mut self, packet: Packet) -> u32 {
        self.tally.accept(packet.size());
        self.transmissions = self.transmissions.wrapping_add(1);
        self.transmissions
    }

    /// Counts a packet that another sender than the queue has lost.
    pub fn drop_burst(&mut self, packet: Packet) {
        self.tally.lose(packet.size());
    }

    /// Fails the link. Calls `lost` for every packet in the port, starting with the packets `in_flight`.
    pub fn fail(
        &mut self,
        now: Time,
        in_flight: impl IntoIterator<Item = Packet>,
        mut lost: impl FnMut(Packet, DropReason),
    ) {
        self.update_tally(now);
        self.start_failed_queue();
        self.busy_until = Time::ZERO;
        self.last_arrival = None;
        self.transmissions = self.transmissions.wrapping_add(1);
        let mut lose = |packet: Packet, reason| {
            self.tally.lose(packet.size());
            lost(packet, reason);
        };
        in_flight.into_iter().for_each(|packet| lose(packet, DropReason::LostInFlight));
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

    /// Takes the link out of service for maintenance: packets in the port are still sent and arrive.
    pub fn close(&mut self) {
        self.start_failed_queue();
    }

    fn start_failed_queue(&mut self) {
        // A second failure changes nothing.
        if self.failed_queue.is_none() {
            let sizes = self.inside().map(|packet| packet.size());
            let transmission = |size| transmission_time(self.config.rate, size);
            let ends = (self.sending_until, self.busy_until);
            self.failed_queue = Some(Box::new(FailedLinkQueue::new(ends, sizes, transmission)));
        }
    }

    /// Puts the link back into service.
    pub fn restore(&mut self) {
        self.failed_queue = None;
    }

    /// Returns the minimum propagation delay of packets in the port, without drift. A packet in transmission keeps its
    /// delay.
    #[must_use]
    pub fn min_delay(&self) -> Duration {
        match self.sending {
            Some(_) if self.delay < self.config.delay => self.delay,
            _ => self.config.delay,
        }
    }

    /// Returns whether the propagation delay changes linearly.
    #[must_use]
    pub fn drifts(&self) -> bool {
        self.drift.is_some()
    }

    /// Sets the propagation delay of transmissions that begin from now on.
    pub fn set_delay(&mut self, delay: Duration) {
        self.config.delay = delay;
        self.drift = None;
    }

    /// Starts a linear change of the propagation delay.
    pub fn set_drift(&mut self, now: Time, drift: Drift) {
        self.drift = Some((now, drift));
    }
}
