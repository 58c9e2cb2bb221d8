//! HyStart++.
//!
//! # Model
//! If the minimum RTT of a round exceeds the previous round's minimum by an eighth, growth slows to
//! a quarter (conservative slow start). The eighth is limited to 4 to 16 ms. Five such rounds end
//! slow start. An RTT below the one that triggered them resumes it.
//!
//! # References
//! RFC 9406 sections 4.2 and 4.3, with L = 8 for a sender without pacing, and the constants of section 4.3.
//!
//! # Limitations
//! Applies to the first slow start of a connection only. Needs RTT samples with most ACKs. Growth matches the
//! RFC with `ack_counting = "segments"`.

use optcp_units::Duration;

use super::event::AckEvent;
use crate::seq::Seq;
use crate::window::Window;

const MIN_RTT_THRESH: Duration = Duration::from_ms(4);
const MAX_RTT_THRESH: Duration = Duration::from_ms(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// L of RFC 9406: maximum number of segments that one ACK counts for.
const LIMIT: u32 = 8;

/// State of HyStart++.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStartPlusPlus {
    phase: Phase,
    /// The round ends when an ACK covers this segment.
    window_end: Option<Seq>,
    /// `lastRoundMinRTT` and `currentRoundMinRTT`; `None` is infinite.
    last: Option<Duration>,
    current: Option<Duration>,
    /// `rttSampleCount`.
    samples: u32,
}

#[derive(Clone, Copy, Debug, Default)]
enum Phase {
    #[default]
    Standard,
    /// Conservative slow start: `cssBaselineMinRtt`, and the number of its rounds so far.
    Conservative { baseline: Duration, rounds: u32 },
    /// The first slow start is over.
    Over,
}

impl HyStartPlusPlus {
    /// Processes an ACK of new data; sets ssthresh if slow start ends.
    pub(super) fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        if matches!(self.phase, Phase::Over) {
            return;
        }
        if !window.in_slow_start() {
            self.stop();
            return;
        }
        // The first round contains everything that was sent before the first ACK.
        let end = *self.window_end.get_or_insert(ack.max);
        if let Some(rtt) = ack.rtt {
            self.current = Some(self.current.map_or(rtt, |current| current.min(rtt)));
            self.samples += 1;
        }
        if self.samples >= N_RTT_SAMPLE
            && let Some(current) = self.current
        {
            self.compare(current);
        }
        if ack.una >= end {
            self.end_round(window, mss, ack);
        }
    }

    fn compare(&mut self, current: Duration) {
        match (self.phase, self.last) {
            (Phase::Standard, Some(last)) => {
                let part = Duration::from_ps(last.as_ps() / MIN_RTT_DIVISOR);
                if current >= last + part.min(MAX_RTT_THRESH).max(MIN_RTT_THRESH) {
                    self.phase = Phase::Conservative { baseline: current, rounds: 0 };
                }
            }
            (Phase::Conservative { baseline, .. }, _) if current < baseline => {
                self.phase = Phase::Standard;
            }
            _ => {}
        }
    }

    fn end_round(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                window.ssthresh = window.cwnd.max(2.0 * mss);
                self.stop();
            }
        }
        self.window_end = Some(ack.max);
        (self.last, self.current, self.samples) = (self.current, None, 0);
    }

    /// Returns the window growth in segments for an ACK that counts for `count`.
    pub(super) fn growth(&self, count: u32) -> f64 {
        match self.phase {
            Phase::Standard => f64::from(count.min(LIMIT)),
            Phase::Conservative { .. } => f64::from(count.min(LIMIT)) / CSS_GROWTH_DIVISOR,
            Phase::Over => f64::from(count),
        }
    }

    /// Ends the first slow start.
    pub(super) fn stop(&mut self) {
        self.phase = Phase::Over;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Trial {
        hystart: HyStartPlusPlus,
        window: Window,
        una: Seq,
    }

    impl Trial {
        /// A round of ten ACKs with the same RTT.
        fn round(&mut self, rtt_ms: u64) {
            for i in 1..=10 {
                let rtt = Some(Duration::from_ms(rtt_ms));
                let ack =
                    AckEvent { rtt, una: self.una + i, max: self.una + 20, ..AckEvent::default() };
                self.hystart.on_ack(&mut self.window, 1000.0, &ack);
            }
            self.una += 10;
        }

        fn growth(&self, count: u32) -> f64 {
            self.hystart.growth(count)
        }
    }

    fn trial() -> Trial {
        let window = Window { cwnd: 10_000.0, ssthresh: f64::INFINITY };
        let hystart =
            HyStartPlusPlus { window_end: Some(Seq::new(10)), ..HyStartPlusPlus::default() };
        Trial { hystart, window, una: Seq::ZERO }
    }

    fn same(got: f64, want: f64) {
        assert_eq!(got.to_bits(), want.to_bits(), "{got}, expected {want}");
    }

    /// The first round is the initial window: nothing is compared before its end.
    #[test]
    fn first_round_ends_with_the_initial_data() {
        let mut trial = trial();
        trial.hystart = HyStartPlusPlus::default();
        for (acked, rtt_ms) in (1..=10).zip([80, 80, 99, 99, 99, 99, 99, 99, 99, 99]) {
            let rtt = Some(Duration::from_ms(rtt_ms));
            // Ten segments were sent; each ACK sends two more.
            let (una, max) = (Seq::new(acked), Seq::new(10 + 2 * (acked - 1)));
            let ack = AckEvent { rtt, una, max, ..AckEvent::default() };
            trial.hystart.on_ack(&mut trial.window, 1000.0, &ack);
            same(trial.growth(10), 8.0);
        }
        assert_eq!(trial.hystart.last, Some(Duration::from_ms(80)));
        assert_eq!(trial.hystart.window_end, Some(Seq::new(28)));
    }

    /// RFC 9406 section 4.2, after RTTs of 80 ms: an RTT longer by an eighth, 10 ms, starts
    /// conservative slow start within a round. That round counts as one of its five.
    #[test]
    fn five_rounds_of_longer_round_trips_end_slow_start() {
        let mut trial = trial();
        trial.round(80);
        trial.round(89);
        same(trial.growth(10), 8.0);
        trial.round(80);
        trial.round(90);
        same(trial.growth(10), 2.0);
        for _ in 0..3 {
            trial.round(95);
            assert!(trial.window.in_slow_start());
        }
        trial.round(95);
        same(trial.window.ssthresh, 10_000.0);
    }

    #[test]
    fn a_shorter_round_trip_resumes_slow_start() {
        let mut trial = trial();
        trial.round(80);
        trial.round(100);
        same(trial.growth(4), 1.0);
        trial.round(99);
        same(trial.growth(4), 4.0);
    }

    /// RFC 9406 section 4.3: 4 ms at least, 16 ms at most.
    #[test]
    fn the_increase_that_counts_is_bounded() {
        for (before, after, conservative) in
            [(8, 11, false), (8, 12, true), (400, 415, false), (400, 416, true)]
        {
            let mut trial = trial();
            trial.round(before);
            trial.round(after);
            same(trial.growth(4), if conservative { 1.0 } else { 4.0 });
        }
    }
}
