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

mod arrivals;
mod changes;
mod config;
mod transmitter;

use optcp_units::{Duration, Rate, Time};

use crate::queue::{Fates, Queue};
use crate::schedule::Drift;
use crate::{DropReason, FailedLinkQueue, Loss, Packet, PortCounts, Tally};

pub use config::{Managed, PortConfig};

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
}
