//! What ports count.

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
    /// Packets marked here.
    pub marked: u64,
    /// The bytes in the queue, integrated over time: bytes times picoseconds.
    pub byte_time: u128,
    /// The longest time from a packet's arrival until everything in the queue, itself included, could have
    /// been sent, in picoseconds; the greatest number if it never will.
    pub longest: u64,
}

impl Tally {
    /// A packet of `size` bytes is accepted.
    #[inline]
    pub fn accept(&mut self, size: u16) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    /// A packet of `size` bytes is lost.
    #[inline]
    pub fn lose(&mut self, size: u16) {
        self.dropped += 1;
        self.dropped_bytes += u64::from(size);
    }
}
