//! TCP Veno.
//!
//! # Model
//! Reno that estimates the number of queued segments like Vegas. With fewer than three, a loss counts
//! as random and reduces the window by the factor 4/5 instead of 1/2. With three or more, congestion
//! avoidance grows every other RTT.
//!
//! # References
//! C. P. Fu, S. C. Liew, *TCP Veno: TCP enhancement for transmission over wireless access networks*, IEEE
//! JSAC 21(2), 2003, section II. Behaviour of Linux 6: half segments, the RTT of the latest ACK, and the
//! state that an RTO or a pause resets.
//!
//! # Parameters
//! `slow_start`, `ack_counting`, `reduction_basis`, `timeout_basis`.
//!
//! # Limitations
//! beta is three segments, as in the paper and in Linux. The first two RTTs are Reno's. An ACK without RTT
//! sample keeps the estimate; Linux assumes a full queue. Reductions are rounded down to whole segments. RTTs
//! are in whole microseconds.

use optcp_units::{Duration, Time};

use super::controller::{Controller, Start};
use super::event::AckEvent;
use super::growth::{Growth, segments};
use super::phase::Phase;
use crate::window::Window;

/// Number of queued half segments from which on the path counts as congested.
const BETA: u64 = 6;
/// Number of RTT samples below which Veno behaves like Reno.
const SAMPLES: u32 = 3;

/// State of TCP Veno.
#[derive(Clone, Debug)]
pub struct Veno {
    growth: Growth,
    phase: Phase,
    /// The minimum RTT, in microseconds, and one more so that it is never nought.
    base: u64,
    /// RTT of the latest ACK, likewise.
    latest: Option<u64>,
    samples: u32,
    /// Half segments that wait in queues.
    waiting: u64,
    /// The next RTT in congestion adds a segment.
    adds: bool,
}

impl Veno {
    /// Nothing is known of the path's delay.
    fn forget(&mut self) {
        self.base = u64::MAX;
        self.latest = None;
        self.adds = true;
    }
}

impl Controller for Veno {
    type Keys = ();

    fn new((): &(), start: Start) -> Self {
        Veno {
            growth: Growth::new(start.slow_start),
            phase: Phase::default(),
            base: u64::MAX,
            latest: None,
            samples: 0,
            waiting: 0,
            adds: true,
        }
    }

    fn on_open(&mut self) {
        self.forget();
        self.samples = 0;
        self.growth.on_open();
    }

    fn observe(&mut self, ack: &AckEvent) {
        self.phase.observe(ack);
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_ps() / 1_000_000 + 1;
            self.base = self.base.min(rtt);
            self.latest = Some(self.latest.map_or(rtt, |latest| latest.min(rtt)));
            self.samples = self.samples.saturating_add(1);
        }
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        self.phase.on_ack();
        let out_of_order = !self.phase.in_order() && !self.phase.repairing();
        if out_of_order || self.samples < SAMPLES {
            self.growth.reno(window, mss, ack);
            self.latest = None;
            return;
        }
        if !ack.limited {
            return;
        }
        if let Some(rtt) = self.latest.take() {
            let cwnd = 2 * u64::from(window.segments(mss));
            self.waiting = cwnd - cwnd * self.base / rtt;
        }
        let count = self.growth.slow_start(window, mss, ack);
        if count > 0.0 {
            let cwnd = window.segments(mss);
            if self.waiting < BETA {
                self.growth.count(window, mss, cwnd, count);
            } else if self.growth.counted >= f64::from(cwnd) {
                if self.adds {
                    window.cwnd += mss;
                }
                self.adds = !self.adds;
                self.growth.counted = 0.0;
            } else {
                self.growth.counted += count;
            }
        }
        window.cwnd = window.cwnd.max(2.0 * mss);
    }

    fn on_loss(&mut self, _window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.phase.on_loss();
        self.growth.on_loss();
        let cwnd = segments(amount, mss);
        let left = if self.waiting < BETA { cwnd * 4 / 5 } else { cwnd / 2 };
        Some(left as f64 * mss)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_timeout();
        self.forget();
        self.growth.on_timeout();
    }

    fn on_recovered(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_recovered();
        self.latest = None;
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        self.phase.on_recovered();
        self.latest = None;
        window.restore(before);
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

    fn veno() -> Veno {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Veno::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// Sends `count` ACKs for one segment each, with RTTs that give `rtt_us` including the additional
    /// microsecond.
    fn acks(veno: &mut Veno, window: &mut Window, count: u32, rtt_us: u64) {
        let rtt = Some(Duration::from_us(rtt_us - 1));
        let (acked, delivered, limited) = (1, 1, true);
        let ack = AckEvent { acked, delivered, rtt, limited, ..AckEvent::default() };
        for _ in 0..count {
            veno.observe(&ack);
            veno.on_ack(window, MSS, &ack);
        }
    }

    /// A connection at 50 segments whose minimum RTT is 100 ms, and the latest `rtt_us`.
    fn at(rtt_us: u64) -> Veno {
        let (mut veno, mut window) = (veno(), Window { cwnd: 2.0 * MSS, ssthresh: 50.0 * MSS });
        acks(&mut veno, &mut window, 48, 100_000);
        acks(&mut veno, &mut window, 1, rtt_us);
        assert_eq!(window.cwnd.to_bits(), f64::to_bits(50.0 * MSS));
        veno
    }

    /// Fu and Liew 2003, equation 1: N = (cwnd / BaseRTT - cwnd / RTT) BaseRTT. At 50 segments 106 ms are 2.83, 107 ms 3.27.
    /// Section II.B: below three a loss leaves 4/5, else a half. Linux counts in halves: 100 - 10 000 000 / 106 000 = 6 with the
    /// quotient cut, 100 - 95 = 5 at 105 ms.
    #[test]
    fn a_loss_with_fewer_than_three_waiting_segments_leaves_four_fifths() {
        for (rtt_us, want) in [(100_000, 40.0), (105_000, 40.0), (107_000, 25.0), (200_000, 25.0)] {
            let mut veno = at(rtt_us);
            let window = Window { cwnd: 50.0 * MSS, ssthresh: 50.0 * MSS };
            let left = veno.on_loss(&window, MSS, window.cwnd).unwrap();
            assert_eq!(left.to_bits(), f64::to_bits(want * MSS), "{rtt_us}");
        }
        assert_eq!(at(106_000).waiting, 6);
    }

    /// Section II.A: a segment per RTT without congestion, one in two RTTs with it. Linux counts the window and one
    /// more ACK to each RTT of those.
    #[test]
    fn with_three_waiting_segments_growth_takes_two_round_trips() {
        for (rtt_us, count, want) in [
            (100_000, 49, 51.0),
            (100_000, 49 + 51, 52.0),
            (200_000, 49, 50.0),
            (200_000, 50, 51.0),
            (200_000, 50 + 52 + 51, 51.0),
            (200_000, 50 + 52 + 52, 52.0),
        ] {
            let (mut veno, mut window) =
                (at(rtt_us), Window { cwnd: 50.0 * MSS, ssthresh: 50.0 * MSS });
            acks(&mut veno, &mut window, count, rtt_us);
            assert_eq!((window.cwnd / MSS).to_bits(), f64::to_bits(want), "{rtt_us}, {count}");
        }
    }

    /// Linux: nothing is in flight then, and delays are learnt anew.
    #[test]
    fn a_timeout_and_a_pause_forget_the_least_round_trip() {
        for timeout in [false, true] {
            let (mut veno, mut window) =
                (at(200_000), Window { cwnd: 50.0 * MSS, ssthresh: 50.0 * MSS });
            if timeout {
                veno.on_timeout(&mut window, MSS);
            } else {
                veno.on_resume(Time::ZERO, Duration::ZERO);
            }
            acks(&mut veno, &mut window, 1, 200_000);
            assert_eq!(veno.waiting, 0);
        }
    }
}
