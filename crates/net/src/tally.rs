//! Counters of ports.

/// Packet counts of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Packets accepted into the queue: one packet-hop each.
    pub accepted: u64,
    /// Packets dropped at the port or on the link.
    pub dropped: u64,
}

/// Traffic of a port and its queueing times. A packet in transmission counts as queued in full until its last bit has
/// left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets accepted.
    pub packets: u64,
    /// Bytes accepted.
    pub bytes: u64,
    /// Packets dropped at the port or on the link.
    pub dropped: u64,
    /// Bytes dropped.
    pub dropped_bytes: u64,
    /// Packets marked.
    pub marked: u64,
    /// Integral of the queue over time, in bytes times picoseconds.
    pub byte_time: u128,
    /// Maximum time from a packet's arrival until the queue, including this packet, could have been sent, in
    /// picoseconds; `u64::MAX` if it never could.
    pub longest: u64,
}

impl Tally {
    /// Counts an accepted packet of `size` bytes.
    #[inline]
    pub fn accept(&mut self, size: u16) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    /// Counts a dropped packet of `size` bytes.
    #[inline]
    pub fn lose(&mut self, size: u16) {
        self.dropped += 1;
        self.dropped_bytes += u64::from(size);
    }
}
