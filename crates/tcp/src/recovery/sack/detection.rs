//! Loss detection.

use optcp_units::{Duration, Time};

use super::duplicates::Duplicates;
use super::rack::{Rack, Sent, View};
use super::scoreboard::{Outstanding, Scoreboard};
use super::trimmed::Trimmed;
use crate::config::LossDetectionKind;
use crate::recovery::policy::DUP_THRESH;
use crate::seq::Seq;

/// State of the selected loss detection.
#[derive(Clone, Debug)]
pub(super) enum LossDetection {
    /// See [`Duplicates`].
    Duplicates(Duplicates),
    /// See [`Rack`].
    Rack(Rack),
    /// See [`Trimmed`].
    Trimmed(Trimmed),
}

impl LossDetection {
    pub(super) fn new(kind: LossDetectionKind) -> Self {
        match kind {
            LossDetectionKind::Duplicates => LossDetection::Duplicates(Duplicates::default()),
            LossDetectionKind::Rack => LossDetection::Rack(Rack::new()),
            LossDetectionKind::Trimmed => LossDetection::Trimmed(Trimmed::default()),
        }
    }

    /// Returns the time of the next check without an ACK.
    pub(super) fn deadline(&self) -> Option<Time> {
        match self {
            LossDetection::Duplicates(_) | LossDetection::Trimmed(_) => None,
            LossDetection::Rack(d) => d.deadline(),
        }
    }

    /// Returns the number of later segments that declares a loss, ignoring time.
    pub(super) fn reordering(&self) -> u32 {
        match self {
            LossDetection::Duplicates(_) | LossDetection::Trimmed(_) => DUP_THRESH,
            LossDetection::Rack(d) => d.reordering(),
        }
    }

    pub(super) fn on_sent(
        &mut self,
        board: &Scoreboard,
        seq: Seq,
        now: Time,
        looks_at: impl Fn(&Scoreboard, Seq) -> bool,
    ) {
        match self {
            LossDetection::Duplicates(_) | LossDetection::Trimmed(_) => {}
            LossDetection::Rack(d) => d.on_sent(board, seq, now, looks_at),
        }
    }

    /// Starts an ACK, before the segments that it reports.
    pub(super) fn begin_ack(&mut self) {
        match self {
            LossDetection::Duplicates(_) | LossDetection::Trimmed(_) => {}
            LossDetection::Rack(d) => d.begin_ack(),
        }
    }

    /// Records a newly reported segment. `sacked`: reported by SACK.
    pub(super) fn on_delivered(&mut self, seq: Seq, segment: Outstanding, now: Time, sacked: bool) {
        match self {
            LossDetection::Duplicates(d) if sacked => d.on_sacked(seq),
            LossDetection::Duplicates(_) | LossDetection::Trimmed(_) => {}
            LossDetection::Rack(d) => d.on_delivered(seq, segment, now, sacked),
        }
    }

    /// Records a duplicate segment.
    pub(super) fn on_duplicate(&mut self, una: Seq, end: Seq) {
        match self {
            LossDetection::Duplicates(_) | LossDetection::Trimmed(_) => {}
            LossDetection::Rack(d) => d.on_duplicate(una, end),
        }
    }

    /// Records the report of a trimmed segment.
    pub(super) fn on_trimmed(&mut self, seq: Seq) {
        if let LossDetection::Trimmed(d) = self {
            d.on_trimmed(seq);
        }
    }

    /// Marks losses among the segments that `looks_at` selects; returns the number of new losses.
    pub(super) fn detect(
        &mut self,
        board: &mut Scoreboard,
        view: View,
        looks_at: impl Fn(&Scoreboard, Seq) -> bool,
    ) -> u32 {
        match self {
            LossDetection::Duplicates(d) => d.detect(board, looks_at),
            LossDetection::Trimmed(d) => d.detect(board, looks_at),
            LossDetection::Rack(d) => d.detect(board, view, looks_at),
        }
    }

    /// Returns the latest transmission that has arrived, and its RTT, for time-based detection.
    pub(super) fn evidence(&self) -> Option<(Sent, Duration)> {
        match self {
            LossDetection::Duplicates(_) | LossDetection::Trimmed(_) => None,
            LossDetection::Rack(d) => d.evidence(),
        }
    }

    /// Records the end of a recovery or of the repair after an RTO.
    pub(super) fn on_recovered(&mut self) {
        match self {
            LossDetection::Duplicates(_) | LossDetection::Trimmed(_) => {}
            LossDetection::Rack(d) => d.on_recovered(),
        }
    }

    /// Records that segments considered lost count as in flight again.
    pub(super) fn on_undo(&mut self, board: &Scoreboard) {
        match self {
            LossDetection::Duplicates(d) => d.on_undo(board),
            LossDetection::Rack(_) | LossDetection::Trimmed(_) => {}
        }
    }

    /// Records that the scoreboard clears its SACK information.
    pub(super) fn forget_sacked(&mut self) {
        match self {
            LossDetection::Duplicates(d) => d.forget_sacked(),
            LossDetection::Rack(_) | LossDetection::Trimmed(_) => {}
        }
    }

    /// Processes an RTO.
    pub(super) fn on_timeout(
        &mut self,
        board: &mut Scoreboard,
        view: View,
        looks_at: impl Fn(&Scoreboard, Seq) -> bool,
    ) {
        match self {
            LossDetection::Duplicates(d) => d.on_timeout(board),
            LossDetection::Trimmed(d) => d.on_timeout(board),
            LossDetection::Rack(d) => d.on_timeout(board, view, looks_at),
        }
    }
}
