//! Transmitter of a port.

use optcp_units::{Bytes, Duration, Time};

use super::{Port, Sent, Transmission};
use crate::bucket::{self, BucketPlace};
use crate::queue::Fate;
use crate::transmission::{NEVER_SENT, transmission_time};
use crate::{DropReason, Packet};

impl Port {
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
    pub(super) fn is_estimated(&self) -> bool {
        self.config.held || bucket::shapes(&self.config.buckets)
    }

    /// Returns the time at which all queued packets would have been sent without the hold. With shapers, it is not
    /// before the time at which they have tokens for all packets.
    pub(super) fn end_without_hold(&self, now: Time) -> Time {
        let (begin, bytes) = (self.may_begin(now), self.queue.bytes());
        let sent = begin + self.config.rate.transmission_time(Bytes::new(bytes));
        bucket::ready(&self.config.buckets, begin, bytes).max(sent).min(NEVER_SENT)
    }

    /// Returns the time at which all queued packets will have been sent at the current rate.
    pub(super) fn last_sent(&self, now: Time) -> Time {
        if bucket::shapes(&self.config.buckets) {
            return self.end_without_hold(now);
        }
        let waiting = self.queue.list().into_iter();
        let sum =
            |until, packet: Packet| until + transmission_time(self.config.rate, packet.size());
        waiting.fold(self.may_begin(now), sum).min(NEVER_SENT)
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
    pub(super) fn send_next(&mut self, now: Time) -> Option<Transmission> {
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
}
