//! TCP Westwood+.
//!
//! # Model
//! Reno that sets its window after a loss to the recent bandwidth times the minimum RTT. The bandwidth is the
//! rate of acknowledged data per RTT, smoothed twice. A recovery first halves the window like Reno and ends
//! at that product. An RTO uses the product as ssthresh.
//!
//! # References
//! L. Grieco, S. Mascolo, *Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
//! congestion control*, Computer Communication Review 34(2), 2004, section 2; S. Mascolo et al., *TCP
//! Westwood*, MobiCom 2001. Behaviour of Linux 6: the filter, its first sample, the clock and the amount
//! counted for duplicate ACKs.
//!
//! # Parameters
//! `slow_start`, `ack_counting`, `reduction_basis`, `timeout_basis`.
//!
//! # Limitations
//! Linux's clock has ticks of 4 ms (250 Hz, its default). RTTs are rounded up to ticks, so that the window
//! after a loss is too large by up to one tick. Rates keep their fractions. An RTO during a recovery also
//! sets ssthresh, and an undone recovery keeps the window.

use optcp_units::Duration;

use super::clock::Clock;
use super::controller::{Controller, Start};
use super::event::AckEvent;
use super::reno::{Increase, Reno, RenoKeys};
use crate::window::Window;

/// A sample of the rate takes at least as long.
const LEAST_SAMPLE: Duration = Duration::from_ms(50);
/// The RTT before the first one.
const INITIAL_ROUND_TRIP: Duration = Duration::from_secs(20);

/// State of TCP Westwood+.
#[derive(Clone, Debug)]
pub struct Westwood {
    reno: Reno,
    clock: Clock,
    estimate: Estimate,
}

/// Times are in ticks, rates in segments a tick.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// Start of the sample, and segments acknowledged in it; `None` before the first ACK.
    sample: Option<(u64, u32)>,
    /// The rate, smoothed once and twice; none before the first sample in which anything was acknowledged.
    rates: Option<(f64, f64)>,
    /// Segments counted by duplicate ACKs until the cumulative ACK that covers them.
    duplicates: u32,
    rtt: u64,
    least: u64,
    /// The next ACK forgets the minimum RTT.
    forgets: bool,
}

impl Estimate {
    fn new() -> Self {
        let rtt = Clock::ticks(INITIAL_ROUND_TRIP);
        Estimate { sample: None, rates: None, duplicates: 0, rtt, least: rtt, forgets: true }
    }

    /// A sample of `segments` in `ticks` is complete.
    fn smooth(&mut self, segments: u32, ticks: u64) {
        let sample = f64::from(segments) / ticks as f64;
        let filter = |old: f64, new: f64| (7.0 * old + new) / 8.0;
        self.rates = match self.rates {
            None => (sample > 0.0).then_some((sample, sample)),
            Some((once, twice)) => {
                let once = filter(once, sample);
                Some((once, filter(twice, once)))
            }
        };
    }

    /// Segments that an ACK counts for.
    fn count(&mut self, acked: u32) -> u32 {
        if acked == 0 {
            self.duplicates += 1;
            return 1;
        }
        if acked == 1 {
            return 1;
        }
        let left = acked.saturating_sub(self.duplicates).max(1);
        self.duplicates = self.duplicates.saturating_sub(acked);
        left
    }

    /// The window that the path's rate fills, in whole segments.
    fn window(&self) -> f64 {
        let rate = self.rates.map_or(0.0, |(_, twice)| twice);
        (rate * self.least as f64).floor().max(2.0)
    }
}

impl Controller for Westwood {
    type Keys = ();

    fn new((): &(), start: Start) -> Self {
        let clock = Clock::new(start.clock_phase);
        let reno = Reno::new(&RenoKeys { increase: Increase::WholeSegments }, start);
        Westwood { reno, clock, estimate: Estimate::new() }
    }

    fn on_open(&mut self) {
        self.estimate = Estimate::new();
        self.reno.on_open();
    }

    fn observe(&mut self, ack: &AckEvent) {
        let Westwood { clock, estimate, .. } = self;
        let now = clock.at(ack.now);
        if let Some((begin, segments)) = estimate.sample {
            let ticks = now - begin;
            let complete = ticks > estimate.rtt.max(Clock::ticks(LEAST_SAMPLE));
            if complete {
                estimate.smooth(segments, ticks);
            }
            let (begin, segments) = if complete { (now, 0) } else { (begin, segments) };
            estimate.sample = Some((begin, segments + estimate.count(ack.acked)));
        } else {
            // The connection opened when this segment was sent, so the first ACK does not count.
            let rtt = ack.rtt.unwrap_or(Duration::ZERO);
            estimate.sample = Some((now.saturating_sub(Clock::ticks(rtt)), 0));
        }
        let least = if estimate.forgets { estimate.rtt } else { estimate.least.min(estimate.rtt) };
        (estimate.least, estimate.forgets) = (least, false);
        if let Some(rtt) = ack.rtt {
            estimate.rtt = Clock::ticks_up(rtt);
        }
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        self.reno.on_ack(window, mss, ack);
    }

    fn on_loss(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.reno.on_loss(window, mss, amount)
    }

    fn on_timeout(&mut self, window: &mut Window, mss: f64) {
        window.ssthresh = self.estimate.window() * mss;
        self.estimate.forgets = true;
        self.reno.on_timeout(window, mss);
    }

    fn on_recovered(&mut self, window: &mut Window, mss: f64) {
        window.ssthresh = self.estimate.window() * mss;
        window.cwnd = window.ssthresh;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use crate::congestion::SlowStart;
    use optcp_units::Time;

    const MSS: f64 = 1000.0;

    fn westwood() -> Westwood {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Westwood::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// ACKs for `segments` every 10 ms, from `from_ms` to `to_ms`, after RTTs of 100 ms.
    fn acks(westwood: &mut Westwood, segments: u32, from_ms: u64, to_ms: u64) {
        for at in (from_ms..=to_ms).step_by(10) {
            let (now, rtt) = (Time::ZERO + Duration::from_ms(at), Some(Duration::from_ms(100)));
            westwood.observe(&AckEvent { now, rtt, acked: segments, ..AckEvent::default() });
        }
    }

    /// Five segments every 10 ms are 2 per tick of 4 ms; 100 ms are 25 ticks: a window of 50. A
    /// sample takes more than 25 ticks, so 11 ACKs. It has 55 segments in alternately 28 and 27
    /// ticks, because an ACK arrives every two and a half ticks.
    #[test]
    fn recovery_ends_at_estimated_bdp() {
        let mut westwood = westwood();
        acks(&mut westwood, 5, 100, 10_000);
        let mut window = Window { cwnd: 40.0 * MSS, ssthresh: 40.0 * MSS };
        westwood.on_recovered(&mut window, MSS);
        assert_eq!(window, Window { cwnd: 50.0 * MSS, ssthresh: 50.0 * MSS });
    }

    /// (7 a + b) / 8 twice: from 8 to 16 the first filter has 9, then 9.875; the second 8.125, then 8.34375.
    #[test]
    fn the_rate_is_smoothed_twice() {
        let mut estimate = Estimate::new();
        let rates = [0, 80, 160, 160].map(|segments| {
            estimate.smooth(segments, 10);
            estimate.rates
        });
        assert_eq!(rates, [None, Some((8.0, 8.0)), Some((9.0, 8.125)), Some((9.875, 8.343_75))]);
    }

    /// Grieco and Mascolo 2004: a duplicate ACK counts for a segment, and the ACK that ends the row for the rest.
    #[test]
    fn deliveries_of_duplicate_acks_count_once() {
        let mut estimate = Estimate::new();
        let counts = [0, 0, 0, 5, 2, 0, 0, 0, 2, 3].map(|acked| estimate.count(acked));
        // First 5 - 3, then 2. Then 2 of the three reported segments, which leaves one, and 3 - 1.
        assert_eq!(counts, [1, 1, 1, 2, 2, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn a_timeout_leaves_the_rate_as_threshold_and_forgets_the_least_round_trip() {
        let mut westwood = westwood();
        acks(&mut westwood, 5, 100, 10_000);
        let mut window = Window { cwnd: 40.0 * MSS, ssthresh: 20.0 * MSS };
        westwood.on_timeout(&mut window, MSS);
        assert_eq!(window, Window { cwnd: 40.0 * MSS, ssthresh: 50.0 * MSS });
        for _ in 0..2 {
            let (now, rtt) = (Time::ZERO + Duration::from_ms(10_010), Some(Duration::from_ms(200)));
            westwood.observe(&AckEvent { now, rtt, acked: 1, ..AckEvent::default() });
        }
        assert_eq!(westwood.estimate.least, 25);
        assert_eq!(westwood.estimate.rtt, 50);
    }

    /// Nothing is known: two segments.
    #[test]
    fn without_a_sample_two_segments_are_left() {
        let mut window = Window { cwnd: 40.0 * MSS, ssthresh: 20.0 * MSS };
        westwood().on_recovered(&mut window, MSS);
        assert_eq!(window, Window { cwnd: 2.0 * MSS, ssthresh: 2.0 * MSS });
    }
}
