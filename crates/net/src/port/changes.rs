//! Failures, maintenance and scheduled changes of a port.

use optcp_units::{Duration, Rate, Time};

use super::Port;
use crate::queue::{Fifo, Queue};
use crate::schedule::Drift;
use crate::transmission::transmission_time;
use crate::{Chance, DropReason, FailedLinkQueue, Packet, QueueLimit};

impl Port {
    /// Sets the probability of scheduled losses before the queue.
    pub fn set_loss(&mut self, chance: Chance) {
        self.losses.iter_mut().for_each(|loss| loss.set_scheduled(chance));
    }

    /// Sets whether the port sets the ECE flag in arriving TCP packets.
    pub fn set_ece(&mut self, sets: bool) {
        self.sets_ece = sets;
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
