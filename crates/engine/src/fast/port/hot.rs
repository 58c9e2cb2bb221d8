//! What every packet needs of a port.

use optcp_net::PortCounts;
use optcp_units::Duration;

/// What every packet needs, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Hot {
    /// When everything that has been accepted will have been sent, in picoseconds.
    pub(super) free_at: u64,
    /// Propagation delay in picoseconds.
    pub(super) delay: u64,
    /// The longest time until `free_at` with which a packet is surely accepted.
    pub(super) longest: u64,
    /// A packet is sent for so long, and `per_byte` for each of its bytes.
    pub(super) transmission: u64,
    pub(super) counts: PortCounts,
    pub(super) per_byte: u32,
    /// The sizes of the packets that a short lane is open for: the smallest, and how many sizes.
    pub(super) smallest: u16,
    pub(super) sizes: u16,
    /// So many more packets are surely accepted, however long they have to wait.
    pub(super) room: u16,
    pub(super) service_mode: ServiceMode,
    /// Whether every packet goes into the backlog.
    pub(super) fills_backlog: bool,
    /// Whether its queue is kept there.
    pub(super) keeps: bool,
    /// Whether bytes and times are counted there.
    pub(super) tallied: bool,
}

/// How a port deals with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServiceMode {
    /// With one size of them, by arithmetic alone.
    OneSize,
    /// With several.
    AnySize,
    /// With each as it comes.
    General,
}

impl Hot {
    /// An idle port, at which no short lane is open.
    pub(super) fn new(delay: Duration, keeps: bool, tallied: bool) -> Self {
        Hot {
            free_at: 0,
            delay: delay.as_ps(),
            longest: 0,
            transmission: 0,
            counts: PortCounts::default(),
            per_byte: 0,
            smallest: 0,
            sizes: 0,
            room: 0,
            service_mode: ServiceMode::General,
            fills_backlog: false,
            keeps,
            tallied,
        }
    }

    /// For how long the transmitter is busy yet.
    #[inline(always)]
    pub(super) fn waits(&self, now: u64) -> u64 {
        self.free_at.saturating_sub(now)
    }

    /// Whether a packet is accepted that has so long to wait, as far as that is easily told.
    #[inline(always)]
    pub(super) fn fits_fast(&self, size: u16, waits: u64) -> bool {
        self.is_open_for(size) && (waits <= self.longest || self.room > 0)
    }

    #[inline(always)]
    pub(super) fn is_open_for(&self, size: u16) -> bool {
        size.wrapping_sub(self.smallest) < self.sizes
    }

    /// When a packet that comes now will have been sent.
    #[inline(always)]
    pub(super) fn sent(&self, size: u16, now: u64, waits: u64) -> u64 {
        now + waits + self.transmission + u64::from(self.per_byte) * u64::from(size)
    }

    /// A packet is accepted and will have been sent at `sent`: when it arrives at the far end.
    #[inline(always)]
    pub(super) fn accept(&mut self, sent: u64) -> u64 {
        self.free_at = sent;
        self.room = self.room.saturating_sub(1);
        self.counts.accepted += 1;
        sent + self.delay
    }

    /// The ordinal of the packet that was accepted last.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "ordinals count modulo 2^32")]
    pub(super) fn last_ordinal(&self) -> u32 {
        self.counts.accepted as u32
    }

    /// The next packet is looked at anew.
    pub(super) fn leave_lanes(&mut self) {
        self.service_mode = ServiceMode::General;
        (self.smallest, self.sizes) = (0, 0);
        self.fills_backlog = false;
        self.room = 0;
    }
}
