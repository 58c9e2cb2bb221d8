//! Long-term bound of the flight: the maximum without excessive losses.
//!
//! # Model
//! The flight at which a bandwidth probe lost too much becomes the bound. Most of the time, BBR leaves a
//! share of it to other flows. Probes with few losses raise the bound: by one segment in their first RTT,
//! then by 2, 4, 8 and so on.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 sections 5.3.3.5 and 5.3.3.9 (`RaiseInflightLongtermSlope`,
//! `ProbeInflightLongtermUpward`, `InflightWithHeadroom`).
//!
//! # Limitations
//! Counts whole segments, rounded down.

use super::LEAST_WINDOW;

/// The RTTs after which the raise no longer doubles.
const STEEPEST: u32 = 30;

/// State of the long-term bound.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    /// `BBR.inflight_longterm` in segments; `None` bounds nothing.
    pub(super) limit: Option<u32>,
    /// Segments by which a window of acknowledged ones raises it: 1, 2, 4 and so on.
    growth: u64,
    /// `growth` times the number of segments acknowledged since the last raise.
    acked: u64,
    /// The same for those whose acknowledgment raises it by one; `None` if nothing does.
    per_segment: Option<u64>,
    /// RTTs of the present probe.
    rounds: u32,
}

impl LongTerm {
    /// Most of it: 0.85 (`BBR.Headroom`), in whole segments at least one less, and four at least.
    pub(super) fn with_headroom(&self) -> Option<u32> {
        let most = |limit: u32| u32::try_from(u64::from(limit) * 85 / 100).unwrap_or(u32::MAX);
        self.limit.map(|limit| most(limit).max(LEAST_WINDOW))
    }

    /// A probe may begin after the pipe is filled again.
    pub(super) fn begin(&mut self) {
        (self.growth, self.acked, self.rounds) = (1, 0, 0);
    }

    /// Nothing raises it.
    pub(super) fn end(&mut self) {
        self.per_segment = None;
    }

    /// Another RTT of a probe: it is raised by twice as much.
    pub(super) fn steepen(&mut self, window: u32) {
        let growth = 1 << self.rounds;
        self.acked *= growth / self.growth.max(1);
        self.growth = growth;
        self.per_segment = Some(u64::from(window).max(growth));
        self.rounds = (self.rounds + 1).min(STEEPEST);
    }

    /// Segments were acknowledged that used all of it.
    pub(super) fn raise(&mut self, acked: u32) {
        let (Some(limit), Some(per_segment)) = (self.limit, self.per_segment) else { return };
        self.acked += u64::from(acked) * self.growth;
        let more = u32::try_from(self.acked / per_segment).unwrap_or(u32::MAX);
        self.limit = Some(limit.saturating_add(more));
        self.acked %= per_segment;
    }

    /// A flight of so many lost little.
    pub(super) fn admit(&mut self, in_flight: u32) {
        self.limit = self.limit.map(|limit| limit.max(in_flight));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 5.3.3.5: 1, 2, 4, 8 segments in successive RTTs. The window equals the limit. Each
    /// of its segments is acknowledged once per RTT.
    #[test]
    fn the_raise_doubles_each_round_trip() {
        let mut long = LongTerm { limit: Some(64), ..LongTerm::default() };
        long.begin();
        let mut raised = Vec::new();
        for _ in 0..4 {
            let window = long.limit.unwrap();
            long.steepen(window);
            (0..window).for_each(|_| long.raise(1));
            raised.push(long.limit.unwrap() - window);
        }
        assert_eq!(raised, [1, 2, 4, 8]);
    }

    /// 0.85 of 100 and of 45, 38.25; never less than four segments.
    #[test]
    fn headroom_is_left_for_other_flows() {
        let room = |limit| LongTerm { limit: Some(limit), ..LongTerm::default() }.with_headroom();
        assert_eq!([100, 45, 3].map(room), [Some(85), Some(38), Some(4)]);
        assert_eq!(LongTerm::default().with_headroom(), None);
    }
}
