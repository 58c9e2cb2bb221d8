//! TCP-NV (New Vegas).
//!
//! # Model
//! Once per RTT, given enough samples, NV compares the window with a target. The target is the
//! maximum rate of this RTT times the minimum RTT, plus ten segments. Above the target, the window
//! shrinks by three tenths of the excess and stops growing. At least two segments below, it may
//! grow like Reno's. A loss reduces it by the factor 4/5, and growth waits for a new decision. Each
//! RTO halves the growth rate; eight decisions to grow double it. The minimum RTT expires about
//! every 5 s.
//!
//! # References
//! L. Brakmo, *TCP-NV: An Update to TCP-Vegas*, 2010 (draft of its description), and the text of
//! Linux's `tcp_nv`. Linux 6 is followed throughout, including its integer arithmetic.
//!
//! # Parameters
//! `slow_start`, `ack_counting`, `reduction_basis`, `timeout_basis`. Needs `recovery = "sack"` for delivery
//! rates.
//!
//! # Limitations
//! - The constants are Linux's defaults; no base RTT can be configured.
//! - The expiry of the minimum RTT is drawn from the flow's clock phase. Linux's clock has ticks of 4 ms.
//! - A decision follows all other effects of an ACK, and is skipped for the ACK that starts a recovery.
//! - A retransmission that makes a rate sample implausible discards the sample.

use optcp_units::{Duration, Time};

use super::clock::Clock;
use super::controller::{Controller, Start};
use super::draw::Draw;
use super::event::{AckEvent, DeliveryEvent, Repair};
use super::growth::{Growth, segments};
use super::phase::Phase;
use crate::delivery::DeliveryRate;
use crate::seq::Seq;
use crate::window::Window;

/// Segments that may wait.
const PAD: u64 = 10;
/// Distance from the target, in segments, within which the window stays.
const BUFFER: u64 = 2;
/// Lifetime of the minimum RTT in seconds, and the first lifetime.
const KEPT: u64 = 5;
const KEPT_AT_FIRST: u64 = 2;
/// The smallest window that NV makes.
const LEAST_WINDOW: u64 = 2;
/// Share of the excess that congestion removes, in 1/128.
const DECREASE: u64 = 38;
/// Window factor after a loss, in 1/1024.
const LOSS: u64 = 819;
/// Decisions without congestion until a slowed growth doubles.
const GOOD: u32 = 8;
/// The slowest growth: a segment in 2^8 RTTs.
const SLOWEST: u32 = 8;
/// Measurements before congestion is believed, before growth, and before the first slow start ends.
const BEFORE_DECREASE: u32 = 60;
const BEFORE_INCREASE: u32 = 20;
const BEFORE_SSTHRESH: u32 = 30;
/// RTTs without a decision after which growth stops where there seems to be congestion.
const STOPS: u32 = 10;
/// RTTs before congestion is believed.
const TRIPS: u32 = 2;
/// The growth of the least segments that an RTT with one measurement is to have: from, by, up to.
const FLIGHT: (u64, u64, u64) = (4, 2, 81);
/// Bits of 100 a second, of a byte a microsecond.
const RATE: u64 = 80_000;

/// State of TCP-NV. RTTs are in microseconds.
#[derive(Clone, Debug)]
pub struct Nv {
    growth: Growth,
    phase: Phase,
    clock: Clock,
    draw: Draw,
    /// Expiry of the minimum RTT, in ticks; `None` before the first ACK.
    forgets: Option<u64>,
    /// The minimum RTT, and that since the last one was forgotten.
    least: u64,
    least_new: u64,
    /// Mean of the previous value and the new sample; 0 before the first sample.
    rtt: u64,
    /// The maximum of this round, in hundreds of bits a second.
    rate: u64,
    /// Measurements in this round, and RTTs without a decision.
    measured: u32,
    trips: u32,
    /// The RTT ends when more than this is acknowledged.
    until: Seq,
    /// Cumulative ACK at the last sample.
    una: Seq,
    /// Segments that an RTT with a single measurement must have acknowledged to count, less one.
    flight: u64,
    may_grow: bool,
    /// Growth is slower by so many powers of two.
    slowed: u32,
    /// Decisions without congestion in a row.
    good: u32,
    /// Latest ACK, and whether NV uses it.
    ack: AckEvent,
    looks: bool,
    /// The ACK also increases the window.
    grows: Option<AckEvent>,
}

/// Decision for an RTT.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Decision {
    Congested,
    Free,
    Neither,
}

impl Nv {
    /// Measurements begin anew.
    fn restart(&mut self) {
        (self.rtt, self.rate, self.measured, self.trips, self.good) = (0, 0, 0, 0, 0);
        (self.until, self.una) = (self.ack.una, self.ack.una);
    }

    /// An RTT of `rtt` in which `delivered` segments were.
    fn measure(&mut self, rtt: u64, delivered: u64, mss: u64) {
        if self.rtt > 0 {
            self.rtt = (rtt + self.rtt) / 2;
        } else {
            (self.rtt, self.least) = (rtt, 2 * rtt);
        }
        self.rate = self.rate.max(delivered * mss * RATE / self.rtt.max(1));
        self.measured = (self.measured + 1).min(255);
        self.least = self.least.min(self.rtt);
        self.least_new = self.least_new.min(self.rtt);
        let now = self.clock.at(self.ack.now);
        if now >= *self.forgets.get_or_insert(now + KEPT_AT_FIRST * Clock::HZ) {
            self.least = std::mem::replace(&mut self.least_new, u64::MAX);
            // Three to five quarters of the time.
            let drawn = 384 + (self.draw.next() >> 56);
            self.forgets = Some(now + ((KEPT * drawn * Clock::HZ) >> 9));
            self.flight = (self.flight / 2).max(FLIGHT.0);
        }
    }

    /// Returns the target: the window that the maximum rate fills, plus the allowed queue.
    fn aim(&self, mss: u64) -> u64 {
        let filled = u128::from(self.rate) * u128::from(self.least) / u128::from(RATE * mss);
        u64::try_from(filled).unwrap_or(u64::MAX).saturating_add(PAD)
    }

    fn decide(&mut self, cwnd: u64, aim: u64, first: bool) -> Decision {
        if cwnd > aim {
            let enough = if first { BEFORE_SSTHRESH } else { BEFORE_DECREASE };
            if self.trips < TRIPS {
                return Decision::Neither;
            }
            if self.measured < enough {
                if !first && self.trips > STOPS {
                    self.may_grow = false;
                }
                return Decision::Neither;
            }
            (self.may_grow, self.good) = (false, 0);
            Decision::Congested
        } else if cwnd <= aim - BUFFER {
            if self.measured < BEFORE_INCREASE {
                return Decision::Neither;
            }
            self.may_grow = true;
            self.good += 1;
            if self.slowed > 0 && self.good > GOOD {
                self.slowed -= 1;
                self.good = 0;
            }
            Decision::Free
        } else {
            Decision::Neither
        }
    }

    /// An RTT is over: decides, if it may.
    fn round(&mut self, window: &mut Window, mss: f64, acked: u64) {
        self.until = self.ack.max;
        self.trips = (self.trips + 1).min(255);
        let (_, step, most) = FLIGHT;
        if self.measured == 1 && acked + 1 >= self.flight && self.flight < most {
            self.flight = (self.flight + step).min(most);
            self.until = self.ack.max + u32::try_from(self.flight).unwrap_or(0);
            (self.measured, self.may_grow) = (0, true);
            return;
        }
        let cwnd = u64::from(window.segments(mss));
        let aim = self.aim(segments(mss, 1.0));
        match self.decide(cwnd, aim, window.ssthresh.is_infinite()) {
            Decision::Congested => {
                let excess = cwnd - aim;
                let taken = if excess > BUFFER { (excess * DECREASE / 128).max(2) } else { excess };
                window.ssthresh = aim as f64 * mss;
                window.cwnd = (cwnd - taken).max(LEAST_WINDOW) as f64 * mss;
            }
            Decision::Free => window.cwnd = window.cwnd.max(LEAST_WINDOW as f64 * mss),
            Decision::Neither => return,
        }
        (self.measured, self.trips, self.rate) = (0, 0, 0);
    }

    fn grow(&mut self, window: &mut Window, mss: f64, ack: &AckEvent) {
        if !ack.limited || !self.may_grow {
            return;
        }
        let count = self.growth.slow_start(window, mss, ack);
        if count > 0.0 {
            let cwnd = window.segments(mss);
            let needed = if self.slowed > 0 { cwnd << self.slowed } else { cwnd.max(4) };
            self.growth.count(window, mss, needed, count);
        }
    }
}

impl Controller for Nv {
    type Keys = ();

    const WANTS_RATES: bool = true;

    fn new((): &(), start: Start) -> Self {
        Nv {
            growth: Growth::new(start.slow_start),
            phase: Phase::default(),
            clock: Clock::new(start.clock_phase),
            draw: Draw::new(start.clock_phase),
            forgets: None,
            least: u64::MAX,
            least_new: u64::MAX,
            rtt: 0,
            rate: 0,
            measured: 0,
            trips: 0,
            until: Seq::ZERO,
            una: Seq::ZERO,
            flight: FLIGHT.0,
            may_grow: true,
            slowed: 0,
            good: 0,
            ack: AckEvent::default(),
            looks: false,
            grows: None,
        }
    }

    fn on_handshake(&mut self, _window: &mut Window, _mss: f64, now: Time, _rtt: Duration) {
        self.forgets = Some(self.clock.at(now) + KEPT_AT_FIRST * Clock::HZ);
    }

    fn on_open(&mut self) {
        self.growth.on_open();
    }

    fn observe(&mut self, ack: &AckEvent) {
        let before = self.phase.observe(ack);
        (self.ack, self.looks, self.grows) = (*ack, !before.repairing(), None);
        if before.repairing() && !self.phase.repairing() {
            self.restart();
        }
    }

    fn on_ack(&mut self, _window: &mut Window, _mss: f64, ack: &AckEvent) {
        self.phase.on_ack();
        self.grows = Some(*ack);
    }

    fn on_delivery(
        &mut self,
        window: &mut Window,
        mss: f64,
        ack: &DeliveryEvent,
        _rate: &mut DeliveryRate,
    ) {
        if ack.delivered == 0 {
            return;
        }
        if self.looks
            && ack.repair != Repair::Losses
            && let (Some(rtt), Some(sample)) = (self.ack.rtt, ack.sample)
        {
            let acked = u64::from(self.ack.una - self.una);
            self.una = self.ack.una;
            self.measure(rtt.as_ps() / 1_000_000, sample.delivered, segments(mss, 1.0));
            if self.ack.una > self.until {
                self.round(window, mss, acked);
            }
        }
        if let Some(ack) = self.grows.take() {
            self.grow(window, mss, &ack);
        }
    }

    fn on_loss(&mut self, _window: &Window, mss: f64, amount: f64) -> Option<f64> {
        self.phase.on_loss();
        self.growth.on_loss();
        self.may_grow = false;
        Some((segments(amount, mss) * LOSS / 1024) as f64 * mss)
    }

    fn on_timeout(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_timeout();
        self.growth.on_timeout();
        self.may_grow = false;
        self.slowed = (self.slowed + 1).min(SLOWEST);
    }

    fn on_recovered(&mut self, _window: &mut Window, _mss: f64) {
        self.phase.on_recovered();
        self.restart();
    }

    fn on_undo(&mut self, window: &mut Window, before: Window) {
        self.phase.on_recovered();
        self.restart();
        window.restore(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AckCounting, SlowStartKind};
    use crate::congestion::SlowStart;

    const MSS: f64 = 1000.0;

    fn nv() -> Nv {
        let slow_start = SlowStart::new(SlowStartKind::Standard, AckCounting::Segments, false);
        Nv::new(&(), Start { slow_start, clock_phase: Duration::ZERO })
    }

    /// A hundred segments of 1000 B in an RTT of 100 ms are 8 Mb/s, 80 000 hundreds of bits per
    /// second. At a minimum RTT of 100 ms a hundred segments fill that. The mean of 100 and 120 ms
    /// is 110 ms, so 110 segments give the same rate. With a minimum RTT of 80 ms, eighty segments
    /// fill it.
    #[test]
    fn target_is_bdp_plus_ten_segments() {
        let mut nv = nv();
        nv.measure(100_000, 100, 1000);
        assert_eq!((nv.rate, nv.least, nv.aim(1000)), (80_000, 100_000, 110));
        nv.measure(120_000, 110, 1000);
        assert_eq!((nv.rate, nv.rtt, nv.least, nv.aim(1000)), (80_000, 110_000, 100_000, 110));
        nv.least = 80_000;
        assert_eq!(nv.aim(1000), 90);
    }

    /// An RTT that ends with an aim of 110 segments, at a window of `cwnd`; the window and ssthresh in segments.
    fn round(nv: &mut Nv, cwnd: u32, ssthresh: f64) -> (u32, f64) {
        let mut window = Window { cwnd: f64::from(cwnd) * MSS, ssthresh: ssthresh * MSS };
        (nv.rate, nv.least) = (80_000, 100_000);
        nv.round(&mut window, MSS, 100);
        (window.segments(MSS), window.ssthresh / MSS)
    }

    /// Linux: 30 % are 38/128. 150 are 40 too many: 40 * 38 / 128 = 11. Two too many go at once.
    #[test]
    fn congestion_removes_three_tenths_of_the_excess() {
        for (cwnd, want) in [(150, (139, 110.0)), (113, (111, 110.0)), (112, (110, 110.0))] {
            let mut nv = Nv { measured: 60, trips: 1, ..nv() };
            assert_eq!(round(&mut nv, cwnd, 50.0), want, "{cwnd}");
            assert!(!nv.may_grow && nv.measured == 0 && nv.trips == 0);
        }
    }

    /// Linux: a reduction needs 60 measurements (30 in the first slow start) over at least two
    /// RTTs. With fewer, the window stays. After eleven RTTs without a decision, it stops growing.
    #[test]
    fn congestion_needs_enough_samples() {
        for (measured, trips, ssthresh, decides, grows) in [
            (59, 5, 50.0, false, true),
            (60, 0, 50.0, false, true),
            (60, 1, 50.0, true, false),
            (29, 1, f64::INFINITY, false, true),
            (30, 1, f64::INFINITY, true, false),
            (59, 9, 50.0, false, true),
            (59, 10, 50.0, false, false),
        ] {
            let mut nv = Nv { measured, trips, ..nv() };
            let (cwnd, _) = round(&mut nv, 150, ssthresh);
            assert_eq!((cwnd < 150, nv.may_grow), (decides, grows), "{measured} {trips}");
        }
    }

    /// Linux: up to 108 segments, of 110, growth is free after twenty measurements; in between nothing is decided.
    #[test]
    fn growth_starts_two_segments_below_the_target() {
        for (cwnd, measured, grows) in [(108, 20, true), (108, 19, false), (109, 20, false)] {
            let mut nv = Nv { measured, may_grow: false, ..nv() };
            assert_eq!(round(&mut nv, cwnd, 50.0).0, cwnd);
            assert_eq!(nv.may_grow, grows, "{cwnd}");
        }
    }

    /// Linux: 819/1024. Growth waits for a decision; each timeout halves it, and nine decisions without congestion double it.
    #[test]
    fn a_loss_leaves_four_fifths_and_a_timeout_slows_growth() {
        let mut nv = nv();
        let mut window = Window { cwnd: 100.0 * MSS, ssthresh: 2.0 * MSS };
        let left = nv.on_loss(&window, MSS, window.cwnd).unwrap();
        assert_eq!(left.to_bits(), f64::to_bits(79.0 * MSS));
        nv.on_timeout(&mut window, MSS);
        let ack = AckEvent { acked: 1, delivered: 1, limited: true, ..AckEvent::default() };
        nv.grow(&mut window, MSS, &ack);
        assert_eq!(window.segments(MSS), 100);
        nv.measured = 20;
        round(&mut nv, 100, 50.0);
        for _ in 0..200 {
            nv.grow(&mut window, MSS, &ack);
        }
        assert_eq!(window.segments(MSS), 101);
        for _ in 1..9 {
            assert_eq!(nv.slowed, 1);
            nv.measured = 20;
            round(&mut nv, 100, 50.0);
        }
        assert_eq!(nv.slowed, 0);
    }

    /// Linux: after two seconds, then after 5 s * 384 / 512 to 5 s * 639 / 512; the least since the last time takes its place.
    #[test]
    fn minimum_rtt_expires() {
        let mut nv = nv();
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        for (ms, rtt, least) in [(0, 100_000, 100_000), (1_000, 200_000, 100_000)] {
            nv.ack.now = at(ms);
            nv.measure(rtt, 1, 1000);
            assert_eq!(nv.least, least);
        }
        (nv.least_new, nv.rtt, nv.ack.now) = (150_000, 150_000, at(2_000));
        nv.measure(150_000, 1, 1000);
        assert_eq!((nv.least, nv.least_new), (150_000, u64::MAX));
        let next = nv.forgets.unwrap();
        assert!((500 + 937..500 + 1_560).contains(&next), "{next}");
    }

    /// Linux: of an RTT with one measurement nothing is known, and the next is to last for six segments, then eight, up to 81.
    #[test]
    fn a_round_trip_with_one_measurement_lasts_longer() {
        let mut nv = Nv { measured: 1, may_grow: false, ..nv() };
        nv.ack.max = Seq::new(50);
        let mut window = Window { cwnd: 4.0 * MSS, ssthresh: 2.0 * MSS };
        nv.round(&mut window, MSS, 3);
        assert_eq!((nv.until, nv.flight, nv.may_grow), (Seq::new(56), 6, true));
        nv.measured = 1;
        nv.round(&mut window, MSS, 4);
        assert_eq!((nv.until, nv.flight), (Seq::new(50), 6));
    }
}
