//! What an acknowledgment says.

use optcp_units::Marking;

use crate::ecn::ByteCounters;
use crate::seq::Seq;

/// A reading of an endpoint's timestamp clock, modulo 2^32 (RFC 7323 section 3).
pub type Timestamp = u32;

/// The most SACK blocks that fit into the options of a segment (RFC 2018 section 3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// The most that fit beside timestamps (the same section).
pub(crate) const MAX_SACK_BLOCKS_WITH_TIMESTAMPS: usize = 3;

/// The SACK option: ranges of segments that have arrived beyond a hole, the most recent first.
///
/// A first block below the cumulative ACK, or inside the second block, reports a segment that arrived
/// twice (RFC 2883 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); MAX_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// No blocks yet.
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

    /// The blocks in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// The block that reports a duplicate, of an ACK for everything below `ack`.
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

/// An acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Everything below has arrived.
    pub seq: Seq,
    /// The timestamp that it echoes; without meaning unless timestamps are in use.
    pub echo: Timestamp,
    /// The receiver's own timestamp, if the sender's congestion control asks for one-way delays.
    pub stamp: Option<Timestamp>,
    /// What has arrived beyond, if SACK is in use and there is something to report.
    pub sack: Option<SackBlocks>,
    /// What its headers say of congestion.
    pub marking: Marking,
    /// The bytes that came with each codepoint, if it has the AccECN option.
    pub counters: Option<ByteCounters>,
}

impl Ack {
    /// A cumulative ACK and nothing else.
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

    /// RFC 2883 section 4.1 (a segment below the cumulative ACK) and 4.2 (one beyond a hole).
    #[test]
    fn the_first_block_may_report_a_duplicate() {
        assert_eq!(blocks(&[(3, 4)]).duplicate(Seq::new(8)), Some(block((3, 4))));
        assert_eq!(blocks(&[(10, 11), (9, 12)]).duplicate(Seq::new(8)), Some(block((10, 11))));
        assert_eq!(blocks(&[(9, 12), (14, 15)]).duplicate(Seq::new(8)), None);
        assert_eq!(blocks(&[]).duplicate(Seq::new(8)), None);
    }

    #[test]
    fn a_full_option_takes_no_more() {
        let full = blocks(&[(1, 2), (3, 4), (5, 6), (7, 8), (9, 10)]);
        assert_eq!(full.as_slice(), [(1, 2), (3, 4), (5, 6), (7, 8)].map(block));
    }
}
