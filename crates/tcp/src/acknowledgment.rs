//! Acknowledgments: cumulative ACK, SACK blocks, timestamps and ECN feedback.

use optcp_units::{Duration, Marking};

use crate::ecn::EcnCounters;
use crate::seq::Seq;

/// Value of an endpoint's timestamp clock, modulo 2^32 (RFC 7323 section 3).
pub type Timestamp = u32;

/// Maximum number of SACK blocks in the options of a segment (RFC 2018 section 3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// Maximum number of SACK blocks next to timestamps (the same section).
pub(crate) const MAX_SACK_BLOCKS_WITH_TIMESTAMPS: usize = 3;

/// Unit of the ACK delay field with the default ack_delay_exponent of 3 (RFC 9000 section 18.2).
const ACK_DELAY_UNIT: Duration = Duration::from_us(8);

/// SACK option: ranges of segments received after a gap, most recent first.
///
/// A first block below the cumulative ACK, or inside the second block, reports a duplicate segment (RFC 2883
/// section 4). Instead, it may report a trimmed segment, which has not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); MAX_SACK_BLOCKS],
    count: u8,
    /// Whether the first block is a trimmed segment.
    trimmed: bool,
}

impl SackBlocks {
    /// Creates an empty option.
    #[must_use]
    pub const fn new() -> Self {
        SackBlocks { blocks: [(Seq::ZERO, Seq::ZERO); MAX_SACK_BLOCKS], count: 0, trimmed: false }
    }

    /// Creates an option that reports a trimmed segment.
    #[must_use]
    pub fn of_trimmed(seq: Seq) -> Self {
        let mut blocks = SackBlocks { trimmed: true, ..SackBlocks::new() };
        blocks.push((seq, seq.next()));
        blocks
    }

    /// Returns the trimmed segment that the first block reports.
    #[must_use]
    pub fn trimmed(&self) -> Option<Seq> {
        self.trimmed.then_some(self.blocks[0].0)
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
        ((first.0 < ack || inside) && !self.trimmed).then_some(*first)
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
    /// Echoed timestamp, or ACK delay of QUIC in its unit; otherwise undefined.
    pub echo: Timestamp,
    /// Timestamp of the receiver, if congestion control needs one-way delays.
    pub stamp: Option<Timestamp>,
    /// SACK blocks, if SACK is in use and out-of-order segments exist; always the ranges of packet numbers of QUIC.
    pub sack: Option<SackBlocks>,
    /// ECN fields of the headers.
    pub marking: Marking,
    /// Data received per codepoint, if the ACK has the AccECN option or ECN counts of QUIC.
    pub counters: Option<EcnCounters>,
    /// Data ACK, on a subflow of a connection: every data number below has arrived.
    pub data: Option<u32>,
}

impl Ack {
    /// Creates a plain cumulative ACK.
    #[must_use]
    pub const fn cumulative(seq: Seq) -> Self {
        Ack {
            seq,
            echo: 0,
            stamp: None,
            sack: None,
            marking: Marking::NONE,
            counters: None,
            data: None,
        }
    }

    /// Creates an ACK of QUIC: everything below `seq` has arrived, in packets of these numbers, and the newest of them
    /// arrived `delay` ago.
    #[must_use]
    pub fn of_packets(seq: Seq, numbers: SackBlocks, delay: Duration) -> Self {
        let delay = delay.as_ps() / ACK_DELAY_UNIT.as_ps();
        let echo = u32::try_from(delay).unwrap_or(u32::MAX);
        Ack { echo, sack: Some(numbers), ..Ack::cumulative(seq) }
    }

    /// Returns by how long the receiver delayed an ACK of QUIC.
    #[must_use]
    pub fn delay(&self) -> Duration {
        ACK_DELAY_UNIT * u64::from(self.echo)
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
