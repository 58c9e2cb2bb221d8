//! TCP Vegas.
//!
//! # Model
//! Once per RTT, Vegas subtracts from the window the amount that the current rate needs at the
//! minimum RTT. The difference is the number of queued segments. Below two, the window grows by one
//! segment; above four, it shrinks by one. Slow start ends when more than one segment is queued, at
//! the sufficient window. The reaction to losses is Reno's.
//!
//! # References
//! L. Brakmo, L. Peterson, *TCP Vegas: End to End Congestion Avoidance on a Global Internet*, IEEE
//! JSAC 13(8), 1995, section III. Behaviour of Linux 6: minimum RTT per round, slow start in every
//! round, ssthresh of at least three quarters of the window. Also the state that an RTO or a pause
//! resets.
//!
//! # Parameters
//! `slow_start`, `ack_counting` (slow start), `reduction_basis`, `timeout_basis`.
//!
//! # Limitations
//! - alpha, beta and gamma are 2, 4 and 1 segments, Linux's defaults.
//! - The paper's early retransmissions are neither in Linux nor here.
//! - The round after a recovery, and rounds with fewer than three samples, are Reno's or keep the window.
//! - RTTs are in whole microseconds.
//! - SACK information without losses does not restart a round, as it does in Linux.

use super::controller::{Controller, Start};
use super::event::AckEvent;
use super::reno::{Increase, Reno, RenoKeys};
use crate::seq::Seq;
use crate::window::Window;
use optcp_units::{Duration, Time};

/// The window grows if fewer segments wait.
const ALPHA: u64 = 2;
/// Number of queued segments above which the window shrinks.
const BETA: u64 = 4;
/// Slow start ends if more segments wait.
const GAMMA: u64 = 1;
/// Samples without which a round says nothing: fewer may all be of delayed ACKs.
const SAMPLES: u32 = 3;

/// State of TCP Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    reno: Reno,
    /// The minimum RTT of all, in microseconds, and one more so that it is never nought.
    base: u64,
    round: Round,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    /// The round ends when more than this is acknowledged; `None` before its start.
    until: Option<Seq>,
    /// `true`: the round lasts until all losses of an RTO are repaired, and is ignored.
    repairs: bool,
    /// The minimum RTT in it, as `base`.
    least: u64,
    samples: u32,
}

impl Round {
    const NEXT: Round = Round { until: None, repairs: false, least: u64::MAX, samples: 0 };
}

impl Vegas {
    /// Nothing is in flight, as at the start: delays are learnt anew.
    fn forget(&mut self) {
        self.base = u64::MAX;
        self.round = Round { until: Some(Seq::ZERO), ..Round::NEXT };
    }

    /// A round of enough samples is over: adjusts the window.
    fn adjust(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        let rtt = self.round.least;
        let cwnd = u64::from(window.segments(mss));
        let waiting = cwnd * (rtt - self.base) / self.base;
        if window.in_slow_start() {
            if waiting > GAMMA {
                // One more, because the quotient is cut.
                let enough = (cwnd * self.base / rtt + 1) as f64 * mss;
                window.cwnd = window.cwnd.min(enough);
                window.ssthresh = window.ssthresh.min(window.cwnd);
            } else {
                self.reno.on_ack(window, mss, ack);
            }
        } else if waiting > BETA {
            window.cwnd -= mss;
            window.ssthresh = window.ssthresh.min(window.cwnd);
        } else if waiting < ALPHA {
            window.cwnd += mss;
        }
        window.cwnd = window.cwnd.max(2.0 * mss);
        let segments = window.segments(mss);
        window.ssthresh = window.ssthresh.max(f64::from(segments / 2 + segments / 4) * mss);
    }
}

impl Controller for Vegas {
    type Keys = ();

    fn new((): &(), start: Start) -> Self {
        let reno = Reno::new(&RenoKeys { increase: Increase::WholeSegments }, start);
        Vegas { reno, base: u64::MAX, round: Round { until: Some(Seq::ZERO), ..Round::NEXT } }
    }

    fn on_open(&mut self) {
        self.forget();
        self.reno.on_open();
    }

    fn observe(&mut self, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_ps() / 1_000_000 + 1;
            self.base = self.base.min(rtt);
            self.round.least = self.round.least.min(rtt);
            self.round.samples += 1;
        }
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        // Vegas asks only where it is Reno whether the window limits what is sent.
        let unasked = AckEvent { limited: true, ..*ack };
        let repaired = self.round.repairs && !ack.after_timeout;
        let over = self.round.until.is_some_and(|until| ack.una > until);
        if over && !self.round.repairs {
            if self.round.samples < SAMPLES {
                self.reno.on_ack(window, mss, ack);
            } else {
                self.adjust(window, mss, &unasked);
            }
        } else if window.in_slow_start() {
            self.reno.on_ack(window, mss, &unasked);
        }
        if over || repaired {
            self.round = Round::NEXT;
        }
        self.round.until.get_or_insert(ack.max);
    }

    fn on_loss(&mut self, window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.reno.on_loss(window, mss, amount)
    }

    fn on_timeout(&mut self, window: &mut Window, mss: f64) {
        // Nothing is in flight, as at the start, so earlier delays are discarded.
        self.base = u64::MAX;
        self.round = Round { repairs: true, ..Round::NEXT };
        self.reno.on_timeout(window, mss);
    }

    fn on_recovered(&mut self, _window: &mut Window, _mss: f64) {
        self.round = Round::NEXT;
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        window.restore(before);
        self.round = Round::NEXT;
    }

    fn on_idle(&mut self, window: &mut Window, _mss: f64, restart: f64) {
        window.cwnd = window.cwnd.min(restart);
        self.forget();
    }

    fn on_resume(&mut self, _now: Time, _idle: Duration) {
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use crate::congestion::SlowStart;

    const MSS: f64 = 1000.0;

    fn vegas() -> Vegas {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Vegas::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// An ACK of so many segments for data up to `una`, with everything up to `max` sent.
    fn ack(vegas: &mut Vegas, window: &mut Window, segments: u32, una: u32, max: u32, rtt_us: u64) {
        let rtt = Some(Duration::from_us(rtt_us - 1));
        let (acked, delivered) = (segments, segments);
        let (una, max) = (Seq::new(una), Seq::new(max));
        let ack =
            AckEvent { acked, delivered, rtt, una, max, limited: true, ..AckEvent::default() };
        vegas.observe(&ack);
        vegas.on_ack(window, MSS, &ack);
    }

    /// Returns the window after a round of RTTs `rtt_us` at a window of `cwnd` segments, with a minimum of
    /// 100 ms.
    fn after_round(cwnd: f64, ssthresh: f64, rtt_us: u64) -> Window {
        let mut vegas = vegas();
        let mut window = Window { cwnd: cwnd * MSS, ssthresh: ssthresh * MSS };
        vegas.base = 100_000;
        vegas.round.until = Some(Seq::new(10));
        ack(&mut vegas, &mut window, 0, 9, 20, rtt_us + 7);
        ack(&mut vegas, &mut window, 0, 10, 20, rtt_us);
        window.cwnd = cwnd * MSS;
        ack(&mut vegas, &mut window, 2, 11, 20, rtt_us + 3);
        Window { cwnd: window.cwnd / MSS, ssthresh: window.ssthresh / MSS }
    }

    /// Brakmo and Peterson 1995, section III: Diff = cwnd (RTT - BaseRTT) / BaseRTT here, of 50 segments 1.99, 2, 4.99, 5.
    #[test]
    fn between_two_and_four_waiting_segments_the_window_stays() {
        for (rtt_us, want) in
            [(100_000, 51.0), (103_980, 51.0), (104_000, 50.0), (109_980, 50.0), (110_000, 49.0)]
        {
            let window = after_round(50.0, 20.0, rtt_us);
            assert_eq!(window.cwnd.to_bits(), f64::to_bits(want), "{rtt_us}");
            // Linux: half and a quarter of the window, each cut to whole.
            assert_eq!(
                window.ssthresh.to_bits(),
                f64::to_bits((want / 2.0).floor() + (want / 4.0).floor())
            );
        }
    }

    /// 50 * 4 / 100 = 2 segments wait: more than one. 50 * 100 / 104 = 48.08 were enough, and one more: 49. With 3 % more 1.5
    /// wait, which is cut to one, and slow start goes on.
    #[test]
    fn slow_start_ends_when_more_than_a_segment_waits() {
        let window = after_round(50.0, f64::INFINITY, 104_000);
        assert_eq!(
            (window.cwnd.to_bits(), window.ssthresh.to_bits()),
            (49_f64.to_bits(), 49_f64.to_bits())
        );
        let window = after_round(50.0, f64::INFINITY, 103_000);
        assert_eq!(
            (window.cwnd.to_bits(), window.ssthresh.to_bits()),
            (52_f64.to_bits(), f64::INFINITY.to_bits())
        );
    }

    /// Linux: RTTs of 200 ms after a pause do not count as a queue, regardless of the earlier
    /// minimum RTT.
    #[test]
    fn a_pause_forgets_the_least_round_trip() {
        for (pauses, want) in [(false, 49.0), (true, 51.0)] {
            let (mut vegas, mut window) = (vegas(), Window { cwnd: 50_000.0, ssthresh: 20_000.0 });
            vegas.base = 100_000;
            if pauses {
                vegas.on_resume(Time::ZERO, Duration::ZERO);
            }
            ack(&mut vegas, &mut window, 1, 10, 30, 200_000);
            for una in 11..=31 {
                ack(&mut vegas, &mut window, 1, una, 60, 200_000);
            }
            assert_eq!((window.cwnd / MSS).to_bits(), f64::to_bits(want), "{pauses}");
        }
    }

    /// Linux: with one or two samples a round is Reno's.
    #[test]
    fn round_with_two_samples_is_ignored() {
        let (mut vegas, mut window) = (vegas(), Window { cwnd: 50_000.0, ssthresh: 20_000.0 });
        vegas.base = 100_000;
        vegas.round.until = Some(Seq::new(10));
        ack(&mut vegas, &mut window, 1, 10, 20, 200_000);
        ack(&mut vegas, &mut window, 1, 11, 20, 200_000);
        assert_eq!(window.cwnd.to_bits(), 50_000_f64.to_bits());
    }

    /// The round that begins with a recovery's end ends one RTT later: no ACK before shrinks the window.
    #[test]
    fn a_recovery_and_a_timeout_begin_a_round_anew() {
        for timeout in [false, true] {
            let (mut vegas, mut window) = (vegas(), Window { cwnd: 50_000.0, ssthresh: 20_000.0 });
            vegas.base = 100_000;
            if timeout {
                vegas.on_timeout(&mut window, MSS);
                let (una, max) = (Seq::new(5), Seq::new(10));
                let repairing = AckEvent { una, max, after_timeout: true, ..AckEvent::default() };
                vegas.on_ack(&mut window, MSS, &repairing);
                // That ends the repair: the next round goes to 30.
                ack(&mut vegas, &mut window, 1, 10, 30, 200_000);
            } else {
                vegas.on_recovered(&mut window, MSS);
                ack(&mut vegas, &mut window, 1, 10, 30, 200_000);
            }
            for una in 11..=30 {
                ack(&mut vegas, &mut window, 1, una, 60, 200_000);
                assert_eq!(window.cwnd.to_bits(), 50_000_f64.to_bits(), "{una}");
            }
            ack(&mut vegas, &mut window, 1, 31, 60, 200_000);
            // After a timeout 200 ms is the minimum RTT.
            let want = if timeout { 51_000.0 } else { 49_000.0 };
            assert_eq!(window.cwnd.to_bits(), f64::to_bits(want));
        }
    }
}
