//! TCP Hybla.
//!
//! # Model
//! A connection grows over time like one with an RTT of 25 ms. With rho = RTT / 25 ms, an ACK adds 2^rho - 1
//! segments in slow start and rho^2 / cwnd above. The initial window is rho segments. A loss halves the
//! window; growth is Reno's until all losses are repaired.
//!
//! # References
//! C. Caini, R. Firrincieli, *TCP Hybla: a TCP enhancement for heterogeneous networks*,
//! International Journal of Satellite Communications and Networking 22(5), 2004, section 3.
//! Behaviour of Linux 6: rho in 1/8, rounded down, from the minimum smoothed RTT; increments in
//! 1/128; at most 65535 segments; growth during recovery.
//!
//! # Parameters
//! `slow_start`, `ack_counting` (during loss recovery), `reduction_basis`, `timeout_basis`.
//!
//! # Limitations
//! - The initial window is rho segments only after a SYN exchange without loss, which measures the RTT;
//!   otherwise it is `initial_window`.
//! - An ACK counts once, so that delayed ACKs slow growth down.
//! - Packet spacing and the bandwidth estimate for the first ssthresh, which the paper also proposes, are
//!   neither in Linux nor here. HyStart is ignored.

use optcp_units::{Duration, Time};

use super::controller::{Controller, Start};
use super::event::AckEvent;
use super::growth::Growth;
use super::phase::Phase;
use crate::window::Window;

/// The RTT of the connection that it competes with, in microseconds.
const REFERENCE: u64 = 25_000;
/// A segment, in the unit of increments.
const ONE: u64 = 128;
/// 2 to the power of so many eighths, in the unit of increments, cut.
const EIGHTHS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
/// A greater rho adds no more.
const GREATEST_POWER: u64 = 16;
/// In segments.
const GREATEST_WINDOW: f64 = 65_535.0;

/// State of TCP Hybla.
#[derive(Clone, Debug)]
pub struct Hybla {
    growth: Growth,
    phase: Phase,
    /// In eighths, at least one whole.
    rho: u64,
    /// The minimum smoothed RTT.
    least: Option<Duration>,
    /// Remainder of increments, in their unit.
    parts: u64,
}

/// rho of a smoothed RTT, in eighths.
fn rho(srtt: Duration) -> u64 {
    (8 * (srtt.as_ps() / 1_000_000) / REFERENCE).max(8)
}

/// Returns the increment per ACK in slow start.
fn in_slow_start(rho: u64) -> u64 {
    (EIGHTHS[(rho % 8) as usize] << (rho / 8).min(GREATEST_POWER)) - ONE
}

/// Returns the increment per ACK in congestion avoidance at `cwnd` segments: rho^2 / cwnd.
fn in_avoidance(rho: u64, cwnd: u64) -> u64 {
    rho * rho * ONE / 64 / cwnd.max(1)
}

impl Hybla {
    fn look_at(&mut self, srtt: Duration) {
        if self.least.is_none_or(|least| srtt < least) {
            self.least = Some(srtt);
            self.rho = rho(srtt);
        }
    }
}

impl Controller for Hybla {
    type Keys = ();

    fn new((): &(), start: Start) -> Self {
        let growth = Growth::new(start.slow_start);
        Hybla { growth, phase: Phase::default(), rho: 8, least: None, parts: 0 }
    }

    fn on_open(&mut self) {
        self.growth.on_open();
    }

    fn on_handshake(&mut self, window: &mut Window, mss: f64, _now: Time, rtt: Duration) {
        self.look_at(rtt);
        window.cwnd = (self.rho / 8) as f64 * mss;
    }

    fn observe(&mut self, ack: &AckEvent) {
        self.phase.observe(ack);
    }

    fn on_ack(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        self.phase.on_ack();
        if let Some(srtt) = ack.srtt {
            self.look_at(srtt);
        }
        if !ack.limited {
            return;
        }
        if !self.phase.open() {
            self.growth.reno(window, mss, ack);
            return;
        }
        let slow_start = window.in_slow_start();
        let cwnd = u64::from(window.segments(mss));
        let increment = if slow_start {
            in_slow_start(self.rho)
        } else {
            let increment = in_avoidance(self.rho, cwnd);
            if increment < ONE {
                self.growth.counted += 1.0;
            }
            increment
        };
        self.parts += increment % ONE;
        let mut added = increment / ONE;
        if self.parts >= ONE {
            self.parts -= ONE;
            added += 1;
            self.growth.counted = 0.0;
        }
        if increment == 0 && self.growth.counted >= cwnd as f64 {
            // A window of ACKs, as Reno.
            self.growth.counted = 0.0;
            added += 1;
        }
        window.cwnd += added as f64 * mss;
        if slow_start {
            window.cwnd = window.cwnd.min(window.ssthresh);
        }
        window.cwnd = window.cwnd.min(GREATEST_WINDOW * mss);
    }

    fn on_loss(&mut self, _window: &Window, _mss: f64, amount: f64) -> Option<f64> {
        self.phase.on_loss();
        self.growth.on_loss();
        Some(amount / 2.0)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_timeout();
        self.growth.on_timeout();
    }

    fn on_recovered(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_recovered();
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        self.phase.on_recovered();
        window.restore(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use crate::congestion::SlowStart;
    use crate::seq::Seq;

    const MSS: f64 = 1000.0;

    fn hybla() -> Hybla {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Hybla::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// Sends `count` ACKs for one segment each, with a smoothed RTT in milliseconds.
    fn acks(hybla: &mut Hybla, window: &mut Window, count: u32, srtt_ms: u64) {
        let srtt = Some(Duration::from_ms(srtt_ms));
        for una in 1..=count {
            let (una, max) = (Seq::new(una), Seq::new(count));
            let (acked, delivered, limited) = (1, 1, true);
            let ack = AckEvent { acked, delivered, srtt, una, max, limited, ..AckEvent::default() };
            hybla.observe(&ack);
            hybla.on_ack(window, MSS, &ack);
        }
    }

    /// Caini and Firrincieli 2004, equation 7: 2^rho - 1 an ACK in slow start. RTTs of 100 ms: rho = 4, 15 segments.
    /// 40 ms: rho = 1.6, in eighths 1.5: 2^1.5 - 1 = 1.83 of 1.5 cut to 128ths, so 1 + 106/128.
    #[test]
    fn slow_start_adds_a_power_of_two_an_ack() {
        for (srtt_ms, count, want) in [(100, 1, 25.0), (25, 1, 11.0), (40, 1, 11.0), (40, 2, 13.0)]
        {
            let mut window = Window { cwnd: 10.0 * MSS, ssthresh: f64::INFINITY };
            acks(&mut hybla(), &mut window, count, srtt_ms);
            assert_eq!((window.cwnd / MSS).to_bits(), f64::to_bits(want), "{srtt_ms}");
        }
        assert_eq!(in_slow_start(rho(Duration::from_ms(40))), 128 + 106);
        for (eighths, part) in EIGHTHS.into_iter().enumerate() {
            let want = 128.0 * (eighths as f64 / 8.0).exp2();
            assert!((0.0..1.0).contains(&(want - part as f64)), "{eighths}: {part}, {want}");
        }
    }

    /// The same equation: rho^2 / cwnd an ACK, so rho^2 segments per RTT: 16 with 100 ms, one with 25 ms or less. In
    /// 128ths of a segment 16 / 50 is 40, so 50 ACKs add 2000/128 = 15.6.
    #[test]
    fn avoidance_adds_rho_squared_segments_a_round_trip() {
        for (srtt_ms, cwnd, want) in
            [(100, 50, 65.0), (25, 50, 50.0), (10, 64, 65.0), (200, 64, 128.0)]
        {
            let mut window = Window { cwnd: f64::from(cwnd) * MSS, ssthresh: 2.0 * MSS };
            let mut hybla = hybla();
            // The window is reset, so that every increment belongs to `cwnd`.
            let mut grown = f64::from(cwnd);
            for _ in 0..cwnd {
                window.cwnd = f64::from(cwnd) * MSS;
                acks(&mut hybla, &mut window, 1, srtt_ms);
                grown += window.cwnd / MSS - f64::from(cwnd);
            }
            assert_eq!(grown.to_bits(), f64::to_bits(want), "{srtt_ms}");
        }
    }

    /// Linux: above rho^2 * 128 segments an ACK's share is cut to nothing, and a window of ACKs adds a segment.
    #[test]
    fn a_window_of_acks_adds_a_segment_at_least() {
        let mut window = Window { cwnd: 200.0 * MSS, ssthresh: 2.0 * MSS };
        let mut hybla = hybla();
        acks(&mut hybla, &mut window, 199, 10);
        assert_eq!(window.cwnd.to_bits(), f64::to_bits(200.0 * MSS));
        acks(&mut hybla, &mut window, 1, 10);
        assert_eq!(window.cwnd.to_bits(), f64::to_bits(201.0 * MSS));
    }

    /// Linux: after a SYN with an RTT of 100 ms, rho is 4, and so is the first window. A longer RTT
    /// changes nothing, a shorter one makes it 2. After a loss growth is Reno's, until the recovery
    /// is complete.
    #[test]
    fn rho_follows_the_minimum_rtt() {
        let mut hybla = hybla();
        let mut window = Window { cwnd: 10.0 * MSS, ssthresh: f64::INFINITY };
        hybla.on_handshake(&mut window, MSS, Time::ZERO, Duration::from_ms(100));
        assert_eq!(window.cwnd.to_bits(), f64::to_bits(4.0 * MSS));
        acks(&mut hybla, &mut window, 1, 300);
        assert_eq!(hybla.rho, 32);
        acks(&mut hybla, &mut window, 1, 50);
        assert_eq!(hybla.rho, 16);
        hybla.on_timeout(&mut window, MSS);
        window = Window { cwnd: MSS, ssthresh: 50.0 * MSS };
        let ack = AckEvent {
            acked: 1,
            delivered: 1,
            limited: true,
            after_timeout: true,
            ..AckEvent::default()
        };
        hybla.observe(&ack);
        hybla.on_ack(&mut window, MSS, &ack);
        assert_eq!(window.cwnd.to_bits(), f64::to_bits(2.0 * MSS));
    }
}
