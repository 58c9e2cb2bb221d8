//! Counters of AccECN: marked packets, and bytes by codepoint.
//!
//! # Model
//! The receiver counts packets marked CE and reports the last three bits of the count (ACE) in each
//! of its segments. It also counts the payload per codepoint, which the AccECN option carries in 24
//! bits each. The sender uses the differences to its own values. If an ACK covers so many segments
//! that ACE may have wrapped, the sender assumes the maximum possible number. If the byte counters
//! indicate the minimum, it assumes that.
//!
//! # References
//! RFC 9768 sections 3.2.1 to 3.2.3, appendices A.1 and A.2.
//!
//! # Parameters
//! `accecn_option`, `mss`.
//!
//! # Limitations
//! The option carries all counters that fit next to timestamps and SACK blocks, most important first. The RFC
//! allows receivers to omit the option from most ACKs.

use optcp_units::{Bytes, Codepoint};

/// Modulus of the option's counters, 2^24.
const MODULUS: u32 = 1 << 24;
/// Number of ACE values.
const VALUES: u32 = 8;

/// Returns the ACE value of a count.
pub(crate) fn ace(packets: u32) -> u8 {
    u8::try_from(packets % VALUES).unwrap_or_default()
}

/// Counters of the AccECN option: payload in bytes by codepoint, modulo 2^24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteCounters {
    /// Bytes in packets with ECT(0), starting from 1.
    pub ect0: u32,
    /// Bytes in packets with CE, starting from 0.
    pub ce: u32,
    /// Bytes in packets with ECT(1), starting from 1.
    pub ect1: u32,
    /// Number of counters that fit into the option.
    pub count: u8,
}

impl ByteCounters {
    /// Initial values (RFC 9768 section 3.2.1).
    pub(crate) const INITIAL: ByteCounters = ByteCounters { ect0: 1, ce: 0, ect1: 1, count: 3 };

    /// Counts a packet with `payload` and this codepoint.
    pub(crate) fn add(&mut self, codepoint: Codepoint, payload: u32) {
        let counter = match codepoint {
            Codepoint::NotEct => return,
            Codepoint::Ect1 => &mut self.ect1,
            Codepoint::Ect0 => &mut self.ect0,
            Codepoint::Ce => &mut self.ce,
        };
        *counter = (*counter + payload) % MODULUS;
    }

    /// Returns the counters that fit into `room` bytes of options.
    pub(crate) fn fitting(self, room: u64) -> Option<ByteCounters> {
        let count = u8::try_from(room.saturating_sub(2) / 3).unwrap_or(u8::MAX).min(3);
        (count > 0).then_some(ByteCounters { count, ..self })
    }

    /// Returns the size of the option, aligned to 4 bytes.
    #[must_use]
    pub fn size(self) -> Bytes {
        Bytes::new((2 + 3 * u64::from(self.count)).next_multiple_of(4))
    }
}

/// Sender's copy of the receiver's counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Number of packets marked CE; ACE is its last three bits.
    packets: u32,
    /// Bytes marked CE, if the last ACK reported them.
    ce_bytes: Option<u32>,
    mss: u32,
}

impl Known {
    pub(crate) fn new(packets: u32, mss: u32) -> Self {
        Known { packets, ce_bytes: Some(ByteCounters::INITIAL.ce), mss }
    }

    /// Returns the number of newly reported marks. `segments` is the number of newly reported segments.
    pub(crate) fn take(&mut self, ace: u8, bytes: Option<ByteCounters>, segments: u32) -> u32 {
        let least = u32::from(ace).wrapping_sub(self.packets) % VALUES;
        // The counter of CE is the second in the option.
        let ce_bytes = bytes.filter(|bytes| bytes.count >= 2).map(|bytes| bytes.ce);
        let new = ce_bytes.zip(self.ce_bytes).map(|(ce, known)| ce.wrapping_sub(known) % MODULUS);
        self.ce_bytes = ce_bytes;
        let packets = if least > segments {
            // The ACK is older than a previous one, or answers a duplicate segment: the next ACK reports the
            // marks.
            0
        } else if segments < VALUES {
            least
        } else {
            let greatest = segments - (segments - least) % VALUES;
            match new {
                Some(0) => least,
                Some(bytes) if bytes <= least * self.mss && bytes < greatest * self.mss / 2 => {
                    least
                }
                _ => greatest,
            }
        };
        self.packets = self.packets.wrapping_add(packets);
        packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ecn::negotiation::INITIAL_COUNT;

    fn bytes(ce: u32) -> Option<ByteCounters> {
        Some(ByteCounters { ce, ..ByteCounters::INITIAL })
    }

    /// RFC 9768 appendix A.1: with s.cep = 5, ACE = 1 after two segments reports (1 - 5) mod 8 = 4 marks.
    #[test]
    fn ace_is_decoded_relative_to_known_count() {
        let mut known = Known::new(INITIAL_COUNT, 1000);
        assert_eq!([5, 6, 0, 0, 1].map(|ace| known.take(ace, None, 2)), [0, 1, 2, 0, 1]);
    }

    /// RFC 9768 appendix A.2.1: 22 segments acknowledged, ACE increased by 2: 2, 10 or 18 marks; the maximum
    /// is safe. Appendix A.2.2: 2000 bytes are two segments; 18 000 are not.
    #[test]
    fn ambiguous_ace_is_decoded_as_maximum() {
        for (option, want) in [(None, 18), (bytes(2000), 2), (bytes(18_000), 18), (bytes(0), 2)] {
            let mut known = Known::new(INITIAL_COUNT, 1000);
            assert_eq!(known.take(7, option, 22), want, "{option:?}");
        }
        // Eight segments: 0 or 8.
        let mut known = Known::new(INITIAL_COUNT, 1000);
        assert_eq!(known.take(5, None, 8), 8);
        assert_eq!(known.take(5, None, 7), 0);
    }

    /// RFC 9768 section 3.2.3: kind, length and three bytes per counter: 11, 8 or 5 bytes. Next to
    /// timestamps, 28 bytes are left, of which two SACK blocks take 20.
    #[test]
    fn accecn_option_has_as_many_counters_as_fit() {
        let sizes = [28, 11, 10, 8, 5, 4].map(|room| {
            ByteCounters::INITIAL
                .fitting(room)
                .map(|counters| (counters.count, counters.size().count()))
        });
        let want = [Some((3, 12)), Some((3, 12)), Some((2, 8)), Some((2, 8)), Some((1, 8)), None];
        assert_eq!(sizes, want);
    }

    #[test]
    fn byte_counters_wrap_with_their_field() {
        let mut counters = ByteCounters { ce: MODULUS - 1000, ..ByteCounters::INITIAL };
        for codepoint in [Codepoint::Ce, Codepoint::Ect0, Codepoint::NotEct, Codepoint::Ect1] {
            counters.add(codepoint, 1460);
        }
        assert_eq!((counters.ect0, counters.ce, counters.ect1), (1461, 460, 1461));
    }
}
