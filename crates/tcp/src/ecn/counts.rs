//! ECN counts of QUIC's ACKs: received packets by codepoint.
//!
//! # References
//! RFC 9000 sections 13.4.1, 16 and 19.3.2.

use optcp_units::{Bytes, Codepoint};

/// Number of received packets by codepoint, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounts {
    /// Packets with ECT(0).
    pub ect0: u32,
    /// Packets with ECT(1).
    pub ect1: u32,
    /// Packets with CE.
    pub ce: u32,
}

impl PacketCounts {
    /// Counts a packet with this codepoint.
    pub(crate) fn add(&mut self, codepoint: Codepoint) {
        let count = match codepoint {
            Codepoint::NotEct => return,
            Codepoint::Ect0 => &mut self.ect0,
            Codepoint::Ect1 => &mut self.ect1,
            Codepoint::Ce => &mut self.ce,
        };
        *count += 1;
    }

    /// Returns the counts that an ACK reports: `None` until a packet had a codepoint.
    pub(crate) fn reported(self) -> Option<Self> {
        (self != PacketCounts::default()).then_some(self)
    }

    /// Returns the size of the three fields of an ACK frame.
    #[must_use]
    pub fn size(self) -> Bytes {
        Bytes::new([self.ect0, self.ect1, self.ce].into_iter().map(integer_size).sum())
    }
}

/// Returns the bytes of a variable-length integer.
const fn integer_size(value: u32) -> u64 {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9000 section 16, table 4: 6, 14, 30 and 62 usable bits.
    #[test]
    fn counts_have_the_size_of_variable_length_integers() {
        let size = |ect0, ect1, ce| PacketCounts { ect0, ect1, ce }.size().count();
        assert_eq!(size(63, 0, 0), 3);
        assert_eq!(size(64, 0, 63), 4);
        assert_eq!(size(16_383, 0, 64), 5);
        assert_eq!(size(16_384, 0, 0), 6);
        assert_eq!(size(1_073_741_823, 0, 0), 6);
        assert_eq!(size(1_073_741_824, 0, 0), 10);
    }

    /// RFC 9000 section 13.4.1: an endpoint that has received no codepoint reports no counts.
    #[test]
    fn packets_are_counted_by_codepoint() {
        let mut counts = PacketCounts::default();
        counts.add(Codepoint::NotEct);
        assert_eq!(counts.reported(), None);
        for codepoint in [Codepoint::Ect0, Codepoint::Ce, Codepoint::Ect0, Codepoint::Ect1] {
            counts.add(codepoint);
        }
        assert_eq!(counts.reported(), Some(PacketCounts { ect0: 2, ect1: 1, ce: 1 }));
    }
}
