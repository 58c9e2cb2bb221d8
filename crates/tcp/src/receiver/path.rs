//! Flow label of a receiver's ACKs: see [`crate::repathing`].

use crate::config::Repath;
use crate::seq::Seq;

/// Flow label of ACKs, with the state that decides on its changes.
#[derive(Clone, Debug)]
pub(super) struct AckPath {
    kind: Repath,
    label: u8,
    /// Flow labels of the last segment and of the one before it.
    arrived: [u8; 2],
    /// Last segment that arrived as a duplicate.
    duplicate: Option<Seq>,
}

impl AckPath {
    pub(super) fn new(kind: Repath) -> Self {
        AckPath { kind, label: 0, arrived: [0; 2], duplicate: None }
    }

    /// Returns the flow label of the last ACK.
    #[inline]
    pub(super) const fn label(&self) -> u8 {
        self.label
    }

    /// Processes the flow label of a segment.
    #[inline]
    pub(super) const fn on_segment(&mut self, label: u8) {
        self.arrived = [label, self.arrived[0]];
    }

    /// Changes the path if the duplicate `seq` shows that ACKs may be lost. `in_order`: it was not beyond a gap.
    pub(super) fn on_duplicate(&mut self, seq: Seq, in_order: bool) {
        let is_lost = match self.kind {
            Repath::None | Repath::Packet => false,
            Repath::Rto | Repath::RtoPlb => in_order && self.duplicate == Some(seq),
            Repath::RtoFirst => in_order && self.arrived[0] != self.arrived[1],
        };
        self.label = self.label.wrapping_add(u8::from(is_lost));
        self.duplicate = Some(seq);
    }

    /// Changes the path at a SYN that arrives again.
    pub(super) fn on_syn_again(&mut self) {
        if !matches!(self.kind, Repath::None | Repath::Packet) {
            self.label = self.label.wrapping_add(1);
        }
    }

    /// Takes the label of the next ACK.
    #[inline]
    pub(super) fn on_ack(&mut self) {
        self.label = self.label.wrapping_add(u8::from(self.kind == Repath::Packet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the labels of ACKs after duplicates, each with its segment, whether it is in order, and its flow label.
    fn labels(kind: Repath, duplicates: &[(u32, bool, u8)]) -> Vec<u8> {
        let mut path = AckPath::new(kind);
        let change = |&(seq, in_order, label): &(u32, bool, u8)| {
            path.on_segment(label);
            path.on_duplicate(Seq::new(seq), in_order);
            path.label()
        };
        duplicates.iter().map(change).collect()
    }

    /// Duplicates of segments 5, 5, 6, 6 and 6; the sender takes another label before each but the fourth.
    const DUPLICATES: [(u32, bool, u8); 5] =
        [(5, true, 1), (5, true, 2), (6, true, 3), (6, true, 3), (6, true, 4)];

    #[test]
    fn second_duplicate_changes_the_path_whatever_its_label() {
        for kind in [Repath::Rto, Repath::RtoPlb] {
            assert_eq!(labels(kind, &DUPLICATES), [0, 1, 1, 2, 3]);
        }
    }

    #[test]
    fn first_duplicate_with_another_label_changes_the_path() {
        assert_eq!(labels(Repath::RtoFirst, &DUPLICATES), [1, 2, 3, 3, 4]);
    }

    /// A probe (TLP) of segment 7 has the label of the segments before it.
    #[test]
    fn duplicate_with_the_label_before_it_leaves_the_path() {
        assert_eq!(labels(Repath::RtoFirst, &[(7, true, 0), (7, true, 1)]), [0, 1]);
    }

    #[test]
    fn duplicates_beyond_a_gap_leave_the_path() {
        for kind in [Repath::Rto, Repath::RtoFirst] {
            assert_eq!(labels(kind, &[(5, false, 1), (5, false, 2)]), [0, 0]);
        }
    }

    #[test]
    fn each_syn_that_arrives_again_changes_the_path() {
        for (kind, expected) in [(Repath::None, 0), (Repath::Rto, 2), (Repath::RtoFirst, 2)] {
            let mut path = AckPath::new(kind);
            path.on_syn_again();
            path.on_syn_again();
            assert_eq!(path.label(), expected);
        }
    }
}
