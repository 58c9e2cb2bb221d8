//! State of a port that every packet needs.

use optcp_net::PortCounts;
use optcp_units::Duration;

/// State of a port that every packet needs, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Hot {
    /// Time at which all accepted packets will have been sent, in picoseconds.
    pub(super) free_at: u64,
    /// Propagation delay in picoseconds.
    pub(super) delay: u64,
    /// Maximum time until `free_at` at which a packet is accepted without further checks.
    pub(super) max_wait: u64,
    /// Constant part of the transmission time, to which `per_byte` is added for each byte.
    pub(super) transmission: u64,
    pub(super) counts: PortCounts,
    pub(super) per_byte: u32,
    /// Smallest packet size of the current mode, and number of consecutive sizes from it.
    pub(super) smallest: u16,
    pub(super) sizes: u16,
    /// Number of further packets that are accepted regardless of their queueing delay.
    pub(super) free_places: u16,
    pub(super) service_mode: ServiceMode,
    /// Whether every packet is added to the backlog.
    pub(super) fills_backlog: bool,
    /// Whether the backlog holds the queue.
    pub(super) keeps_queue: bool,
    /// Whether the backlog counts bytes and times.
    pub(super) tallied: bool,
}

/// Method by which a port serves packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServiceMode {
    /// Packets of one size, by arithmetic only.
    OneSize,
    /// Packets of several sizes.
    AnySize,
    /// Each packet is examined individually.
    General,
}

impl Hot {
    /// Creates an idle port in general mode.
    pub(super) fn new(delay: Duration, keeps_queue: bool, tallied: bool) -> Self {
        Hot {
            free_at: 0,
            delay: delay.as_ps(),
            max_wait: 0,
            transmission: 0,
            counts: PortCounts::default(),
            per_byte: 0,
            smallest: 0,
            sizes: 0,
            free_places: 0,
            service_mode: ServiceMode::General,
            fills_backlog: false,
            keeps_queue,
            tallied,
        }
    }

    /// Returns the remaining busy time of the transmitter.
    #[inline(always)]
    pub(super) fn wait(&self, now: u64) -> u64 {
        self.free_at.saturating_sub(now)
    }

    /// Returns whether a packet with this queueing delay is certainly accepted.
    #[inline(always)]
    pub(super) fn fits_fast(&self, size: u16, wait: u64) -> bool {
        self.is_open_for(size) && (wait <= self.max_wait || self.free_places > 0)
    }

    #[inline(always)]
    pub(super) fn is_open_for(&self, size: u16) -> bool {
        size.wrapping_sub(self.smallest) < self.sizes
    }

    /// Returns the departure time of a packet that arrives now.
    #[inline(always)]
    pub(super) fn sent(&self, size: u16, now: u64, wait: u64) -> u64 {
        now + wait + self.transmission + u64::from(self.per_byte) * u64::from(size)
    }

    /// Accepts a packet that will have been sent at `sent`. Returns its arrival time at the far end.
    #[inline(always)]
    pub(super) fn accept(&mut self, sent: u64) -> u64 {
        self.free_at = sent;
        self.free_places = self.free_places.saturating_sub(1);
        self.counts.accepted += 1;
        sent + self.delay
    }

    /// Returns the ordinal of the last accepted packet.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "ordinals count modulo 2^32")]
    pub(super) fn last_ordinal(&self) -> u32 {
        self.counts.accepted as u32
    }

    /// Returns to general mode for the next packet.
    pub(super) fn reset_service_mode(&mut self) {
        self.service_mode = ServiceMode::General;
        (self.smallest, self.sizes) = (0, 0);
        self.fills_backlog = false;
        self.free_places = 0;
    }
}
