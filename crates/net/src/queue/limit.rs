//! How much a queue holds.

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

    /// Whether so many packets of so many bytes are no more than it allows.
    #[must_use]
    pub const fn holds(self, packets: usize, bytes: u64) -> bool {
        match self {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => packets <= limit as usize,
            QueueLimit::Bytes(limit) => bytes <= limit,
        }
    }

    /// How many packets of `size` bytes, which is above zero, have a place beside so many packets of so many bytes.
    #[must_use]
    pub const fn room(self, packets: usize, bytes: u64, size: u16) -> u64 {
        match self {
            QueueLimit::Unlimited => u64::MAX,
            QueueLimit::Packets(limit) => (limit as u64).saturating_sub(packets as u64),
            QueueLimit::Bytes(limit) => limit.saturating_sub(bytes) / size as u64,
        }
    }
}
