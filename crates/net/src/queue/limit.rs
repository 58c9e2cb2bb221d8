//! Queue limits.

/// Capacity of a queue, including the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// No limit.
    Unlimited,
    /// Limit in packets.
    Packets(u32),
    /// Limit in bytes.
    Bytes(u64),
}

impl QueueLimit {
    /// Returns whether a packet of `size` bytes fits in addition to `packets` packets of `bytes` bytes.
    #[inline]
    #[must_use]
    pub const fn has_room(self, packets: usize, bytes: u64, size: u16) -> bool {
        match self {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => packets < limit as usize,
            QueueLimit::Bytes(limit) => bytes + size as u64 <= limit,
        }
    }

    /// Returns whether `packets` packets of `bytes` bytes are within the limit.
    #[must_use]
    pub const fn holds(self, packets: usize, bytes: u64) -> bool {
        match self {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => packets <= limit as usize,
            QueueLimit::Bytes(limit) => bytes <= limit,
        }
    }

    /// Returns how many packets of `size` bytes (above zero) fit in addition to `packets` packets of `bytes` bytes.
    #[must_use]
    pub const fn room(self, packets: usize, bytes: u64, size: u16) -> u64 {
        match self {
            QueueLimit::Unlimited => u64::MAX,
            QueueLimit::Packets(limit) => (limit as u64).saturating_sub(packets as u64),
            QueueLimit::Bytes(limit) => limit.saturating_sub(bytes) / size as u64,
        }
    }
}
