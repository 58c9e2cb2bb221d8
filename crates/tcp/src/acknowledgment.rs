//! Acknowledgments: cumulative ACK, SACK blocks, timestamps and ECN feedback.

use optcp_units::Marking;

use crate::ecn::ByteCounters;
use crate::seq::Seq;

/// Value of an endpoint's timestamp clock, modulo 2^32 (RFC 7323 section 3).
pub type Timestamp = u32;

/// Maximum number of SACK blocks in the options of a segment (RFC 2018 section 3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// Maximum number of SACK blocks next to timestamps (the same section).
pub(crate) const MAX_SACK_BLOCKS_WITH_TIMESTAMPS: usize = 3;

/// SACK option: ranges of segments received after a gap, most recent first.
///
/// A first block below the cumulative ACK, or inside the second block, reports a duplicate segment (RFC 2883
/// section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); MAX_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// Creates an empty option.
    #[must_use]
    pub const fn new() -> Self {
        SackBlocks { blocks: [(Seq::ZERO, Seq::ZERO); MAX_SACK_BLOCKS], count: 0 }
    }

    /// Adds a half-open range, unless the option is full.
    pub fn push(&mut self, block: (Seq, Seq)) {
        if let Some(place) = self.blocks.get_mut(usize::from(self.count)) {
            *place = block;
            self.count += 1;
        }
    }

    /// Returns the blocks in order.
    #[must_use]
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Returns the block that reports a duplicate, for an ACK of everything below `ack`.
    #[must_use]
    pub fn duplicate(&self, ack: Seq) -> Option<(Seq, Seq)> {
        let (first, second) = (self.as_slice().first()?, self.as_slice().get(1));
        let inside = second.is_some_and(|s| s.0 <= first.0 && first.1 <= s.1);
        (first.0 < ack || inside).then_some(*first)
    }
}

impl Default for SackBlocks {
    fn default() -> Self {
        SackBlocks::new()
    }
}

/// Acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Cumulative ACK: everything below has arrived.
    pub seq: Seq,
    /// Echoed timestamp; undefined without timestamps.
    pub echo: Timestamp,
    /// Timestamp of the receiver, if congestion control needs one-way delays.
    pub stamp: Option<Timestamp>,
    /// SACK blocks, if SACK is in use and out-of-order segments exist.
    pub sack: Option<SackBlocks>,
    /// ECN fields of the headers.
    pub marking: Marking,
    /// Bytes received per codepoint, if the ACK has the AccECN option.
    pub counters: Option<ByteCounters>,
}

impl Ack {
    /// Creates a plain cumulative ACK.
    #[must_use]
    pub const fn cumulative(seq: Seq) -> Self {
        Ack { seq, echo: 0, stamp: None, sack: None, marking: Marking::NONE, counters: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(of: (u32, u32)) -> (Seq, Seq) {
        (Seq::new(of.0), Seq::new(of.1))
    }

    fn blocks(of: &[(u32, u32)]) -> SackBlocks {
        let mut blocks = SackBlocks::new();
        of.iter().for_each(|&of| blocks.push(block(of)));
        blocks
    }

    /// RFC 2883 section 4.1 (segment below the cumulative ACK) and 4.2 (segment after a gap).
    #[test]
    fn the_first_block_may_report_a_duplicate() {
        assert_eq!(blocks(&[(3, 4)]).duplicate(Seq::new(8)), Some(block((3, 4))));
        assert_eq!(blocks(&[(10, 11), (9, 12)]).duplicate(Seq::new(8)), Some(block((10, 11))));
        assert_eq!(blocks(&[(9, 12), (14, 15)]).duplicate(Seq::new(8)), None);
        assert_eq!(blocks(&[]).duplicate(Seq::new(8)), None);
    }

    #[test]
    fn full_sack_option_ignores_further_blocks() {
        let full = blocks(&[(1, 2), (3, 4), (5, 6), (7, 8), (9, 10)]);
        assert_eq!(full.as_slice(), [(1, 2), (3, 4), (5, 6), (7, 8)].map(block));
    }
}
