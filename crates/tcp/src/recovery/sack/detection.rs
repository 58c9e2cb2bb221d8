//! Which segments are lost.

use optcp_units::{Duration, Time};

use super::duplicates::Duplicates;
use super::rack::{Rack, Sent, View};
use super::scoreboard::{Outstanding, Scoreboard};
use crate::config::LossDetectionKind;
use crate::recovery::policy::DUP_THRESH;
use crate::seq::Seq;

/// The state of the chosen loss detection.
#[derive(Clone, Debug)]
pub(super) enum LossDetection {
    /// See [`Duplicates`].
    Duplicates(Duplicates),
    /// See [`Rack`].
    Rack(Rack),
}

impl LossDetection {
    pub(super) fn new(kind: LossDetectionKind) -> Self {
        match kind {
            LossDetectionKind::Duplicates => LossDetection::Duplicates(Duplicates::default()),
            LossDetectionKind::Rack => LossDetection::Rack(Rack::new()),
        }
    }

    /// When it wants to look again without an ACK.
    pub(super) fn deadline(&self) -> Option<Time> {
        match self {
            LossDetection::Duplicates(_) => None,
            LossDetection::Rack(d) => d.deadline(),
        }
    }

    /// Segments beyond a hole that make it a loss, or would without a look at the time.
    pub(super) fn reordering(&self) -> u32 {
        match self {
            LossDetection::Duplicates(_) => DUP_THRESH,
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
            LossDetection::Duplicates(_) => {}
            LossDetection::Rack(d) => d.on_sent(board, seq, now, looks_at),
        }
    }

    /// An ACK tells of a segment for the first time; `sacked` if SACK tells.
    pub(super) fn on_delivered(&mut self, seq: Seq, segment: Outstanding, now: Time, sacked: bool) {
        match self {
            LossDetection::Duplicates(d) if sacked => d.on_sacked(seq),
            LossDetection::Duplicates(_) => {}
            LossDetection::Rack(d) => d.on_delivered(seq, segment, now, sacked),
        }
    }

    /// A segment came twice.
    pub(super) fn on_duplicate(&mut self, una: Seq, end: Seq) {
        match self {
            LossDetection::Duplicates(_) => {}
            LossDetection::Rack(d) => d.on_duplicate(una, end),
        }
    }

    /// Marks what is lost of the segments that it `looks_at`; how many are so now that were not before.
    pub(super) fn detect(
        &mut self,
        board: &mut Scoreboard,
        view: View,
        looks_at: impl Fn(&Scoreboard, Seq) -> bool,
    ) -> u32 {
        match self {
            LossDetection::Duplicates(d) => d.detect(board, looks_at),
            LossDetection::Rack(d) => d.detect(board, view, looks_at),
        }
    }

    /// The latest sent of all segments that have arrived, and its round trip, where losses are told by time.
    pub(super) fn evidence(&self) -> Option<(Sent, Duration)> {
        match self {
            LossDetection::Duplicates(_) => None,
            LossDetection::Rack(d) => d.evidence(),
        }
    }

    /// A recovery, or the repair after a timeout, has ended.
    pub(super) fn on_recovered(&mut self) {
        match self {
            LossDetection::Duplicates(_) => {}
            LossDetection::Rack(d) => d.on_recovered(),
        }
    }

    /// What was held to be lost is under way after all.
    pub(super) fn on_undo(&mut self, board: &Scoreboard) {
        match self {
            LossDetection::Duplicates(d) => d.on_undo(board),
            LossDetection::Rack(_) => {}
        }
    }

    /// The scoreboard forgets what SACK has covered.
    pub(super) fn forget_sacked(&mut self) {
        match self {
            LossDetection::Duplicates(d) => d.forget_sacked(),
            LossDetection::Rack(_) => {}
        }
    }

    /// The retransmission timer expired.
    pub(super) fn on_timeout(
        &mut self,
        board: &mut Scoreboard,
        view: View,
        looks_at: impl Fn(&Scoreboard, Seq) -> bool,
    ) {
        match self {
            LossDetection::Duplicates(d) => d.on_timeout(board),
            LossDetection::Rack(d) => d.on_timeout(board, view, looks_at),
        }
    }
}
