//! What one ACK tells of segments.

use optcp_units::Time;

use super::scoreboard::Outstanding;

/// What an ACK delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivery {
    /// Segments that no ACK had told of before.
    pub(super) segments: u32,
    /// Whether one of them was outstanding at the last timeout and never sent again.
    pub(super) original: bool,
    /// When those were sent that were sent once: acknowledged cumulatively, and by SACK.
    acknowledged: Option<Times>,
    sacked: Option<Times>,
    /// Whether one that it acknowledges cumulatively was sent again.
    again: bool,
}

/// When the first and the last of some segments were sent.
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

    /// When the oldest and the newest segment were sent whose round trips can be told. As in Linux an
    /// ACK that covers a retransmission tells none of what it acknowledges cumulatively.
    pub(super) fn unambiguous(&self) -> Option<Times> {
        let acknowledged = self.acknowledged.filter(|_| !self.again);
        let (oldest, newest) = (acknowledged.or(self.sacked)?, self.sacked.or(acknowledged)?);
        Some(Times { first: oldest.first, last: newest.last })
    }
}
