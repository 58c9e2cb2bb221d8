//! Segments that one ACK reports.

use optcp_units::Time;

use super::scoreboard::Outstanding;

/// Deliveries reported by an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivery {
    /// Number of newly reported segments.
    pub(super) segments: u32,
    /// `true`: one of them was outstanding at the last RTO and never retransmitted.
    pub(super) original: bool,
    /// Send times of segments sent once: acknowledged cumulatively, and by SACK.
    acknowledged: Option<Times>,
    sacked: Option<Times>,
    /// `true`: a cumulatively acknowledged segment was retransmitted.
    again: bool,
}

/// Send times of the first and the last of some segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) first: Time,
    pub(super) last: Time,
}

impl Times {
    fn add(times: &mut Option<Times>, sent: Time) {
        times.get_or_insert(Times { first: sent, last: sent }).last = sent;
    }
}

impl Delivery {
    pub(super) fn add(&mut self, segment: Outstanding, sacked: bool) {
        self.segments += 1;
        match (sacked, segment.again) {
            (true, false) => Times::add(&mut self.sacked, segment.sent),
            (false, false) => Times::add(&mut self.acknowledged, segment.sent),
            (false, true) => self.again = true,
            (true, true) => {}
        }
    }

    /// Returns whether SACK newly reports a segment that was sent once.
    pub(super) fn reports_sacked(&self) -> bool {
        self.sacked.is_some()
    }

    /// Returns whether SACK newly reports a segment that was sent once, before `time`.
    pub(super) fn sacked_before(&self, time: Time) -> bool {
        self.sacked.is_some_and(|times| times.first < time)
    }

    /// Returns the send times of the oldest and newest segments with unambiguous RTT. As in Linux, an ACK
    /// that covers a retransmission gives no sample for cumulatively acknowledged segments.
    pub(super) fn unambiguous(&self) -> Option<Times> {
        let acknowledged = self.acknowledged.filter(|_| !self.again);
        let (oldest, newest) = (acknowledged.or(self.sacked)?, self.sacked.or(acknowledged)?);
        Some(Times { first: oldest.first, last: newest.last })
    }
}
