//! ECN of a path: the counts that ACKs report are validated against the packets sent.
//!
//! # Model
//! The first ten packets are ECN-capable, later ones only after the counts of an ACK were valid. Counts are valid if
//! ECT(0) and CE together rise at least by the number of newly acknowledged packets that had ECT(0). No packet may have
//! arrived with ECT(1), and not more with ECT(0) than were sent. Invalid or missing counts, or the loss of all ECN-capable
//! packets, end ECN for the connection. ACKs that do not raise the highest acknowledged number are not examined.
//!
//! # References
//! RFC 9000 sections 13.4.2, 13.4.2.1 and 13.4.2.2, and appendix A.4; RFC 9002 section 7.1.
//!
//! # Parameters
//! `ecn`, `receiver_ecn`, `ect_packets`.
//!
//! # Limitations
//! ECN is not tried again after a failure. A path that marks all packets stays valid; the appendix also allows the opposite.

use crate::ecn::PacketCounts;

/// Number of ECN-capable packets that test the path (RFC 9000 section 13.4.2).
const TESTED: u32 = 10;

/// State of a path (RFC 9000 appendix A.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PathState {
    /// The first packets are ECN-capable.
    #[default]
    Testing,
    /// These were sent, and no counts were validated since then.
    Unknown,
    /// All packets are ECN-capable.
    Capable,
    /// No further packet is ECN-capable.
    Failed,
}

/// Validation of ECN.
#[derive(Clone, Debug, Default)]
pub(super) struct Validation {
    state: PathState,
    /// Number of ECN-capable packets sent, and of those declared lost.
    sent: u32,
    lost: u32,
    /// `true`: an ECN-capable packet has been acknowledged.
    is_acknowledged: bool,
    /// Counts of the last examined ACK.
    counts: PacketCounts,
}

impl Validation {
    /// Returns whether the next packet is ECN-capable.
    pub(super) const fn is_ect(&self) -> bool {
        matches!(self.state, PathState::Testing | PathState::Capable)
    }

    /// Records an ECN-capable packet.
    pub(super) fn on_sent(&mut self) {
        self.sent += 1;
        if self.state == PathState::Testing && self.sent >= TESTED {
            self.state = PathState::Unknown;
        }
    }

    /// Records that an ECN-capable packet is lost.
    pub(super) fn on_lost(&mut self) {
        self.lost += 1;
        let are_all = self.lost == self.sent && !self.is_acknowledged;
        if are_all && self.state == PathState::Unknown {
            self.state = PathState::Failed;
        }
    }

    /// Validates the counts of an ACK that newly acknowledges `acknowledged` ECN-capable packets. Returns by how much the
    /// count of CE has risen.
    pub(super) fn on_ack(&mut self, counts: Option<PacketCounts>, acknowledged: u32) -> u32 {
        if self.state == PathState::Failed {
            return 0;
        }
        let Some(marked) = self.validate(counts, acknowledged) else {
            self.state = PathState::Failed;
            return 0;
        };
        self.is_acknowledged |= acknowledged > 0;
        if self.state == PathState::Unknown && self.is_acknowledged {
            self.state = PathState::Capable;
        }
        marked
    }

    /// Returns by how much the count of CE has risen, or `None` if the counts are invalid.
    fn validate(&mut self, counts: Option<PacketCounts>, acknowledged: u32) -> Option<u32> {
        let Some(counts) = counts else {
            return (acknowledged == 0).then_some(0);
        };
        let ect0 = counts.ect0.checked_sub(self.counts.ect0)?;
        let ce = counts.ce.checked_sub(self.counts.ce)?;
        let is_valid = ect0 + ce >= acknowledged && counts.ect0 <= self.sent && counts.ect1 == 0;
        self.counts = counts;
        is_valid.then_some(ce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ect0: u32, ect1: u32, ce: u32) -> Option<PacketCounts> {
        Some(PacketCounts { ect0, ect1, ce })
    }

    fn sent(packets: u32) -> Validation {
        let mut validation = Validation::default();
        (0..packets).for_each(|_| validation.on_sent());
        validation
    }

    /// RFC 9000 appendix A.4: ten packets test the path. Then no packet is ECN-capable until counts are valid, which needs an
    /// acknowledged ECN-capable packet.
    #[test]
    fn path_is_capable_after_test_and_valid_counts() {
        let mut validation = sent(9);
        assert_eq!((validation.is_ect(), validation.on_ack(counts(2, 0, 0), 2)), (true, 0));
        assert_eq!(validation.state, PathState::Testing);
        validation.on_sent();
        assert!(!validation.is_ect());
        assert_eq!(validation.on_ack(counts(3, 0, 1), 2), 1);
        assert_eq!((validation.state, validation.is_ect()), (PathState::Capable, true));
        let mut validation = sent(10);
        assert_eq!((validation.on_ack(None, 0), validation.state), (0, PathState::Unknown));
    }

    /// RFC 9000 section 13.4.2.1, rule by rule. The counts are missing, or ECT(0) and CE together rise by less than the newly
    /// acknowledged packets. A codepoint was never sent, or more packets have ECT(0) than were sent. Or a count falls.
    #[test]
    fn invalid_counts_end_ecn() {
        for (reported, acknowledged) in [
            (None, 1),
            (counts(4, 0, 1), 2),
            (counts(3, 0, 2), 2),
            (counts(6, 1, 1), 2),
            (counts(11, 0, 1), 2),
            (counts(8, 0, 0), 2),
        ] {
            let mut validation = sent(10);
            assert_eq!(validation.on_ack(counts(4, 0, 1), 5), 1);
            assert!(validation.is_ect());
            assert_eq!(validation.on_ack(reported, acknowledged), 0, "{reported:?}");
            assert_eq!(validation.state, PathState::Failed, "{reported:?}");
            assert_eq!((validation.on_ack(counts(9, 0, 9), 1), validation.is_ect()), (0, false));
        }
    }

    /// RFC 9000 section 13.4.2.1: after lost ACKs, counts rise by more than the number of newly acknowledged packets.
    #[test]
    fn counts_may_rise_by_more_than_the_acknowledged_packets() {
        let mut validation = sent(10);
        assert_eq!(validation.on_ack(counts(5, 0, 3), 2), 3);
        assert_eq!(validation.state, PathState::Capable);
        assert_eq!(validation.on_ack(counts(5, 0, 5), 2), 2);
    }

    /// RFC 9000 section 13.4.2: all ECN-capable packets of the test are lost, so ECN ends. If one was acknowledged, it does
    /// not.
    #[test]
    fn loss_of_all_tested_packets_ends_ecn() {
        for (acknowledged, want) in [(0, PathState::Failed), (1, PathState::Capable)] {
            let mut validation = sent(10);
            if acknowledged > 0 {
                validation.on_ack(counts(1, 0, 0), 1);
            }
            (acknowledged..10).for_each(|_| validation.on_lost());
            assert_eq!(validation.state, want);
        }
    }
}
